"""Predictions beside measurements as text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from perfmodel.tables.text import WIDTH, percent, table, wrapped
from perfmodel.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfmodel.results.validation import Case, Validation

_AMOUNTS = {
    "dram": "dram",
    "l2": "l2",
    "l1": "l1",
    "shared": "passes",
    "instructions": "instr.",
    "occupancy": "occup.",
}


def validation_table(validation: Validation) -> str:
    """The errors by group: of the time, of the counted amounts, of the order of rungs."""
    title = f"{validation.device}: {len(validation.cases)} measured cases; errors of the time"
    parts = [
        f"{title}, |predicted / measured - 1|",
        _times(validation),
        *_counted(validation),
        *_libraries(validation),
        _order(validation),
    ]
    return "\n\n".join(part for part in parts if part)


def _times(validation: Validation) -> str:
    rows = [
        [
            _short(each.name),
            str(each.cases),
            percent(each.median),
            percent(each.p90),
            f"{each.worst_factor:.2f}x",
            percent(each.roofline_median),
            percent(each.roofline_p90),
        ]
        for each in validation.groups
    ]
    head = ["cases of", "cases", "median", "90th pct", "worst", "roofline", "90th pct"]
    every = validation.groups[-1] if len(validation.groups) == 1 else _whole(validation)
    worst = wrapped(f"furthest off: {every.worst_case}, {every.worst_factor:.2f}x", indent="  ")
    return "\n".join([table(rows, header=head, align="lrrrrrr"), worst])


def _short(name: str) -> str:
    """An operation's name as far as the terminal's width allows."""
    return textwrap.shorten(name, 25, placeholder=" ...")


def _whole(validation: Validation) -> Any:
    names = [each.name for each in validation.groups]
    return validation.group("all" if "all" in names else names[0])


def _counted(validation: Validation) -> list[str]:
    found = [each for each in validation.groups if each.medians]
    if not found:
        return []
    rows = [
        [
            _short(each.name),
            *(
                percent(round(each.medians[name], 4)) if name in each.medians else "-"
                for name in _AMOUNTS
            ),
            f"{each.limiters_agree}/{each.limiters}",
        ]
        for each in found
    ]
    head = ["median errors", *_AMOUNTS.values(), "limiter"]
    note = wrapped(
        "limiter: cases in which what the prediction names is as busy as anything, by the "
        "counters; latency where nothing passes 60 % of its sustained peak",
        indent="  ",
    )
    return ["\n".join([table(rows, header=head, align="lrrrrrrr"), note])]


def _libraries(validation: Validation) -> list[str]:
    if not validation.libraries:
        return []
    rows = [
        [_short(each.operation), str(each.cases), str(each.slower), percent(each.efficiency)]
        for each in validation.libraries
    ]
    head = ["libraries", "cases", "slower by 10 %", "predicted / measured"]
    lines = [table(rows, header=head, align="lrrr")]
    short = validation.launch_bound
    if short:
        lines.append(
            wrapped(
                f"under 20 us: {short.cases} cases, {format_quantity(short.median_s, 's')} apart "
                f"in the median, {short.within_2_us} within 2 us",
                indent="  ",
            )
        )
    return ["\n".join(lines)]


def _order(validation: Validation) -> str:
    whole = _whole(validation)
    if not whole.pairs:
        return ""
    return wrapped(
        f"order of rungs: {whole.ordered} of {whole.pairs} pairs that differ by more than 5 % are "
        f"ordered as measured; Kendall's tau {whole.tau:.2f} in the median",
        indent="  ",
    )


def cases_table(cases: Sequence[Case]) -> str:
    """A line a case."""
    rows = [
        [
            each.name,
            " ".join(
                str(value) if name == "type" else f"{name}={value}"
                for name, value in each.parameters.items()
            ),
            format_quantity(each.measured_s, "s"),
            format_quantity(each.predicted_s, "s"),
            f"{each.ratio:.2f}",
            each.limiter,
        ]
        for each in cases
    ]
    head = ["case", "parameters", "measured", "predicted", "ratio", "limiter"]
    text = table(rows, header=head, align="llrrrl")
    if max(map(len, text.splitlines())) <= WIDTH:
        return text
    # Two lines a case where one would not fit the terminal.
    lines = []
    for row in rows:
        lines.append(f"{row[0]} {row[1]}")
        lines.append(f"  measured {row[2]}, predicted {row[3]}: {row[4]}x, {row[5]}")
    return "\n".join(lines)
