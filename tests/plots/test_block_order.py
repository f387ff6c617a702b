"""The map of the grid: numbers, outline and counts by hand, and how it is drawn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from perfmodel.engines.block_order import (
    blocks_amplification,
    grouped_order,
    row_order,
    serpentine_order,
)
from perfmodel.errors import ArgumentError
from perfmodel.plots.block_order import draw_block_order, prepare_block_order


def test_numbers_lie_where_the_order_visits() -> None:
    plot = prepare_block_order(np.array([(1, 0), (0, 0), (0, 1)]), 2, 2, "an order", 2)
    assert plot.numbers.tolist() == [[1, 2], [0, -1]]
    assert plot.path.tolist() == [[0, 1], [0, 0], [1, 0]]
    assert plot.resident.tolist() == [[True, False], [True, False]]
    assert plot.title == "an order: the first 2 blocks touch 2 rows and 1 column"


def test_the_outline_goes_round_the_resident_blocks() -> None:
    plot = prepare_block_order(row_order(grid_rows=2, grid_columns=2), 2, 2, "rows", 1)
    assert set(plot.outline) == {
        ((-0.5, -0.5), (-0.5, 0.5)),
        ((0.5, -0.5), (0.5, 0.5)),
        ((-0.5, -0.5), (0.5, -0.5)),
        ((-0.5, 0.5), (0.5, 0.5)),
    }
    assert plot.title == "rows: the first block touches 1 row and 1 column"


@pytest.mark.parametrize("resident", [1, 5, 16, 60, 1000])
def test_the_counts_are_those_of_the_amplification(resident: int) -> None:
    order = serpentine_order(grid_rows=12, grid_columns=9, strip_width=4)
    plot = prepare_block_order(order, 12, 9, "serpentine", resident)
    first = min(resident, 108)
    rows, columns = plot.resident.any(axis=1).sum(), plot.resident.any(axis=0).sum()
    assert plot.resident.sum() == first
    assert 2 * first / (rows + columns) == blocks_amplification(blocks=order[:first])
    assert f"share {rows + columns} operand strips" in plot.subtitle


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (np.array([(0, 2)]), "leaves the grid of 2 x 2"),
        (np.array([(-1, 0)]), "leaves the grid"),
        (np.array([(0, 0), (0, 0)]), "visits a block twice"),
        (np.array([0, 1]), "shape"),
        (np.array([(0.5, 0.0)]), "float64"),
        (np.empty((0, 2), dtype=int), "at least one"),
    ],
)
def test_what_is_no_order_is_refused(order: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        prepare_block_order(order, 2, 2, "an order", 1)


def test_a_resident_count_below_one_is_refused() -> None:
    with pytest.raises(ArgumentError, match="resident_blocks is 0"):
        prepare_block_order(row_order(grid_rows=1, grid_columns=1), 1, 1, "rows", 0)


@pytest.mark.parametrize(
    ("rows", "columns"), [(1, 1), (1, 3), (8, 8), (24, 2), (24, 24), (64, 100), (3, 40)]
)
def test_the_drawing_can_be_read(
    rows: int, columns: int, assert_readable: Callable[[Figure], None]
) -> None:
    order = grouped_order(grid_rows=rows, grid_columns=columns, group_rows=4)
    figure = draw_block_order(prepare_block_order(order, rows, columns, "groups of 4 rows", 56))
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("block column", "block row")
    assert axes.get_xlim() == (-0.5, columns - 0.5)
    assert axes.get_ylim() == (rows - 0.5, -0.5)
    assert_readable(figure)


def test_steps_and_jumps_are_drawn_apart(texts_of: Callable[[Any], list[str]]) -> None:
    plot = prepare_block_order(row_order(grid_rows=2, grid_columns=3), 2, 3, "rows", 2)
    axes = draw_block_order(plot).axes[0]
    lines = {line.get_label(): line.get_xydata() for line in axes.lines}
    jumps = np.asarray(lines["jumps"])
    assert jumps[:2].tolist() == [[2, 0], [0, 1]]
    assert np.isnan(jumps[2]).all()
    steps = np.asarray(lines["path"]).reshape(-1, 3, 2)[:, :2]
    assert steps.tolist() == [
        [[0, 0], [1, 0]], [[1, 0], [2, 0]], [[0, 1], [1, 1]], [[1, 1], [2, 1]]
    ]  # fmt: skip
    (outline,) = (c for c in axes.collections if isinstance(c, LineCollection))
    assert len(outline.get_segments()) == len(plot.outline) == 6
    assert {"0", "5"} <= set(texts_of(axes))


def test_a_large_grid_has_no_numbers(texts_of: Callable[[Any], list[str]]) -> None:
    order = row_order(grid_rows=25, grid_columns=25)
    plot = prepare_block_order(order, 25, 25, "rows", 30)
    assert not plot.numbered
    assert "624" not in texts_of(draw_block_order(plot).axes[0])
    assert prepare_block_order(order[:1], 24, 24, "rows", 1).numbered
