"""The occupancy panels: curves against single calls, limits, and how they are drawn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from perfmodel import load_device, occupancy
from perfmodel.errors import ArgumentError
from perfmodel.plots.occupancy import OccupancyPlot, draw_occupancy, prepare_occupancy

QUANTITIES = ("threads_per_block", "registers_per_thread", "shared_bytes_per_block")


def prepared(device: str, *amounts: int) -> OccupancyPlot:
    loaded = load_device(device)
    return prepare_occupancy(
        loaded, occupancy(loaded, **dict(zip(QUANTITIES, amounts, strict=True)))
    )


@pytest.mark.parametrize("device", ["s5000", "dcu", "h200"])
def test_curves_are_what_single_calls_give(device: str) -> None:
    loaded = load_device(device)
    held = dict(zip(QUANTITIES, (256, 64, 16384), strict=True))
    plot = prepare_occupancy(loaded, occupancy(loaded, **held))
    scales = (1, 1, 1024)
    for panel, name, scale in zip(plot.panels, QUANTITIES, scales, strict=True):
        for place in range(0, len(panel.values), 37):
            amount = int(panel.values[place] * scale)
            single = occupancy(loaded, **{**held, name: amount})
            assert panel.active_warps[place] == single.active_warps
            inside = {
                resource
                for resource, spans in panel.limited_by.items()
                if any(start < panel.values[place] <= end for start, end in spans)
            }
            if amount:
                assert inside == set(single.limiters)


def test_threads_go_in_whole_warps_up_to_the_limit() -> None:
    values = prepared("dcu", 256, 32, 0).panels[0].values
    assert values.tolist() == list(range(64, 1025, 64))


def test_the_present_value_is_on_the_curve() -> None:
    plot = prepared("h200", 200, 37, 5000)
    amounts = (200, 37, 5000 / 1024)
    for panel, amount in zip(plot.panels, amounts, strict=True):
        assert panel.current == amount
        place = panel.values.tolist().index(amount)
        assert panel.active_warps[place] == plot.current_warps


def test_a_span_reaches_from_the_left_neighbour_to_its_value() -> None:
    # h200: 65536 registers in units of 256; 8 warps of 32 x 64 registers are 4 blocks
    plot = prepared("h200", 256, 64, 0)
    assert plot.current_warps == 32
    threads, registers, _ = plot.panels
    assert list(registers.limited_by["warps"]) == [(0.0, 32.0)]  # 32 registers: 8 blocks of 8 warps
    assert registers.limited_by["registers"][0][1] == 255
    assert threads.limited_by["registers"][-1][1] == 1024
    assert plot.resources == tuple(
        name
        for name in ("warps", "blocks", "registers", "shared_memory")
        if any(name in panel.limited_by for panel in plot.panels)
    )


def test_titles_name_the_limit_and_the_amounts() -> None:
    plot = prepared("h200", 256, 64, 1536)
    assert plot.title == "Occupancy on h200: 32 of 64 warps (50 %), limited by registers"
    assert plot.subtitle.startswith(
        "256 threads per block, 64 registers per thread, 1.5 KiB of shared memory per block: "
        "4 blocks per MP"
    )


def test_arrays_and_other_devices_are_refused() -> None:
    h200 = load_device("h200")
    several = occupancy(h200, threads_per_block=np.array([64, 128]))
    with pytest.raises(ArgumentError, match="holds arrays"):
        prepare_occupancy(h200, several)
    with pytest.raises(ArgumentError, match="is of h200, the device is dcu"):
        prepare_occupancy(load_device("dcu"), occupancy(h200, threads_per_block=64))


def test_what_else_the_result_was_computed_with_is_held() -> None:
    h200 = load_device("h200")
    result = occupancy(
        h200, threads_per_block=128, shared_bytes_per_block=16384, carveout_percent=25
    )
    plot = prepare_occupancy(h200, result)
    for panel in plot.panels:
        place = panel.values.tolist().index(panel.current)
        assert panel.active_warps[place] == result.active_warps


@pytest.mark.parametrize(
    ("device", "amounts"),
    [
        ("s5000", (256, 128, 32768)),
        ("s5000", (1024, 16, 0)),
        ("dcu", (256, 84, 0)),
        ("h200", (512, 64, 40000)),
        ("h200", (32, 255, 1)),
        ("mi300x", (1024, 128, 65536)),
    ],
)
def test_the_drawing_can_be_read(
    device: str,
    amounts: tuple[int, ...],
    assert_readable: Callable[[Figure], None],
    texts_of: Callable[[Any], list[str]],
) -> None:
    plot = prepared(device, *amounts)
    figure = draw_occupancy(plot)
    panels, strips = figure.axes[:3], figure.axes[3:]
    assert panels[0].get_ylabel() == "active warps per MP"
    assert [strip.get_xlabel() for strip in strips] == [
        "threads per block",
        "registers per thread",
        "shared memory per block (KiB)",
    ]
    for axes, strip, panel in zip(panels, strips, plot.panels, strict=True):
        curve, point = axes.lines
        assert np.asarray(curve.get_ydata())[1:].tolist() == panel.active_warps.tolist()
        assert np.asarray(curve.get_xdata())[1:].tolist() == panel.values.tolist()
        assert np.asarray(point.get_xydata()).tolist() == [[panel.current, plot.current_warps]]
        assert axes.get_xlim() == strip.get_xlim()
        assert axes.get_ylim()[1] > plot.max_warps
    assert "occupancy (%)" in texts_of(panels[-1])
    named = [text.get_text() for text in strips[0].get_yticklabels()]
    assert named == [name.replace("_", " ") for name in plot.resources]
    assert_readable(figure)
