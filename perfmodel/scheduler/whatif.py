"""Questions about predictions: on another device, with a changed one, and what matters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from perfmodel.device.loading import as_device
from perfmodel.errors import DataError, UsageError, quoted
from perfmodel.kernels.loading import load_rung, load_rungs
from perfmodel.kernels.parameters import possible, require_by_name, rung_parameters
from perfmodel.results.prediction import (
    Attempt,
    Sensitivity,
    WhatIf,
)
from perfmodel.scheduler.evaluation import Caches, evaluate
from perfmodel.scheduler.fields import Fields
from perfmodel.scheduler.prediction import predict
from perfmodel.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perfmodel.device.model import Device
    from perfmodel.kernels.schema import Description, Rung

STEP = 0.1
"""Share by which a value is moved to see what it does."""
_IRRELEVANT = ("peaks.", "achievable_peaks.", "links.", "dram_size", "dram_bus_width")
_COUNTED = (
    "mps",
    "max_warps_per_mp",
    "max_threads_per_mp",
    "max_blocks_per_mp",
    "registers_per_mp",
    "shared_per_mp",
    "l1_size",
    "l2_size",
    "bytes_in_flight_per_mp",
)
"""Whole numbers that a device could have a few per cent more or less of."""


def compare(
    kernel: str,
    devices: Sequence[Device | str],
    *,
    parameters: Mapping[str, Any] | None = None,
    caches: Caches = "cold",
) -> tuple[Attempt, ...]:
    """Predict rungs on several devices.

    Args:
        kernel: A kernel or a file, with a rung after a colon, or all steps of its ladder.
        devices: The devices, or their names.
        parameters: Values of the kernel's parameters; each rung takes those it has.
        caches: cold, or warm where the L2 holds what fits of the data at the start.

    Returns:
        Every rung on every device; where a device cannot run one, why.

    Raises:
        UsageError: A parameter that no rung has, or a value it cannot have.
        DataError: The description is wrong, or no device can run any of the rungs.

    Example:
        >>> from perfmodel import load_device
        >>> found = compare("vecadd:naive", [load_device("s5000"), load_device("h200")])
        >>> [each.device for each in found if each.prediction]
        ['s5000', 'h200']
    """
    description, rungs = load_rungs(kernel)
    require_known(kernel, rungs, parameters or {})
    attempts = tuple(
        attempt(description, rung, device, parameters, caches=caches)
        for device in map(as_device, devices)
        for rung in rungs
    )
    require_one(attempts)
    return attempts


def what_if(
    kernel: str,
    device: Device | str,
    changes: Mapping[str, str | float],
    *,
    parameters: Mapping[str, Any] | None = None,
    caches: Caches = "cold",
) -> tuple[WhatIf, ...]:
    """Predict rungs before and after a change of the device.

    Args:
        kernel: A kernel or a file, with a rung after a colon, or all steps of its ladder.
        device: The device, or its name.
        changes: Device values by name, as in `Device.what_if`.
        parameters: Values of the kernel's parameters; each rung takes those it has.
        caches: cold, or warm where the L2 holds what fits of the data at the start.

    Returns:
        For each rung both predictions, or why the device cannot run it.

    Raises:
        UsageError: A value or a parameter that is none.
        DataError: The description is wrong, or neither device can run any of the rungs.

    Example:
        >>> from perfmodel import load_device
        >>> (one,) = what_if("vecadd:vector_loads", load_device("s5000"),
        ...                  {"dram_bandwidth": "3.2 TB/s"})
        >>> one.before.prediction.limiter, one.speedup > 1.5
        ('dram', True)
    """
    device = as_device(device)
    changed = device.what_if(**changes)
    description, rungs = load_rungs(kernel)
    require_known(kernel, rungs, parameters or {})
    found = tuple(
        WhatIf(
            rung=rung.name,
            changes={name: str(value) for name, value in changes.items()},
            before=attempt(description, rung, device, parameters, caches=caches),
            after=attempt(description, rung, changed, parameters, caches=caches),
        )
        for rung in rungs
    )
    require_one([side for each in found for side in (each.before, each.after)])
    return found


def require_known(title: str, rungs: Sequence[Rung], given: Mapping[str, Any]) -> None:
    """Refuse a parameter that no rung has; a misspelt one would otherwise change nothing.

    Args:
        title: What has the parameters, for the message.
        rungs: The rungs.
        given: The parameters given.

    Raises:
        UsageError: There is one.
    """
    require_by_name(given)
    known = {name for rung in rungs for name in rung.parameters}
    for name in given:
        if name not in known:
            raise UsageError(
                f"{title} has no parameter {quoted(name)}: {did_you_mean(name, known)}"
            )


def own_parameters(rung: Rung, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The parameters given that a rung has."""
    return {name: value for name, value in (given or {}).items() if name in rung.parameters}


