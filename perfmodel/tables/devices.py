"""Devices, their values and their cross-checks as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.tables.text import WIDTH, table, wrapped
from perfmodel.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfmodel.device.checks import Check
    from perfmodel.device.model import Device


def device_rows(devices: Sequence[Device]) -> list[dict[str, Any]]:
    """What devices are compared by first, in SI units."""
    return [
        {
            "device": device.device,
            "name": device.name,
            "vendor": device.vendor,
            "architecture": device.architecture,
            "aliases": list(device.aliases),
            "mps": device.mps.whole,
            "warp_width": device.warp_width.whole,
            "max_warps_per_mp": device.max_warps_per_mp.whole,
            "registers_per_mp": device.registers_per_mp.whole,
            "shared_bytes_per_mp": device.shared_per_mp.whole,
            "dram_bandwidth_bytes_per_s": device.dram_bandwidth.value,
            "peak_fp32_flop_per_s": device.peaks["fp32"].value,
        }
        for device in devices
    ]


def devices_table(devices: Sequence[Device]) -> str:
    """One line a device."""
    rows = [
        [
            device.device,
            device.name[:24],
            str(device.mps.whole),
            str(device.warp_width.whole),
            format_quantity(device.shared_per_mp.value, "bytes"),
            format_quantity(device.dram_bandwidth.value, "bytes/s"),
            format_quantity(device.peaks["fp32"].value, "flop/s", digits=3),
        ]
        for device in devices
    ]
    return table(
        rows,
        header=["device", "name", "MPs", "warp", "shared", "DRAM", "fp32"],
        align="llrrrrr",
    )


def value_rows(device: Device) -> list[dict[str, Any]]:
    """Every value with its range, kind and source, in SI units."""
    return [
        {
            "name": name,
            "value": value.value,
            "low": value.low,
            "high": value.high,
            "unit": value.unit,
            "kind": value.kind,
            "source": value.source,
        }
        for name, value in device.quantities().items()
    ]


def device_table(device: Device) -> str:
    """Every value, its source below it."""
    lines = [f"{device.device}: {device.name} ({device.vendor}, {device.architecture})"]
    if device.aliases:
        lines.append(f"also: {', '.join(device.aliases)}")
    lines += [wrapped(device.about), ""]
    for name, value in device.quantities().items():
        stated = f"{name}  {value}"
        lines.append(f"{stated.ljust(WIDTH - len(value.kind) - 1)} {value.kind}")
        lines.append(wrapped(f"    {value.source}", indent="    "))
    kinds = [value.kind for value in device.quantities().values()]
    counts = ", ".join(
        f"{kinds.count(kind)} {kind}" for kind in ("published", "measured", "inferred", "assumed")
    )
    lines += ["", f"{len(kinds)} values: {counts}"]
    return "\n".join(lines)


def check_rows(checked: Sequence[tuple[str, Sequence[Check]]]) -> dict[str, Any]:
    """Every check of every device, in SI units."""
    return {
        name: [
            {
                "name": check.name,
                "stated": list(check.stated),
                "recomputed": list(check.recomputed),
                "unit": check.unit,
                "formula": check.formula,
                "agrees": check.agrees,
                "open": check.open,
            }
            for check in checks
        ]
        for name, checks in checked
    }


def checks_table(checked: Sequence[tuple[str, Sequence[Check]]]) -> str:
    """One line a device; where two numbers disagree or only a range covers one, both."""
    lines = []
    for name, checks in checked:
        wrong = [check for check in checks if not check.agrees]
        unsettled = [check for check in checks if check.open]
        counted = f"{name}: {len(checks) - len(wrong)} of {len(checks)} checks agree"
        lines.append(f"{counted}, {len(unsettled)} of them open" if unsettled else counted)
        lines += [
            wrapped(
                f"  {check.name}: the file states {_interval(check.stated, check.unit)}; "
                f"{check.formula}: {_interval(check.recomputed, check.unit)}",
                indent="    ",
            )
            for check in wrong
        ]
        lines += [
            wrapped(
                f"  {check.name}: {_interval(check.stated, check.unit)} was measured, above the "
                f"value and within the range {_interval(check.recomputed, check.unit)}; "
                f"{check.formula}",
                indent="    ",
            )
            for check in unsettled
        ]
    return "\n".join(lines)


def _interval(ends: tuple[float, float], unit: str) -> str:
    low, high = (format_quantity(end, unit) for end in ends)
    return low if low == high else f"{low} .. {high}"
