"""Predictions beside measurements: a scatter by ladder, and how the errors are spread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.plots import style
from perfmodel.validation.errors import relative_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from perfmodel.results.validation import Case, Validation

BAND = 1.25
"""The band around equality within which points are said to be near [-]."""
_WIDTH, _HEIGHT, _SIDE = 9.6, 4.9, 3.7
_LEFT, _BOTTOM, _GAP = 0.75, 0.62, 0.85
_FURTHEST = 1.0
"""Errors beyond this share lie outside the second picture."""


def draw_validation(validation: Validation) -> Figure:
    """Predicted against measured times, and the distribution of errors of model and roofline.

    Args:
        validation: What was compared.

    Returns:
        The figure.
    """
    with style.look():
        figure = style.new_figure(_WIDTH, _HEIGHT)
        style.add_titles(
            figure,
            left=_LEFT,
            title=f"Predicted and measured times on {validation.device}",
            subtitle=f"{len(validation.cases)} cases; the band is a factor of {BAND:g} either way",
        )
        scatter = style.add_axes(figure, left=_LEFT, bottom=_BOTTOM, width=_SIDE, height=_SIDE)
        _scatter(scatter, validation.cases)
        spread = style.add_axes(
            figure, left=_LEFT + _SIDE + _GAP, bottom=_BOTTOM, width=_SIDE, height=_SIDE
        )
        _spread(spread, validation.cases)
    return figure


def _scatter(axes: Axes, cases: Sequence[Case]) -> None:
    times = [time * 1e6 for case in cases for time in (case.measured_s, case.predicted_s)]
    low, high = min(times) / 1.5, max(times) * 1.5
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.fill_between(
        [low, high], [low / BAND, high / BAND], [low * BAND, high * BAND], color=style.PALE, lw=0
    )
    axes.plot([low, high], [low, high], color=style.GREY, lw=0.8)
    names = list(dict.fromkeys(case.operation for case in cases))
    for number, name in enumerate(names):
        chosen = [case for case in cases if case.operation == name]
        axes.scatter(
            [case.measured_s * 1e6 for case in chosen],
            [case.predicted_s * 1e6 for case in chosen],
            s=14,
            marker=style.MARKERS[number % len(style.MARKERS)],
            facecolors="none" if number >= len(style.PALETTE) else style.PALETTE[number],
            edgecolors=style.PALETTE[number % len(style.PALETTE)],
            linewidths=0.6,
            alpha=0.75,
            label=name,
        )
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda time, _: f"{time:,.0f}")
    axes.set_xlabel("measured [us]", fontsize=style.LABEL_SIZE, color=style.INK)
    axes.set_ylabel("predicted [us]", fontsize=style.LABEL_SIZE, color=style.INK)
    axes.legend(
        loc="upper left",
        fontsize=style.NOTE_SIZE,
        frameon=False,
        handletextpad=0.2,
        ncol=1 + (len(names) > 7),
    )


def _spread(axes: Axes, cases: Sequence[Case]) -> None:
    lines = {
        "model": [relative_error(predicted=c.predicted_s, measured=c.measured_s) for c in cases],
        "plain roofline": [
            relative_error(predicted=c.roofline_s, measured=c.measured_s) for c in cases
        ],
    }
    for number, (name, errors) in enumerate(lines.items()):
        ordered = sorted(errors)
        shares = [(place + 1) / len(ordered) for place in range(len(ordered))]
        axes.step(
            [0.0, *ordered],
            [0.0, *shares],
            where="post",
            color=style.PALETTE[number],
            linestyle=style.LINE_STYLES[number],
            lw=1.6,
            label=name,
        )
    axes.set_xlim(0, _FURTHEST)
    axes.set_ylim(0, 1)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
    axes.grid(visible=True, color=style.PALE, lw=0.6)
    axes.set_xlabel(
        "error of the time, |predicted / measured - 1|", fontsize=style.LABEL_SIZE, color=style.INK
    )
    axes.set_ylabel("share of the cases", fontsize=style.LABEL_SIZE, color=style.INK)
    axes.legend(loc="lower right", fontsize=style.NOTE_SIZE, frameon=False)
