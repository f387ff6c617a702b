"""A ladder as a figure: each rung's time over its bounds, and its walk over the roofline."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perfmodel.plots import style
from perfmodel.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from perfmodel.results.prediction import Ladder

MOST_BOUNDS = 4
_FAMILIES = {
    "dram": "dram",
    "l2": "l2",
    "l2_port": "l2",
    "in_flight": "latency",
    "latency": "latency",
    "atomics": "l2",
    "l1": "l1",
    "l1_lines": "l1",
    "load_store": "load_store",
    "shared": "shared",
    "issue": "issue",
    "registers": "issue",
    "kernel_launch": "launch",
    "block_launch": "launch",
}
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
_ROW = 0.62
_LEFT, _TOP, _BOTTOM, _BARS, _GAP, _ROOF = 1.95, 0.75, 0.62, 4.6, 2.95, 3.7
_LOGARITHMIC = 20
"""From this ratio of the longest time to the shortest on, their scale is logarithmic."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A rung of the figure."""

    label: str
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
    bars: tuple[Bar, ...]
    peak_flop_per_s: float
    peak_name: str
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
    from perfmodel.device.loading import load_device

    device = load_device(ladder.device)
    last = ladder.steps[-1].prediction
    tensor = f"tensor_{last.parameters.get('type', '')}"
    on_tensor = any(bound.name == "tensor" for bound in last.bounds) and tensor in device.peaks
    peak: Any = tensor if on_tensor else "fp32"
    given = ", ".join(f"{name} = {value}" for name, value in ladder.parameters.items())
    return Prepared(
        title=f"{ladder.kernel} on {ladder.device}",
        subtitle=given if len(given) < 110 else f"{given[:107]}...",
        bars=tuple(
            Bar(
                label=("or " if step.is_alternative else "") + step.rung.replace("_", " "),
                time_s=step.prediction.time_s,
                low_s=step.prediction.time_range_s[0],
                high_s=step.prediction.time_range_s[1],
                speedup=step.speedup,
                step_speedup=step.step_speedup,
                limiter=step.prediction.limiter,
                bounds=tuple(
                    (bound.name, bound.time_s) for bound in step.prediction.bounds[:MOST_BOUNDS]
                ),
                intensity=step.prediction.level("dram").intensity_flop_per_byte,
                flop_per_s=step.prediction.flop_per_s,
            )
            for step in ladder.steps
        ),
        peak_flop_per_s=device.peaks[peak].value,
        peak_name=peak,
        bandwidth_bytes_per_s=device.dram_bandwidth_achievable.value,
    )


