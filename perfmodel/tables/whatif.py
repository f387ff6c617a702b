"""What-ifs, comparisons, sensitivities and crossovers as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.tables.prediction import given
from perfmodel.tables.text import percent, side_by_side, table, wrapped
from perfmodel.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfmodel.results.prediction import Crossovers, Prediction, Sensitivity, WhatIf

_MOST = 12


def whatif_table(kernel: str, device: str, found: Sequence[WhatIf]) -> str:
    """Rungs before and after a change."""
    changes = ", ".join(f"{name} = {value}" for name, value in found[0].changes.items())
    rows = [
        [
            each.rung,
            format_quantity(each.before.time_s, "s"),
            format_quantity(each.after.time_s, "s"),
            f"{each.speedup:.3g}x",
            each.before.limiter,
            each.after.limiter if each.after.limiter != each.before.limiter else "",
        ]
        for each in found
    ]
    header = ["rung", "before", "after", "gain", "limiter", "took over"]
    title = wrapped(f"{kernel} on {device} with {changes}", indent="  ")
    return "\n".join([title, "", table(rows, header=header, align="lrrr")])


def comparison_table(results: Sequence[Prediction]) -> str:
    """Rungs on several devices side by side."""
    devices = list(dict.fromkeys(each.device for each in results))
    rungs = list(dict.fromkeys(each.rung for each in results))
    by_place = {(each.rung, each.device): each for each in results}
    rows: list[list[str]] = []
    for rung in rungs:
        here = [by_place[rung, device] for device in devices]
        rows += [
            [rung, *(format_quantity(each.time_s, "s") for each in here)],
            ["  limiter", *(each.limiter for each in here)],
            ["  occupancy", *(percent(each.occupancy) for each in here)],
        ]
    title = wrapped(f"{results[0].kernel}: {given(results[0].parameters)}", indent="  ")
    return "\n".join([title, "", side_by_side(rows, devices)])


def sensitivity_table(result: Prediction, found: Sequence[Sensitivity], over: str) -> str:
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
            f"{each.low:.4g}",
            f"{each.high:.4g}",
            f"{100 * (each.time_at_low_s / result.time_s - 1):+.1f} %",
            f"{100 * (each.time_at_high_s / result.time_s - 1):+.1f} %",
        ]
        for each in found[:_MOST]
    ]
    if not rows:
        return f"{wrapped(title, indent='  ')}\n\nnothing moves it"
    header = ["value (SI or cycles)", "low", "high", "time at low", "at high"]
    return "\n".join([wrapped(title, indent="  "), "", table(rows, header=header, align="lrrrr")])


def crossover_table(found: Crossovers) -> str:
    """Where two rungs cross."""
    title = (
        f"{found.first} and {found.second} on {found.device}, "
        f"{found.over} from {found.low} to {found.high}"
    )
    if not found.crossings:
        return "\n".join(
            [wrapped(title, indent="  "), "", f"{found.faster_at_low} is faster throughout"]
        )
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
    return "\n".join([wrapped(title, indent="  "), "", table(rows, header=header, align="rlrl")])
