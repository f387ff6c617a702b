"""Every measured case predicted, and what that comes to."""

from __future__ import annotations

from itertools import groupby
from math import ceil
from statistics import median
from typing import TYPE_CHECKING

from perfmodel.device.loading import as_device
from perfmodel.errors import UsageError, quoted
from perfmodel.kernels.loading import load_description
from perfmodel.results.validation import (
    AMOUNTS,
    Case,
    GroupErrors,
    LaunchBound,
    LibraryBounds,
    Validation,
)
from perfmodel.scheduler.prediction import BUSY_ENOUGH, predict
from perfmodel.suggestions import did_you_mean
from perfmodel.validation.errors import (
    factor_apart,
    kendall_tau,
    order_of_pairs,
    quantile,
    relative_error,
)
from perfmodel.validation.measurements import measurements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from perfmodel.device.model import Device
    from perfmodel.device.values import Value
    from perfmodel.results.prediction import Prediction
    from perfmodel.validation.measurements import Measurement

DIFFERENT = 0.05
"""Rungs whose times differ by less may come in any order."""
LONG_S = 100e-6
SHORT_S = 20e-6
"""Below this a case of others is launch-bound; its error is given in seconds."""
LARGE_BYTES = 16e6
SLOWER = 1.1
"""A best rung may be predicted so much slower than a library's kernel, and no more."""
ALIKE = 10.0
"""Points of the sustained peak within which two resources are as busy as one another."""
SECTOR_BYTES = 32

_FAMILIES: Mapping[str, tuple[str, ...]] = {
    "dram": ("dram",),
    "l2": ("l2", "l2_lines", "l2_stores", "l2_port", "store_port", "atomics"),
    "l1": ("l1", "l1_lines", "l1_data", "shared", "load_store"),
    "issue": ("issue", "fp32", "fp16", "fp64", "int32", "special", "registers"),
    "tensor": ("tensor",),
    "latency": ("latency", "in_flight", "kernel_launch", "block_launch", "tail"),
}
_SHARES: Mapping[str, tuple[str, ...]] = {
    "dram": ("dram_percent",),
    "l2": ("l2_percent",),
    "l1": ("l1_percent", "l1_data_percent", "load_store_percent"),
    "issue": ("issue_percent", "fma_percent", "alu_percent", "special_percent"),
    "tensor": ("tensor_percent",),
}


def validate(device: Device | str, *, kernel: str | None = None) -> Validation:
    """Predict every case that was measured on a device.

    Args:
        device: The device, or its name.
        kernel: Cases of this kernel or operation alone.

    Returns:
        The cases and their errors by kernel or operation, over all, and of the two halves: a case
        is held out where some size of it is no power of two.

    Raises:
        UsageError: There are no measurements of the device, or none of the kernel.
        DataError: A file of measurements is wrong.

    Example:
        >>> found = validate("h200", kernel="vecadd")
        >>> found.group("vecadd").cases == len(found.cases)
        True
    """
    device = as_device(device)
    measured = measurements(device.device)
    if kernel is not None:
        names = sorted({name for each in measured for name in (each.kernel, each.operation)})
        measured = tuple(each for each in measured if kernel in (each.kernel, each.operation))
        if not measured:
            raise UsageError(
                f"--kernel is {quoted(kernel)}, which was not measured on {device.device}: "
                f"{did_you_mean(kernel, names)}"
            )
    cases = tuple(_case(each, device) for each in measured)
    libraries = [case for case in cases if case.library]
    return Validation(
        device=device.device,
        groups=_groups(cases),
        libraries=tuple(
            _library(name, each) for name, each in _grouped(libraries, lambda case: case.operation)
        ),
        launch_bound=_launch_bound([case for case in cases if _is_short(case)]),
        cases=cases,
    )


