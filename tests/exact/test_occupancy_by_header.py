"""Occupancy of NVIDIA devices against NVIDIA's own host-only calculator, on random kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from perfmodel.device.loading import load_device
from tests.exact.header import KIB, LIMITS, NVIDIA, PROPERTIES, differences, expected

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from tests.exact.header import Kernels

KERNELS = 20_000
"""Kernels a device, random ones and such that lie at the edge of a limit."""


def random_kernels(architecture: str, seed: int) -> Kernels:
    """Kernels of all kinds."""
    random = np.random.default_rng(seed)
    most, of_sm = PROPERTIES[architecture][6], PROPERTIES[architecture][5]

    def either(*choices: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.choose(random.integers(0, len(choices), KERNELS), choices)

    def whole(low: int, high: int) -> NDArray[np.int64]:
        return random.integers(low, high + 1, KERNELS)

    near, none = whole(-1, 1), whole(0, 0)
    threads = either(whole(1, 1024), 32 * whole(1, 32), 32 * whole(1, 31) + near, whole(1, 96))
    registers = either(whole(1, 255), 8 * whole(1, 31) + near, whole(1, 40))
    # What lets a whole number of blocks just fit, or just not, in some setting of the device.
    setting = either(*(none + size * KIB for size in (8, 16, 32, 64, 100)), none + of_sm)
    just = setting // whole(1, 32) - either(none, none + KIB) + near
    units = 128 * whole(0, most // 128) + near
    shared = either(none, whole(0, most), whole(0, 4096), units, just, most + whole(-200, 200))
    static = np.minimum(shared.clip(0), 48 * KIB) * whole(0, 4) // 4
    return {
        "threads_per_block": threads.clip(1, 1024),
        "registers_per_thread": registers,
        "static": static,
        "dynamic": shared.clip(0) - static,
        "carveout_percent": whole(-1, 100),
        "barriers_per_block": either(none, none + 1, whole(1, 16)),
    }


@pytest.mark.parametrize("name", NVIDIA)
def test_blocks_and_limits_are_those_of_the_header(name: str, calculator: Path) -> None:
    device = load_device(name)
    asked = random_kernels(device.architecture, seed=NVIDIA.index(name))
    found = differences(device, calculator, asked)
    assert not found, f"{len(found)} of {KERNELS} kernels differ; the first: {found[0]}"


@pytest.mark.parametrize(
    "wrong",
    [
        {"register_allocation_unit": 128},
        {"register_partitions": 1},
        {"registers_per_block": 32768},
        {"shared_reserved_per_block": "0 B"},
        {"shared_allocation_unit": "256 B"},
        {"shared_per_block": "226 KiB"},
        {"barriers_per_mp": 32},
        {"max_blocks_per_mp": 24},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_wrong_rounding_or_limit_shows(wrong: dict[str, Any], calculator: Path) -> None:
    device = load_device("h200").what_if(**wrong)
    assert len(differences(device, calculator, random_kernels("sm_90", seed=1))) > 1000


def test_every_architecture_of_the_table_has_a_device() -> None:
    assert {load_device(name).architecture for name in NVIDIA} == set(PROPERTIES)


def test_the_kernels_reach_every_limit_alone_and_together(calculator: Path) -> None:
    """What is compared would be worth little if one resource decided everywhere."""
    header = expected(calculator, "sm_90", random_kernels("sm_90", seed=0))
    binds = header[:, 1:6] == header[:, :1]
    alone = binds.sum(axis=1) == 1
    for column, resource in enumerate(LIMITS):
        assert (binds[:, column] & alone).sum() > 100, resource
    assert (~alone).sum() > 1000
    assert (header[:, 0] == 0).sum() > 100
    assert len(np.unique(header[:, 0])) == 33  # every number of blocks from 0 to 32
