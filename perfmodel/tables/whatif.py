"""What-ifs, comparisons, sensitivities and crossovers as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.tables.prediction import parameter_lines
from perfmodel.tables.text import WIDTH, percent, side_by_side, table, wrapped
from perfmodel.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from perfmodel.results.prediction import (
        Attempt,
        Best,
        Crossovers,
        Prediction,
        Sensitivity,
        WhatIf,
    )

_MOST = 12
_LEAST = 5e-4
"""A change of less than this share of the time would be shown as none."""


def whatif_table(
    kernel: str, device: str, found: Sequence[WhatIf], named: Collection[str] = ()
) -> str:
    """Rungs before and after a change; `named` are the parameters that were asked for."""
    changes = ", ".join(f"{name} = {value}" for name, value in found[0].changes.items())
    rows = []
    for each in found:
        before, after = each.before.prediction, each.after.prediction
        same = before is not None and after is not None and before.limiter == after.limiter
        rows.append(
            [
                each.rung,
                _time(each.before),
                _time(each.after),
                f"{each.speedup:.3g}x" if before and after else "",
                before.limiter if before else "",
                after.limiter if after and not same else "",
            ]
        )
    header = ["rung", "before", "after", "gain", "limiter", "took over"]
    attempts = [each for pair in found for each in (pair.before, pair.after)]
    return _headed(
        f"{kernel} on {device} with {changes}",
        table(rows, header=header, align="lrrr"),
        attempts,
        named,
    )


def _headed(title: str, text: str, attempts: Sequence[Attempt], named: Collection[str]) -> str:
    """A table under a title with the parameters that its rungs share, and notes below it."""
    shared, apart = parameter_lines(
        [each.prediction for each in attempts if each.prediction], named
    )
    below = [wrapped(each, indent="  ") for each in apart]
    return "\n".join(
        [wrapped(f"{title}: {shared}", indent="  "), "", text, *below, *_notes(attempts)]
    )


def comparison_table(found: Sequence[Attempt], named: Collection[str] = ()) -> str:
    """Rungs on several devices side by side; `named` are the parameters that were asked for."""
    devices = list(dict.fromkeys(each.device for each in found))
    by_place = {(each.rung, each.device): each for each in found}
    rows: list[list[str]] = []
    for rung in dict.fromkeys(each.rung for each in found):
        here = [by_place[rung, device] for device in devices]
        predictions = [each.prediction for each in here]
        rows += [
            [rung, *map(_time, here)],
            ["  limiter", *(each.limiter if each else "" for each in predictions)],
            ["  occupancy", *(percent(each.occupancy) if each else "" for each in predictions)],
        ]
    first = next(each.prediction for each in found if each.prediction)
    return _headed(first.kernel, side_by_side(rows, devices), found, named)


def _time(attempt: Attempt) -> str:
    prediction = attempt.prediction
    return format_quantity(prediction.time_s, "s") if prediction else "cannot run"


def _notes(attempts: Sequence[Attempt]) -> list[str]:
    """Why rungs cannot run, each reason once."""
    reasons = dict.fromkeys(each.cannot for each in attempts if each.cannot)
    return [wrapped(f"note: {each}", indent="  ") for each in reasons]


def value_text(name: str, value: float, units: Mapping[str, str]) -> str:
    """A value with its unit; the bare number where it has none.

    Args:
        name: What has the value.
        value: In SI units or cycles.
        units: Dimensions of `perfmodel.units` by name.

    Returns:
        Such as `1.7 GHz`.

    Example:
        >>> value_text("clock", 1.7e9, {"clock": "hz"}), value_text("block", 256.0, {})
        ('1.7 GHz', '256')
    """
    return format_quantity(value, units[name]) if name in units else f"{value:.10g}"


def sensitivity_table(
    result: Prediction, found: Sequence[Sensitivity], over: str, units: Mapping[str, str]
) -> str:
    """The values that move a time."""
    what = {
        "unknowns": "over the range of each unknown",
        "fields": "with each device value 10 % less and 10 % more",
        "parameters": "with each parameter halved and doubled",
    }[over]
    title = (
        f"{result.kernel}:{result.rung} on {result.device}, "
        f"{format_quantity(result.time_s, 's')}, {what}"
    )
    rows = [
        [
            each.name,
            value_text(each.name, each.low, units),
            value_text(each.name, each.high, units),
            _moved(each, each.low, each.time_at_low_s / result.time_s),
            _moved(each, each.high, each.time_at_high_s / result.time_s),
        ]
        for each in found[:_MOST]
        if each.width_s > _LEAST * result.time_s
    ]
    if not rows:
        return f"{wrapped(title, indent='  ')}\n\nnothing moves it"
    header = ["value", "low", "high", "time at low", "at high"]
    return "\n".join([wrapped(title, indent="  "), "", table(rows, header=header, align="lrrrr")])


def _moved(sensitivity: Sensitivity, end: float, share: float) -> str:
    """The change of the time at an end; a dash where the end is the value itself."""
    return "-" if end == sensitivity.value else f"{100 * (share - 1):+.1f} %"


def crossover_table(found: Crossovers) -> str:
    """Where two rungs cross."""
    title = (
        f"{found.first} and {found.second} on {found.device}, "
        f"{found.over} from {found.low} to {found.high}"
    )
    if not found.crossings:
        winner = found.faster_at_low
        said = f"{winner} is faster throughout" if winner else "both take the same time throughout"
        return "\n".join([wrapped(title, indent="  "), "", said, *_cautions(found)])
    rows = [
        [
            str(each.last_below),
            f"{each.faster_below} ({each.limiter_below})",
            str(each.first_above),
            f"{each.faster_above} ({each.limiter_above})",
        ]
        for each in found.crossings
    ]
    header = ["up to", "faster (limiter)", "from", "faster (limiter)"]
    notes = [
        f"note: from {each.first_above} on one of them cannot run on {found.device}, or could not "
        f"up to {each.last_below}"
        for each in found.crossings
        if each.because_it_runs
    ]
    lines = [wrapped(title, indent="  "), "", table(rows, header=header, align="rlrl")]
    if max(map(len, lines[-1].splitlines())) > WIDTH:
        lines[-1] = "\n".join(
            f"up to {below}: {low}\nfrom {above} on: {high}" for below, low, above, high in rows
        )
    return "\n".join([*lines, *(wrapped(each, indent="  ") for each in notes), *_cautions(found)])


def _cautions(found: Crossovers) -> list[str]:
    """Why the values looked at are fewer than those asked for, and which rung does less."""
    narrowed = [
        f"asked for {found.asked_low} to {found.asked_high}: {each}" for each in found.narrowed
    ]
    return [wrapped(f"note: {each}", indent="  ") for each in (*narrowed, *found.missing_work)]


def best_table(best: Best) -> str:
    """The combinations tried: a list of one parameter's values, a grid of two parameters'."""
    chosen = ", ".join(f"{name} = {value}" for name, value in best.values.items())
    names = list(best.values)
    title = (
        f"{best.kernel} on {best.device}: {chosen} is best, {format_quantity(best.time_s, 's')}; "
        f"{best.possible} of {best.tried} tried can run"
    )
    lines = [wrapped(title, indent="  "), "", _grid(best) if len(names) == 2 else _list(best)]
    full: dict[str, list[str]] = {}
    for each in best.trials:
        if each.cannot:
            full.setdefault(each.cannot, []).append(" x ".join(map(str, each.values.values())))
    lines += [
        wrapped(f"no block fits into {what}: {' x '.join(names)} = {', '.join(which)}", indent="  ")
        for what, which in full.items()
    ]
    return "\n".join(lines)


def _list(best: Best) -> str:
    rows = [
        [
            *(str(value) for value in each.values.values()),
            "-" if each.cannot else format_quantity(each.time_s, "s"),
            "" if each.cannot else f"{each.time_s / best.time_s:.3g}x",
            each.limiter or "does not fit",
            "" if each.cannot else percent(each.occupancy),
            "<- best" if each.values == best.values else "",
        ]
        for each in best.trials
    ]
    header = [*best.values, "time", "of the best", "limiter", "occupancy", ""]
    return table(rows, header=header, align="r" * len(best.values) + "rrlr")


def _grid(best: Best) -> str:
    first, second = best.values
    by_place = {tuple(each.values.values()): each for each in best.trials}
    across = sorted({each.values[second] for each in best.trials})
    rows = []
    for down in sorted({each.values[first] for each in best.trials}):
        cells = [str(down)]
        for value in across:
            each = by_place.get((down, value))
            if each is None:
                cells.append("")
            elif each.cannot:
                cells.append("-")
            else:
                mark = " *" if each.values == best.values else ""
                cells.append(f"{format_quantity(each.time_s, 's')}{mark}")
        rows.append(cells)
    legend = f"down: {first}; across: {second}; *: best; -: does not fit; empty: not allowed"
    return f"{side_by_side(rows, [str(value) for value in across])}\n\n{legend}"
