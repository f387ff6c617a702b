"""A predicted ladder beside measured times as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.tables.text import table, wrapped
from perfmodel.units import format_quantity

if TYPE_CHECKING:
    from perfmodel.device.model import Device
    from perfmodel.documents.softmax_ladder import SoftmaxLadder, SoftmaxRung


def measured_table(ladder: SoftmaxLadder, device: Device) -> str:
    """The rungs with measured and predicted times, and what would explain the difference.

    Args:
        ladder: The ladder.
        device: The device it was predicted on, for the units of its values.

    Returns:
        A table with a line for each rung below it.
    """
    rows = [
        [
            each.rung,
            _time(each.measured_s),
            _time(each.predicted_s),
            f"{100 * each.error:+.0f} %",
            _time(each.fitted_s),
            f"{100 * each.fitted_error:+.0f} %",
            each.nearest_bound,
        ]
        for each in ladder.rungs
    ]
    header = ["rung", "measured", "predicted", "error", "fitted", "error", "nearest bound"]
    quantities = device.quantities()

    def stated(field: str, value: float) -> str:
        return format_quantity(value, quantities[field].unit, digits=3)

    def explained(rung: SoftmaxRung) -> str:
        field = rung.explaining_field
        if rung.explaining_value is None:
            return f"no {field} would"
        return (
            f"{field} = {stated(field, rung.explaining_value)} instead of "
            f"{stated(field, rung.stated_value)} would"
        )

    how = (
        f"predicted: from the device file alone; fitted: with {ladder.fitted_field} = "
        f"{stated(ladder.fitted_field, ladder.fitted_value)}, at which {ladder.fitted_rung} takes "
        "its measured time"
    )
    notes = [
        how,
        f"as printed, the last kernel covers a quarter of each row: {_time(ladder.as_printed_s)}",
        "what would explain each measured time:",
    ]
    return "\n".join(
        [
            f"softmax on {ladder.device}, beside the times of document 002",
            "",
            table(rows, header=header, align="lrrrrr"),
            *(wrapped(note, indent="  ") for note in notes),
            *(wrapped(f"  {each.rung}: {explained(each)}", indent="    ") for each in ladder.rungs),
        ]
    )


def _time(time_s: float) -> str:
    return format_quantity(time_s, "s", digits=3)
