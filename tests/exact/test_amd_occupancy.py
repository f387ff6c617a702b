"""Waves per SIMD against AMD's compiler: LLVM's AMDGPU back end, live and as recorded."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import perfmodel
from tests.exact import amdgpu
from tests.exact.amdgpu import TARGETS, Said, as_version_counts, waves

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLDER = Path(__file__).parents[2] / "validation" / "occupancy"
RECORDED_VERSION = 24

Kernels = tuple[Said, "NDArray[np.int64]"]
"""What the compiler said of each kernel, and the threads of its blocks."""


@cache
def compiled(name: str) -> Kernels:
    """About a thousand kernels of a target, compiled now."""
    pytest.importorskip("llvmlite", reason="llvmlite of the test extra is not installed")
    target = TARGETS[name]
    asked = amdgpu.cases(target, 400, seed=20)
    found = amdgpu.said(amdgpu.compiled_by_llvmlite(amdgpu.module(asked), target))
    threads = np.array([case.threads for case in asked])
    assert len(found["occupancy"]) == len(asked) > 1000
    assert (found["occupancy"] > 0).all()
    assert not found["scratch_bytes"].any()
    for column in ("vector", "scalar", "accumulation"):
        wanted = np.array([getattr(case, column) for case in asked])
        assert (found[column] >= wanted).all(), column
    assert found["shared_bytes"].tolist() == [case.shared_bytes for case in asked]
    return found, threads


@cache
def recorded(name: str) -> Kernels:
    """The kernels of a target as version 24 compiled them (record_waves.py of the same folder)."""
    with (FOLDER / "llvm24_waves.csv").open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["target"] == name]
    found = {
        column: np.array([int(row.get(column) or 0) for row in rows]) for column in amdgpu.COLUMNS
    }
    assert len(rows) > 500
    return found, np.array([int(row["threads"]) for row in rows])


@cache
def of_the_ladders(version: int) -> Kernels:
    """The kernels of validation/occupancy/gfx906_kernels.cl, as a version compiled them."""
    with (FOLDER / "gfx906_kernels.csv").open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["llvm"] == str(version)]
    found = {column: np.array([int(row[column]) for row in rows]) for column in amdgpu.COLUMNS}
    assert len({row["kernel"] for row in rows}) == len(rows) == 18
    return found, np.array([int(row["threads"]) for row in rows])


def differing(
    device: perfmodel.Device, kernels: Kernels, *, allocated: bool = False
) -> list[tuple[int, int, dict[str, int]]]:
    """Ours, the compiler's and its counts, for the kernels about which the two disagree."""
    found, threads = kernels
    ours = waves(device, found, threads, allocated=allocated)
    return [
        (
            int(ours[place]),
            int(found["occupancy"][place]),
            {"threads": int(threads[place])} | {name: int(found[name][place]) for name in found},
        )
        for place in np.flatnonzero(ours != found["occupancy"])
    ]


@pytest.mark.parametrize("allocated", [False, True])
@pytest.mark.parametrize("name", TARGETS)
def test_waves_are_the_compilers(name: str, *, allocated: bool) -> None:
    kernels = compiled(name)
    device = as_version_counts(TARGETS[name].model(), amdgpu.llvmlite_version())
    found = differing(device, kernels, allocated=allocated)
    assert not found, f"{len(found)} of {len(kernels[1])} differ; the first: {found[0]}"


NINE_FOR_EIGHT = {"gfx906": 24, "gfx908": 19}
"""Recorded kernels with room for 9 waves, for which version 24 asks for 65 scalar registers and so
prints 8. Pinned, since a wrong rule could add to them."""


@pytest.mark.parametrize("name", TARGETS)
def test_waves_are_those_of_the_newest_compiler(name: str) -> None:
    device = as_version_counts(TARGETS[name].model(), RECORDED_VERSION)
    found = differing(device, recorded(name))
    for ours, theirs, counts in found:
        assert (ours, theirs) == (9, 8), counts
        assert counts["scalar"] < counts["scalar_allocated"] == 65, counts
    assert len(found) == NINE_FOR_EIGHT.get(name, 0)


@pytest.mark.parametrize("name", TARGETS)
def test_registers_asked_for_leave_no_difference(name: str) -> None:
    device = as_version_counts(TARGETS[name].model(), RECORDED_VERSION)
    found = differing(device, recorded(name), allocated=True)
    assert not found, f"{len(found)} of {len(recorded(name)[1])} differ; the first: {found[0]}"


@pytest.mark.parametrize("name", [name for name in TARGETS if name.startswith("gfx1")])
def test_the_lds_of_rdna_is_given_in_larger_units_than_the_compiler_counts(name: str) -> None:
    found = differing(TARGETS[name].model(), recorded(name), allocated=True)
    assert found
    for ours, theirs, counts in found:
        assert ours < theirs
        assert counts["shared_bytes"] % 1024 != 0


