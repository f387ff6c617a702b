"""The figure of a ladder."""

from __future__ import annotations

import itertools

import pytest

from perfmodel import ladder, load_device
from perfmodel.plots.ladder import MOST_BOUNDS, draw_ladder, prepare_ladder


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
    assert prepared.peak_name == "fp32"


def test_a_tensor_rung_is_held_against_the_tensor_peak() -> None:
    (prepared,) = prepare_ladder([ladder("gemm", load_device("h200"), ranges=False)])
    assert prepared.peak_name == "tensor_fp16"
    assert prepared.peak_flop_per_s == pytest.approx(989.4e12)


def test_labels_do_not_collide() -> None:
    figure = draw_ladder(
        prepare_ladder([ladder("softmax", load_device(name)) for name in ("dcu", "h200")])
    )
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    for axes in figure.axes[::2]:  # the bars
        boxes = [text.get_window_extent(renderer) for text in axes.texts]
        right = figure.axes[figure.axes.index(axes) + 1].get_tightbbox(renderer)
        assert right is not None
        assert all(box.x1 < right.x0 for box in boxes)
        ticks = [label.get_window_extent(renderer) for label in axes.get_xticklabels()]
        shown = sorted((box for box in ticks if box.width), key=lambda box: box.x0)
        assert all(left.x1 <= after.x0 for left, after in itertools.pairwise(shown))
