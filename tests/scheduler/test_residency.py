"""What residency leaves of the L1 where shared memory is carved out of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from perfmodel.device.loading import load_device
from perfmodel.scheduler.fields import Fields
from perfmodel.scheduler.residency import l1_left

if TYPE_CHECKING:
    from perfmodel.kernels.counting import LaunchCounts


@pytest.mark.parametrize(
    ("name", "shared_kib", "blocks", "left_kib"),
    [
        ("v100", 0, 8, 128),  # 0 is a setting of Volta
        ("t4", 0, 4, 64),  # and none of Turing, whose least is 32
        ("t4", 10, 4, 32),  # 40 KiB need the setting of 64
        ("h200", 20, 6, 124),  # 6 x 21 KiB need 132 of 256
    ],
)
def test_the_l1_keeps_what_the_least_serving_setting_leaves(
    name: str, shared_kib: int, blocks: int, left_kib: int
) -> None:
    counts = cast("LaunchCounts", SimpleNamespace(shared_bytes=shared_kib * 1024))
    assert l1_left(counts, Fields(load_device(name)), blocks) == left_kib * 1024
