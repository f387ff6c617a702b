"""Occupancy against each thing a kernel can give up: threads, registers, shared memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from perfmodel.analyses.occupancy import Swept, sweep
from perfmodel.plots import style
from perfmodel.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from perfmodel.device.model import Device
    from perfmodel.results import OccupancyResult

Span = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class OccupancyPanel:
    """Active warps against one quantity, the others held."""

    axis_label: str
    values: NDArray[np.float64]
    """Where the curve was computed; between two of them it has the value of the right one."""
    active_warps: NDArray[np.int64]
    limited_by: Mapping[str, tuple[Span, ...]]
    """For each resource, from where to where it limits."""
    current: float
    current_label: str


@dataclass(frozen=True, kw_only=True)
class OccupancyPlot:
    """The three panels, ready to be drawn."""

    title: str
    subtitle: str
    max_warps: int
    current_warps: int
    resources: tuple[str, ...]
    """The resources that limit somewhere in a panel."""
    panels: tuple[OccupancyPanel, ...]


def prepare_occupancy(device: Device, result: OccupancyResult) -> OccupancyPlot:
    """Sweep threads, registers and shared memory around a result.

    Args:
        device: The device of the result.
        result: The occupancy of one kernel.

    Returns:
        What `draw_occupancy` draws.

    Raises:
        ArgumentError: The result is of another device or holds arrays.

    Example:
        >>> from perfmodel import load_device, occupancy
        >>> s5000 = load_device("s5000")
        >>> result = occupancy(s5000, threads_per_block=256, registers_per_thread=128)
        >>> plot = prepare_occupancy(s5000, result)
        >>> plot.panels[1].axis_label, plot.panels[1].current, plot.current_warps
        ('registers per thread', 128.0, 32)
    """
    panels = tuple(_panel(device, result, over) for over in get_args(Swept))
    share = format(100 * result.occupancy, ".3g")
    names = " and ".join(_words(name) for name in result.limiters)
    return OccupancyPlot(
        title=(
            f"Occupancy on {result.device}: {result.active_warps} of {result.max_warps} warps "
            f"({share} %), limited by {names}"
        ),
        subtitle=(
            f"{counted(int(result.threads_per_block), 'thread')} per block, "
            f"{counted(int(result.registers_per_thread), 'register')} per thread, "
            f"{_kib(int(result.shared_bytes_per_block))} of shared memory per "
            f"block: {counted(int(result.blocks_per_mp), 'block')} per MP; "
            "each panel changes one of them"
        ),
        max_warps=result.max_warps,
        current_warps=int(result.active_warps),
        resources=tuple(
            name for name in result.blocks_by if any(name in panel.limited_by for panel in panels)
        ),
        panels=panels,
    )


_AXES: Mapping[Swept, tuple[str, int]] = {
    "threads_per_block": ("threads per block", 1),
    "registers_per_thread": ("registers per thread", 1),
    "shared_bytes_per_block": ("shared memory per block (KiB)", 1024),
}


def _panel(device: Device, result: OccupancyResult, over: Swept) -> OccupancyPanel:
    swept = sweep(device, result, over)
    label, scale = _AXES[over]
    shown = getattr(swept, over) / scale
    current = int(getattr(result, over))
    text = _kib(current) if scale > 1 else f"{current}"
    return OccupancyPanel(
        axis_label=label,
        values=shown,
        active_warps=swept.active_warps,
        limited_by=_limited_by(shown, swept.limiters),
        current=current / scale,
        current_label=text,
    )


def _limited_by(
    values: NDArray[np.float64], limiters: NDArray[np.object_]
) -> dict[str, tuple[Span, ...]]:
    """Where each resource limits: a value stands for what lies between its left one and itself."""
    found: dict[str, list[Span]] = {}
    left = 0.0
    for value, names in zip(values.tolist(), limiters, strict=True):
        for name in names:
            spans = found.setdefault(name, [])
            if spans and spans[-1][1] == left:
                spans[-1] = (spans[-1][0], value)
            else:
                spans.append((left, value))
        left = value
    return {name: tuple(spans) for name, spans in found.items()}


def _kib(size: int) -> str:
    return f"{size / 1024:.4g} KiB"


def _words(resource: str) -> str:
    return resource.replace("_", " ")


# Places on the page, in inches.
_WIDTH = 12.0
_LEFT, _PANEL, _GAP, _RIGHT = 1.35, 3.05, 0.3, 0.75
_ROW = 0.19
_UP, _ABOVE, _STRIP_GAP, _BELOW = 2.9, 0.8, 0.32, 0.75

_COLOURS = {
    "warps": style.BLUE,
    "threads": style.SKY,
    "blocks": style.PURPLE,
    "registers": style.VERMILLION,
    "shared_memory": style.GREEN,
    "scalar_registers": style.ORANGE,
    "barriers": style.GREY,
}


def draw_occupancy(plot: OccupancyPlot) -> Figure:
    """Draw the panels, and below each a strip that shows what limits.

    Args:
        plot: What `prepare_occupancy` made.

    Returns:
        The figure; its axes are the panels, then their strips.
    """
    with style.look():
        strip = _ROW * len(plot.resources)
        height = _ABOVE + _UP + _STRIP_GAP + strip + _BELOW
        width = _LEFT + 3 * _PANEL + 2 * _GAP + _RIGHT
        figure = style.new_figure(width, height)
        style.add_titles(figure, left=0.3, title=plot.title, subtitle=plot.subtitle)
        panels = [
            style.add_axes(
                figure,
                left=_LEFT + number * (_PANEL + _GAP),
                bottom=_BELOW + strip + _STRIP_GAP,
                width=_PANEL,
                height=_UP,
            )
            for number in range(len(plot.panels))
        ]
        for number, (axes, panel) in enumerate(zip(panels, plot.panels, strict=True)):
            _draw_curve(axes, plot, panel)
            _label_warps(axes, plot, number)
        for number, panel in enumerate(plot.panels):
            axes = style.add_axes(
                figure,
                left=_LEFT + number * (_PANEL + _GAP),
                bottom=_BELOW,
                width=_PANEL,
                height=strip,
            )
            _draw_strip(axes, plot, panel, named=number == 0)
    return figure


def _draw_curve(axes: Axes, plot: OccupancyPlot, panel: OccupancyPanel) -> None:
    axes.plot(
        [0.0, *panel.values],
        [panel.active_warps[0], *panel.active_warps],
        drawstyle="steps-pre",
        color=style.INK,
        linewidth=1.5,
        label="active warps",
        clip_on=False,
        zorder=3,
    )
    axes.vlines(
        panel.current,
        0,
        1.04 * plot.max_warps,
        color=style.VERMILLION,
        linewidth=0.9,
        linestyle=(0, (1, 2)),
        zorder=2,
    )
    axes.plot(
        [panel.current],
        [plot.current_warps],
        marker="o",
        markersize=8,
        color=style.VERMILLION,
        markeredgecolor="white",
        linestyle="none",
        label="this kernel",
        clip_on=False,
        zorder=5,
    )
    end = float(panel.values[-1])
    right = panel.current < 0.5 * end
    axes.annotate(
        f"{panel.current_label}: {counted(plot.current_warps, 'warp')}",
        (panel.current, 1.06 * plot.max_warps),
        xytext=(3 if right else -3, 0),
        textcoords="offset points",
        ha="left" if right else "right",
        va="bottom",
        fontsize=style.NOTE_SIZE,
        color=style.text_colour(style.VERMILLION),
        fontweight="bold",
    )
    axes.set_xlim(0, 1.02 * end)
    axes.set_ylim(0, 1.17 * plot.max_warps)
    axes.grid(visible=True, color=style.PALE, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(labelbottom=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _label_warps(axes: Axes, plot: OccupancyPlot, number: int) -> None:
    """Warps on the left of the first panel, occupancy on the right of the last."""
    ticks = [round(plot.max_warps * part / 4, 2) for part in range(5)]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.tick_params(labelleft=number == 0)
    if number == 0:
        axes.set_ylabel("active warps per MP", fontsize=style.LABEL_SIZE)
    if number == len(plot.panels) - 1:
        right = axes.secondary_yaxis("right", functions=_percent_of(plot.max_warps))
        right.set_yticks([0, 25, 50, 75, 100])
        right.tick_params(labelsize=style.TICK_SIZE, colors=style.INK)
        right.set_ylabel("occupancy (%)", fontsize=style.LABEL_SIZE)


def _percent_of(most: int) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """From warps to percent and back."""
    return lambda warps: warps * (100 / most), lambda percent: percent * (most / 100)


def _draw_strip(axes: Axes, plot: OccupancyPlot, panel: OccupancyPanel, *, named: bool) -> None:
    for row, resource in enumerate(plot.resources):
        spans = panel.limited_by.get(resource, ())
        axes.broken_barh(
            [(start, end - start) for start, end in spans],
            (row - 0.36, 0.72),
            facecolors=_COLOURS.get(resource, style.INK),
            linewidth=0,
        )
    axes.axvline(panel.current, color=style.INK, linewidth=0.9, linestyle=(0, (1, 2)), zorder=3)
    axes.set_xlim(0, 1.02 * float(panel.values[-1]))
    axes.set_ylim(len(plot.resources) - 0.5, -0.5)
    names = [_words(resource) for resource in plot.resources]
    axes.set_yticks(range(len(names)), names if named else [""] * len(names))
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(panel.axis_label, fontsize=style.LABEL_SIZE)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    if named:
        axes.text(
            -0.02,
            1.06,
            "limited by",
            transform=axes.transAxes,
            ha="right",
            va="bottom",
            fontsize=style.NOTE_SIZE,
            color=style.GREY,
        )
