"""A ladder as a figure: each rung's time over its bounds, and its walk over the roofline."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfmodel.plots import style
from perfmodel.tables.prediction import parameter_lines
from perfmodel.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from perfmodel.results.prediction import Ladder

MOST_BOUNDS = 4
FAMILIES = {
    "dram": "dram",
    "l2": "l2",
    "l2_lines": "l2",
    "l2_stores": "l2",
    "l2_port": "l2",
    "store_port": "l2",
    "in_flight": "latency",
    "latency": "latency",
    "ramp": "latency",
    "tail": "latency",
    "atomics": "l2",
    "l1": "l1",
    "l1_lines": "l1",
    "l1_data": "l1",
    "load_store": "load_store",
    "shared": "shared",
    "issue": "issue",
    "registers": "issue",
    "kernel_launch": "launch",
    "block_launch": "launch",
}
"""Bounds that share a colour; those not here are pipes, which do arithmetic."""
_COLOURS = {
    "dram": style.BLUE,
    "l2": style.SKY,
    "l1": style.GREEN,
    "load_store": style.ORANGE,
    "shared": style.PURPLE,
    "issue": style.GREY,
    "latency": style.INK,
    "launch": style.PALE,
    "arithmetic": style.VERMILLION,
}
_ROW = 0.82
"""Of a rung: a slot for its time and one for each of its bounds, and a gap."""
_SLOT = 0.18
"""Height of a slot, as a share of the row."""
_LEFT, _TOP, _BOTTOM, _BARS, _GAP, _ROOF, _RIGHT = 2.2, 0.9, 0.62, 4.9, 3.1, 3.7, 0.85
_NOTE = 0.16
_COLUMNS = (0.14, 1.0, 1.62)
"""Where the columns of numbers beside the bars begin [inches]."""
_LOGARITHMIC = 20
"""From this ratio of the longest time to the shortest on, their scale is logarithmic."""
_SAME = 0.015
"""Points nearer than this share of the axes share a label."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A rung of the figure."""

    number: int
    """Its place among the rungs that can run, from 1."""
    label: str
    is_alternative: bool
    is_whole: bool
    """Whether it does the whole work; else it has no place on the roofline."""
    time_s: float
    low_s: float
    high_s: float
    speedup: float
    step_speedup: float
    limiter: str
    bounds: tuple[tuple[str, float], ...]
    """Names and times, greatest first."""
    intensity: float
    """Useful FLOP a byte of DRAM."""
    flop_per_s: float


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """One ladder, ready to be drawn."""

    title: str
    subtitle: str
    notes: tuple[str, ...]
    """What is left out, and why."""
    bars: tuple[Bar, ...]
    peaks_flop_per_s: Mapping[str, float]
    bandwidth_bytes_per_s: float


def prepare_ladder(ladders: Sequence[Ladder]) -> tuple[Prepared, ...]:
    """Take from ladders what the figure shows.

    Args:
        ladders: Ladders of one kernel, one a device.

    Returns:
        What is drawn, one below the other.
    """
    return tuple(_prepared(each) for each in ladders)


