"""The DCU Softmax ladder of document 002: measured, predicted, and what would explain the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perfmodel.documents.claims import load_claims
from perfmodel.errors import DataError
from perfmodel.results.base import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from perfmodel.device.model import Device

MEASURED: Mapping[str, str] = {
    "thread_per_row": "softmax-v0-time",
    "warp_per_row": "softmax-v1-time",
    "vector_loads": "softmax-v1b-time",
    "packed": "softmax-v2-time",
}
"""The rungs that the document measured, and the claims that hold the times."""
FITTED_FIELD, FITTED_RUNG = "l2_bandwidth", "thread_per_row"
"""The one device constant that the second column fits, and the rung it is fitted to."""
EXPLAINING: Mapping[str, tuple[str, float]] = {
    "l2": ("l2_bandwidth", 1.0),
    "l1_lines": ("line_rate", 1.0),
    "l1": ("l1_bandwidth", 1.0),
    "dram": ("dram_bandwidth_achievable", 1.0),
    "issue": ("issue_width", 1.0),
    "load_store": ("lanes.load_store", 1.0),
    "latency": ("dram_latency", -1.0),
}
"""The device value behind a bound, and whether more of it is faster (1) or slower (-1)."""


@dataclass(frozen=True, kw_only=True)
class SoftmaxRung(Result):
    """A rung of the measured ladder."""

    rung: str
    measured_s: float
    predicted_s: float
    """From the device file alone."""
    predicted_range_s: tuple[float, float]
    error: float
    """predicted / measured - 1."""
    fitted_s: float
    """With one device constant fitted to one rung."""
    fitted_error: float
    nearest_bound: str
    explaining_field: str
    """The device value behind the nearest bound."""
    explaining_value: float | None
    """What it would have to be for the prediction to equal the measurement; None: nothing does."""
    stated_value: float


@dataclass(frozen=True, kw_only=True)
class SoftmaxLadder(Result):
    """The measured ladder beside the predicted one."""

    device: str
    fitted_field: str
    fitted_rung: str
    fitted_value: float
    rungs: tuple[SoftmaxRung, ...]
    as_printed_s: float
    """The last kernel as the document prints it, which covers a quarter of each row."""

    def to_frame(self) -> pd.DataFrame:
        """One row a rung, with units in the column names."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "rung": each.rung,
                    "measured_ms": 1e3 * each.measured_s,
                    "predicted_ms": 1e3 * each.predicted_s,
                    "error": each.error,
                    "fitted_ms": 1e3 * each.fitted_s,
                    "fitted_error": each.fitted_error,
                    "nearest_bound": each.nearest_bound,
                    "would_explain": each.explaining_field,
                    "at": each.explaining_value,
                    "stated": each.stated_value,
                }
                for each in self.rungs
            ]
        )


def softmax_ladder(device: Device | None = None) -> SoftmaxLadder:
    """Predict the measured ladder, from the device file alone and with one constant fitted.

    Args:
        device: The device; by default the DCU of the document.

    Returns:
        The ladder. Nothing of it enters the device files or any other prediction.

    Raises:
        DataError: No value of the fitted constant gives the measured time.
    """
    from perfmodel.device.loading import load_device
    from perfmodel.scheduler.prediction import predict

    chosen = device or load_device("dcu")
    claims = load_claims()
    measured = {rung: float(claims[claim].expected) for rung, claim in MEASURED.items()}
    fitted = value_that_explains(chosen, FITTED_RUNG, FITTED_FIELD, measured[FITTED_RUNG])
    if fitted is None:
        raise DataError(
            f"no {FITTED_FIELD} of {chosen.device} makes {FITTED_RUNG} take the measured time"
        )
    rungs = []
    for rung, time in measured.items():
        result = predict("softmax", chosen, rung=rung)
        bound = next(each.name for each in result.bounds if each.name in EXPLAINING)
        field, _ = EXPLAINING[bound]
        with_fit = _seconds(chosen, rung, {FITTED_FIELD: fitted})
        rungs.append(
            SoftmaxRung(
                rung=rung,
                measured_s=time,
                predicted_s=result.time_s,
                predicted_range_s=result.time_range_s,
                error=result.time_s / time - 1,
                fitted_s=with_fit,
                fitted_error=with_fit / time - 1,
                nearest_bound=bound,
                explaining_field=field,
                explaining_value=value_that_explains(chosen, rung, field, time),
                stated_value=chosen.quantities()[field].value,
            )
        )
    return SoftmaxLadder(
        device=chosen.device,
        fitted_field=FITTED_FIELD,
        fitted_rung=FITTED_RUNG,
        fitted_value=fitted,
        rungs=tuple(rungs),
        as_printed_s=_seconds(chosen, "packed_as_printed", {}),
    )


def _seconds(device: Device, rung: str, fields: Mapping[str, Any]) -> float:
    from perfmodel.scheduler.prediction import predict_times

    return float(predict_times("softmax", device, rung=rung, fields=fields).time_s)


def value_that_explains(device: Device, rung: str, field: str, time_s: float) -> float | None:
    """The device value at which a rung's prediction equals a time.

    Args:
        device: The device.
        rung: A rung of the Softmax.
        field: The device value that is changed; all others stay as stated.
        time_s: The time [s].

    Returns:
        The value, found by bisection between a thousandth and a thousand times what is stated;
        None where no value in between gives the time.
    """
    stated = device.quantities()[field].value

    def excess(factor: float) -> float:
        return _seconds(device, rung, {field: stated * factor}) - time_s

    low, high = 1e-3, 1e3
    at_low, at_high = excess(low), excess(high)
    if at_low == 0 or at_high == 0 or (at_low > 0) == (at_high > 0):
        return None
    for _ in range(60):
        middle = (low * high) ** 0.5
        if (excess(middle) > 0) == (at_low > 0):
            low = middle
        else:
            high = middle
    return float(stated * low)
