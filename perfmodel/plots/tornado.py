"""A tornado: how far each value moves a predicted time, the one that moves it most on top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfmodel.plots import style
from perfmodel.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from perfmodel.results.prediction import Prediction, Sensitivity

MOST_BARS = 14
LEAST = 1e-3
"""What moves the time by less than this share is left out."""
_LEFT, _RIGHT, _TOP, _BOTTOM, _WIDTH, _ROW = 2.5, 0.9, 0.85, 0.65, 5.2, 0.34


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


def prepare_tornado(result: Prediction, found: Sequence[Sensitivity], over: str) -> Prepared:
    """Take from sensitivities what the figure shows.

    Args:
        result: The prediction.
        found: What moves its time, the one that moves it most first.
        over: unknowns, fields or parameters.

    Returns:
        What is drawn.
    """
    seen = [each for each in found if each.width_s > LEAST * result.time_s]
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
        ends=tuple((f"{each.low:.4g}", f"{each.high:.4g}") for each in shown),
    )


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
        margin = 0.16 * max(most - least, 1e-9)
        axes.set_xlim(min(least, 0) - margin, max(most, 0) + margin)
        for row, (pair, texts) in enumerate(zip(prepared.changes, prepared.ends, strict=True)):
            place = rows - 1 - row
            for change, text, colour, hatch in zip(
                pair, texts, (style.BLUE, style.ORANGE), ("", "////"), strict=True
            ):
                if abs(change) < 1e-3 * furthest:
                    continue
                axes.barh(place, change, height=0.66, color=colour, hatch=hatch, edgecolor="white")
                axes.annotate(
                    text,
                    (change, place),
                    xytext=(3 if change > 0 else -3, 0),
                    textcoords="offset points",
                    ha="left" if change > 0 else "right",
                    va="center",
                    fontsize=6.5,
                )
        axes.axvline(0, color=style.INK, linewidth=0.8)
        axes.set_yticks(range(len(prepared.names)), list(reversed(prepared.names)))
        axes.set_ylim(-0.6, rows - 0.4)
        axes.set_xlabel(
            "change of the time (%); plain: the low end, hatched: the high end, with its value",
            fontsize=style.NOTE_SIZE,
        )
        return figure
