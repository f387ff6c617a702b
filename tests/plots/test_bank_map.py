"""The map of banks: what is in which cell, counted by hand, and how it is drawn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from perfmodel import bank_conflicts, load_device
from perfmodel.plots.bank_map import BankMap, draw_bank_map, prepare_bank_map


def bank_map(device: str, index: str, element_bytes: int = 4, **given: Any) -> BankMap:
    return prepare_bank_map(
        bank_conflicts(load_device(device), index=index, element_bytes=element_bytes, **given)
    )


def test_consecutive_lanes_take_a_bank_each() -> None:
    plot = bank_map("s5000", "threadIdx.x")
    assert plot.texts == (tuple(str(lane) for lane in range(32)),)
    assert plot.degree.tolist() == [[1] * 32]
    assert plot.title == "4-byte load on s5000: 1 pass, no conflict"
    assert (plot.groups, plot.group_rows) == (("0-31",), (1,))


def test_a_column_lies_in_one_bank() -> None:
    plot = bank_map("s5000", "threadIdx.x * 32")
    assert [row[0] for row in plot.texts] == [str(lane) for lane in range(32)]
    assert (plot.degree[:, 0] == 32).all()
    assert not plot.degree[:, 1:].any()
    assert plot.title == "4-byte load on s5000: 32 passes, ideal 1"
    assert "at most 32 words of a bank (bank 0)" in plot.subtitle


def test_a_stride_of_two_leaves_every_other_bank_idle() -> None:
    plot = bank_map("h200", "threadIdx.x * 2")
    assert plot.degree.tolist() == [[2, 0] * 16] * 2
    assert plot.texts[0][::2] == tuple(str(lane) for lane in range(16))
    assert plot.texts[1][::2] == tuple(str(lane) for lane in range(16, 32))


def test_a_broadcast_is_one_cell() -> None:
    plot = bank_map("s5000", "0")
    assert plot.texts[0][0] == "0-31"
    assert plot.degree.sum() == 1


def test_wide_elements_take_four_banks_each() -> None:
    plot = bank_map("s5000", "threadIdx.x", element_bytes=16)
    assert plot.group_rows == (1, 1, 1, 1)
    assert plot.groups == ("0-7", "8-15", "16-23", "24-31")
    assert plot.texts[1][:5] == ("8", "8", "8", "8", "9")
    assert (plot.degree == 1).all()


def test_narrow_elements_share_a_word() -> None:
    plot = bank_map("s5000", "threadIdx.x", element_bytes=2)
    assert plot.texts[0][:2] == ("0-1", "2-3")
    assert plot.degree.sum() == 16


def test_groups_that_are_not_consecutive_keep_their_order() -> None:
    plot = bank_map("dcu", "threadIdx.x", element_bytes=16)
    assert plot.groups[:2] == ("0-3, 20-23", "32-35, 52-55")
    assert plot.texts[0][::4] == ("0", "1", "2", "3", "20", "21", "22", "23")


def test_lanes_that_take_no_part_are_left_out() -> None:
    plot = bank_map("dcu", "threadIdx.x", active=3)
    assert plot.texts == (("0", "1", "2", *[""] * 29),)
    nobody = bank_map("dcu", "threadIdx.x", active=0)
    assert nobody.degree.shape == (0, 32)
    assert nobody.subtitle == "no lane takes part"


@pytest.mark.parametrize("device", ["s5000", "dcu", "h200"])
@pytest.mark.parametrize("element_bytes", [1, 4, 8, 16])
@pytest.mark.parametrize("index", ["threadIdx.x * 5", "threadIdx.x * 32", "threadIdx.x / 3"])
def test_rows_are_the_passes_of_the_law(device: str, element_bytes: int, index: str) -> None:
    result = bank_conflicts(load_device(device), index=index, element_bytes=element_bytes)
    plot = prepare_bank_map(result)
    assert len(plot.degree) == len(plot.texts) == sum(plot.group_rows) == result.passes
    assert plot.degree.max() == result.worst_degree
    filled = np.array([[bool(text) for text in row] for row in plot.texts])
    assert (filled == (plot.degree > 0)).all()


@pytest.mark.parametrize("device", ["s5000", "dcu"])
@pytest.mark.parametrize(
    ("index", "element_bytes"),
    [
        ("threadIdx.x", 4),
        ("threadIdx.x * 32", 4),
        ("threadIdx.x * 2", 4),
        ("0", 4),
        ("threadIdx.x", 16),
        ("threadIdx.x * 8", 16),
        ("threadIdx.x", 1),
    ],
)
def test_the_drawing_can_be_read(
    device: str,
    index: str,
    element_bytes: int,
    assert_readable: Callable[[Figure], None],
) -> None:
    plot = bank_map(device, index, element_bytes)
    figure = draw_bank_map(plot)
    axes = figure.axes[0]
    assert axes.get_xlabel() == "bank"
    assert axes.get_xlim() == (0, 32)
    assert axes.get_ylim() == (len(plot.degree), 0)
    assert_readable(figure)


def test_cells_are_coloured_by_degree_and_hold_the_lanes(
    texts_of: Callable[[Any], list[str]],
) -> None:
    plot = bank_map("s5000", "threadIdx.x * 2")
    figure = draw_bank_map(plot)
    axes, bar = figure.axes
    (mesh,) = axes.collections
    drawn = mesh.get_array()
    assert drawn is not None
    assert np.ma.filled(drawn, 0).reshape(plot.degree.shape).tolist() == plot.degree.tolist()
    assert mesh.norm.vmin == 1
    texts = texts_of(axes)
    assert {"0", "15", "31", "lanes 0-31", "pass"} <= set(texts)
    assert "words the group wants of the bank" in texts_of(bar)


def test_a_map_without_lanes_is_drawn_empty(assert_readable: Callable[[Figure], None]) -> None:
    figure = draw_bank_map(bank_map("s5000", "threadIdx.x", active=0))
    assert not figure.axes[0].collections
    assert_readable(figure)


def test_too_many_passes_leave_the_text_out(texts_of: Callable[[Any], list[str]]) -> None:
    rows = 300
    plot = BankMap(
        title="t",
        subtitle="s",
        degree=np.full((rows, 32), 9, dtype=np.int64),
        texts=(("12-34",) * 32,) * rows,
        groups=("0-31",),
        group_rows=(rows,),
    )
    figure = draw_bank_map(plot)
    assert figure.get_figheight() < 15
    assert "12-34" not in texts_of(figure.axes[0])
