"""Drawing what `perfmodel.plots.roofline` prepares."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from perfmodel.plots import style
from perfmodel.plots.slope_labels import Frame, SlopeLabel, label_slopes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    from perfmodel.plots.roofline import RoofLine, RooflinePlot, RoofMark

INTENSITY_LABEL = "operational intensity (FLOP/byte)"
PERFORMANCE_LABEL = "performance (FLOP/s)"

_MOST_SLOPE_LABELS = 4  # results whose slopes are labelled when several are overlaid

# Places on the page, in inches.
_WIDTH, _LEFT, _ACROSS, _UP = 10.4, 0.85, 6.2, 4.6
_ABOVE = 0.8  # for the titles
_BELOW = 0.7  # for the tick labels and the label of the axis
_LEGEND_ROW = 0.17
_ELBOW = 0.22
_LABEL_GAP = 0.165

_LEVEL_COLOURS = {
    "dram": style.BLUE,
    "l3": style.PURPLE,
    "l2": style.GREEN,
    "l1": style.ORANGE,
    "shared": style.GREY,
}


def draw_roofline(plot: RooflinePlot) -> Figure:
    """Draw a roofline.

    Args:
        plot: What `prepare_roofline` made.

    Returns:
        The figure.
    """
    with style.look():
        handles = _legend_handles(plot)
        columns = 2 if plot.overlaid else 3
        bottom = _BELOW + -(-len(handles) // columns) * _LEGEND_ROW
        figure = style.new_figure(_WIDTH, bottom + _UP + _ABOVE)
        axes = style.add_axes(figure, left=_LEFT, bottom=bottom, width=_ACROSS, height=_UP)
        _set_axes(axes, plot)
        style.add_titles(figure, left=0.3, title=plot.title, subtitle=plot.subtitle)
        for band in plot.bands:
            axes.fill_between(
                band.intensity,
                band.low,
                band.high,
                color=_series_colour(band.series) if plot.overlaid else _BAND_COLOURS[band.kind],
                alpha=0.16,
                linewidth=0,
                zorder=1,
            )
        for line in plot.lines:
            _draw_line(axes, line, overlaid=plot.overlaid)
        marks = [_draw_mark(axes, mark, plot) for mark in plot.marks]
        _label_peaks(axes, plot)
        if not plot.overlaid or len(plot.marks) <= _MOST_SLOPE_LABELS:
            _label_slopes(axes, plot, [text for text in marks if text is not None])
        figure.legend(
            handles=handles,
            loc="lower left",
            bbox_to_anchor=((_LEFT - 0.1) / _WIDTH, 0.1 / figure.get_figheight()),
            ncols=columns,
            frameon=False,
            fontsize=style.NOTE_SIZE,
            handlelength=2.8,
            columnspacing=1.8,
            borderaxespad=0,
            borderpad=0,
        )
    return figure


_BAND_COLOURS = {"memory": style.BLUE, "compute": style.VERMILLION, "roof": style.GREY}


def _series_colour(series: int) -> str:
    return style.PALETTE[series % len(style.PALETTE)]


def _set_axes(axes: Axes, plot: RooflinePlot) -> None:
    from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(*plot.intensity_limits)
    axes.set_ylim(*plot.performance_limits)
    axes.set_xlabel(INTENSITY_LABEL, fontsize=style.LABEL_SIZE)
    axes.set_ylabel(PERFORMANCE_LABEL, fontsize=style.LABEL_SIZE)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(base=10, numticks=12))
        axis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_major_formatter(EngFormatter(sep=" "))
    axes.grid(visible=True, which="major", color=style.PALE, linewidth=0.5, zorder=0)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _line_look(line: RoofLine, *, overlaid: bool) -> tuple[str, float]:
    """Colour and width."""
    if overlaid:
        return _series_colour(line.series), 1.8
    if line.kind == "memory":
        colour = _LEVEL_COLOURS.get(line.names[0].partition(" ")[0], style.INK)
        return colour, 2.2 if line.emphasised and line.nominal else 1.4
    if line.emphasised:
        return style.VERMILLION, 2.2 if line.nominal else 1.4
    return style.GREY, 0.9


def _draw_line(axes: Axes, line: RoofLine, *, overlaid: bool) -> None:
    colour, width = _line_look(line, overlaid=overlaid)
    axes.plot(
        line.intensity,
        line.performance,
        color=colour,
        linewidth=width,
        linestyle=_dashes(line.series) if overlaid else "-" if line.nominal else _ACHIEVABLE,
        label=line.label,
        zorder=4 if line.emphasised else 3,
    )


_ACHIEVABLE = (0, (5, 2.5))


def _dashes(series: int) -> Any:
    return style.LINE_STYLES[series % len(style.LINE_STYLES)]


def _mark_look(mark: RoofMark, plot: RooflinePlot) -> dict[str, Any]:
    """How a point looks: filled at DRAM, open elsewhere, a star where it was measured."""
    if mark.measured:
        return {
            "marker": "*",
            "markersize": 14,
            "markerfacecolor": style.PURPLE,
            "markeredgecolor": "white",
            "markeredgewidth": 0.8,
        }
    number = mark.series if plot.overlaid else plot.marks.index(mark)
    colour = _series_colour(number) if plot.overlaid else style.INK
    filled = mark.level == "dram"
    return {
        "marker": style.MARKERS[number % len(style.MARKERS)],
        "markersize": 8,
        "markerfacecolor": colour if filled else "white",
        "markeredgecolor": "white" if filled else colour,
        "markeredgewidth": 0.8 if filled else 1.4,
    }


def _draw_mark(axes: Axes, mark: RoofMark, plot: RooflinePlot) -> Text | None:
    """A point, its drop line, and its numbers at the foot of that."""
    axes.plot(
        [mark.intensity, mark.intensity],
        [plot.performance_limits[0], mark.performance],
        color=_series_colour(mark.series) if plot.overlaid else style.INK,
        linewidth=0.8,
        linestyle=(0, (1, 2)),
        zorder=2,
    )
    axes.plot(
        [mark.intensity],
        [mark.performance],
        linestyle="none",
        label=mark.legend,
        zorder=6,
        **_mark_look(mark, plot),
    )
    if plot.overlaid or not mark.label:
        return None
    right = mark.level == "dram"
    return axes.annotate(
        mark.label,
        (mark.intensity, plot.performance_limits[0]),
        xytext=(4 if right else -4, 5),
        textcoords="offset points",
        ha="left" if right else "right",
        va="bottom",
        fontsize=style.NOTE_SIZE,
        color=style.INK,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        zorder=1.5,
    )


def _is_bold(line: RoofLine, plot: RooflinePlot) -> bool:
    return line.emphasised and line.nominal and not plot.overlaid


def _label_peaks(axes: Axes, plot: RooflinePlot) -> None:
    """Labels right of the axes, spread so that none touches another, joined to their lines."""
    peaks = [line for line in plot.lines if line.kind == "compute"]
    low, high = (math.log10(end) for end in plot.performance_limits)
    inches = [(math.log10(line.value) - low) / (high - low) * _UP for line in peaks]
    placed = style.spread(inches, gap=_LABEL_GAP, low=0.0, high=_UP + 0.1)
    for line, wanted, height in zip(peaks, inches, placed, strict=True):
        colour, _ = _line_look(line, overlaid=plot.overlaid)
        axes.plot(
            [1, 1 + 0.2 * _ELBOW / _ACROSS, 1 + 0.8 * _ELBOW / _ACROSS, 1 + _ELBOW / _ACROSS],
            [wanted / _UP, wanted / _UP, height / _UP, height / _UP],
            transform=axes.transAxes,
            color=colour,
            linewidth=0.7,
            clip_on=False,
            zorder=2,
        )
        axes.text(
            1 + (_ELBOW + 0.05) / _ACROSS,
            height / _UP,
            line.label,
            transform=axes.transAxes,
            ha="left",
            va="center_baseline",
            fontsize=style.NOTE_SIZE,
            fontweight="bold" if _is_bold(line, plot) else "normal",
            color=style.text_colour(colour) if line.emphasised else style.INK,
        )


def _label_slopes(axes: Axes, plot: RooflinePlot, texts: Sequence[Text]) -> None:
    frame = Frame(axes)
    floor = plot.performance_limits[0]
    taken = [frame.of_text(text) for text in texts]
    for mark in plot.marks:
        taken.append(frame.around((mark.intensity, mark.performance), 6))
        drop = [(mark.performance / floor) ** (step / 100) * floor for step in range(100)]
        taken += [frame.around((mark.intensity, height), 1.5) for height in drop]
    label_slopes(
        axes,
        [
            SlopeLabel(
                start=(line.intensity[0], line.performance[0]),
                end=(line.intensity[1], line.performance[1]),
                text=line.label,
                colour=_line_look(line, overlaid=plot.overlaid)[0],
                bold=_is_bold(line, plot),
            )
            for line in plot.lines
            if line.kind == "memory"
        ],
        taken=taken,
        lowest_peak=min(line.value for line in plot.lines if line.kind == "compute"),
    )


def _legend_handles(plot: RooflinePlot) -> list[Artist]:
    """What the signs mean."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Artist] = []
    for mark in plot.marks:
        handle = Line2D([], [], linestyle="none", label=mark.legend, **_mark_look(mark, plot))
        if plot.overlaid:
            handle.set_color(_series_colour(mark.series))
            handle.set_linestyle(_dashes(mark.series))
        handles.append(handle)
    if not plot.overlaid:
        handles.append(Line2D([], [], color=style.GREY, label="nominal"))
        if any(not line.nominal for line in plot.lines):
            achievable = Line2D([], [], color=style.GREY, label="achievable")
            achievable.set_linestyle(_ACHIEVABLE)
            handles.append(achievable)
    if plot.bands:
        handles.append(Patch(facecolor=style.GREY, alpha=0.25, label="range of a value"))
    return handles
