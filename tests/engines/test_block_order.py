"""Block orders against laying the strips out by hand, and their reuse against sets."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfmodel.engines import block_order
from perfmodel.errors import ArgumentError

# Claim gemm-swizzle-order: row and column of the 100 blocks in turn, one digit each.
SWIZZLE_10X10 = """
    00 01 02 03 04 05 06 07 17 16 15 14 13 12 11 10 20 21 22 23
    24 25 26 27 37 36 35 34 33 32 31 30 40 41 42 43 44 45 46 47
    57 56 55 54 53 52 51 50 60 61 62 63 64 65 66 67 77 76 75 74
    73 72 71 70 80 81 82 83 84 85 86 87 97 96 95 94 93 92 91 90
    98 99 89 88 78 79 69 68 58 59 49 48 38 39 29 28 18 19 09 08
"""

sizes = st.integers(1, 12)
Cells = list[tuple[int, int]]


def cells(order: Any) -> Cells:
    return [(row, column) for row, column in order.tolist()]


def serpentine_by_hand(rows: int, columns: int, width: int) -> Cells:
    """Lay the strips side by side and walk each of them."""
    visited: Cells = []
    for strip, left in enumerate(range(0, columns, width)):
        walk_down = range(rows) if strip % 2 == 0 else reversed(range(rows))
        for step, row in enumerate(walk_down):
            across = list(range(left, min(left + width, columns)))
            visited += [(row, column) for column in (across if step % 2 == 0 else across[::-1])]
    return visited


def grouped_by_hand(rows: int, columns: int, height: int) -> Cells:
    return [
        (row, column)
        for top in range(0, rows, height)
        for column in range(columns)
        for row in range(top, min(top + height, rows))
    ]


def amplification_by_sets(window: Cells) -> float:
    rows, columns = {row for row, _ in window}, {column for _, column in window}
    return 2 * len(window) / (len(rows) + len(columns))


def test_the_document_s_order() -> None:
    order = block_order.serpentine_order(grid_rows=10, grid_columns=10, strip_width=8)
    assert cells(order) == [(int(cell[0]), int(cell[1])) for cell in SWIZZLE_10X10.split()]


def test_the_document_s_order_gains_six_per_cent() -> None:
    # Claim gemm-swizzle-10x10-reuse.
    swizzled = block_order.serpentine_order(grid_rows=10, grid_columns=10, strip_width=8)
    plain = block_order.row_order(grid_rows=10, grid_columns=10)
    reuse = [
        block_order.windows_amplification(order=order, resident_blocks=64)[0]
        for order in (swizzled, plain)
    ]
    assert reuse == pytest.approx([8.0, 7.5294117647], rel=1e-9)


def test_blocks_in_flight_of_a_wide_grid() -> None:
    # Claims gemm-swizzle-reuse and gemm-linear-reuse.
    plain = block_order.row_order(grid_rows=64, grid_columns=64)
    assert block_order.blocks_amplification(blocks=plain[:64]) == pytest.approx(
        1.9692307692, rel=1e-9
    )
    swizzled = block_order.serpentine_order(grid_rows=64, grid_columns=64, strip_width=8)
    assert block_order.blocks_amplification(blocks=swizzled[:64]) == 8.0


@given(sizes, sizes)
def test_row_order_equals_two_loops(rows: int, columns: int) -> None:
    actual = block_order.row_order(grid_rows=rows, grid_columns=columns)
    assert cells(actual) == [(row, column) for row in range(rows) for column in range(columns)]


@given(sizes, sizes, st.integers(1, 14))
def test_serpentine_equals_walking_the_strips(rows: int, columns: int, width: int) -> None:
    by_columns = block_order.serpentine_order(
        grid_rows=rows, grid_columns=columns, strip_width=width
    )
    assert cells(by_columns) == serpentine_by_hand(rows, columns, width)
    by_rows = block_order.serpentine_order(
        grid_rows=rows, grid_columns=columns, strip_width=width, strips_of_rows=True
    )
    exchanged = serpentine_by_hand(columns, rows, width)
    assert cells(by_rows) == [(row, column) for column, row in exchanged]


@given(sizes, sizes, st.integers(1, 14))
def test_grouped_equals_walking_the_groups(rows: int, columns: int, height: int) -> None:
    actual = block_order.grouped_order(grid_rows=rows, grid_columns=columns, group_rows=height)
    assert cells(actual) == grouped_by_hand(rows, columns, height)


@given(sizes, sizes, st.integers(1, 14), st.booleans())
def test_each_block_is_visited_once(rows: int, columns: int, width: int, exchange: bool) -> None:
    grid = {(row, column) for row in range(rows) for column in range(columns)}
    for order in (
        block_order.row_order(grid_rows=rows, grid_columns=columns),
        block_order.serpentine_order(
            grid_rows=rows, grid_columns=columns, strip_width=width, strips_of_rows=exchange
        ),
        block_order.grouped_order(grid_rows=rows, grid_columns=columns, group_rows=width),
    ):
        assert len(order) == rows * columns
        assert set(cells(order)) == grid


@given(sizes, sizes, st.integers(1, 6))
def test_a_serpentine_steps_to_a_neighbour_inside_a_strip(
    rows: int, columns: int, width: int
) -> None:
    order = block_order.serpentine_order(grid_rows=rows, grid_columns=columns, strip_width=width)
    strip = order[:, 1] // width
    distance = np.abs(np.diff(order, axis=0)).sum(axis=1)
    assert (distance[strip[1:] == strip[:-1]] == 1).all()


@given(sizes, sizes, st.integers(1, 14), st.integers(1, 200))
def test_window_reuse_equals_sets(rows: int, columns: int, width: int, resident: int) -> None:
    order = block_order.serpentine_order(grid_rows=rows, grid_columns=columns, strip_width=width)
    visited = cells(order)
    windows = [visited[i : i + resident] for i in range(0, len(visited), resident)]
    expected = [amplification_by_sets(window) for window in windows]
    actual = block_order.windows_amplification(order=order, resident_blocks=resident)
    np.testing.assert_allclose(actual, expected, rtol=1e-14)
    fetched = sum(2 * len(window) / amplification_by_sets(window) for window in windows)
    whole = block_order.order_amplification(order=order, resident_blocks=resident)
    assert whole == pytest.approx(2 * len(visited) / fetched, rel=1e-12)


@given(st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1))
def test_any_set_of_blocks(blocks: set[tuple[int, int]]) -> None:
    actual = block_order.blocks_amplification(blocks=list(blocks))
    assert actual == pytest.approx(amplification_by_sets(list(blocks)), rel=1e-12)
    assert 1 <= actual <= math.sqrt(len(blocks)) * (1 + 1e-12)  # a full square is the best


def test_a_million_blocks() -> None:
    order = block_order.serpentine_order(grid_rows=1000, grid_columns=1000, strip_width=8)
    reuse = block_order.windows_amplification(order=order, resident_blocks=64)
    assert order.shape == (1_000_000, 2)
    assert reuse.shape == (15625,)
    assert reuse[0] == 8.0
    assert 7.9 < block_order.order_amplification(order=order, resident_blocks=64) <= 8.0


def test_whole_floats_count_as_counts() -> None:
    float_size: Any = 3.0
    order = block_order.grouped_order(
        grid_rows=float_size, grid_columns=float_size, group_rows=float_size
    )
    assert order.dtype == np.int64
    assert cells(order) == grouped_by_hand(3, 3, 3)
    reuse = block_order.windows_amplification(order=order.astype(float), resident_blocks=float_size)
    assert reuse.tolist() == [1.5, 1.5, 1.5]


ORDERS: list[tuple[Callable[..., Any], dict[str, int]]] = [
    (block_order.row_order, {"grid_rows": 2, "grid_columns": 2}),
    (block_order.serpentine_order, {"grid_rows": 2, "grid_columns": 2, "strip_width": 2}),
    (block_order.grouped_order, {"grid_rows": 2, "grid_columns": 2, "group_rows": 2}),
]


@pytest.mark.parametrize("bad", [0, -1, 1.5, math.nan, math.inf, "8", True, None])
@pytest.mark.parametrize(
    ("order", "arguments", "name"),
    [(order, arguments, name) for order, arguments in ORDERS for name in arguments],
)
def test_a_size_that_cannot_be_is_refused(
    order: Callable[..., Any], arguments: dict[str, int], name: str, bad: object
) -> None:
    with pytest.raises(ArgumentError, match=rf"^{name} is {bad!r}: it must be"):
        order(**{**arguments, name: bad})


@pytest.mark.parametrize("bad", [0, -1, 1.5, math.nan, "8", True])
def test_a_window_that_cannot_be_is_refused(bad: Any) -> None:
    with pytest.raises(ArgumentError, match="resident_blocks is"):
        block_order.windows_amplification(order=[(0, 0)], resident_blocks=bad)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([], "of at least one"),
        ([1, 2], "of at least one"),
        ([(1, 2, 3)], "of at least one"),
        ([(True, False)], "the blocks are bool"),
        ([(1,), (2, 3)], "not all pairs"),
        ([(0, -1)], "a block row or column is -1"),
        ([(0.5, 1.0)], r"a block row or column is 0\.5"),
        ([(math.nan, 1.0)], "a block row or column is nan"),
        ([("0", "1")], "must hold numbers"),
        ([(0, 1), (0, 1)], "name one of them twice"),
    ],
)
def test_blocks_that_cannot_be_are_refused(blocks: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        block_order.blocks_amplification(blocks=blocks)
