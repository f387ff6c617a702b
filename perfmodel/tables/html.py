"""Results as a notebook shows them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from perfmodel.tables.prediction import given, ladder_notes, parameter_lines, time_with_range
from perfmodel.tables.text import percent
from perfmodel.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfmodel.device.model import Device
    from perfmodel.results.prediction import Ladder, Prediction
    from perfmodel.results.validation import Validation


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
        notes=[f"note: {each}" for each in prediction.warnings],
    )


def ladder_html(ladder: Ladder) -> str:
    """A ladder: a row for each rung."""
    rows = [
        [
            ("or " if step.is_alternative else "") + step.rung,
            time_with_range(step.prediction) if step.prediction else "-",
            f"{step.speedup:.3g}" if step.speedup > 0 else "-",
            f"{step.step_speedup:.3g}" if step.step_speedup > 0 else "-",
            step.prediction.limiter if step.prediction else "-",
            step.removed,
        ]
        for step in ladder.steps
    ]
    header = ["rung", "time", "x first", "x before", "limiter", "what it did"]
    shared, apart = parameter_lines([each for _, each in ladder.running()], ladder.given)
    return _titled(
        f"{ladder.kernel} on {ladder.device}",
        shared,
        _table(header, rows),
        notes=[*apart, *ladder_notes(ladder)],
    )


def device_html(device: Device) -> str:
    """A device: every value with its kind, and its source where the pointer rests."""
    rows = "".join(
        f'<tr title="{escape(value.source)}"><td>{escape(name)}</td><td>{escape(str(value))}</td>'
        f"<td>{escape(value.kind)}</td></tr>"
        for name, value in device.quantities().items()
    )
    head = "<tr><th>field</th><th>value</th><th>kind</th></tr>"
    line = f"{device.vendor}, {device.architecture}; {len(device.quantities())} values"
    table = f"<details><summary>values</summary><table>{head}{rows}</table></details>"
    return _titled(f"{device.device}: {device.name}", line, table)


def validation_html(validation: Validation) -> str:
    """Predictions beside measurements: the errors of each group."""
    rows = [
        [each.name, str(each.cases), percent(each.median), percent(each.p90), each.worst_case]
        for each in validation.groups
    ]
    return _titled(
        f"{validation.device}: {len(validation.cases)} measured cases",
        "errors are |predicted / measured - 1|",
        _table(["cases of", "cases", "median error", "90th percentile", "furthest off"], rows),
    )


def _titled(title: str, line: str, table: str, notes: Sequence[str] = ()) -> str:
    below = "".join(f"<div>{escape(each)}</div>" for each in notes)
    return f"<div><strong>{escape(title)}</strong><br>{escape(line)}{table}{below}</div>"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
