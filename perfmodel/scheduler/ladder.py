"""Predictions over the rungs of a kernel: what each step of a ladder brings on a device."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

from perfmodel.device.loading import as_device
from perfmodel.kernels.loading import load_description
from perfmodel.kernels.parameters import require_by_name
from perfmodel.kernels.schema import Description
from perfmodel.results.prediction import Ladder, LadderStep, Roof, shared_parameters
from perfmodel.scheduler.whatif import attempt, require_known, require_one

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perfmodel.device.model import Device
    from perfmodel.kernels.schema import Rung
    from perfmodel.results.prediction import Attempt, Prediction
    from perfmodel.scheduler.evaluation import Caches

NOTHING = 0.02
"""A step that changes the time by less than this share brings nothing."""


def ladder(
    kernel: str | Description,
    device: Device | str,
    *,
    parameters: Mapping[str, Any] | None = None,
    alternatives: bool = False,
    caches: Caches = "cold",
    ranges: bool = True,
) -> Ladder:
    """Predict every rung of a kernel.

    Args:
        kernel: A shipped kernel, a file, or a loaded description.
        device: The device, or its name.
        parameters: Values of parameters; one that only some rungs have is set for those.
        alternatives: Whether the versions that are no step of the ladder follow it.
        caches: cold, or warm where the L2 holds what fits of the data at the start.
        ranges: Whether the range of each time is worked out.

    Returns:
        The ladder, worst rung first; where the device cannot run a rung, why.

    Raises:
        UsageError: A parameter that no rung has, or a value it cannot have.
        DataError: The description is wrong, or the device can run none of the rungs.

    Example:
        >>> from perfmodel import load_device
        >>> steps = ladder("vecadd", load_device("s5000"), ranges=False).steps
        >>> steps[0].speedup
        1.0
    """
    device = as_device(device)
    description = kernel if isinstance(kernel, Description) else load_description(kernel)
    require_by_name(parameters)
    given = dict(parameters or {})
    rungs = [
        rung for rung in description.rungs.values() if alternatives or rung.alternative_to is None
    ]
    require_known(description.kernel, rungs, given)
    attempts = [
        attempt(description, rung, device, given, caches=caches, ranges=ranges) for rung in rungs
    ]
    require_one(attempts)
    predictions = [each.prediction for each in attempts if each.prediction]
    return Ladder(
        kernel=description.kernel,
        title=description.title,
        device=device.device,
        parameters=shared_parameters(predictions),
        given=given,
        roof=_roof(device, predictions),
        steps=_steps(list(zip(rungs, attempts, strict=True))),
    )


def _steps(tried: Sequence[tuple[Rung, Attempt]]) -> tuple[LadderStep, ...]:
    """Each rung beside the last one before it that it can be held against.

    Those are the rungs that run and do the whole work; where none does, it is the description's
    `compulsory` that is wrong, and all that run are.
    """
    running = {rung.name: each.prediction for rung, each in tried if each.prediction}
    whole = {name: each for name, each in running.items() if not each.missing_work} or running
    first = before = next(iter(whole.values()))
    steps: list[LadderStep] = []
    for rung, each in tried:
        comparable = whole.get(rung.name)
        if rung.alternative_to is not None:
            before = whole.get(rung.alternative_to, first)
        steps.append(
            LadderStep(
                rung=rung.name,
                change=rung.change,
                prediction=each.prediction,
                cannot=each.cannot,
                speedup=first.time_s / comparable.time_s if comparable else nan,
                step_speedup=before.time_s / comparable.time_s if comparable else nan,
                removed=_removed(before, each.prediction, comparable),
                is_alternative=rung.alternative_to is not None,
            )
        )
        before = comparable or before
    return tuple(steps)


def _removed(before: Prediction, found: Prediction | None, comparable: Prediction | None) -> str:
    if found is None:
        return "cannot run"
    if comparable is None:
        return "not the whole work"
    return "" if comparable is before else what_was_removed(before, comparable)


def _roof(device: Device, predictions: Sequence[Prediction]) -> Roof:
    """The peaks that the rungs are held against: that of a tensor unit where one is used."""
    names = ["fp32"]
    for each in predictions:
        tensor = f"tensor_{each.parameters.get('type', '')}"
        if any(bound.name == "tensor" for bound in each.bounds) and tensor in device.peaks:
            names.append(tensor)
    return Roof(
        peaks_flop_per_s={name: device.peaks[name].value for name in names},  # type: ignore[index]
        bandwidth_bytes_per_s=device.dram_bandwidth_achievable.value,
    )


def what_was_removed(before: Prediction, after: Prediction) -> str:
    """The bound that explains a step, and what became of it.

    Every bound is a lower limit on the time. In a gain those bounds of the rung before had to
    shrink that lie above the time after; in a loss those of the rung after had to grow that lie
    above the time before. Of them the one is named that changed by the most seconds. Where there
    is none, what overlaps has changed: the limiter or the latency of the slower rung is named,
    whichever changed more, if it explains half of the step at least; else `waiting`, which is
    the time beyond the greatest bound.

    Args:
        before: The prediction of the rung before.
        after: That of the rung itself.

    Returns:
        Such as "l2 -94 %" for a gain and "l2 +50 %" or "l2 x 3" for a loss; "brings nothing" where
        the time changes by less than `NOTHING` of it.
    """
    ratio = before.time_s / after.time_s
    if 1 - NOTHING < ratio < 1 + NOTHING:
        return "brings nothing"
    slower, faster = (before, after) if ratio > 1 else (after, before)

    def shrunk(name: str) -> float:
        return slower.bound_time_s(name) - faster.bound_time_s(name)

    names = [each.name for each in slower.bounds if each.time_s > faster.time_s]
    if not names:
        half = (slower.time_s - faster.time_s) / 2
        names = [each for each in (slower.limiter, "latency") if shrunk(each) >= half]
    if not names:
        return _change("waiting", _waiting_s(before), _waiting_s(after))
    name = max(names, key=shrunk)
    return _change(name, before.bound_time_s(name), after.bound_time_s(name))


def _waiting_s(prediction: Prediction) -> float:
    """The time beyond the greatest bound."""
    return prediction.time_s - prediction.bounds[0].time_s


def _change(name: str, old_s: float, new_s: float) -> str:
    """What became of a time.

    >>> _change("l2", 4.0, 1.0), _change("l2", 1.0, 1.5), _change("l2", 1.0, 4.0)
    ('l2 -75 %', 'l2 +50 %', 'l2 x 4')
    >>> _change("atomics", 0.0, 1.0)
    'atomics is new'
    """
    if old_s <= 0:
        return f"{name} is new"
    ratio = new_s / old_s
    if ratio >= 2:
        return f"{name} x {ratio:.2g}" if ratio < 10 else f"{name} x {ratio:.0f}"
    return f"{name} {100 * (ratio - 1):+.0f} %"