def _case(measured: Measurement, device: Device) -> Case:
    description = load_description(measured.kernel)
    prediction = predict(
        description,
        device,
        rung=measured.rung,
        parameters=measured.parameters,
        ranges=False,
    )
    compulsory = prediction.level("compulsory").bytes
    limiter, agrees = _counted_limiter(measured.counters, prediction.limiter)
    return Case(
        name=measured.name,
        parameters=dict(measured.parameters),
        operation=measured.operation,
        ours=measured.ours,
        library=measured.library,
        held_out=measured.held_out,
        measured_s=measured.time_s,
        predicted_s=prediction.time_s + (_waiting_s(device) if measured.waited else 0.0),
        roofline_s=max(
            prediction.flop / _peak(description.pipe, prediction, device),
            compulsory / device.dram_bandwidth.value,
        ),
        compulsory_bytes=compulsory,
        limiter=prediction.limiter,
        counted_limiter=limiter,
        limiter_agrees=agrees,
        ratios=_ratios(prediction, measured.counters, device),
    )


def _waiting_s(device: Device) -> float:
    """What being waited for adds to a launch, where it is known."""
    waited = device.launch_and_wait
    return waited.value - device.kernel_launch.value if waited else 0.0


def _peak(pipe: str, prediction: Prediction, device: Device) -> float:
    """The nominal peak of the pipe that a kernel's work is held against."""
    kind = str(prediction.parameters.get("type", ""))
    peaks: Mapping[str, Value] = {str(name): peak for name, peak in device.peaks.items()}
    tensor = f"tensor_{kind}"
    if (pipe.startswith("tensor") or prediction.rung == "tensor") and tensor in peaks:
        return peaks[tensor].value
    return peaks.get(pipe, peaks["fp32"]).value


def _ratios(
    prediction: Prediction, counters: Mapping[str, float], device: Device
) -> dict[str, float]:
    """Predicted over counted amounts, of what was counted."""
    if not counters:
        return {}
    counts = prediction.counts
    counted = {
        "dram": counters["dram_read_bytes"] + counters["dram_write_bytes"],
        "l2": SECTOR_BYTES * (counters["l2_read_sectors"] + counters["l2_write_sectors"]),
        "l1": SECTOR_BYTES * (counters["l1_load_sectors"] + counters["l1_store_sectors"]),
        "shared": counters["shared_load_passes"] + counters["shared_store_passes"],
        "instructions": counters["instructions"],
        "occupancy": counters["occupancy_percent"],
    }
    predicted = {
        "dram": counts["dram_bytes"],
        "l2": counts["l2_bytes"],
        "l1": counts["l1_bytes"],
        "shared": counts["shared_passes"],
        "instructions": counts["warp_instructions"],
        "occupancy": 100 * _warps_there(prediction, device),
    }
    return {
        name: predicted[name] / counted[name]
        for name in AMOUNTS
        if counted[name] > 0 and predicted[name] > 0  # copies fill shared memory uncounted
    }


def _warps_there(prediction: Prediction, device: Device) -> float:
    """Occupancy of the longest launch while it lasts: it may have too few blocks to fill an MP."""
    launch = max(prediction.launches, key=lambda each: each.time_s)
    busiest = ceil(launch.blocks / device.mps.whole)
    blocks = min(launch.blocks_per_mp, busiest)
    return blocks * launch.warps_per_block / device.max_warps_per_mp.whole


def _counted_limiter(counters: Mapping[str, float], named: str) -> tuple[str, bool | None]:
    """What the counters show to be busiest, and whether the limiter named is as busy."""
    if not counters:
        return "", None
    shares = {
        family: max(counters.get(name, 0.0) for name in names) for family, names in _SHARES.items()
    }
    busiest = max(shares, key=shares.__getitem__)
    family = next(each for each, names in _FAMILIES.items() if named in names)
    if shares[busiest] < 100 * BUSY_ENOUGH:
        return "latency", family == "latency"
    return busiest, shares.get(family, 0.0) >= shares[busiest] - ALIKE


