"""A prediction taken apart: what was counted, what it was divided by, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perfmodel.results.base import Result
from perfmodel.scheduler.prediction import predict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfmodel.device.model import Device
    from perfmodel.device.values import Value
    from perfmodel.results.prediction import Prediction


@dataclass(frozen=True, kw_only=True)
class Term(Result):
    """One bound: an amount over a rate."""

    name: str
    time_s: float
    formula: str
    """With the numbers put in."""
    field: str
    """The device value it rests on."""
    kind: str
    """How that is known: published, measured, inferred or assumed."""
    source: str


@dataclass(frozen=True, kw_only=True)
class Explanation(Result):
    """A prediction with its terms."""

    prediction: Prediction
    terms: tuple[Term, ...]
    combination: tuple[str, ...]
    """How the terms became the time, a line each."""


_OF_DEVICE: Mapping[str, tuple[str, str, str]] = {
    "dram": ("dram_bytes", "bytes", "dram_bandwidth_achievable"),
    "l2": ("l2_bytes", "bytes", "l2_bandwidth"),
}
_OF_MP: Mapping[str, tuple[str, str]] = {
    "l2_port": ("bytes from the L2", "l2_bandwidth_per_mp"),
    "l1": ("bytes of sectors", "l1_bandwidth"),
    "l1_lines": ("line look-ups", "line_rate"),
    "load_store": ("lanes of accesses", "lanes.load_store"),
    "shared": ("bytes of passes", "shared_bandwidth"),
    "issue": ("warp instructions", "issue_width"),
    "registers": ("operands", "register_read_ports"),
    "fp32": ("operations", "lanes.fp32"),
    "fp16": ("operations", "lanes.fp16"),
    "fp64": ("operations", "lanes.fp64"),
    "int32": ("operations", "lanes.int32"),
    "special": ("operations", "lanes.special"),
}
_PER_LANE = {"issue": "schedulers", "registers": "lanes.fp32"}
"""Rates that are stated for a scheduler or a lane, and how many of these there are."""


def explain_prediction(
    kernel: str, device: Device, *, parameters: Mapping[str, Any] | None = None
) -> Explanation:
    """Take a prediction apart.

    Args:
        kernel: A kernel or a file and its rung.
        device: The device.
        parameters: Values of the kernel's parameters.

    Returns:
        The prediction and its terms, greatest first.

    Raises:
        UsageError: A parameter that is none.
        DataError: The description is wrong, or the device cannot run it.

    Example:
        >>> from perfmodel import load_device
        >>> explain_prediction("vecadd:naive", load_device("s5000")).terms[0].formula
        '192 MiB / 1.332 TB/s'
    """
    result = predict(kernel, device, parameters=parameters, ranges=False)
    return Explanation(
        prediction=result,
        terms=tuple(
            term
            for bound in result.bounds
            if (term := _term(result, device, bound.name, bound.time_s)) is not None
        ),
        combination=_combination(result, device),
    )


def _term(result: Prediction, device: Device, name: str, time: float) -> Term | None:
    from perfmodel.units import format_quantity

    quantities = device.quantities()
    if name in _OF_DEVICE:
        count, unit, field = _OF_DEVICE[name]
        formula = f"{format_quantity(result.counts[count], unit)} / {_stated(quantities[field])}"
        return _made(name, time, formula, field, quantities[field])
    if name in _OF_MP:
        what, field = _OF_MP[name]
        several = quantities[_PER_LANE[name]].value if name in _PER_LANE else 1.0
        amount = time * device.clock.value * quantities[field].value * several
        times = f"{several:g} x " if name in _PER_LANE else ""
        formula = (
            f"{amount:.4g} {what} on the busiest MP / "
            f"({times}{_stated(quantities[field])} x {_stated(device.clock)})"
        )
        return _made(name, time, formula, field, quantities[field])
    if name == "latency":
        rounds = [
            f"{round(each.bounds_time('latency') / each.block_time_s)} rounds x "
            f"{format_quantity(each.block_time_s, 's')}"
            for each in result.launches
        ]
        return _made(name, time, " + ".join(rounds), "dram_latency", device.dram_latency)
    if name == "kernel_launch":
        formula = f"{len(result.launches)} x {_stated(device.kernel_launch)}"
        return _made(name, time, formula, name, device.kernel_launch)
    if name == "block_launch":
        blocks = sum(-(-each.blocks // device.mps.whole) for each in result.launches)
        formula = f"{blocks} blocks on the busiest MP x {_stated(device.block_launch)}"
        return _made(name, time, formula, name, device.block_launch)
    return None


def _made(name: str, time: float, formula: str, field: str, value: Value) -> Term:
    return Term(
        name=name, time_s=time, formula=formula, field=field, kind=value.kind, source=value.source
    )


def _stated(value: Value) -> str:
    return str(value).split(" (", maxsplit=1)[0]


def _combination(result: Prediction, device: Device) -> tuple[str, ...]:
    from perfmodel.units import format_quantity

    sharpness = device.saturation_sharpness
    lines = []
    for launch in result.launches:
        busiest = next(each for each in launch.bounds if each.name not in ("latency", "tail"))
        latency = launch.bounds_time("latency")
        tail = launch.bounds_time("tail")
        text = (
            f"{launch.name}: blend of latency {format_quantity(latency, 's')} and {busiest.name} "
            f"{format_quantity(busiest.time_s, 's')} with sharpness "
            f"{sharpness.value if sharpness else 0:g}, at most their time without overlap"
        )
        if tail:
            text += f", and {format_quantity(tail, 's')} for the block with most to do"
        lines.append(f"{text} = {format_quantity(launch.time_s, 's')}")
    return tuple(lines)
