"""Facts of the softmax rungs that can be worked out by hand from their sources."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from perfmodel.errors import DataError
from perfmodel.kernels.counting import LaunchCounts, count
from perfmodel.kernels.loading import load_description, load_rung
from perfmodel.kernels.parameters import expression_values, parameter_types, rung_parameters
from perfmodel.kernels.schema import Barrier, Let, Load, Operation, Shuffle, Statement, Store
from perfmodel.kernels.setting import Setting
from tests.kernels.against_walk import GEOMETRIES

M, N = 64, 512
WARPS = {32: GEOMETRIES["32 lanes, sectors"], 64: GEOMETRIES["64 lanes"]}
STEPS = {32: 5, 64: 6}
WHOLE_ROWS = [
    "thread_per_row",
    "warp_per_row",
    "vector_loads",
    "packed",
    "grid_remap",
    "online",
    "block_per_row",
    "two_stages",
    "shared_reduction",
    "ported_from_cuda",
]
"""All but the one that leaves elements out."""


def counted(name: str, lanes: int = 32, **given: Any) -> tuple[LaunchCounts, ...]:
    """The launches of a rung, for 64 rows of 512 where nothing else is said."""
    rung = load_rung(f"softmax:{name}")
    parameters = rung_parameters(rung, {"m": M, "n": N, **given}, warp_width=lanes)
    setting = Setting(
        size=1,
        values=expression_values(rung, parameters),
        types=parameter_types(parameters),
        geometries=(WARPS[lanes],),
    )
    return count(rung, setting)


def total(launch: LaunchCounts, kind: type[Statement], amount: str, array: str = "") -> float:
    """An amount over all statements of a kind, or those on one array."""
    return sum(
        float(getattr(role.tallies[site.position], amount))
        for role in launch.roles
        for site in role.sites.sites
        if isinstance(site.statement, kind) and array in ("", site.array)
    )


def operations(launch: LaunchCounts, what: str) -> float:
    """Operations of one sort over all lanes."""
    return sum(
        float(role.tallies[site.position].lanes)
        * float(site.statement.count.evaluate(launch.names))
        for role in launch.roles
        for site in role.sites.sites
        if isinstance(site.statement, Operation) and site.statement.what == what
    )


def test_work_of_the_document() -> None:
    description = load_description("softmax")
    values = {"m": 65536, "n": 512, "type_bytes": 2}
    assert description.flop.evaluate(values) == 5 * 65536 * 512
    assert description.compulsory.evaluate(values) == 2 * 64 * 2**20
    assert {name: each.default for name, each in description.parameters.items()} == {
        "m": 65536,
        "n": 512,
        "type": "fp16",
    }


@pytest.mark.parametrize("lanes", [32, 64])
@pytest.mark.parametrize("word", ["fp16", "fp32"])
@pytest.mark.parametrize("name", WHOLE_ROWS)
def test_reads_by_passes_and_one_write(name: str, word: str, lanes: int) -> None:
    reads = {"thread_per_row": 3, "warp_per_row": 3, "vector_loads": 3, "online": 2}
    reads["two_stages"] = 2
    launches = counted(name, lanes, type=word)
    tensor = M * N * (2 if word == "fp16" else 4)
    read = sum(total(each, Load, "bytes_requested", "input") for each in launches)
    written = sum(total(each, Store, "bytes_requested", "output") for each in launches)
    assert read == reads.get(name, 1) * tensor
    assert written == tensor


@pytest.mark.parametrize(("lanes", "covered"), [(32, 64), (64, 128)])
def test_the_printed_kernel_covers_one_pair_a_lane(lanes: int, covered: int) -> None:
    (launch,) = counted("packed_as_printed", lanes)
    assert total(launch, Load, "bytes_requested", "input") == M * covered * 2
    assert total(launch, Store, "bytes_requested", "output") == M * covered * 2


@pytest.mark.parametrize(
    ("name", "lanes", "loads"),
    [
        ("thread_per_row", 64, 3 * 512),
        ("warp_per_row", 64, 3 * 8),
        ("warp_per_row", 32, 3 * 16),
        ("vector_loads", 64, 3),
        ("vector_loads", 32, 3 * 2),
        ("online", 64, 2),
        ("packed", 64, 4),
        ("packed", 32, 8),
        ("block_per_row", 64, 1),
        ("ported_from_cuda", 64, 8),
    ],
)
def test_loads_of_a_thread(name: str, lanes: int, loads: int) -> None:
    (launch,) = counted(name, lanes)
    threads = M if name == "thread_per_row" else launch.blocks * launch.threads
    assert total(launch, Load, "lanes", "input") == loads * threads


def test_lines_of_one_step_of_the_scalar_rungs() -> None:
    """Rows lie 1024 bytes apart; runs of 8 halves lie side by side, 4 to a sector of 64 bytes."""
    (apart,) = counted("thread_per_row", 64)
    (beside,) = counted("warp_per_row", 64)
    assert total(apart, Load, "sectors", "input") == total(apart, Load, "lanes", "input")
    assert total(beside, Load, "sectors", "input") == total(beside, Load, "lanes", "input") / 4


@pytest.mark.parametrize(
    ("name", "each"),
    [("thread_per_row", 2), ("warp_per_row", 2), ("vector_loads", 2), ("packed", 1)],
)
def test_exponentials_of_an_element(name: str, each: int) -> None:
    (launch,) = counted(name)
    assert operations(launch, "exp2") == each * M * N


def test_one_pass_costs_a_second_exponential() -> None:
    """Two an element, one to normalise, and two a lane in each step of the reduction."""
    (launch,) = counted("online", 64)
    assert operations(launch, "exp2") == 3 * M * N + 2 * 6 * M * 64


@pytest.mark.parametrize("name", WHOLE_ROWS)
def test_every_element_is_divided(name: str) -> None:
    assert sum(operations(each, "rcp") for each in counted(name)) == M * N


@pytest.mark.parametrize("name", WHOLE_ROWS)
def test_only_halves_are_converted(name: str) -> None:
    reads = {"thread_per_row": 3, "warp_per_row": 3, "vector_loads": 3, "online": 2}
    reads["two_stages"] = 2
    halves, floats = (
        sum(operations(each, "convert") for each in counted(name, type=word))
        for word in ("fp16", "fp32")
    )
    assert halves == (reads.get(name, 1) + 1) * M * N
    assert floats == 0


@pytest.mark.parametrize("lanes", [32, 64])
@pytest.mark.parametrize("name", ["warp_per_row", "vector_loads", "packed", "grid_remap"])
def test_a_warp_reduces_twice_and_tells_all_lanes(name: str, lanes: int) -> None:
    (launch,) = counted(name, lanes)
    assert total(launch, Shuffle, "executions") == M * 2 * (STEPS[lanes] + 1)
    assert total(launch, Barrier, "executions") == 0
    assert launch.shared_bytes == 0


@pytest.mark.parametrize("lanes", [32, 64])
def test_reductions_in_shared_memory(lanes: int) -> None:
    (launch,) = counted("shared_reduction", lanes)
    assert launch.shared_bytes == 256 * 4
    barriers = 2 * (1 + STEPS[lanes]) + 1
    assert total(launch, Barrier, "executions") == barriers * launch.blocks * launch.warps
    assert total(launch, Shuffle, "executions") == 0


@pytest.mark.parametrize("lanes", [32, 64])
def test_a_block_meets_over_its_warps(lanes: int) -> None:
    (launch,) = counted("block_per_row", lanes)
    assert launch.shared_bytes == 4 * 256 / lanes
    assert total(launch, Store, "lanes", "partial") == 2 * M * launch.warps
    # four partial results a load
    assert total(launch, Load, "lanes", "partial") == 2 * M * 256 * launch.warps / 4
    assert total(launch, Barrier, "executions") == 3 * M * launch.warps
    assert total(launch, Shuffle, "executions") == 2 * STEPS[lanes] * M * launch.warps


def test_two_stages_pass_a_pair_a_piece() -> None:
    first, second = counted("two_stages", n=4096, piece=1024)
    assert first.grid[0] == second.grid[0] == M
    assert first.blocks == second.blocks == 4 * M
    assert total(first, Store, "bytes_requested", "statistics") == 4 * M * 2 * 4
    assert total(second, Load, "lanes", "statistics") == second.blocks * 256 * 4


def test_half_the_lanes_of_a_wide_warp_idle() -> None:
    (launch,) = counted("ported_from_cuda", 64)
    assert launch.warps == 1
    loads = total(launch, Load, "executions", "input")
    assert total(launch, Load, "lanes", "input") == 32 * loads
    assert total(launch, Shuffle, "executions") == M * 2 * (5 + 1)


@pytest.mark.parametrize(
    ("lanes", "n", "registers"), [(64, 512, 24), (64, 4096, 80), (64, 8192, 144), (32, 4096, 144)]
)
def test_a_long_row_takes_registers(lanes: int, n: int, registers: int) -> None:
    (launch,) = counted("packed", lanes, n=n)
    assert launch.registers == registers
    assert total(launch, Load, "lanes", "input") == M * n / 2


def test_blocks_of_the_last_kernel() -> None:
    (launch,) = counted("packed", 64, m=65536)
    assert launch.blocks == 16384
    (launch,) = counted("grid_remap", 64, m=65536)
    assert [int(each) for each in launch.grid] == [2048, 8, 1]


def rows_in_order(name: str, m: int, block: int, lanes: int) -> list[int]:
    """The rows of all warps, in the order in which blocks start: x runs fastest."""
    (launch,) = counted(name, lanes, m=m, block=block)
    values = next(
        each.value
        for each in load_rung(f"softmax:{name}").statements()
        if isinstance(each, Let) and each.name == "row"
    )
    columns, lines, _ = (int(each) for each in launch.grid)
    y, x, thread = (
        each.ravel()
        for each in np.meshgrid(
            np.arange(lines), np.arange(columns), np.arange(0, block, lanes), indexing="ij"
        )
    )
    known = {**launch.names, "blockIdx.x": x, "blockIdx.y": y, "threadIdx.x": thread}
    known |= {"blockDim.x": block, "gridDim.x": columns, "gridDim.y": lines}
    rows: list[int] = values.evaluate(known).tolist()
    return rows


@pytest.mark.parametrize("lanes", [32, 64])
def test_the_remapped_grid_takes_the_same_rows_in_another_order(lanes: int) -> None:
    plain, remapped = (rows_in_order(name, 128, 128, lanes) for name in ("packed", "grid_remap"))
    assert plain == list(range(128))
    assert sorted(remapped) == plain
    rows_of_a_block = 128 // lanes
    assert remapped[rows_of_a_block] - remapped[0] == 8 * rows_of_a_block


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("warp_per_row", {"n": 96}),
        ("vector_loads", {"n": 256}),
        ("packed", {"n": 192}),
        ("packed", {"block": 96}),
        ("grid_remap", {"m": 100}),
        ("packed_as_printed", {"n": 64}),
        ("block_per_row", {"n": 768}),
        ("two_stages", {"piece": 384}),
    ],
)
def test_sizes_that_do_not_divide(name: str, given: dict[str, int]) -> None:
    with pytest.raises(DataError, match="must"):
        counted(name, **given)
