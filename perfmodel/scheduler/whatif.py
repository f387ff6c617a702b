"""Questions about predictions: what if, what matters, where does another rung win."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from perfmodel.errors import UsageError
from perfmodel.kernels.loading import load_rung, load_rungs
from perfmodel.kernels.parameters import parameter_values, possible, rung_parameters
from perfmodel.results.prediction import Best, Crossover, Crossovers, Sensitivity, WhatIf
from perfmodel.scheduler.evaluation import evaluate
from perfmodel.scheduler.fields import Fields
from perfmodel.scheduler.prediction import predict, predict_times

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perfmodel.device.model import Device
    from perfmodel.kernels.schema import Rung

STEP = 0.1
"""Share by which a value is moved to see what it does."""
_IRRELEVANT = ("peaks.", "achievable_peaks.", "links.", "dram_size", "dram_bus_width")
_POINTS = 64
"""Values that a search looks at before it closes in."""


def what_if(
    kernel: str,
    device: Device,
    changes: Mapping[str, str | float],
    *,
    parameters: Mapping[str, Any] | None = None,
) -> tuple[WhatIf, ...]:
    """Predict rungs before and after a change of the device.

    Args:
        kernel: A kernel or a file, with a rung after a colon, or all steps of its ladder.
        device: The device.
        changes: Device values by name, as in `Device.what_if`.
        parameters: Values of the kernel's parameters.

    Returns:
        For each rung both predictions.

    Raises:
        UsageError: A value or a parameter that is none.
        DataError: The description is wrong, or a device cannot run it.

    Example:
        >>> from perfmodel import load_device
        >>> (one,) = what_if("vecadd:vector_loads", load_device("s5000"),
        ...                  {"dram_bandwidth": "3.2 TB/s"})
        >>> one.before.limiter, one.speedup > 1.5
        ('dram', True)
    """
    changed = device.what_if(**changes)
    description, rungs = load_rungs(kernel)
    found = []
    for each in rungs:
        own = {n: v for n, v in (parameters or {}).items() if n in each.parameters}
        before, after = (
            predict(description, which, rung=each.name, parameters=own, ranges=False)
            for which in (device, changed)
        )
        found.append(
            WhatIf(
                rung=each.name,
                changes={name: str(value) for name, value in changes.items()},
                before=before,
                after=after,
                speedup=before.time_s / after.time_s,
            )
        )
    return tuple(found)


def elasticities(
    kernel: str, device: Device, *, parameters: Mapping[str, Any] | None = None
) -> tuple[Sensitivity, ...]:
    """How the time moves when each device value is 10 % less and 10 % more.

    Args:
        kernel: A kernel or a file and its rung.
        device: The device.
        parameters: Values of the kernel's parameters.

    Returns:
        The values that move the time, the one that moves it most first; whole numbers and sizes
        of memory are moved too.

    Raises:
        UsageError: A parameter that is none.
        DataError: The description is wrong.

    Example:
        >>> from perfmodel import load_device
        >>> elasticities("vecadd:vector_loads", load_device("s5000"))[0].name
        'dram_bandwidth_achievable'
    """
    rung, values = _rung(kernel, device, parameters)
    names = [
        name
        for name, value in device.quantities().items()
        if not name.startswith(_IRRELEVANT)
        and not value.form.whole
        and name not in ("dram_bandwidth", "dram_data_rate")
    ]
    size = 2 * len(names)
    fields: dict[str, Any] = {}
    for number, name in enumerate(names):
        stated = device.quantities()[name].value
        column = np.full(size, stated)
        column[2 * number], column[2 * number + 1] = stated * (1 - STEP), stated * (1 + STEP)
        fields[name] = np.maximum(column, 1.0) if name == "saturation_sharpness" else column
    evaluation = evaluate(rung, values, Fields(device, fields), size=size)
    times = np.broadcast_to(evaluation.time, (size,))
    found = [
        Sensitivity(
            name=name,
            low=float(fields[name][2 * number]),
            high=float(fields[name][2 * number + 1]),
            time_at_low_s=float(times[2 * number]),
            time_at_high_s=float(times[2 * number + 1]),
        )
        for number, name in enumerate(names)
    ]
    return _moving(found)


def parameter_effects(
    kernel: str, device: Device, *, parameters: Mapping[str, Any] | None = None
) -> tuple[Sensitivity, ...]:
    """How the time moves when each whole-number parameter is halved and doubled.

    Args:
        kernel: A kernel or a file and its rung.
        device: The device.
        parameters: Values of the kernel's parameters.

    Returns:
        The parameters that move the time, the one that moves it most first. A value that breaks a
        constraint of the rung, or with which no block fits, is replaced by the one in the middle.

    Raises:
        UsageError: A parameter that is none.
        DataError: The description is wrong.
    """
    rung, values = _rung(kernel, device, parameters)
    now = float(evaluate(rung, values, Fields(device)).time)
    found = []
    for name, value in values.items():
        if isinstance(value, str) or rung.parameters[name].choices:
            continue
        ends, times = [], []
        for other in (max(value // 2, rung.parameters[name].minimum), value * 2):
            time = np.inf
            if possible(rung, {**values, name: other}, 1).all():
                time = float(evaluate(rung, {**values, name: other}, Fields(device)).time)
            ends.append(float(other if np.isfinite(time) else value))
            times.append(time if np.isfinite(time) else now)
        found.append(
            Sensitivity(
                name=name,
                low=ends[0],
                high=ends[1],
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


def crossovers(
    first: str,
    second: str,
    device: Device,
    *,
    over: str,
    low: int,
    high: int,
    parameters: Mapping[str, Any] | None = None,
) -> Crossovers:
    """Where one rung becomes faster than another as a parameter grows.

    Args:
        first: A kernel and its rung.
        second: Another.
        device: The device.
        over: The parameter, which both have.
        low: Its least value.
        high: Its greatest value.
        parameters: Values of other parameters; each rung takes those it has.

    Returns:
        Every crossing, found by looking at values that both rungs can have and closing in by
        bisection among them.

    Raises:
        UsageError: The parameter is none of both, or no value between the ends is possible.
        DataError: A description is wrong.

    Example:
        >>> from perfmodel import load_device
        >>> found = crossovers("reduce:one_block", "reduce:vector_load", load_device("s5000"),
        ...                    over="n", low=1 << 12, high=1 << 24)
        >>> [each.faster_below for each in found.crossings]
        ['reduce:one_block']
    """
    rungs = []
    for name in (first, second):
        rung = load_rung(name)
        if over not in rung.parameters:
            raise UsageError(f"{name} has no parameter {over[:40]!r}: both rungs must have it")
        own = {n: v for n, v in (parameters or {}).items() if n in rung.parameters}
        rungs.append((name, rung, parameter_values(name, rung.parameters, own)))

    def usable(values: Any) -> Any:
        kept = np.ones(len(values), dtype=bool)
        for _, rung, own in rungs:
            kept &= possible(rung, {**own, over: values}, len(values))
        return values[kept]

    def difference(values: Any) -> Any:
        times = [
            np.broadcast_to(
                evaluate(rung, {**own, over: values}, Fields(device), size=len(values)).time,
                (len(values),),
            )
            for _, rung, own in rungs
        ]
        return times[0] - times[1]

    values = usable(_spread(low, high))
    if len(values) < 2:
        raise UsageError(
            f"{over} from {low} to {high}: fewer than two values that both rungs can have; give "
            "ends that are multiples of what they divide by"
        )
    signs = difference(values) <= 0
    found = []
    for place in np.nonzero(signs[1:] != signs[:-1])[0]:
        below, above = int(values[place]), int(values[place + 1])
        below, above = _closed_in(
            below, above, sign=bool(signs[place]), usable=usable, difference=difference
        )
        found.append(
            _crossover(
                rungs,
                device,
                over=over,
                below=below,
                above=above,
                first_below=bool(signs[place]),
            )
        )
    return Crossovers(
        first=first,
        second=second,
        device=device.device,
        over=over,
        low=int(values[0]),
        high=int(values[-1]),
        faster_at_low=first if signs[0] else second,
        faster_at_high=first if signs[-1] else second,
        crossings=tuple(found),
    )


def _spread(low: int, high: int) -> Any:
    """Whole numbers on a logarithmic scale, powers of two and round multiples among them."""
    if not 1 <= low < high:
        raise UsageError(f"from {low} to {high}: 1 or more, and upwards, is wanted")
    powers = [1 << power for power in range(63) if low <= 1 << power <= high]
    steps = [3 << power for power in range(62) if low <= 3 << power <= high]
    even = np.unique(np.geomspace(low, high, _POINTS).astype(np.int64))
    return np.unique(np.array([low, high, *powers, *steps, *even], dtype=np.int64))


def _closed_in(
    below: int, above: int, *, sign: bool, usable: Any, difference: Any
) -> tuple[int, int]:
    """The neighbouring usable values between which the sign changes."""
    while above - below > 1:
        span = np.unique(np.linspace(below, above, _POINTS).astype(np.int64))
        step = 1 << max((above - below).bit_length() - 6, 0)
        rounded = np.arange(-(-below // step), above // step + 1, dtype=np.int64) * step
        values = usable(np.unique(np.concatenate([span, rounded])))
        values = values[(values > below) & (values < above)]
        if not len(values):
            break
        same = (difference(values) <= 0) == sign
        if same.all():
            below = int(values[-1])
        else:
            place = int(np.argmin(same))
            above = int(values[place])
            if place:
                below = int(values[place - 1])
    return below, above


def _crossover(
    rungs: Sequence[tuple[str, Rung, dict[str, Any]]],
    device: Device,
    *,
    over: str,
    below: int,
    above: int,
    first_below: bool,
) -> Crossover:
    names = [name for name, _, _ in rungs]
    if not first_below:
        names = names[::-1]
    own = {name: values for name, _, values in rungs}
    limiters = [
        predict(
            name,
            device,
            parameters={**own[name], over: value},
            ranges=False,
        ).limiter
        for name, value in ((names[0], below), (names[1], above))
    ]
    return Crossover(
        last_below=below,
        first_above=above,
        faster_below=names[0],
        faster_above=names[1],
        limiter_below=limiters[0],
        limiter_above=limiters[1],
    )


def best_values(
    kernel: str,
    device: Device,
    choices: Mapping[str, Sequence[int]],
    *,
    parameters: Mapping[str, Any] | None = None,
) -> Best:
    """The fastest of all combinations of some parameters' values.

    Args:
        kernel: A kernel and its rung.
        device: The device.
        choices: Values to try, by parameter.
        parameters: Values of the other parameters.

    Returns:
        The fastest combination, and how many of those tried the device can run.

    Raises:
        UsageError: A parameter that is none, or no combination that the rung or the device allows.
        DataError: The description is wrong.

    Example:
        >>> from perfmodel import load_device
        >>> best = best_values("attention:pipelined", load_device("s5000"),
        ...                    {"br": [64, 128, 256], "bc": [32, 64, 256]})
        >>> best.tried, best.possible < best.tried
        (9, True)
    """
    rung = load_rung(kernel)
    fixed = parameter_values(kernel, rung.parameters, parameters or {})
    grids = np.meshgrid(*(np.asarray(values, dtype=np.int64) for values in choices.values()))
    tried = {name: grid.ravel() for name, grid in zip(choices, grids, strict=True)}
    parameter_values(kernel, rung.parameters, tried)
    count = len(next(iter(tried.values())))
    kept = possible(rung, {**fixed, **tried}, count)
    if not kept.any():
        raise UsageError(f"{kernel}: no combination keeps the constraints of the rung")
    usable = {name: values[kept] for name, values in tried.items()}
    times = np.broadcast_to(
        predict_times(kernel, device, parameters={**fixed, **usable}).time,
        (int(kept.sum()),),
    )
    if not np.isfinite(times).any():
        raise UsageError(f"{kernel}: {device.device} cannot run any of these combinations")
    place = int(np.argmin(times))
    return Best(
        kernel=kernel,
        device=device.device,
        values={name: int(values[place]) for name, values in usable.items()},
        time_s=float(times[place]),
        tried=count,
        possible=int(np.isfinite(times).sum()),
    )
