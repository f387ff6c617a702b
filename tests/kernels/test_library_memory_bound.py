"""Facts of vecadd, transpose, reduce and gemv that can be worked out by hand from their sources."""

from __future__ import annotations

from typing import Any

import pytest

from perfmodel.kernels.counting import LaunchCounts, count
from perfmodel.kernels.loading import load_rung
from perfmodel.kernels.parameters import expression_values, parameter_types, rung_parameters
from perfmodel.kernels.schema import Barrier, Load, Operation, Shuffle, Statement, Store
from perfmodel.kernels.setting import Setting
from tests.kernels.against_walk import GEOMETRIES

NARROW = GEOMETRIES["32 lanes, sectors"]
WIDE = GEOMETRIES["64 lanes"]


def counted(name: str, wide: bool = False, **given: Any) -> tuple[LaunchCounts, ...]:
    """The launches of a rung with 32 lanes a warp, or 64."""
    rung = load_rung(name)
    parameters = rung_parameters(rung, given)
    setting = Setting(
        size=1,
        values=expression_values(rung, parameters),
        types=parameter_types(parameters),
        geometries=(WIDE if wide else NARROW,),
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


def additions(launch: LaunchCounts) -> float:
    """FLOP of all lanes: each operation so often as it is counted, a fused one twice."""
    each = {"add": 1, "fma": 2}
    return sum(
        float(role.tallies[site.position].lanes)
        * each[site.statement.what]
        * float(site.statement.count.evaluate(launch.names))
        for role in launch.roles
        for site in role.sites.sites
        if isinstance(site.statement, Operation)
    )


def test_vecadd_launches_one_thread_an_element() -> None:
    (launch,) = counted("vecadd:naive", n=1_000_000)
    assert launch.blocks == 977
    assert total(launch, Load, "lanes") == 2_000_000
    assert additions(launch) == total(launch, Store, "lanes") == 1_000_000


@pytest.mark.parametrize(("word", "elements"), [("fp32", 4), ("fp16", 8), ("bf16", 8)])
def test_vecadd_loads_16_bytes(word: str, elements: int) -> None:
    (launch,) = counted("vecadd:vector_loads", n=1 << 16, type=word)
    assert total(launch, Load, "lanes") == 2 * (1 << 16) / elements
    assert total(launch, Store, "bytes_requested") == (1 << 16) * 16 / elements


@pytest.mark.parametrize(
    ("rung", "store_passes", "load_passes", "shared_bytes"),
    [
        ("shared_tile", 1, 32, 4096),
        ("padded_tile", 1, 1, 4224),
        ("swizzled_tile", 1, 1, 4096),
    ],
)
def test_passes_of_the_turning_tile(
    rung: str, store_passes: int, load_passes: int, shared_bytes: int
) -> None:
    (launch,) = counted(f"transpose:{rung}", m=64, n=96)
    accesses = 64 * 96 / 32
    assert total(launch, Store, "passes", "tile") == store_passes * accesses
    assert total(launch, Load, "passes", "tile") == load_passes * accesses
    assert launch.shared_bytes == shared_bytes
    assert total(launch, Barrier, "executions") == launch.blocks * launch.warps


def test_only_the_naive_transpose_writes_across_lines() -> None:
    sectors = {
        rung: total(counted(f"transpose:{rung}", m=64, n=96)[0], Store, "sectors", "output")
        for rung in ("naive", "shared_tile", "padded_tile", "swizzled_tile")
    }
    whole_lines = 64 * 96 * 4 / 32
    assert sectors.pop("naive") == 64 * 96
    assert set(sectors.values()) == {whole_lines}


@pytest.mark.parametrize(("rung", "steps"), [("modulo_tree", 10), ("sequential_tree", 9)])
def test_trees_of_1024_threads(rung: str, steps: int) -> None:
    first, *_ = counted(f"reduce:{rung}", n=40960)
    assert first.blocks == 40
    assert first.shared_bytes == 4096
    assert total(first, Barrier, "executions") == (1 + steps) * first.blocks * first.warps
    assert additions(first) == 1023 * first.blocks


def test_which_warps_diverge_in_a_block_of_1024() -> None:
    """In the modulo tree every warp that works has idle lanes; from stride 32 on fewer warps work.

    The sequential tree diverges in the first warp alone, at strides 16, 8, 4 and 2.
    """
    modulo, sequential = (
        counted(f"reduce:{rung}", n=1024)[0] for rung in ("modulo_tree", "sequential_tree")
    )
    working = [32] * 5 + [16, 8, 4, 2, 1]
    assert total(modulo, Operation, "executions") == sum(working)
    branch = next(s for s in modulo.roles[0].sites.sites if s.predicate is not None)
    assert modulo.roles[0].tallies[branch.position].divergent == sum(working)
    branch = next(s for s in sequential.roles[0].sites.sites if s.predicate is not None)
    assert sequential.roles[0].tallies[branch.position].divergent == 4


def test_stages_of_a_large_sum() -> None:
    for rung in ("modulo_tree", "sequential_tree", "warp_shuffle"):
        assert [each.blocks for each in counted(f"reduce:{rung}", n=1 << 26)] == [65536, 64, 1]
    assert [each.blocks for each in counted("reduce:vector_load", n=1 << 26)] == [16384, 1]
    assert len(counted("reduce:single_kernel", n=1 << 26)) == 1
    assert len(counted("reduce:one_block", n=4096)) == 1


@pytest.mark.parametrize(("wide", "steps"), [(False, 5), (True, 6)])
def test_shuffles_of_a_warp(wide: bool, steps: int) -> None:
    first, *_ = counted("reduce:warp_shuffle", wide=wide, n=1 << 20)
    in_blocks = first.warps + 1
    assert total(first, Shuffle, "executions") == steps * in_blocks * first.blocks
    assert total(first, Barrier, "executions") == first.blocks * first.warps


def test_every_element_is_read_once() -> None:
    for rung in ("modulo_tree", "sequential_tree", "warp_shuffle", "vector_load", "single_kernel"):
        first, *_ = counted(f"reduce:{rung}", n=1 << 20)
        assert total(first, Load, "bytes_requested", "input") == 4 << 20


def test_one_block_reads_two_vectors_a_thread() -> None:
    (launch,) = counted("reduce:one_block", n=4096)
    assert launch.shared_bytes == 2048
    assert total(launch, Load, "lanes", "input") == 2 * 512


def test_one_block_of_a_grid_finishes_the_sum() -> None:
    (launch,) = counted("reduce:single_kernel", n=1 << 20)
    assert launch.blocks == 256
    assert total(launch, Load, "lanes", "partial") == launch.blocks
    assert total(launch, Store, "lanes", "output") == 1


@pytest.mark.parametrize(("rung", "loads"), [("warp_per_row", 128), ("vector_loads", 32)])
def test_loads_of_a_lane_along_a_row_of_4096(rung: str, loads: int) -> None:
    (launch,) = counted(f"gemv:{rung}", m=64, k=4096)
    assert total(launch, Load, "lanes", "matrix") == 64 * 32 * loads
    assert total(launch, Shuffle, "executions") == 64 * 5


def test_a_thread_per_row_touches_a_sector_a_lane() -> None:
    (launch,) = counted("gemv:thread_per_row", m=256, k=64)
    assert total(launch, Load, "sectors", "matrix") == 256 * 64
    assert total(launch, Load, "sectors", "vector") == 256 / 32 * 64


@pytest.mark.parametrize("tile_v", [1024, 2048])
def test_the_cached_vector(tile_v: int) -> None:
    (launch,) = counted("gemv:cached_vector", m=64, k=4096, tile_v=tile_v)
    assert launch.shared_bytes == 4 * tile_v
    pieces = 4096 / tile_v
    assert total(launch, Barrier, "executions") == 2 * pieces * launch.blocks * launch.warps
    assert total(launch, Load, "bytes_requested", "vector") == launch.blocks * 4096 * 4


@pytest.mark.parametrize(
    ("rung", "given"),
    [
        ("thread_per_row", {}),
        ("warp_per_row", {}),
        ("vector_loads", {}),
        ("cached_vector", {}),
        ("split_k", {}),
        ("batch_gemv", {"n": 4}),
    ],
)
def test_multiplications_are_the_useful_ones(rung: str, given: dict[str, Any]) -> None:
    (launch,) = counted(f"gemv:{rung}", m=64, k=4096, **given)
    fused = sum(
        role.tallies[site.position].lanes * float(site.statement.count.evaluate(launch.names))
        for role in launch.roles
        for site in role.sites.sites
        if isinstance(site.statement, Operation) and site.statement.what == "fma"
    )
    assert fused == 64 * 4096 * given.get("n", 1)


def test_a_tile_multiplies_columns_that_are_not_there() -> None:
    (launch,) = counted("gemv:thin_gemm", m=64, k=64, n=4)
    assert additions(launch) == 2 * 64 * 64 * 16
    assert total(launch, Load, "lanes", "vector") == 64 / 16 * 64 * 4


def test_a_batch_reads_the_matrix_once() -> None:
    for n in (1, 4):
        (launch,) = counted("gemv:batch_gemv", m=64, k=512, n=n)
        assert total(launch, Load, "bytes_requested", "matrix") == 64 * 512 * 4
        assert total(launch, Store, "lanes", "result") == 64 * n


@pytest.mark.parametrize(("inputs", "special"), [(0, 0), (1, 2), (3, 0)])
@pytest.mark.parametrize("rung", ["elementwise", "vector_loads", "fixed_grid"])
def test_pointwise_touches_every_element_once(rung: str, inputs: int, special: int) -> None:
    n = 1 << 14
    given: dict[str, Any] = {"n": n, "inputs": inputs, "special": special, "type": "bf16"}
    (launch,) = counted(f"pointwise:{rung}", block=64, **given)
    assert total(launch, Load, "bytes_requested") == 2 * n * inputs
    assert total(launch, Store, "bytes_requested") == 2 * n


@pytest.mark.parametrize(("rung", "reads"), [("two_passes", 2), ("row_in_registers", 1)])
@pytest.mark.parametrize("weights", [0, 1, 2])
def test_a_norm_reads_its_row_once_from_registers(rung: str, reads: int, weights: int) -> None:
    m, n = 5, 1000
    (launch,) = counted(f"norm:{rung}", m=m, n=n, weights=weights, block=64)
    assert launch.blocks == m
    assert total(launch, Load, "bytes_requested", "input") == 2 * reads * m * n
    assert total(launch, Load, "bytes_requested", "weight") == 2 * weights * m * n
    assert total(launch, Store, "bytes_requested", "output") == 2 * m * n


@pytest.mark.parametrize(("wide", "lanes"), [(False, 32), (True, 64)])
def test_short_rows_share_a_warp(wide: bool, lanes: int) -> None:
    """Rows of 64 halves take 8 lanes each, and three exchanges."""
    (launch,) = counted("norm:rows_in_a_warp", wide=wide, m=1024, n=64, weights=0)
    assert total(launch, Load, "executions") == 1024 * 8 / lanes
    assert total(launch, Shuffle, "lanes") == 1024 * 8 * 3
    assert total(launch, Barrier, "executions") == 0


@pytest.mark.parametrize(("gate", "read"), [(0, 2), (1, 4)])
@pytest.mark.parametrize(("rung", "scales"), [("row_in_registers", 1), ("groups_in_a_warp", 8)])
def test_quantized_rows_write_a_byte_an_element(
    rung: str, scales: int, gate: int, read: int
) -> None:
    m, n = 3, 1024
    (launch,) = counted(f"quantize:{rung}", m=m, n=n, gate=gate)
    assert total(launch, Load, "bytes_requested", "input") == read * m * n
    assert total(launch, Store, "bytes_requested", "output") == m * n
    assert total(launch, Store, "lanes", "scales") == m * scales


def test_a_stream_is_read_once_whatever_the_grid() -> None:
    for blocks in (1, 3, 80):
        (launch,) = counted("stream_read:interleaved", n=1_000_004, blocks=blocks)
        assert total(launch, Load, "bytes_requested") == 4 * 1_000_004
        assert total(launch, Store, "bytes_requested") == 0


def test_two_bytes_an_element_halve_what_a_product_and_a_sum_read() -> None:
    (product,) = counted("gemv:two_byte", m=64, k=1024)
    assert total(product, Load, "bytes_requested", "matrix") == 2 * 64 * 1024
    first, _ = counted("reduce:two_byte", n=1 << 16)
    assert total(first, Load, "bytes_requested", "input") == 2 << 16


@pytest.mark.parametrize("rung", ["thread_per_row", "warp_per_row", "block_per_row"])
def test_rows_are_summed_from_one_reading(rung: str) -> None:
    (launch,) = counted(f"reduce_rows:{rung}", m=70, n=1000)
    assert total(launch, Load, "bytes_requested", "input") == 2 * 70 * 1000
    assert total(launch, Store, "lanes", "output") == 70