@pytest.mark.parametrize("version", [22, 24])
@pytest.mark.parametrize("name", ["dcu", "mi50"])
def test_kernels_of_the_ladders_have_the_compilers_waves(name: str, version: int) -> None:
    kernels = of_the_ladders(version)
    device = as_version_counts(perfmodel.load_device(name), version)
    assert not differing(device, kernels)
    assert not differing(device, kernels, allocated=True)
    assert not differing(perfmodel.load_device(name), kernels)
    assert len(set(kernels[0]["occupancy"].tolist())) > 5


def test_the_dcu_counts_as_gfx906() -> None:
    dcu, gfx906 = perfmodel.load_device("dcu"), perfmodel.load_device("mi50")
    assert dcu.architecture == gfx906.architecture == "gfx906"
    for kernels, nine_for_eight in (
        (recorded("gfx906"), NINE_FOR_EIGHT["gfx906"]),
        (of_the_ladders(24), 0),
    ):
        assert differing(dcu, kernels) == differing(gfx906, kernels)
        assert len(differing(dcu, kernels)) == nine_for_eight
        assert not differing(dcu, kernels, allocated=True)


WRONG: dict[str, tuple[str, dict[str, str | float], int]] = {
    "vector unit 8 for 4": ("gfx906", {"register_allocation_unit": 512}, 19),
    "vector unit 4 for 8": ("gfx90a", {"register_allocation_unit": 256}, 17),
    "vector unit of waves of 64 for 32": ("gfx1100", {"register_allocation_unit": 384}, 41),
    "accumulators from any register": ("gfx942", {"accumulation_register_alignment": 1}, 3),
    "8 waves for 10": ("gfx908", {"max_warps_per_mp": 32}, 117),
    "no registers of the trap handler": ("gfx90a", {"scalar_registers_reserved_per_warp": 0}, 40),
    "scalar unit 8 for 16": ("gfx906", {"scalar_register_allocation_unit": 8}, 11),
    "LDS by the byte": ("gfx906", {"shared_allocation_unit": "1 B"}, 71),
    "the LDS of a CU for a WGP": ("gfx1030", {"shared_per_mp": "64 KiB"}, 258),
    "16 barriers for 32": ("gfx1030", {"barriers_per_mp": 16}, 201),
    "32 barriers for 16": ("gfx908", {"barriers_per_mp": 32}, 2),
    "a barrier for one wave": ("gfx906", {"barrier_free_warps": 0}, 125),
}
"""A wrong rule, the target, and the recorded kernels whose answer it changes for the worse."""


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_rule_is_noticed(wrong: str) -> None:
    name, changes, more = WRONG[wrong]
    right = as_version_counts(TARGETS[name].model(), RECORDED_VERSION)
    kernels = recorded(name)
    found = len(differing(right.what_if(**changes), kernels)) - len(differing(right, kernels))
    assert found == more > 0


@pytest.mark.parametrize("factor", [0.5, 2])
@pytest.mark.parametrize(
    "key", ["register_allocation_unit", "registers_per_mp", "shared_allocation_unit",
            "shared_per_mp"],
)  # fmt: skip
@pytest.mark.parametrize("name", TARGETS)
def test_units_and_sizes_are_noticed_on_every_target(name: str, key: str, factor: float) -> None:
    right = as_version_counts(TARGETS[name].model(), RECORDED_VERSION)
    kernels = recorded(name)
    changed = int(getattr(right, key).value * factor)
    wrong = right.what_if(**{key: f"{changed} B" if key.startswith("shared") else changed})
    assert len(differing(wrong, kernels)) > len(differing(right, kernels))


@pytest.mark.parametrize("name", TARGETS)
def test_whole_blocks_never_hold_more_waves(name: str) -> None:
    found, threads = recorded(name)
    device = TARGETS[name].model()
    scalars = device.scalar_registers_per_partition is not None
    accumulators = device.max_accumulation_registers_per_thread is not None
    result = perfmodel.occupancy(
        device,
        threads_per_block=threads,
        registers_per_thread=found["vector"],
        accumulation_registers_per_thread=found["accumulation"] if accumulators else 0,
        scalar_registers_per_warp=found["scalar"] if scalars else 0,
        shared_bytes_per_block=found["shared_bytes"],
    )
    of_simds = waves(device, found, threads, allocated=False)
    parts = device.register_partitions.whole
    assert (result.active_warps <= of_simds * parts).all()
    assert (result.active_warps == of_simds * parts).any()
    assert (result.active_warps == 0).any()  # blocks of which no wave more than one fits a SIMD
