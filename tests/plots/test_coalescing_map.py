"""The map of lines: what is used and moved, counted by hand, and how it is drawn."""

from collections.abc import Callable
from typing import Any

import pytest
from matplotlib.figure import Figure

from perfmodel import coalescing, load_device
from perfmodel.plots.coalescing_map import (
    MOST_LINES,
    NOT_MOVED,
    UNUSED,
    USED,
    CoalescingMap,
    draw_coalescing_map,
    prepare_coalescing_map,
)


def line_map(device: str, index: str, element_bytes: int = 4, **given: Any) -> CoalescingMap:
    return prepare_coalescing_map(
        coalescing(load_device(device), index=index, element_bytes=element_bytes, **given)
    )


def test_consecutive_lanes_use_a_whole_line() -> None:
    plot = line_map("h200", "threadIdx.x")
    assert plot.line_addresses == (0,)
    assert plot.states.tolist() == [[USED] * 32]
    assert [element.text for element in plot.elements] == [str(lane) for lane in range(32)]
    assert plot.title == "4-byte load on h200: 1 line, 4 sectors, 1 request, 100 % used"


def test_a_stride_moves_what_is_not_used() -> None:
    plot = line_map("h200", "threadIdx.x * 4")
    assert plot.states.tolist() == [[USED, UNUSED, UNUSED, UNUSED] * 8] * 4
    assert "25 % used" in plot.title


def test_sectors_that_are_not_touched_are_not_moved() -> None:
    plot = line_map("h200", "threadIdx.x * 32")
    assert plot.line_addresses == tuple(range(0, 4096, 128))
    assert plot.states[5].tolist() == [USED, *[UNUSED] * 7, *[NOT_MOVED] * 24]
    whole = line_map("s5000", "threadIdx.x * 32")
    assert whole.states[5].tolist() == [USED, *[UNUSED] * 31]


def test_an_unaligned_base_splits_an_element_over_two_lines() -> None:
    plot = line_map("h200", "threadIdx.x", base_bytes=2)
    assert (plot.cell_bytes, plot.aligned) == (2, False)
    assert plot.states[0, :3].tolist() == [UNUSED, USED, USED]
    assert plot.states[1].tolist() == [USED, *[UNUSED] * 15, *[NOT_MOVED] * 48]
    first, last = plot.elements[0], plot.elements[-1]
    assert (first.row, first.start, first.end, first.text) == (0, 2, 6, "0")
    assert (last.row, last.start, last.end, last.text) == (1, 0, 2, "31")


def test_lanes_that_read_the_same_share_a_cell() -> None:
    plot = line_map("h200", "0")
    assert [element.text for element in plot.elements] == ["0-31"]
    assert plot.states.tolist() == [[USED, *[UNUSED] * 7, *[NOT_MOVED] * 24]]


def test_elements_that_overlap_are_named_once() -> None:
    plot = line_map("h200", "threadIdx.x", element_bytes=4, active=2)
    assert len(plot.elements) == 2
    result = coalescing(load_device("h200"), index=[0, 1], element_bytes=4)
    object.__setattr__(result, "addresses", result.addresses // 2)  # bytes 0 to 3 and 2 to 5
    overlapping = prepare_coalescing_map(result)
    assert [element.text for element in overlapping.elements] == ["0"]
    assert overlapping.states[0, :4].tolist() == [USED, USED, USED, UNUSED]


def test_lines_beyond_what_is_drawn_are_counted() -> None:
    plot = line_map("dcu", "threadIdx.x * 32")
    assert len(plot.line_addresses) == MOST_LINES
    assert plot.more_lines == 64 - MOST_LINES


def test_lanes_that_take_no_part_are_left_out() -> None:
    plot = line_map("h200", "threadIdx.x", active="threadIdx.x == 3")
    assert [element.text for element in plot.elements] == ["3"]
    assert line_map("h200", "threadIdx.x", active=0).line_addresses == ()


@pytest.mark.parametrize("device", ["s5000", "dcu", "h200"])
@pytest.mark.parametrize("index", ["threadIdx.x", "threadIdx.x * 2", "threadIdx.x / 3 + 7"])
@pytest.mark.parametrize("element_bytes", [1, 4, 16])
@pytest.mark.parametrize("base_bytes", [0, 1])
def test_cells_add_up_to_the_bytes_of_the_law(
    device: str, index: str, element_bytes: int, base_bytes: int
) -> None:
    result = coalescing(
        load_device(device), index=index, element_bytes=element_bytes, base_bytes=base_bytes
    )
    plot = prepare_coalescing_map(result)
    assert plot.more_lines == 0
    assert len(plot.line_addresses) == result.lines
    assert (plot.states == USED).sum() * plot.cell_bytes == result.bytes_used
    assert (plot.states != NOT_MOVED).sum() * plot.cell_bytes == result.bytes_moved


@pytest.mark.parametrize("device", ["s5000", "dcu", "h200"])
@pytest.mark.parametrize(
    ("index", "element_bytes", "given"),
    [
        ("threadIdx.x", 4, {}),
        ("threadIdx.x * 4", 4, {}),
        ("threadIdx.x * 32", 4, {}),
        ("threadIdx.x", 16, {}),
        ("threadIdx.x", 1, {}),
        ("0", 4, {}),
        ("threadIdx.x", 4, {"base_bytes": 2}),
        ("threadIdx.x * 1024", 4, {"base_bytes": 1 << 40}),
        ("threadIdx.x", 4, {"active": 0}),
    ],
)
def test_the_drawing_can_be_read(
    device: str,
    index: str,
    element_bytes: int,
    given: dict[str, Any],
    assert_readable: Callable[[Figure], None],
) -> None:
    plot = line_map(device, index, element_bytes, **given)
    figure = draw_coalescing_map(plot)
    (axes,) = figure.axes
    assert axes.get_xlabel() == "byte offset in the line"
    assert axes.get_xlim() == (0, plot.line_bytes)
    assert_readable(figure)


def test_borders_of_sectors_and_lines_left_out_are_shown(
    texts_of: Callable[[Any], list[str]],
) -> None:
    (axes,) = draw_coalescing_map(line_map("h200", "threadIdx.x")).axes
    borders = {line.get_xdata()[0] for line in axes.lines}  # type: ignore[index]
    assert borders == {0, 32, 64, 96, 128}
    (many,) = draw_coalescing_map(line_map("dcu", "threadIdx.x * 32")).axes
    assert "and 24 more lines" in texts_of(many)


def test_cells_have_the_colours_of_their_states() -> None:
    plot = line_map("h200", "threadIdx.x * 32")
    (axes,) = draw_coalescing_map(plot).axes
    mesh = axes.collections[0]
    drawn = mesh.get_array()
    assert drawn is not None
    assert drawn.reshape(plot.states.shape).tolist() == plot.states.tolist()
    assert (mesh.norm.vmin, mesh.norm.vmax) == (-0.5, 2.5)
