"""The roofline: lines, bands and points by value, labels that do not collide."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from perfmodel import device_names, load_device
from perfmodel.analyses.roofline import roofline, roofline_of_amounts
from perfmodel.errors import ArgumentError
from perfmodel.plots.roofline import RooflinePlot, draw_roofline, prepare_roofline
from perfmodel.results import Ceiling, RooflinePoint, RooflineResult


def ceiling(name: str, kind: str, *ends: float, nominal: bool = True) -> Ceiling:
    value, low, high = ends if len(ends) == 3 else ends * 3
    return Ceiling(name=name, kind=kind, value=value, low=low, high=high, nominal=nominal)


def point(level: str, bandwidth: float, moved: float) -> RooflinePoint:
    intensity, ridge = 1e9 / moved, 1e13 / bandwidth
    return RooflinePoint(
        level=level,
        bytes=moved,
        intensity_flop_per_byte=intensity,
        ridge_flop_per_byte=ridge,
        attainable_flop_per_s=min(1e13, intensity * bandwidth),
        share_of_peak=min(1, intensity / ridge),
        bound="memory" if intensity < ridge else "compute",
        time_s=max(moved / bandwidth, 1e-4),
    )


def by_hand(**changed: Any) -> RooflineResult:
    """1 GFLOP over 2 GB at 1 TB/s under a peak of 10 TFLOP/s."""
    result = RooflineResult(
        device="one",
        kernel="sum",
        parameters={"n": 4},
        pipe="fp32",
        flop=1e9,
        bytes_requested=4e9,
        bytes_compulsory=2e9,
        peak_flop_per_s=1e13,
        ceilings=(
            ceiling("dram", "memory", 1e12, 0.8e12, 1.25e12),
            ceiling("dram (achievable)", "memory", 0.9e12, nominal=False),
            ceiling("l2", "memory", 4e12),
            ceiling("l1", "memory", 2e13),
            ceiling("shared", "memory", 2e13),
            ceiling("fp32", "compute", 1e13, 1e13, 2e13),
            ceiling("tensor_fp16", "compute", 1e14),
            ceiling("tensor_bf16", "compute", 1e14),
            ceiling("fp32 (achievable)", "compute", 9e12, nominal=False),
        ),
        points=(
            point("dram", 1e12, 2e9),
            point("dram (achievable)", 0.9e12, 2e9),
            point("l2", 4e12, 2e9),
            point("l1", 2e13, 4e9),
        ),
        limiter="dram",
        least_time_s=2e-3,
        least_time_range_s=(1.6e-3, 2.5e-3),
        kernel_launch_s=2e-6,
    )
    return replace(result, **changed)


def lines_by_label(plot: RooflinePlot) -> dict[str, Any]:
    return {line.label: line for line in plot.lines}


def test_the_title_names_the_limit_and_the_subtitle_the_range() -> None:
    plot = prepare_roofline([by_hand()])
    assert plot.title == "sum on one: bound by dram, at least 2 ms"
    assert plot.subtitle == "n 4, least time over the device's ranges 1.6 ms .. 2.5 ms"


def test_ceilings_of_one_value_are_one_line() -> None:
    lines = lines_by_label(prepare_roofline([by_hand()]))
    assert list(lines) == [
        "dram 1 TB/s",
        "dram (achievable) 900 GB/s",
        "l2 4 TB/s",
        "l1, shared 20 TB/s",
        "fp32 10 TFLOP/s",
        "tensor_fp16/bf16 100 TFLOP/s",
        "fp32 (achievable) 9 TFLOP/s",
    ]
    assert not lines["dram (achievable) 900 GB/s"].nominal
    assert [label for label, line in lines.items() if line.emphasised] == [
        "dram 1 TB/s",
        "dram (achievable) 900 GB/s",
        "fp32 10 TFLOP/s",
        "fp32 (achievable) 9 TFLOP/s",
    ]


def test_slopes_end_at_the_highest_peak_and_peaks_begin_at_the_steepest_slope() -> None:
    plot = prepare_roofline([by_hand()])
    lines = lines_by_label(plot)
    left, right = plot.intensity_limits
    assert lines["dram 1 TB/s"].intensity == pytest.approx((left, 100))
    assert lines["dram 1 TB/s"].performance == pytest.approx((left * 1e12, 1e14))
    assert lines["fp32 10 TFLOP/s"].intensity == pytest.approx((0.5, right))
    assert lines["fp32 10 TFLOP/s"].performance == (1e13, 1e13)


def test_ranges_are_bands() -> None:
    dram, fp32 = prepare_roofline([by_hand()]).bands
    assert dram.intensity[1:] == pytest.approx((80, 125))
    assert dram.low[1:] == pytest.approx((6.4e13, 1e14))
    assert dram.high[1:] == pytest.approx((1e14, 1e14))
    assert fp32.intensity[:2] == pytest.approx((0.5, 1))
    assert fp32.low == pytest.approx((1e13, 1e13, 1e13))
    assert fp32.high == pytest.approx((1e13, 2e13, 2e13))


def test_points_are_dram_and_l1() -> None:
    dram, l1 = prepare_roofline([by_hand()]).marks
    assert (dram.intensity, dram.performance) == (0.5, 0.5e12)
    assert dram.label == "dram: 0.5 FLOP/B\n500 GFLOP/s"
    assert dram.legend == "at dram, compulsory bytes"
    assert (l1.intensity, l1.performance) == (0.25, 5e12)
    assert l1.legend == "at l1, requested bytes"


def test_the_limits_hold_every_line_and_point() -> None:
    for device in device_names():
        plot = prepare_roofline([roofline(load_device(device), kernel="gemm")])
        for mark in plot.marks:
            assert plot.intensity_limits[0] * 10 < mark.intensity < plot.intensity_limits[1] / 10
            assert plot.performance_limits[0] * 10 < mark.performance
        for line in plot.lines:
            assert line.intensity[0] < line.intensity[1] <= plot.intensity_limits[1]
            assert line.performance[1] < plot.performance_limits[1]


def test_several_results_are_overlaid() -> None:
    results = [roofline(load_device(name), kernel="gemv") for name in ("s5000", "dcu", "h200")]
    plot = prepare_roofline(results)
    assert plot.title == "gemv on s5000, dcu, h200"
    assert [line.series for line in plot.lines] == [0, 0, 1, 1, 2, 2]
    assert [mark.intensity for mark in plot.marks] == pytest.approx([0.4998] * 3, abs=1e-4)
    assert plot.marks[2].legend == "h200 (dram 4.8 TB/s): bound by dram, at least 13.99 us"
    assert {line.label for line in plot.lines} >= {"s5000 dram 1.6 TB/s", "h200 fp32 66.9 TFLOP/s"}


def test_results_of_one_device_are_told_apart() -> None:
    s5000 = load_device("s5000")
    two = prepare_roofline([roofline(s5000, kernel=name) for name in ("gemv", "gemm")])
    assert two.lines[0].label.startswith("gemv on s5000 dram")
    same = prepare_roofline([roofline(s5000, kernel="gemv")] * 2)
    assert same.lines[2].label.startswith("2: gemv on s5000 dram")
    pipes = prepare_roofline(
        [roofline(s5000, kernel="gemm", pipe=pipe) for pipe in ("fp32", "tensor_fp16")]
    )
    assert pipes.lines[2].label.startswith("gemm (tensor_fp16) on s5000")


def test_no_result_is_refused() -> None:
    with pytest.raises(ArgumentError, match="at least one"):
        prepare_roofline([])


def test_work_without_flop_has_ceilings_and_no_point(
    assert_readable: Callable[[Figure], None],
) -> None:
    result = roofline_of_amounts(
        load_device("s5000"),
        name="copy",
        pipe="fp32",
        flop=0,
        bytes_compulsory=1e9,
        bytes_requested=1e9,
    )
    plot = prepare_roofline([result])
    assert plot.marks == ()
    assert plot.subtitle.endswith("no floating-point operations, so no point")
    assert_readable(draw_roofline(plot))
    assert_readable(draw_roofline(prepare_roofline([result, result])))


def test_what_is_on_the_axes() -> None:
    plot = prepare_roofline([by_hand()])
    (axes,) = draw_roofline(plot).axes
    assert axes.get_xlabel() == "operational intensity (FLOP/byte)"
    assert axes.get_ylabel() == "performance (FLOP/s)"
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.get_xlim() == pytest.approx(plot.intensity_limits)
    assert axes.get_ylim() == pytest.approx(plot.performance_limits)
    drawn = {line.get_label(): line for line in axes.lines}
    for line in plot.lines:
        assert np.asarray(drawn[line.label].get_xdata()) == pytest.approx(line.intensity)
        assert np.asarray(drawn[line.label].get_ydata()) == pytest.approx(line.performance)
        assert (drawn[line.label].get_linestyle() == "-") == line.nominal
    for mark in plot.marks:
        assert np.asarray(drawn[mark.legend].get_xydata()).tolist() == [
            [mark.intensity, mark.performance]
        ]
    assert len(axes.collections) == len(plot.bands)


def test_ticks_have_prefixes() -> None:
    figure = draw_roofline(prepare_roofline([by_hand()]))
    figure.canvas.draw()
    (axes,) = figure.axes
    assert {"100 G", "1 T", "10 T"} <= {text.get_text() for text in axes.get_yticklabels()}
    assert {"0.1", "1", "10"} <= {text.get_text() for text in axes.get_xticklabels()}


def test_every_ceiling_is_labelled(texts_of: Callable[[Any], list[str]]) -> None:
    plot = prepare_roofline([by_hand()])
    texts = texts_of(draw_roofline(plot))
    assert {line.label for line in plot.lines} <= set(texts)
    assert {plot.title, plot.subtitle, "nominal", "achievable", "range of a value"} <= set(texts)


@pytest.mark.parametrize(
    ("device", "kernel"),
    [
        *((device, "gemv") for device in device_names()),
        *(
            (device, kernel)
            for device in ("s5000", "dcu", "h200")
            for kernel in ("gemm", "attention")
        ),
    ],
)
def test_no_label_meets_another(
    device: str, kernel: str, assert_readable: Callable[[Figure], None]
) -> None:
    assert_readable(draw_roofline(prepare_roofline([roofline(load_device(device), kernel=kernel)])))


@pytest.mark.parametrize("count", [2, 4, 13])
def test_no_label_meets_another_when_overlaid(
    count: int, assert_readable: Callable[[Figure], None]
) -> None:
    names = [*device_names()] * 2
    results = [roofline(load_device(name), kernel="softmax") for name in names[:count]]
    assert_readable(draw_roofline(prepare_roofline(results)))