def _prepared(ladder: Ladder) -> Prepared:
    running = ladder.running()
    shared, apart = parameter_lines([each for _, each in running], ladder.given)
    left_out = [f"left out: {each.rung}: {each.cannot}" for each in ladder.steps if each.cannot]
    partial = [
        f"not on the roofline: {step.rung} {prediction.missing_work}"
        for step, prediction in running
        if prediction.missing_work
    ]
    return Prepared(
        title=f"{ladder.kernel} on {ladder.device}",
        subtitle=_shortened("; ".join([shared, *apart])),
        notes=tuple(map(_shortened, (*left_out, *partial))),
        bars=tuple(
            Bar(
                number=number,
                label=("or " if step.is_alternative else "") + step.rung.replace("_", " "),
                is_alternative=step.is_alternative,
                is_whole=not prediction.missing_work,
                time_s=prediction.time_s,
                low_s=prediction.time_range_s[0],
                high_s=prediction.time_range_s[1],
                speedup=step.speedup,
                step_speedup=step.step_speedup,
                limiter=prediction.limiter,
                bounds=tuple((each.name, each.time_s) for each in prediction.bounds[:MOST_BOUNDS]),
                intensity=prediction.level("dram").intensity_flop_per_byte,
                flop_per_s=prediction.flop_per_s,
            )
            for number, (step, prediction) in enumerate(running, start=1)
        ),
        peaks_flop_per_s=ladder.roof.peaks_flop_per_s,
        bandwidth_bytes_per_s=ladder.roof.bandwidth_bytes_per_s,
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


_LONGEST = 170


def draw_ladder(prepared: Sequence[Prepared]) -> Figure:
    """Draw ladders one below the other.

    Args:
        prepared: From `prepare_ladder`.

    Returns:
        The figure.
    """
    with style.look():
        heights = [max(_ROW * len(each.bars), 2.6) for each in prepared]
        above = [_TOP + _NOTE * len(each.notes) for each in prepared]
        total = sum(heights) + sum(above) + len(prepared) * _BOTTOM
        width = _LEFT + _BARS + _GAP + _ROOF + _RIGHT
        figure = style.new_figure(width, total)
        top = total
        for each, height, head in zip(prepared, heights, above, strict=True):
            bottom = top - head - height
            _titles(figure, each, top, width, total)
            bars = style.add_axes(figure, left=_LEFT, bottom=bottom, width=_BARS, height=height)
            _draw_bars(bars, each)
            roof_height = min(height, 1.25 * _ROOF)
            roof = style.add_axes(
                figure,
                left=_LEFT + _BARS + _GAP,
                bottom=bottom + height - roof_height,
                width=_ROOF,
                height=roof_height,
            )
            _draw_roof(roof, each)
            top = bottom - _BOTTOM
        return figure


def _titles(figure: Figure, prepared: Prepared, top: float, width: float, total: float) -> None:
    figure.text(
        0.16 / width,
        (top - 0.14) / total,
        prepared.title,
        fontsize=style.TITLE_SIZE,
        fontweight="bold",
        color=style.INK,
        va="top",
    )
    for number, line in enumerate((prepared.subtitle, *prepared.notes)):
        figure.text(
            0.16 / width,
            (top - 0.4 - _NOTE * number) / total,
            line,
            fontsize=style.NOTE_SIZE,
            color=style.GREY,
            va="top",
        )


def _scale(longest: float) -> tuple[float, str]:
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if longest * factor >= 1:
            return factor, unit
    return 1e9, "ns"


def _draw_bars(axes: Axes, prepared: Prepared) -> None:
    times = [bar.time_s for bar in prepared.bars]
    longest = max(times)
    factor, unit = _scale(longest)
    logarithmic = longest > _LOGARITHMIC * min(times)
    left = min(times) * factor / 6 if logarithmic else 0.0
    ratio = longest * factor / left if logarithmic else 1.0
    right = longest * factor * (ratio**0.25 if logarithmic else 1.25)  # room for the labels
    axes.set_xlim(left, right)
    if logarithmic:
        axes.set_xscale("log")
        axes.set_xlim(left, right)
        _label_ticks(axes.xaxis, left, right, _plain_number)
    for row, bar in enumerate(prepared.bars):
        place = len(prepared.bars) - 1 - row
        slots = [place + _SLOT * (MOST_BOUNDS / 2 - slot) for slot in range(MOST_BOUNDS + 1)]
        axes.barh(slots[0], bar.time_s * factor, height=_SLOT, color=_TIME)
        _draw_range(axes, bar, slots[0], factor)
        for y, (name, time) in zip(slots[1:], bar.bounds, strict=False):
            colour = _COLOURS[FAMILIES.get(name, "arithmetic")]
            axes.barh(y, time * factor, height=0.75 * _SLOT, color=colour)
            axes.annotate(
                name,
                (max(time * factor, left), y),
                xytext=(3, -0.5),
                textcoords="offset points",
                fontsize=_SMALL,
                va="center",
                color=style.INK,
            )
        _write_numbers(axes, bar, place, is_first=row == 0)
    for place in range(1, len(prepared.bars)):
        axes.axhline(place - 0.5, color=style.PALE, linewidth=0.5, zorder=0)
    labels = [f"{bar.label}  {bar.number}" for bar in reversed(prepared.bars)]
    axes.set_yticks(range(len(labels)), labels, fontsize=8.5)
    axes.set_ylim(-0.5, len(prepared.bars) - 0.5)
    axes.set_xlabel(
        f"time ({unit}); top bar: predicted, with its range; below: the greatest bounds",
        fontsize=style.NOTE_SIZE,
    )


_TIME = "#B3B3B3"
_SMALL = 7.0


def _draw_range(axes: Axes, bar: Bar, y: float, factor: float) -> None:
    """The range of a time as a line over its bar; an arrow where it goes on beyond the axes."""
    if bar.high_s <= bar.low_s:
        return
    left, right = axes.get_xlim()
    low, high = bar.low_s * factor, bar.high_s * factor
    ends = (max(low, left), min(high, right))
    axes.plot(ends, [y, y], color=style.INK, linewidth=1.0)
    for end, mark in zip(
        ends, ("|" if low >= left else "<", "|" if high <= right else ">"), strict=True
    ):
        axes.plot([end], [y], color=style.INK, marker=mark, markersize=5, clip_on=False)


def _write_numbers(axes: Axes, bar: Bar, place: float, *, is_first: bool) -> None:
    """The time and the speed-ups, in columns beside the bars."""
    cells = [format_quantity(bar.time_s, "s"), "", ""]
    if bar.is_whole:
        cells[1:] = [f"{bar.speedup:.3g}x", "" if is_first else f"{bar.step_speedup:.3g}x"]
    else:
        cells[1] = "not the whole work"
    size = axes.get_window_extent().width / axes.figure.dpi
    lines = [(place, cells, style.INK)]
    if is_first:
        lines.append((place + 0.5 + 0.11 / _ROW, ["time", "total", "step"], style.GREY))
    for y, texts, colour in lines:
        for text, column in zip(texts, _COLUMNS, strict=True):
            axes.text(
                1 + column / size,
                y,
                text,
                transform=axes.get_yaxis_transform(),
                fontsize=style.NOTE_SIZE,
                va="center",
                color=colour,
            )


def _label_ticks(
    axis: Axis, low: float, high: float, written: Callable[[float, float], str]
) -> None:
    """Label the decades of a logarithmic axis, and 2 and 5 between where there are few."""
    few = math.log10(high / low) < _FEW_DECADES

    def minor(value: float, place: float) -> str:
        first = f"{value:e}"[0]
        return written(value, place) if few and first in "25" else ""

    axis.set_major_formatter(written)
    axis.set_minor_formatter(minor)
    axis.set_tick_params(which="minor", labelsize=style.TICK_SIZE, labelcolor=style.INK)


_FEW_DECADES = 1.6


def _plain_number(value: float, _: float) -> str:
    return f"{value:g}"


def _draw_roof(axes: Axes, prepared: Prepared) -> None:
    bandwidth = prepared.bandwidth_bytes_per_s
    peaks = prepared.peaks_flop_per_s
    drawn = [
        bar
        for bar in prepared.bars
        if bar.is_whole and math.isfinite(bar.intensity) and bar.flop_per_s > 0
    ]
    if not drawn:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no arithmetic", ha="center", fontsize=style.NOTE_SIZE)
        return
    xs = [bar.intensity for bar in drawn]
    ys = [bar.flop_per_s for bar in drawn]
    ridges = [peak / bandwidth for peak in peaks.values()]
    low, high = min([*xs, *ridges]) / 3, max([*xs, *ridges]) * 4
    top = max(peaks.values())
    axes.plot(
        [low, top / bandwidth], [bandwidth * low, top], color=style.INK, linewidth=1.4, zorder=1
    )
    for name, peak in peaks.items():
        axes.plot([peak / bandwidth, high], [peak, peak], color=style.INK, linewidth=1.4, zorder=1)
        axes.annotate(
            name,
            (high, peak),
            xytext=(-4, 3),
            textcoords="offset points",
            ha="right",
            fontsize=_SMALL,
            color=style.INK,
        )
    steps = [bar for bar in drawn if not bar.is_alternative]
    others = [bar for bar in drawn if bar.is_alternative]
    axes.plot(
        [bar.intensity for bar in steps],
        [bar.flop_per_s for bar in steps],
        color=style.BLUE,
        linewidth=0.9,
        linestyle=(0, (3, 2)),
        marker="o",
        markersize=5,
        label="steps of the ladder",
    )
    if others:
        axes.plot(
            [bar.intensity for bar in others],
            [bar.flop_per_s for bar in others],
            color=style.VERMILLION,
            linestyle="none",
            marker="s",
            markerfacecolor="none",
            markersize=5,
            label="alternatives",
        )
        axes.legend(loc="lower right", fontsize=_SMALL, frameon=False)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(min(ys) / (10 if others else 4), top * 2.5)
    _label_ticks(axes.xaxis, *axes.get_xlim(), _plain_number)
    _label_ticks(axes.yaxis, *axes.get_ylim(), _flop_rate)
    _number_points(axes, drawn)
    axes.set_xlabel("useful FLOP / byte of DRAM", fontsize=style.NOTE_SIZE)
    axes.set_ylabel("useful FLOP/s; numbers: rungs", fontsize=style.NOTE_SIZE)


def _number_points(axes: Axes, bars: Sequence[Bar]) -> None:
    """The numbers of the rungs at the right edge, one label for points that lie together."""
    to_share = axes.transData + axes.transAxes.inverted()
    groups: list[tuple[tuple[float, float], list[Bar]]] = []
    for bar in bars:
        x, y = to_share.transform((bar.intensity, bar.flop_per_s))
        for (other_x, other_y), members in groups:
            if abs(x - other_x) < _SAME and abs(y - other_y) < _SAME:
                members.append(bar)
                break
        else:
            groups.append(((float(x), float(y)), [bar]))
    places = style.spread([y for (_, y), _ in groups], gap=0.05, low=0.02, high=0.98)
    for ((x, y), members), place in zip(groups, places, strict=True):
        axes.plot(
            [x, 1.02],
            [y, place],
            transform=axes.transAxes,
            color=style.PALE,
            linewidth=0.6,
            clip_on=False,
            zorder=0,
        )
        axes.text(
            1.03,
            place,
            _listed([bar.number for bar in members]),
            transform=axes.transAxes,
            fontsize=_SMALL,
            va="center",
        )


def _listed(numbers: Sequence[int]) -> str:
    """Ascending numbers, three or more neighbours as a run.

    >>> _listed([2, 3, 5, 6, 7, 8, 11])
    '2, 3, 5-8, 11'
    """
    runs: list[list[int]] = []
    for each in numbers:
        if runs and each == runs[-1][-1] + 1:
            runs[-1].append(each)
        else:
            runs.append([each])
    return ", ".join(
        f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs
    )


def _flop_rate(value: float, _: float) -> str:
    return format_quantity(value, "flop/s").replace("FLOP/s", "").strip()
