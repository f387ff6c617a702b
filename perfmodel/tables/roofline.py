"""Rooflines as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.tables.text import percent, table, wrapped
from perfmodel.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfmodel.results import Ceiling, RooflineResult


def roofline_table(results: Sequence[RooflineResult], measured_s: float | None = None) -> str:
    """Each result in full, one after the other."""
    return "\n\n".join(_one(result, measured_s) for result in results)


def _one(result: RooflineResult, measured_s: float | None) -> str:
    given = ", ".join(f"{name}={value}" for name, value in result.parameters.items())
    rows = [
        [
            point.level,
            format_quantity(point.bytes, "bytes"),
            f"{point.intensity_flop_per_byte:.4g}",
            f"{point.ridge_flop_per_byte:.4g}",
            format_quantity(point.attainable_flop_per_s, "flop/s"),
            percent(point.share_of_peak),
            format_quantity(point.time_s, "s"),
        ]
        for point in result.points
    ]
    lines = [
        f"{result.kernel} on {result.device}{': ' + given if given else ''}",
        "",
        table(
            rows,
            header=["level", "bytes", "FLOP/B", "ridge", "attainable", "of peak", "least time"],
            align="lrrrrrr",
        ),
        "",
        *(wrapped(note) for note in _notes(result)),
    ]
    if measured_s is not None:
        lines += [wrapped(note) for note in _measured(result, measured_s)]
    return "\n".join(lines)


def _notes(result: RooflineResult) -> list[str]:
    """What limits, and what has to be known to read the rows."""
    low, high = result.least_time_range_s
    spread = (
        "" if low == high else f" ({format_quantity(low, 's')} .. {format_quantity(high, 's')})"
    )
    flop = format_quantity(result.flop, "flop/s").removesuffix("/s")
    peak = format_quantity(result.peak_flop_per_s, "flop/s")
    least = format_quantity(result.least_time_s, "s")
    limit = f"limited by {result.limiter}: at least {least}{spread}"
    notes = [f"{limit} for {flop} on the {result.pipe} peak of {peak}"]
    levels = {point.level for point in result.points}
    if "l1" in levels:
        notes.append(
            "dram and l2 move each element once; the l1 row is what the plainest version asks of "
            "the L1, and no limit for a version that asks for less"
        )
    ranges = [
        _span(ceiling)
        for ceiling in result.ceilings
        if ceiling.low != ceiling.high and ceiling.name in (*levels, result.pipe)
    ]
    if ranges:
        notes.append(f"known as ranges: {', '.join(ranges)}")
    if result.least_time_s < result.kernel_launch_s:
        launch = format_quantity(result.kernel_launch_s, "s")
        notes.append(f"starting the kernel alone takes longer: {launch}")
    return notes


def _span(ceiling: Ceiling) -> str:
    unit = "bytes/s" if ceiling.kind == "memory" else "flop/s"
    low, high = (format_quantity(end, unit) for end in (ceiling.low, ceiling.high))
    return f"{ceiling.name} {low} .. {high}"


def _measured(result: RooflineResult, measured_s: float) -> list[str]:
    """The share of the roof that a measured time reaches."""
    share = result.share_of_roof(measured_s)
    notes = [f"measured {format_quantity(measured_s, 's')}: {percent(share)} of the roof"]
    if share > 1:
        notes.append(
            "no kernel passes its roof: another pipe or element size, data still in a cache, or a "
            "peak of the device file that is too low"
        )
    return notes
