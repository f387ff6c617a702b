"""A tornado: how far each value moves a predicted time, the one that moves it most on top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfmodel.plots import style
from perfmodel.tables.whatif import value_text
from perfmodel.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from perfmodel.results.prediction import Prediction, Sensitivity

MOST_BARS = 14
LEAST = 1e-3
"""What moves the time by less than this share is left out."""
_SEEN = 5e-3
"""A bar shorter than this share of the longest cannot be seen."""
_INSIDE = ", inside "
_LEFT, _RIGHT, _TOP, _BOTTOM, _WIDTH, _ROW = 2.1, 0.35, 0.85, 0.65, 5.4, 0.34


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A tornado, ready to be drawn."""

    title: str
    subtitle: str
    names: tuple[str, ...]
    changes: tuple[tuple[float, float], ...]
    """Change of the time at the low and at the high end [%]."""
    ends: tuple[tuple[str, str], ...]
    """The ends as text."""


def prepare_tornado(
    result: Prediction,
    found: Sequence[Sensitivity],
    over: str,
    units: Mapping[str, str] | None = None,
) -> Prepared:
    """Take from sensitivities what the figure shows.

    Args:
        result: The prediction.
        found: What moves its time, the one that moves it most first.
        over: unknowns, fields or parameters.
        units: Dimensions of `perfmodel.units` by the name of a value; without one it is shown as a
            bare number.

    Returns:
        What is drawn.
    """
    moved = {each.name: _furthest(each, result.time_s) for each in found}
    least = max(LEAST, _SEEN * max(moved.values(), default=0.0))
    seen = [each for each in found if moved[each.name] > least]
    shown = seen[:MOST_BARS]
    return Prepared(
        title=f"{result.kernel}:{result.rung} on {result.device}",
        subtitle=f"{format_quantity(result.time_s, 's')}; "
        + {
            "unknowns": "each unknown over its range",
            "fields": "each device value 10 % less and more",
            "parameters": "each parameter halved and doubled",
        }[over],
        names=tuple(each.name for each in shown),
        changes=tuple(
            (
                100 * (each.time_at_low_s / result.time_s - 1),
                100 * (each.time_at_high_s / result.time_s - 1),
            )
            for each in shown
        ),
        ends=tuple(
            (
                value_text(each.name, each.low, units or {}),
                value_text(each.name, each.high, units or {}),
            )
            for each in shown
        ),
    )


def _furthest(sensitivity: Sensitivity, time: float) -> float:
    """The greater change of the time, as a share of it."""
    ends = (sensitivity.time_at_low_s, sensitivity.time_at_high_s)
    return max(abs(end / time - 1) for end in ends)


def draw_tornado(prepared: Prepared) -> Figure:
    """Draw a tornado.

    Args:
        prepared: From `prepare_tornado`.

    Returns:
        The figure.
    """
    with style.look():
        rows = max(len(prepared.names), 1)
        height = rows * _ROW
        figure = style.new_figure(_LEFT + _WIDTH + _RIGHT, height + _TOP + _BOTTOM)
        style.add_titles(figure, left=0.16, title=prepared.title, subtitle=prepared.subtitle)
        axes = style.add_axes(figure, left=_LEFT, bottom=_BOTTOM, width=_WIDTH, height=height)
        furthest = max((abs(each) for pair in prepared.changes for each in pair), default=1.0)
        least = min((each for pair in prepared.changes for each in pair), default=0.0)
        most = max((each for pair in prepared.changes for each in pair), default=0.0)
        margin = _margin(prepared) * max(most - least, 1e-9)
        axes.set_xlim(min(least, 0) - margin, max(most, 0) + margin)
        for row, (pair, texts) in enumerate(zip(prepared.changes, prepared.ends, strict=True)):
            _draw_row(axes, rows - 1 - row, pair, texts, least=_SEEN * furthest)
        if not prepared.names:
            axes.text(0.5, 0.5, "nothing moves it", transform=axes.transAxes, ha="center")
        axes.axvline(0, color=style.INK, linewidth=0.8)
        axes.set_yticks(range(len(prepared.names)), list(reversed(prepared.names)))
        axes.set_ylim(-0.6, rows - 0.4)
        axes.set_xlabel(
            "change of the time (%); plain: the low end, hatched: the high end, with its value",
            fontsize=style.NOTE_SIZE,
        )
        return figure


def _margin(prepared: Prepared) -> float:
    """Room for the longest label on either side, as a share of what is between the sides."""
    longest = max(
        (
            sum(map(len, texts)) + len(_INSIDE) if _one_way(pair) else max(map(len, texts))
            for pair, texts in zip(prepared.changes, prepared.ends, strict=True)
        ),
        default=0,
    )
    share = (0.062 * longest + 0.12) / _WIDTH
    return share / (1 - 2 * share)


def _one_way(pair: tuple[float, float]) -> bool:
    return pair[0] * pair[1] > 0


def _draw_row(
    axes: Axes, place: int, pair: tuple[float, float], texts: tuple[str, str], *, least: float
) -> None:
    """Two bars, each labelled at its end; where both point one way, the shorter inside."""
    ends = list(zip(pair, texts, (style.BLUE, style.ORANGE), ("", "////"), strict=True))
    one_way = _one_way(pair) and min(map(abs, pair)) >= least
    ends.sort(key=lambda end: -abs(end[0]))
    for number, (change, text, colour, hatch) in enumerate(ends):
        if abs(change) < least:
            continue
        height = 0.33 if one_way and number else 0.66
        axes.barh(place, change, height=height, color=colour, hatch=hatch, edgecolor="white")
        if one_way and number:
            continue
        axes.annotate(
            f"{text}{_INSIDE}{ends[1][1]}" if one_way else text,
            (change, place),
            xytext=(3 if change > 0 else -3, 0),
            textcoords="offset points",
            ha="left" if change > 0 else "right",
            va="center",
            fontsize=7,
        )
