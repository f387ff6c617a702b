"""Rooflines as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.tables.text import percent, table, wrapped
from perfmodel.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfmodel.results import RooflineResult


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
    low, high = result.least_time_range_s
    spread = (
        "" if low == high else f" ({format_quantity(low, 's')} .. {format_quantity(high, 's')})"
    )
    lines = [
        f"{result.kernel} on {result.device}{': ' + given if given else ''}",
        "",
        table(
            rows,
            header=["level", "bytes", "FLOP/B", "ridge", "attainable", "of peak", "least time"],
            align="lrrrrrr",
        ),
        "",
        wrapped(
            f"limited by {result.limiter}: at least "
            f"{format_quantity(result.least_time_s, 's')}{spread} for "
            f"{format_quantity(result.flop, 'flop/s').removesuffix('/s')} on the {result.pipe} "
            f"peak of {format_quantity(result.peak_flop_per_s, 'flop/s')}"
        ),
        wrapped(
            "dram and l2 count each element once; l1 counts what the plainest version requests"
        ),
    ]
    if measured_s is not None:
        lines.append(
            f"measured {format_quantity(measured_s, 's')}: "
            f"{percent(result.least_time_s / measured_s)} of the roof"
        )
    return "\n".join(lines)
