"""Results as a notebook shows them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from perfmodel.tables.prediction import given, time_with_range
from perfmodel.tables.text import percent
from perfmodel.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfmodel.results.prediction import Ladder, Prediction


def prediction_html(prediction: Prediction) -> str:
    """A prediction: its time, limiter and bounds."""
    title = f"{prediction.kernel}:{prediction.rung} on {prediction.device}"
    rows = [
        [each.name, format_quantity(each.time_s, "s"), percent(each.utilization)]
        for each in prediction.bounds
    ]
    return _titled(
        title,
        f"{time_with_range(prediction)}, limited by {prediction.limiter}; "
        f"{given(prediction.parameters)}",
        _table(["bound", "time", "of the time"], rows),
    )


def ladder_html(ladder: Ladder) -> str:
    """A ladder: a row for each rung."""
    rows = [
        [
            step.rung,
            time_with_range(step.prediction),
            f"{step.speedup:.3g}",
            f"{step.step_speedup:.3g}",
            step.prediction.limiter,
            step.removed,
        ]
        for step in ladder.steps
    ]
    header = ["rung", "time", "x first", "x before", "limiter", "what it did"]
    return _titled(
        f"{ladder.kernel} on {ladder.device}", given(ladder.parameters), _table(header, rows)
    )


def _titled(title: str, line: str, table: str) -> str:
    return f"<div><strong>{escape(title)}</strong><br>{escape(line)}{table}</div>"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