def _groups(cases: Sequence[Case]) -> tuple[GroupErrors, ...]:
    groups = [(name, each) for name, each in _grouped(cases, lambda case: case.operation)]
    if len(groups) > 1:
        groups.append(("all", list(cases)))
    parts: tuple[tuple[str, Callable[[Case], bool]], ...] = (
        ("of 100 us and more", lambda case: case.measured_s >= LONG_S),
        ("dram, over 16 MB", _is_large_stream),
        ("open half", lambda case: case.ours and not case.held_out),
        ("held-out half", lambda case: case.ours and case.held_out),
    )
    groups += [(name, [case for case in cases if belongs(case)]) for name, belongs in parts]
    return tuple(_group(name, each) for name, each in groups if each)


def _grouped(cases: Iterable[Case], key: Callable[[Case], str]) -> list[tuple[str, list[Case]]]:
    """Cases by a key, in the order in which the keys first come."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        found.setdefault(key(case), []).append(case)
    return list(found.items())


def _group(name: str, cases: Sequence[Case]) -> GroupErrors:
    errors = [relative_error(predicted=c.predicted_s, measured=c.measured_s) for c in cases]
    roofline = [relative_error(predicted=c.roofline_s, measured=c.measured_s) for c in cases]
    worst = max(cases, key=lambda c: factor_apart(predicted=c.predicted_s, measured=c.measured_s))
    taus, ordered, pairs = [], 0, 0
    for rungs in _rungs_at_equal_parameters(cases):
        times = [(case.predicted_s, case.measured_s) for case in rungs]
        taus.append(kendall_tau(times))
        alike, every = order_of_pairs(times, least=DIFFERENT)
        ordered, pairs = ordered + alike, pairs + every
    judged = [case.limiter_agrees for case in cases if case.limiter_agrees is not None]
    return GroupErrors(
        name=name,
        cases=len(cases),
        median=median(errors),
        p90=quantile(errors, 0.9),
        worst_factor=factor_apart(predicted=worst.predicted_s, measured=worst.measured_s),
        worst_case=f"{worst.name} {_shown(worst)}",
        within_10_percent=sum(error <= 0.1 for error in errors),
        roofline_median=median(roofline),
        roofline_p90=quantile(roofline, 0.9),
        tau=median(taus) if taus else 1.0,
        ordered=ordered,
        pairs=pairs,
        medians={
            amount: median(abs(case.ratios[amount] - 1) for case in cases if amount in case.ratios)
            for amount in AMOUNTS
            if any(amount in case.ratios for case in cases)
        },
        limiters_agree=sum(judged),
        limiters=len(judged),
    )


def _shown(case: Case) -> str:
    return " ".join(f"{name}={value}" for name, value in case.parameters.items())


def _rungs_at_equal_parameters(cases: Sequence[Case]) -> list[list[Case]]:
    """Groups of several rungs of one kernel, each measured with the same parameters."""

    def key(case: Case) -> tuple[str, str]:
        return case.name.partition(":")[0], _shown(case)

    ours = sorted((case for case in cases if case.ours), key=key)
    found = [list(each) for _, each in groupby(ours, key=key)]
    return [each for each in found if len(each) > 1]


def _library(operation: str, cases: Sequence[Case]) -> LibraryBounds:
    return LibraryBounds(
        operation=operation,
        cases=len(cases),
        slower=sum(case.ratio > SLOWER for case in cases),
        efficiency=median(case.ratio for case in cases),
    )


def _is_large_stream(case: Case) -> bool:
    return not case.ours and case.limiter == "dram" and case.compulsory_bytes >= LARGE_BYTES


def _is_short(case: Case) -> bool:
    return not case.ours and case.measured_s < SHORT_S


def _launch_bound(cases: Sequence[Case]) -> LaunchBound | None:
    if not cases:
        return None
    apart = [abs(case.predicted_s - case.measured_s) for case in cases]
    return LaunchBound(
        cases=len(cases), median_s=median(apart), within_2_us=sum(each <= 2e-6 for each in apart)
    )
