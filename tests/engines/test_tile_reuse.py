"""Tile reuse against counting every load of a product, its symbols and the documents' figures."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from perfmodel.engines import tile_reuse as tr
from perfmodel.errors import ArgumentError

sides = st.integers(1, 24)


def flop_and_loads(m: int, n: int, k: int) -> tuple[int, int]:
    """The obvious way: run the product of one tile and note what it does."""
    flop, loaded = 0, set()
    for i in range(m):
        for j in range(n):
            for depth in range(k):
                loaded |= {("a", i, depth), ("b", depth, j)}
                flop += 2
    return flop, len(loaded)


@given(st.integers(1, 8), st.integers(1, 8), st.integers(1, 5), st.sampled_from([1, 2, 4, 8]))
def test_the_product_equals_running_it(m: int, n: int, k: int, size: int) -> None:
    flop, loads = flop_and_loads(m, n, k)
    assert tr.product_flop(rows=m, columns=n, depth=k) == flop
    assert tr.operand_bytes(rows=m, columns=n, depth=k, element_bytes=size) == loads * size
    intensity = tr.tile_intensity(tile_m=m, tile_n=n, element_bytes=size)
    assert intensity == pytest.approx(flop / (loads * size), rel=1e-12)
    with_write = tr.tile_intensity_with_write(
        tile_m=m, tile_n=n, depth=k, element_bytes=size, result_bytes=4
    )
    assert with_write == pytest.approx(flop / (loads * size + 4 * m * n), rel=1e-12)
    assert with_write < intensity


def test_the_size_of_a_product() -> None:
    # Claim gemm-flop.
    assert tr.product_flop(rows=4096, columns=4096, depth=4096) == 137438953472
    assert tr.operand_bytes(rows=4096, columns=4096, depth=4096, element_bytes=4) == 134217728


@pytest.mark.parametrize(
    ("claim", "side", "expected"),
    [
        ("gemm-intensity-formula", 128, 32.0),
        ("gemm-intensity-levels: thread", 8, 2.0),
        ("gemm-intensity-levels: block", 128, 32.0),
        ("gemm-intensity-levels: blocks in flight", 8 * 128, 256.0),
        ("matmul-naive-intensity", 1, 0.25),
        ("matmul-tiled-intensity", 16, 4.0),
    ],
)
def test_the_intensity_belongs_to_a_level(claim: str, side: int, expected: float) -> None:
    assert tr.tile_intensity(tile_m=side, tile_n=side, element_bytes=4) == expected


def test_a_whole_product_counts_its_write() -> None:
    # Claim gemm-order: n / 6.
    actual = tr.tile_intensity_with_write(
        tile_m=4096, tile_n=4096, depth=4096, element_bytes=4, result_bytes=4
    )
    assert actual == pytest.approx(682.6666667, rel=1e-9)


def test_a_square_is_best() -> None:
    # Claim gemm-square-best, in numbers.
    shapes = [(128, 128, 32.0), (64, 256, 25.6), (32, 512, 512 / 34)]
    for m, n, expected in shapes:
        actual = tr.tile_intensity(tile_m=m, tile_n=n, element_bytes=4)
        assert actual == pytest.approx(expected, rel=1e-12)
        assert actual == pytest.approx(32 * tr.shape_efficiency(tile_m=m, tile_n=n), rel=1e-12)
    assert round(shapes[-1][2], 2) == 15.06


def test_a_square_is_best_by_proof() -> None:
    # Claim gemm-square-best: what the squares of the sides' sum and of the efficiency leave is a
    # square, hence not below 0, and 0 only where the sides agree.
    m, n = sympy.symbols("M N", positive=True)
    efficiency = tr.shape_efficiency(tile_m=m, tile_n=n)
    missing = sympy.factor(sympy.simplify(1 - efficiency**2))
    assert sympy.simplify(missing - ((m - n) / (m + n)) ** 2) == 0
    side = sympy.sqrt(m * n)
    square = tr.tile_intensity(tile_m=side, tile_n=side, element_bytes=4)
    intensity = tr.tile_intensity(tile_m=m, tile_n=n, element_bytes=4)
    assert sympy.simplify(intensity / square - efficiency) == 0


@given(st.floats(1, 1e4), st.floats(1, 1e4))
def test_the_shape_efficiency_is_at_most_one(m: float, n: float) -> None:
    assert 0 < tr.shape_efficiency(tile_m=m, tile_n=n) <= 1 + 1e-12


def test_the_smallest_tile_for_100_flop_a_byte() -> None:
    # Claim gemm-needed-intensity.
    actual = [tr.smallest_square_tile(target_intensity=100, element_bytes=size) for size in (4, 2)]
    assert actual == [400, 200]


@given(st.integers(1, 500), st.sampled_from([1, 2, 4, 8]))
def test_the_smallest_tile_equals_trying(target_halves: int, size: int) -> None:
    target = target_halves / 2
    side = 1
    while tr.tile_intensity(tile_m=side, tile_n=side, element_bytes=size) < target:
        side += 1
    assert tr.smallest_square_tile(target_intensity=target, element_bytes=size) == side


@given(sides, sides)
def test_sharing_equals_counting_operands(rows: int, columns: int) -> None:
    asked = [("a", r) for r in range(rows) for _ in range(columns)]
    asked += [("b", c) for c in range(columns) for _ in range(rows)]
    actual = tr.sharing_factor(rows=rows, columns=columns)
    assert actual == pytest.approx(len(asked) / len(set(asked)), rel=1e-12)
    assert 1 <= actual <= max(rows, columns)


def test_sharing_of_the_documents() -> None:
    # Claims gemm-swizzle-reuse, gemm-linear-reuse, tile-reuse-16 and erratum-tiled-n-fold: the cut
    # is the tile's side whatever the size of the matrix.
    assert tr.sharing_factor(rows=8, columns=8) == 8.0
    linear = tr.sharing_factor(rows=1, columns=64)
    assert linear == pytest.approx(1.9692307692, rel=1e-9)
    assert tr.sharing_factor(rows=16, columns=16) == 16


def test_the_cut_of_a_tiled_product() -> None:
    # Claim erratum-tiled-n-fold, by counting loads of a whole small product.
    n, tile = 8, 4
    naive = 2 * n**3
    tiled = 0
    for _ in range((n // tile) ** 2):
        for _ in range(tr.tile_steps(depth=n, tile_k=tile)):
            tiled += 2 * tile * tile
    assert naive / tiled == tr.sharing_factor(rows=tile, columns=tile) == 4


def test_steps_of_the_tiled_product() -> None:
    # Claim matmul-tile-steps.
    assert tr.tile_steps(depth=512, tile_k=16) == 32
    assert tr.tile_barriers(depth=512, tile_k=16, barriers_per_step=2) == 64


@given(st.integers(1, 1000), st.integers(1, 100))
def test_steps_equal_walking(depth: int, tile_k: int) -> None:
    assert tr.tile_steps(depth=depth, tile_k=tile_k) == len(range(0, depth, tile_k))


@pytest.mark.parametrize(
    ("claim", "tile", "tile_k", "buffers", "expected"),
    [
        ("gemm-double-buffer-bytes", 128, 4, 2, 8192),
        ("tile-shared-bytes", 16, 16, 1, 2048),
        ("double-buffer-shared-bytes", 16, 16, 2, 4096),
    ],
)
def test_shared_bytes_of_a_product(
    claim: str, tile: int, tile_k: int, buffers: int, expected: int
) -> None:
    actual = tr.product_shared_bytes(
        tile_m=tile, tile_n=tile, tile_k=tile_k, element_bytes=4, buffers=buffers
    )
    assert actual == expected


def test_shared_bytes_of_attention() -> None:
    # Claim fa-shared-bytes.
    block = {"rows_q": 256, "rows_kv": 128, "head_dim": 128, "element_bytes": 2}
    shared = tr.attention_shared_bytes(**block)
    assert tuple(shared) == (65536, 65536, 65536, 196608)
    assert shared.total_bytes == 192 * 1024
    # Claim erratum-fa-prefetch-room: the second K buffer, and a block that has room for it.
    assert tr.attention_shared_bytes(**block, k_buffers=2).total_bytes == 229376
    smaller = tr.attention_shared_bytes(**{**block, "rows_q": 128}, k_buffers=2, v_buffers=2)
    assert smaller.total_bytes == 196608


def test_intensity_of_attention() -> None:
    # Claim fa-kv-intensity.
    assert tr.attention_kv_intensity(rows_q=256, element_bytes=2) == 256.0


@given(st.integers(1, 512), st.integers(1, 512), st.integers(1, 256), st.sampled_from([1, 2, 4]))
def test_intensity_of_attention_equals_its_two_products(
    br: int, bc: int, d: int, size: int
) -> None:
    flop = tr.product_flop(rows=br, columns=bc, depth=d)
    flop += tr.product_flop(rows=br, columns=d, depth=bc)
    loaded = 2 * bc * d * size
    actual = tr.attention_kv_intensity(rows_q=br, element_bytes=size)
    assert actual == pytest.approx(flop / loaded, rel=1e-12)


def test_memory_of_attention_grows() -> None:
    # Claim fa-standard-memory.
    def scores(n: int) -> int:
        return int(tr.attention_score_bytes(queries=n, keys=n, element_bytes=2))

    def fused(n: int) -> int:
        return int(
            tr.attention_input_output_bytes(queries=n, keys=n, head_dim=128, element_bytes=2)
        )

    assert scores(2048) == 4 * scores(1024)
    assert fused(2048) == 2 * fused(1024)
    assert scores(1024) == sum(2 for _ in range(2) for _ in range(1024 * 1024))


def test_rows_of_a_squad() -> None:
    # Claim fa-rows-per-squad.
    squads = tr.warp_groups(threads=512, warps_per_group=4, warp_width=32)
    assert (squads, tr.rows_per_warp_group(rows=256, groups=squads)) == (4, 64)


def test_the_cached_vector() -> None:
    # Claim erratum-tile-v: neither uses nor bytes move with TILE_V, the pieces do.
    vectors = [
        tr.cached_vector(depth=4096, tile_v=tile, rows_per_block=8, element_bytes=4)
        for tile in (512, 1024, 2048)
    ]
    assert [vector.uses_per_element for vector in vectors] == [8, 8, 8]
    assert [vector.bytes_per_block for vector in vectors] == [16384, 16384, 16384]
    assert [vector.pieces for vector in vectors] == [8, 4, 2]
    assert [vector.shared_bytes for vector in vectors] == [2048, 4096, 8192]


@given(st.integers(1, 60), st.integers(1, 20), st.integers(1, 5))
def test_the_cached_vector_equals_walking(depth: int, tile_v: int, rows: int) -> None:
    loads = uses = pieces = 0
    for start in range(0, depth, tile_v):
        pieces += 1
        piece = range(start, min(start + tile_v, depth))
        loads += len(piece)
        uses += sum(1 for _ in range(rows) for _ in piece)
    vector = tr.cached_vector(depth=depth, tile_v=tile_v, rows_per_block=rows, element_bytes=4)
    assert vector[:3] == (uses / loads, 4 * loads, pieces)


def test_arrays_go_element_by_element() -> None:
    m, n = np.array([1, 8, 64, 128]), np.array([1, 64, 8, 32])
    pairs = list(zip(m.tolist(), n.tolist(), strict=True))
    np.testing.assert_allclose(
        tr.sharing_factor(rows=m, columns=n),
        [tr.sharing_factor(rows=r, columns=c) for r, c in pairs],
        rtol=1e-15,
    )
    np.testing.assert_allclose(
        tr.tile_intensity(tile_m=m, tile_n=n, element_bytes=2),
        [tr.tile_intensity(tile_m=r, tile_n=c, element_bytes=2) for r, c in pairs],
        rtol=1e-15,
    )
    np.testing.assert_allclose(
        tr.shape_efficiency(tile_m=m, tile_n=n),
        [tr.shape_efficiency(tile_m=r, tile_n=c) for r, c in pairs],
        rtol=1e-15,
    )
    targets = np.array([0.3, 10.0, 99.9])
    np.testing.assert_array_equal(
        tr.smallest_square_tile(target_intensity=targets, element_bytes=4), [2, 40, 400]
    )
    shared = tr.attention_shared_bytes(rows_q=m, rows_kv=n, head_dim=64, element_bytes=2)
    expected = [
        tr.attention_shared_bytes(rows_q=r, rows_kv=c, head_dim=64, element_bytes=2).total_bytes
        for r, c in pairs
    ]
    np.testing.assert_array_equal(shared.total_bytes, expected)
    np.testing.assert_array_equal(tr.tile_steps(depth=m, tile_k=16), [1, 1, 4, 8])
    np.testing.assert_array_equal(tr.rows_per_warp_group(rows=m[1:], groups=4), [2, 16, 32])


def test_symbols_give_the_formula() -> None:
    m, n, k, size = sympy.symbols("M N K b", positive=True, integer=True)
    intensity = tr.tile_intensity(tile_m=m, tile_n=n, element_bytes=size)
    assert sympy.simplify(intensity - 2 * m * n / ((m + n) * size)) == 0
    with_write = tr.tile_intensity_with_write(
        tile_m=m, tile_n=n, depth=k, element_bytes=size, result_bytes=size
    )
    assert sympy.simplify(sympy.limit(with_write, k, sympy.oo) - intensity) == 0
    assert sympy.simplify(with_write.subs({m: k, n: k, size: 4}) - k / sympy.Integer(6)) == 0
    assert tr.sharing_factor(rows=m, columns=m).equals(m)
    assert tr.tile_steps(depth=m, tile_k=n) == sympy.ceiling(m / n)
    assert tr.warp_groups(threads=m, warps_per_group=n, warp_width=k).equals(m / (n * k))
    side = tr.smallest_square_tile(target_intensity=k, element_bytes=size)
    assert side.subs({k: 100, size: 4}) == 400


LAWS: list[tuple[Callable[..., Any], dict[str, float]]] = [
    (tr.product_flop, {"rows": 2, "columns": 2, "depth": 2}),
    (tr.operand_bytes, {"rows": 2, "columns": 2, "depth": 2, "element_bytes": 4}),
    (tr.tile_intensity, {"tile_m": 8, "tile_n": 8, "element_bytes": 4}),
    (
        tr.tile_intensity_with_write,
        {"tile_m": 8, "tile_n": 8, "depth": 8, "element_bytes": 4},
    ),
    (tr.shape_efficiency, {"tile_m": 8, "tile_n": 8}),
    (tr.smallest_square_tile, {"target_intensity": 100, "element_bytes": 4}),
    (tr.sharing_factor, {"rows": 8, "columns": 8}),
    (tr.tile_steps, {"depth": 512, "tile_k": 16}),
    (tr.tile_barriers, {"depth": 512, "tile_k": 16}),
    (
        tr.product_shared_bytes,
        {"tile_m": 16, "tile_n": 16, "tile_k": 16, "element_bytes": 4, "buffers": 2},
    ),
    (
        tr.attention_shared_bytes,
        {
            "rows_q": 256,
            "rows_kv": 128,
            "head_dim": 128,
            "element_bytes": 2,
            "k_buffers": 1,
            "v_buffers": 1,
        },
    ),
    (tr.attention_kv_intensity, {"rows_q": 256, "element_bytes": 2}),
    (tr.attention_score_bytes, {"queries": 8, "keys": 8, "element_bytes": 2}),
    (
        tr.attention_input_output_bytes,
        {"queries": 8, "keys": 8, "head_dim": 4, "element_bytes": 2},
    ),
    (tr.warp_groups, {"threads": 512, "warps_per_group": 4, "warp_width": 32}),
    (tr.rows_per_warp_group, {"rows": 256, "groups": 4}),
    (
        tr.cached_vector,
        {"depth": 4096, "tile_v": 512, "rows_per_block": 8, "element_bytes": 4},
    ),
]
DEFAULTS: dict[Callable[..., Any], dict[str, float]] = {
    tr.tile_intensity_with_write: {"result_bytes": 4},
    tr.tile_barriers: {"barriers_per_step": 2},
}


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "8", True, None])
@pytest.mark.parametrize(
    ("law", "arguments", "name"),
    [(law, arguments, name) for law, arguments in LAWS for name in arguments],
)
def test_a_quantity_that_cannot_be_is_refused(
    law: Callable[..., Any], arguments: dict[str, float], name: str, bad: object
) -> None:
    with pytest.raises(ArgumentError, match=rf"^{name} is {bad!r}: it must be"):
        law(**{**arguments, **DEFAULTS.get(law, {}), name: bad})


def test_what_may_be_zero_may_not_be_negative() -> None:
    assert tr.tile_barriers(depth=4, tile_k=2, barriers_per_step=0) == 0
    with pytest.raises(ArgumentError, match="barriers_per_step is -1"):
        tr.tile_barriers(depth=4, tile_k=2, barriers_per_step=-1)
    with pytest.raises(ArgumentError, match="result_bytes is -4"):
        tr.tile_intensity_with_write(tile_m=1, tile_n=1, depth=1, element_bytes=4, result_bytes=-4)


def test_a_division_that_leaves_something_is_refused() -> None:
    with pytest.raises(ArgumentError, match="threads is 500: it must be a multiple of 128"):
        tr.warp_groups(threads=500, warps_per_group=4, warp_width=32)
    with pytest.raises(ArgumentError, match="it must be a multiple of 4"):
        tr.rows_per_warp_group(rows=np.array([8, 9]), groups=4)
    with pytest.raises(ArgumentError, match=r"rows is 2\.5: it must be a whole number"):
        tr.sharing_factor(rows=2.5, columns=2)
