"""Waves per SIMD: worked by hand here, and against the compiler in tests/exact."""

from __future__ import annotations

import json

import numpy as np
import pytest

import perfmodel
from perfmodel.errors import ArgumentError


@pytest.mark.parametrize(
    ("device", "kernel", "waves"),
    [
        ("mi50", {"registers_per_thread": 0}, 10),
        ("mi50", {"registers_per_thread": 24}, 10),
        ("mi50", {"registers_per_thread": 25}, 9),  # 256 / 28
        ("mi100", {"registers_per_thread": 25, "accumulation_registers_per_thread": 64}, 4),
        ("mi250x", {"registers_per_thread": 33, "accumulation_registers_per_thread": 28}, 8),
        ("mi250x", {"registers_per_thread": 33, "accumulation_registers_per_thread": 29}, 7),
        ("mi50", {"scalar_registers_per_warp": 64}, 10),  # 800 / (64 + 16)
        ("mi50", {"scalar_registers_per_warp": 65}, 8),  # 800 / (80 + 16)
        ("mi50", {"shared_bytes_per_block": 64 * 1024}, 1),
        ("mi50", {"threads_per_block": 65}, 8),  # 16 barriers, 2 waves a block, 4 SIMDs
        ("mi50", {"threads_per_block": 448}, 9),  # 5 blocks of 7 waves on 4 SIMDs
        ("mi50", {"threads_per_block": 1024, "registers_per_thread": 200}, 1),
        ("mi50", {"shared_bytes_per_block": 65 * 1024}, 1),  # fits nowhere
        ("rx6900xt", {"registers_per_thread": 65}, 12),  # 1024 / 80
        ("rx7900xtx", {"registers_per_thread": 97}, 12),  # 1536 / 120
        ("rx7900xtx", {"scalar_registers_per_warp": 106}, 16),
        ("rx7900xtx", {"threads_per_block": 32, "shared_bytes_per_block": 1}, 16),
        ("rx7900xtx", {"threads_per_block": 32, "shared_bytes_per_block": 2049}, 11),  # 42 / 4
    ],
)
def test_by_hand(device: str, kernel: dict[str, int], waves: int) -> None:
    found = perfmodel.waves_per_simd(device, **{"threads_per_block": 256, **kernel})
    assert found.waves_per_simd == waves
    assert found.waves_per_simd == min(found.waves_by.values())
    json.dumps(found.to_dict())


def test_waves_of_64_take_twice_the_registers_and_half_the_slots_of_a_block() -> None:
    wave64 = perfmodel.load_device("rx7900xtx").with_warp_width(64)
    assert wave64.max_threads_per_mp.whole == 4096
    found = perfmodel.waves_per_simd(wave64, threads_per_block=256, registers_per_thread=97)
    assert found.waves_per_simd == 7  # 768 / 108
    assert wave64.with_warp_width(64) is wave64


def test_arrays() -> None:
    found = perfmodel.waves_per_simd(
        "mi50", threads_per_block=256, registers_per_thread=np.array([24, 25, 128, 129])
    )
    assert found.waves_per_simd.tolist() == [10, 9, 2, 1]


def test_other_architectures_have_no_such_number() -> None:
    with pytest.raises(ArgumentError, match="h200 has architecture sm_90"):
        perfmodel.waves_per_simd("h200", threads_per_block=256)
    with pytest.raises(ArgumentError, match="threads_per_block is 0"):
        perfmodel.waves_per_simd("mi50", threads_per_block=0)
