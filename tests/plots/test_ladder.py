"""The figure of a ladder."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from perfmodel import ladder, load_device
from perfmodel.plots.ladder import FAMILIES, MOST_BOUNDS, draw_ladder, prepare_ladder
from perfmodel.scheduler.costs import PIPES
from perfmodel.scheduler.evaluation import BOUNDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from perfmodel.plots.ladder import Bar


def test_bars_hold_times_and_their_greatest_bounds() -> None:
    (prepared,) = prepare_ladder([ladder("gemv", load_device("s5000"))])
    assert [bar.label for bar in prepared.bars] == [
        "thread per row",
        "warp per row",
        "vector loads",
        "cached vector",
    ]
    for bar in prepared.bars:
        assert len(bar.bounds) == MOST_BOUNDS
        assert bar.low_s <= bar.time_s <= bar.high_s
        assert bar.bounds[0][1] <= bar.time_s
    assert set(prepared.peaks_flop_per_s) == {"fp32"}


def test_every_bound_but_the_pipes_has_a_family_of_its_own_colour() -> None:
    assert set(FAMILIES) == {*BOUNDS, "kernel_launch"} - set(PIPES)


def test_a_tensor_rung_is_held_against_the_tensor_peak() -> None:
    (prepared,) = prepare_ladder([ladder("gemm", load_device("h200"), ranges=False)])
    assert prepared.peaks_flop_per_s["tensor_fp16"] == pytest.approx(989.4e12)
    assert "tensor: type=fp16; the other rungs: type=fp32" in prepared.subtitle


@pytest.mark.parametrize(
    ("kernel", "device"),
    [("softmax", "dcu"), ("reduce", "s5000"), ("gemm", "h200"), ("attention", "dcu")],
)
def test_labels_do_not_collide(
    kernel: str, device: str, assert_readable: Callable[[Figure], None]
) -> None:
    steps = ladder(kernel, load_device(device), alternatives=True)
    assert_readable(draw_ladder(prepare_ladder([steps])))


def test_a_range_of_little_more_than_a_decade_has_plain_ticks(
    texts_of: Callable[[Figure], list[str]],
) -> None:
    steps = ladder("attention", load_device("dcu"), ranges=False)
    figure = draw_ladder(prepare_ladder([steps]))
    figure.canvas.draw()
    texts = texts_of(figure)
    assert not [each for each in texts if "$" in each]
    assert {"2 T", "5 T", "10 T"} <= set(texts)


def test_no_label_lies_on_a_bar() -> None:
    """A label begins where its own bar ends, in a slot that no other bar or line reaches."""
    figure = draw_ladder(prepare_ladder([ladder("gemm", load_device("s5000"))]))
    figure.canvas.draw()
    axes = figure.axes[0]
    bars = [patch.get_window_extent() for patch in axes.patches]
    names = {name for bar in prepare_bars("gemm") for name, _ in bar.bounds}
    labels = [text for text in axes.texts if text.get_text() in names]
    assert len(labels) == MOST_BOUNDS * 7
    for label in labels:
        box = label.get_window_extent()
        middle = (box.y0 + box.y1) / 2
        assert not any(bar.y0 < middle < bar.y1 and bar.x1 > box.x0 for bar in bars)


def prepare_bars(kernel: str) -> tuple[Bar, ...]:
    (prepared,) = prepare_ladder([ladder(kernel, load_device("s5000"), ranges=False)])
    return prepared.bars


def test_only_the_steps_of_the_ladder_are_connected() -> None:
    steps = ladder("softmax", load_device("s5000"), alternatives=True, ranges=False)
    figure = draw_ladder(prepare_ladder([steps]))
    lines = {line.get_label(): line for line in figure.axes[1].lines}
    walk, others = lines["steps of the ladder"], lines["alternatives"]
    assert len(walk.get_xdata()) == 5  # type: ignore[arg-type]
    assert others.get_linestyle() == "None"
    assert len(others.get_xdata()) == 5  # type: ignore[arg-type]  # packed_as_printed is no point


def test_what_is_left_out_is_said(texts_of: Callable[[Figure], list[str]]) -> None:
    steps = ladder("gemm", load_device("s5000"), parameters={"bm": 64}, ranges=False)
    (prepared,) = prepare_ladder([steps])
    assert "tensor" not in [bar.label for bar in prepared.bars]
    texts = texts_of(draw_ladder([prepared]))
    assert any(each.startswith("left out: tensor: ") for each in texts)


def test_a_device_of_ones_own_needs_no_file_by_its_name() -> None:
    own = replace(load_device("s5000").what_if(clock="1.6 GHz"), device="of_mine")
    (prepared,) = prepare_ladder([ladder("vecadd", own, ranges=False)])
    assert prepared.title == "vecadd on of_mine"