def attempt(
    description: Description,
    rung: Rung,
    device: Device,
    parameters: Mapping[str, Any] | None,
    *,
    caches: Caches = "cold",
    ranges: bool = False,
) -> Attempt:
    """Predict a rung, or find out why the device cannot run it.

    Args:
        description: The kernel.
        rung: The rung.
        device: The device.
        parameters: Values of the kernel's parameters; the rung takes those it has.
        caches: cold, or warm where the L2 holds what fits of the data at the start.
        ranges: Whether the range of the time is worked out.

    Returns:
        The prediction, or why there is none.

    Raises:
        UsageError: A value that a parameter cannot have.
    """
    prediction, cannot = None, ""
    try:
        prediction = predict(
            description,
            device,
            rung=rung.name,
            parameters=own_parameters(rung, parameters),
            caches=caches,
            ranges=ranges,
        )
    except DataError as error:
        cannot = str(error)
    return Attempt(rung=rung.name, device=device.device, prediction=prediction, cannot=cannot)


def require_one(attempts: Sequence[Attempt]) -> None:
    """Refuse attempts of which none has a prediction.

    Raises:
        DataError: There is none; with the reason of the first.
    """
    if not any(each.prediction for each in attempts):
        raise DataError(attempts[0].cannot)


def elasticities(
    kernel: str, device: Device | str, *, parameters: Mapping[str, Any] | None = None
) -> tuple[Sensitivity, ...]:
    """How the time moves when each device value is 10 % less and 10 % more.

    Args:
        kernel: A kernel or a file and its rung.
        device: The device, or its name.
        parameters: Values of the kernel's parameters.

    Returns:
        The values that move the time, the one that moves it most first. Of whole numbers those
        are moved that count resources or sizes of memory; what the hardware's geometry is made of
        (widths, banks, lines, units of allocation) is not. An end with which no block fits is
        replaced by the value itself.

    Raises:
        UsageError: A parameter that is none.
        DataError: The description is wrong.

    Example:
        >>> from perfmodel import load_device
        >>> elasticities("vecadd:vector_loads", load_device("s5000"))[0].name
        'dram_bandwidth_achievable'
    """
    device = as_device(device)
    rung, values = _rung(kernel, device, parameters)
    names = [
        name
        for name, value in device.quantities().items()
        if not name.startswith(_IRRELEVANT)
        and (not value.form.whole or name in _COUNTED)
        and name not in ("dram_bandwidth", "dram_data_rate")
    ]
    now = float(evaluate(rung, values, Fields(device)).time_s)
    size = 2 * len(names)
    fields: dict[str, Any] = {}
    for number, name in enumerate(names):
        stated = device.quantities()[name].value
        column = np.full(size, stated)
        column[2 * number], column[2 * number + 1] = stated * (1 - STEP), stated * (1 + STEP)
        if name in _COUNTED:
            column = np.round(column)
        fields[name] = np.maximum(column, 1.0) if name == "saturation_sharpness" else column
    evaluation = evaluate(rung, values, Fields(device, fields), size=size)
    times = np.array(np.broadcast_to(evaluation.time_s, (size,)))
    for number, name in enumerate(names):
        for place in (2 * number, 2 * number + 1):
            if not np.isfinite(times[place]):
                times[place], fields[name][place] = now, device.quantities()[name].value
    found = [
        Sensitivity(
            name=name,
            low=float(fields[name][2 * number]),
            high=float(fields[name][2 * number + 1]),
            value=device.quantities()[name].value,
            time_at_low_s=float(times[2 * number]),
            time_at_high_s=float(times[2 * number + 1]),
        )
        for number, name in enumerate(names)
    ]
    return _moving(found)


def parameter_effects(
    kernel: str, device: Device | str, *, parameters: Mapping[str, Any] | None = None
) -> tuple[Sensitivity, ...]:
    """How the time moves when each whole-number parameter is halved and doubled.

    Args:
        kernel: A kernel or a file and its rung.
        device: The device, or its name.
        parameters: Values of the kernel's parameters.

    Returns:
        The parameters that move the time, the one that moves it most first. A value that breaks a
        constraint of the rung, or with which no block fits, is replaced by the one in the middle.

    Raises:
        UsageError: A parameter that is none.
        DataError: The description is wrong.
    """
    device = as_device(device)
    rung, values = _rung(kernel, device, parameters)
    now = float(evaluate(rung, values, Fields(device)).time_s)
    found = []
    for name, value in values.items():
        if isinstance(value, str) or rung.parameters[name].choices:
            continue
        ends, times = [], []
        for other in (max(value // 2, rung.parameters[name].minimum), value * 2):
            time = np.inf
            if possible(rung, {**values, name: other}, 1).all():
                time = float(evaluate(rung, {**values, name: other}, Fields(device)).time_s)
            ends.append(float(other if np.isfinite(time) else value))
            times.append(time if np.isfinite(time) else now)
        found.append(
            Sensitivity(
                name=name,
                low=ends[0],
                high=ends[1],
                value=float(value),
                time_at_low_s=times[0],
                time_at_high_s=times[1],
            )
        )
    return _moving(found)


def _moving(found: Sequence[Sensitivity]) -> tuple[Sensitivity, ...]:
    return tuple(
        sorted((each for each in found if each.width_s > 0), key=lambda each: -each.width_s)
    )


def _rung(
    kernel: str, device: Device, parameters: Mapping[str, Any] | None
) -> tuple[Rung, dict[str, Any]]:
    rung = load_rung(kernel)
    return rung, rung_parameters(rung, parameters or {}, warp_width=device.warp_width.whole)
