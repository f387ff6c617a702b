"""Cross-checks of a device file: what can be recomputed is, and both numbers are shown.

A check compares two intervals, so that a value known as a range is not called wrong while its
range covers the recomputed one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from perfmodel.device.model import Device
from perfmodel.device.values import Value

TOLERANCE = 0.03
"""Relative room for the rounding of published peaks."""

_FLOP_PER_FMA = 2


@dataclass(frozen=True, kw_only=True)
class Check:
    """One cross-check: what the file states beside what its other values give."""

    name: str
    stated: tuple[float, float]
    recomputed: tuple[float, float]
    unit: str
    formula: str
    agrees: bool
    open: bool = False
    """A measurement lies above the value it may not exceed, and only the range covers it."""


def check_device(device: Device) -> list[Check]:
    """Recompute what can be recomputed of a device.

    Args:
        device: The device.

    Returns:
        Every check that its values allow, with whether the two sides agree.

    Example:
        >>> from perfmodel import load_device
        >>> all(check.agrees for check in check_device(load_device("s5000")))
        True
    """
    return [
        *_peaks(device),
        *_tensor_peaks(device),
        *_limits(device),
        *_memory(device),
        *_lane_groups(device),
    ]


def contradictions(device: Device) -> Iterator[str]:
    """What a device file may not say at all, since answers would be wrong without a sign of it.

    Args:
        device: The device.

    Yields:
        What is wrong and what would be right, one line each.
    """
    for operation, by_width in device.shared_lane_groups.items():
        for width, groups in by_width.items():
            lanes = sum(map(len, groups.groups))
            if lanes != device.warp_width.value:
                yield (
                    f"shared_lane_groups.{operation}.{width}: the groups hold {lanes} lanes, "
                    f"a warp has {device.warp_width.whole}"
                )
    for level in ("l1", "l2"):
        line, sector = getattr(device, f"{level}_line"), getattr(device, f"{level}_sector")
        if line.whole % sector.whole:
            yield f"{level}_sector: {sector} is no part of the line of {line}"
    if device.shared_carveouts and max(device.shared_carveouts.values) < device.shared_per_mp.value:
        yield f"shared_carveouts: none of them holds the shared_per_mp of {device.shared_per_mp}"
    scalar = ("scalar_registers_per_partition", "scalar_register_allocation_unit",
              "scalar_registers_reserved_per_warp", "max_scalar_registers_per_warp")  # fmt: skip
    if len({getattr(device, name) is None for name in scalar}) > 1:
        yield f"{', '.join(scalar)}: give all of them or none"
    if (
        device.accumulation_register_alignment is not None
        and device.max_accumulation_registers_per_thread is None
    ):
        yield (
            "accumulation_register_alignment: give max_accumulation_registers_per_thread with it, "
            "or neither"
        )
    for group in ("lanes", "peaks"):
        if "fp32" not in getattr(device, group):
            yield f"{group}: fp32 is missing: every device needs it"


def _interval(value: Value) -> tuple[float, float]:
    return value.low, value.high


def _product(*values: Value, factor: float = 1.0) -> tuple[float, float]:
    low = high = factor
    for value in values:
        low, high = low * value.low, high * value.high
    return low, high


def _equal(
    name: str, stated: Value, recomputed: tuple[float, float], formula: str, tolerance: float = 0.0
) -> Check:
    room = 1 + tolerance
    overlap = recomputed[0] <= stated.high * room and stated.low <= recomputed[1] * room
    return Check(
        name=name,
        stated=_interval(stated),
        recomputed=recomputed,
        unit=stated.unit,
        formula=formula,
        agrees=overlap,
    )


def _at_most(name: str, value: Value, bound: Value, formula: str) -> Check:
    return Check(
        name=name,
        stated=_interval(value),
        recomputed=_interval(bound),
        unit=value.unit,
        formula=formula,
        agrees=value.low <= bound.high * (1 + 1e-9),
    )


def _measured(name: str, measurement: Value, bound: Value, formula: str) -> Check:
    """A measurement against what it may not exceed; open where only the bound's range allows it."""
    check = _at_most(name, measurement, bound, formula)
    above = measurement.low > bound.value * (1 + 1e-9)
    return replace(check, open=check.agrees and above)


