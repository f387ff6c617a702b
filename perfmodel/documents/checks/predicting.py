"""What the checks that rest on predictions share: times, and which bound decides."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perfmodel.results.prediction import Prediction

DEVICES = ("s5000", "dcu", "h200")
"""The documents' two devices, and one for contrast."""


@lru_cache(maxsize=1024)
def _predicted(name: str, device: str, parameters: tuple[tuple[str, Any], ...]) -> Prediction:
    from perfmodel.device.loading import load_device
    from perfmodel.scheduler.prediction import predict

    return predict(name, load_device(device), parameters=dict(parameters), ranges=False)


def predicted(name: str, device: str, **parameters: int) -> Prediction:
    """The prediction of a rung such as gemm:naive, without its range."""
    return _predicted(name, device, tuple(sorted(parameters.items())))


def seconds(name: str, device: str, **parameters: int) -> float:
    """The predicted time of a rung [s]."""
    return predicted(name, device, **parameters).time_s


def limiter(name: str, device: str, **parameters: int) -> str:
    """What limits a rung."""
    return predicted(name, device, **parameters).limiter


def batch_seconds(
    name: str,
    device: str,
    *,
    parameters: dict[str, Any] | None = None,
    fields: dict[str, Any] | None = None,
) -> list[float]:
    """Predicted times over arrays of parameters or device values [s]."""
    import numpy as np

    from perfmodel.device.loading import load_device
    from perfmodel.scheduler.prediction import predict_times

    times = predict_times(
        name,
        load_device(device),
        parameters={key: np.asarray(value) for key, value in (parameters or {}).items()},
        fields=fields,
    ).time_s
    return [float(time) for time in np.atleast_1d(times)]


def in_order(times: list[float]) -> bool:
    """Whether no time is longer than the one before."""
    return all(after <= before for before, after in pairwise(times))


def microseconds(time: float) -> str:
    """A time as text."""
    from perfmodel.units import format_quantity

    return format_quantity(time, "s", digits=3)