def draw_ladder(prepared: Sequence[Prepared]) -> Figure:
    """Draw ladders one below the other.

    Args:
        prepared: From `prepare_ladder`.

    Returns:
        The figure.
    """
    with style.look():
        heights = [max(_ROW * len(each.bars), 2.6) for each in prepared]
        total = sum(heights) + len(prepared) * (_TOP + _BOTTOM)
        width = _LEFT + _BARS + _GAP + _ROOF + 0.35
        figure = style.new_figure(width, total)
        top = total
        for each, height in zip(prepared, heights, strict=True):
            bottom = top - _TOP - height
            _titles(figure, each, top, width, total)
            bars = style.add_axes(figure, left=_LEFT, bottom=bottom, width=_BARS, height=height)
            _draw_bars(bars, each)
            roof = style.add_axes(
                figure, left=_LEFT + _BARS + _GAP, bottom=bottom, width=_ROOF, height=height
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
    figure.text(
        0.16 / width,
        (top - 0.4) / total,
        prepared.subtitle,
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
    right = longest * factor * (1.6 if logarithmic else 1.1)
    axes.set_xlim(left, right)
    if logarithmic:
        axes.set_xscale("log")
        axes.set_xlim(left, right)
        axes.xaxis.set_major_formatter(_plain_number)
    for row, bar in enumerate(prepared.bars):
        place = len(prepared.bars) - 1 - row
        axes.barh(place, bar.time_s * factor, height=0.78, color="#EFEFEF", edgecolor=style.GREY)
        thickness = 0.62 / MOST_BOUNDS
        for number, (name, time) in enumerate(bar.bounds):
            y = place + 0.31 - thickness * (number + 0.5)
            colour = _COLOURS[_FAMILIES.get(name, "arithmetic")]
            axes.barh(y, time * factor, height=thickness * 0.8, color=colour)
            _label_bound(axes, name, time * factor, y, colour)
        text = f"{format_quantity(bar.time_s, 's')}   x {bar.speedup:.3g}"
        if row:
            text += f"   step x {bar.step_speedup:.3g}"
        axes.text(
            1.015,
            place,
            text,
            transform=axes.get_yaxis_transform(),
            fontsize=style.NOTE_SIZE,
            va="center",
        )
        if bar.high_s > bar.low_s:
            ends = [max(bar.low_s * factor, left), min(bar.high_s * factor, right)]
            axes.plot(ends, [place - 0.345] * 2, color=style.INK, linewidth=1.0)
            marks = ["|" if bar.low_s * factor >= left else "<"]
            marks.append("|" if bar.high_s * factor <= right else ">")
            for end, mark in zip(ends, marks, strict=True):
                axes.plot([end], [place - 0.345], color=style.INK, marker=mark, markersize=4)
    labels = [bar.label for bar in reversed(prepared.bars)]
    axes.set_yticks(range(len(labels)), labels, fontsize=8.5)
    axes.set_ylim(-0.55, len(prepared.bars) - 0.45)
    axes.set_xlabel(
        f"time ({unit}); grey: predicted, coloured: greatest bounds, black line: range",
        fontsize=style.NOTE_SIZE,
    )


def _label_bound(axes: Axes, name: str, time: float, y: float, colour: str) -> None:
    """The name of a bound inside its bar where there is room, else beside it."""
    start, end = axes.transData.transform([(axes.get_xlim()[0], y), (time, y)])[:, 0]
    inside = end - start > 5.2 * len(name) + 12
    axes.annotate(
        name,
        (time, y),
        xytext=(-3 if inside else 3, 0),
        textcoords="offset points",
        fontsize=5.8,
        va="center",
        ha="right" if inside else "left",
        color=style.ink_on(colour) if inside else style.INK,
    )


def _plain_number(value: float, _: float) -> str:
    return f"{value:g}"


def _draw_roof(axes: Axes, prepared: Prepared) -> None:
    peak, bandwidth = prepared.peak_flop_per_s, prepared.bandwidth_bytes_per_s
    drawn = [bar for bar in prepared.bars if math.isfinite(bar.intensity) and bar.flop_per_s > 0]
    if not drawn:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no arithmetic", ha="center", fontsize=style.NOTE_SIZE)
        return
    xs = [bar.intensity for bar in drawn]
    ridge = peak / bandwidth
    low, high = min([*xs, ridge]) / 3, max([*xs, ridge]) * 4
    roof = [(x, min(peak, bandwidth * x)) for x in (low, ridge, high)]
    axes.plot([x for x, _ in roof], [y for _, y in roof], color=style.INK, linewidth=1.4)
    axes.text(high, peak * 1.15, prepared.peak_name, ha="right", fontsize=7, color=style.INK)
    ys = [bar.flop_per_s for bar in drawn]
    points = [(bar.intensity, bar.flop_per_s) for bar in drawn]
    axes.plot(
        [x for x, _ in points],
        [y for _, y in points],
        color=style.BLUE,
        linewidth=0.9,
        linestyle=(0, (3, 2)),
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(_plain_number)
    axes.yaxis.set_major_formatter(_flop_rate)
    axes.set_xlim(low, high)
    axes.set_ylim(min(ys) / 4, peak * 2.5)
    bottom, top = axes.get_ylim()
    decades = math.log10(top / bottom)
    labels = style.spread(
        [math.log10(y / bottom) / decades for _, y in points], gap=0.055, low=0.03, high=0.97
    )
    for number, ((x, y), place) in enumerate(zip(points, labels, strict=True)):
        axes.plot([x], [y], marker="o", markersize=5, color=style.BLUE)
        axes.annotate(
            str(number + 1),
            (x, y),
            xytext=(1.03, place),
            textcoords="axes fraction",
            fontsize=7,
            va="center",
            arrowprops={"arrowstyle": "-", "color": style.PALE, "linewidth": 0.6},
        )
    axes.set_xlabel("useful FLOP / byte of DRAM", fontsize=style.NOTE_SIZE)
    axes.set_ylabel("useful FLOP/s; numbers: rungs in order", fontsize=style.NOTE_SIZE)


def _flop_rate(value: float, _: float) -> str:
    return format_quantity(value, "flop/s").replace("FLOP/s", "").strip()