def _peaks(device: Device) -> Iterator[Check]:
    for pipe in ("fp32", "fp16", "fp64"):
        if pipe in device.peaks and pipe in device.lanes:
            yield _equal(
                f"peaks.{pipe}",
                device.peaks[pipe],
                _product(device.mps, device.lanes[pipe], device.clock, factor=_FLOP_PER_FMA),
                f"mps x lanes.{pipe} x 2 x clock",
                TOLERANCE,
            )
    for peak, value in device.achievable_peaks.items():
        if peak in device.peaks:
            yield _measured(
                f"achievable_peaks.{peak}",
                value,
                device.peaks[peak],
                f"a measurement may not exceed peaks.{peak}",
            )


def _tensor_peaks(device: Device) -> Iterator[Check]:
    for peak, value in device.peaks.items():
        kind = peak.removeprefix("tensor_")
        if kind == peak:
            continue
        for operand, rate in device.tensor_flop_per_cycle.items():
            if operand == kind:
                clock = device.tensor_clock or device.clock
                yield _equal(
                    f"peaks.{peak}",
                    value,
                    _product(device.mps, rate, clock),
                    f"mps x tensor_flop_per_cycle.{kind} x "
                    f"{'tensor_clock' if device.tensor_clock else 'clock'}",
                    TOLERANCE,
                )


def _limits(device: Device) -> Iterator[Check]:
    yield _equal(
        "max_threads_per_mp",
        device.max_threads_per_mp,
        _product(device.max_warps_per_mp, device.warp_width),
        "max_warps_per_mp x warp_width",
    )
    yield _at_most(
        "max_threads_per_block",
        device.max_threads_per_block,
        device.max_threads_per_mp,
        "a block must fit the MP's threads",
    )
    yield _at_most(
        "shared_per_block",
        device.shared_per_block,
        device.shared_per_mp,
        "a block must fit the MP's shared memory",
    )
    yield _equal(
        "shared_bandwidth",
        device.shared_bandwidth,
        _product(device.shared_banks, device.shared_bank_width),
        "shared_banks x shared_bank_width",
    )
    if device.registers_per_block:
        yield _at_most(
            "registers_per_block",
            device.registers_per_block,
            device.registers_per_mp,
            "a block must fit the MP's registers",
        )


def _memory(device: Device) -> Iterator[Check]:
    if device.dram_bus_width and device.dram_data_rate:
        yield _equal(
            "dram_bandwidth",
            device.dram_bandwidth,
            _product(device.dram_bus_width, device.dram_data_rate, factor=1 / 8),
            "dram_bus_width x dram_data_rate / 8",
            TOLERANCE,
        )
    yield _measured(
        "dram_bandwidth_achievable",
        device.dram_bandwidth_achievable,
        device.dram_bandwidth,
        "a measurement may not exceed dram_bandwidth",
    )
    for level in ("l1", "l2"):
        yield _at_most(
            f"{level}_sector",
            getattr(device, f"{level}_sector"),
            getattr(device, f"{level}_line"),
            f"a sector is part of {level}_line",
        )
    yield _at_most("l1_latency", device.l1_latency, device.l2_latency, "l2_latency is longer")
    yield _at_most("l2_latency", device.l2_latency, device.dram_latency, "dram_latency is longer")


def _lane_groups(device: Device) -> Iterator[Check]:
    for operation, by_width in device.shared_lane_groups.items():
        for width, groups in by_width.items():
            lanes = float(sum(len(group) for group in groups.groups))
            yield _equal(
                f"shared_lane_groups.{operation}.{width}",
                device.warp_width,
                (lanes, lanes),
                "lanes in the groups",
            )
