"""Predictions over the rungs of a kernel: what each step of a ladder brings on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.device.loading import as_device
from perfmodel.errors import UsageError, quoted
from perfmodel.results.prediction import Ladder, LadderStep, Prediction
from perfmodel.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perfmodel.device.model import Device
    from perfmodel.kernels.schema import Description, Rung
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
        The ladder, worst rung first.

    Raises:
        UsageError: A parameter that no rung has, or a value it cannot have.
        DataError: The description is wrong, or the device cannot run one of the rungs.

    Example:
        >>> from perfmodel import load_device
        >>> steps = ladder("vecadd", load_device("s5000"), ranges=False).steps
        >>> steps[0].speedup
        1.0
    """
    device = as_device(device)
    from perfmodel.kernels.loading import load_description
    from perfmodel.kernels.parameters import require_by_name
    from perfmodel.kernels.schema import Description

    description = kernel if isinstance(kernel, Description) else load_description(kernel)
    require_by_name(parameters)
    given = dict(parameters or {})
    rungs = [
        rung for rung in description.rungs.values() if alternatives or rung.alternative_to is None
    ]
    _require_known(description, rungs, given)
    return ladder_of(
        description,
        [
            (rung, _predicted(description, device, rung, given, caches=caches, ranges=ranges))
            for rung in rungs
        ],
        device,
        given,
    )


def _predicted(
    description: Description,
    device: Device,
    rung: Rung,
    given: Mapping[str, Any],
    *,
    caches: Caches,
    ranges: bool,
) -> Prediction:
    from perfmodel.scheduler.prediction import predict

    own = {name: value for name, value in given.items() if name in rung.parameters}
    return predict(
        description, device, rung=rung.name, parameters=own, caches=caches, ranges=ranges
    )


def _require_known(
    description: Description, rungs: Sequence[Rung], given: Mapping[str, Any]
) -> None:
    known = {name for rung in rungs for name in rung.parameters}
    for name in given:
        if name not in known:
            raise UsageError(
                f"{description.kernel} has no parameter {quoted(name)}: {did_you_mean(name, known)}"
            )


def ladder_of(
    description: Description,
    predictions: Sequence[tuple[Rung, Prediction]],
    device: Device,
    parameters: Mapping[str, Any],
) -> Ladder:
    """Set predictions of a kernel's rungs side by side.

    Args:
        description: The kernel.
        predictions: Rungs with their predictions, worst first.
        device: The device.
        parameters: The parameters that were given.

    Returns:
        The ladder.
    """
    first = predictions[0][1]
    steps: list[LadderStep] = []
    before = first
    for number, (rung, prediction) in enumerate(predictions):
        is_alternative = rung.alternative_to is not None
        if is_alternative:
            named = [each for other, each in predictions if other.name == rung.alternative_to]
            before = named[0] if named else first
        steps.append(
            LadderStep(
                rung=rung.name,
                change=rung.change,
                prediction=prediction,
                speedup=first.time_s / prediction.time_s,
                step_speedup=before.time_s / prediction.time_s if number else 1.0,
                removed=what_was_removed(before, prediction) if number else "",
                is_alternative=is_alternative,
            )
        )
        before = prediction
    return Ladder(
        kernel=description.kernel,
        title=description.title,
        device=device.device,
        parameters={**{n: p.default for n, p in description.parameters.items()}, **parameters},
        steps=tuple(steps),
    )


def what_was_removed(before: Prediction, after: Prediction) -> str:
    """What became of the limiter of the rung before, in a few words.

    Args:
        before: The prediction of the rung before.
        after: That of the rung itself.

    Returns:
        Such as "l2 -94 %", or that it brings nothing or is a loss.
    """
    ratio = before.time_s / after.time_s
    if ratio < 1 - NOTHING:
        return "a loss"
    if ratio < 1 + NOTHING:
        return "brings nothing"
    name = before.limiter
    old = before.bound(name).time_s
    new = next((each.time_s for each in after.bounds if each.name == name), 0.0)
    return f"{name} {100 * (new / old - 1):+.0f} %"
