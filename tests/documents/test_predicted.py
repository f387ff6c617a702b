"""Claims that predictions stand beside: decided or recorded, and guarded against drift."""

from __future__ import annotations

from typing import Any

import pytest

from perfmodel.device.loading import load_device
from perfmodel.documents import verification
from perfmodel.documents.checks import predicting
from perfmodel.documents.claims import load_claims
from perfmodel.documents.registry import checks
from perfmodel.documents.softmax_ladder import softmax_ladder, value_that_explains
from perfmodel.documents.verification import PREDICTED_KINDS, committed_predictions, decide
from perfmodel.scheduler.prediction import predict_times

CLAIMS = load_claims()
PREDICTED = [name for name in checks() if CLAIMS[name].kind in PREDICTED_KINDS]
DISAGREES = {
    "gemv-ladder-order",
    "softmax-goal",
    "softmax-long-rows",
    "softmax-mask-loss",
    "softmax-no-single-change",
    "shared-over-global-bandwidth",
}
"""Rules of thumb that do not follow from the model on every device."""


@pytest.mark.parametrize("claim_id", PREDICTED)
def test_what_becomes_of_it(claim_id: str) -> None:
    result = decide(CLAIMS[claim_id])
    wanted = "recorded" if result.kind == "measured" else "pass"
    assert result.status == ("disagrees" if claim_id in DISAGREES else wanted), result.reason
    assert result.reason


def test_every_prediction_is_committed_and_no_other() -> None:
    assert set(committed_predictions()) == set(PREDICTED)


@pytest.mark.parametrize("claim_id", ["softmax-v0-time", "gemv-split-k", "softmax-long-rows"])
def test_a_drift_fails(claim_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = dict(committed_predictions())
    changed[claim_id] = {**changed[claim_id], "actual": _moved(changed[claim_id]["actual"])}
    monkeypatch.setattr(verification, "committed_predictions", lambda: changed)
    result = decide(CLAIMS[claim_id])
    assert result.status == "fail"
    assert result.reason.startswith("drifted from the committed prediction: ")


def _moved(actual: Any) -> Any:
    """Every number one per cent off."""
    if isinstance(actual, dict):
        return {name: _moved(each) for name, each in actual.items()}
    if isinstance(actual, list):
        return [_moved(each) for each in actual]
    return actual * 1.01


def test_another_verdict_is_a_drift(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = dict(committed_predictions())
    held = changed["softmax-goal"]["holds"]
    changed["softmax-goal"] = {
        **changed["softmax-goal"],
        "holds": {name: not each for name, each in held.items()},
    }
    monkeypatch.setattr(verification, "committed_predictions", lambda: changed)
    assert "what holds is another" in decide(CLAIMS["softmax-goal"]).reason


def test_a_model_that_changes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    times = predicting.seconds
    monkeypatch.setattr(
        "perfmodel.documents.checks.predicted_000.seconds",
        lambda name, device, **parameters: (
            times(name, device, **parameters) * (1.02 if name.endswith("pipelined") else 1.0)
        ),
    )
    assert decide(CLAIMS["fa-pipeline-overlap"]).status == "fail"


def test_the_ladder_reports_errors_as_they_are() -> None:
    ladder = softmax_ladder()
    assert [each.rung for each in ladder.rungs] == [
        "thread_per_row",
        "warp_per_row",
        "vector_loads",
        "packed",
    ]
    for each in ladder.rungs:
        assert each.error == pytest.approx(each.predicted_s / each.measured_s - 1, rel=1e-12)
        low, high = each.predicted_range_s
        assert low <= each.predicted_s <= high
    fitted = ladder.rungs[0]
    assert abs(fitted.fitted_error) < 1e-6  # the rung the constant was fitted to
    assert abs(fitted.error) < 0.15


def test_a_value_that_explains_gives_the_time() -> None:
    dcu = load_device("dcu")
    bandwidth = value_that_explains(dcu, "packed", "dram_bandwidth_achievable", 0.62e-3)
    assert bandwidth is not None
    fields = {"dram_bandwidth_achievable": bandwidth}
    time = predict_times("softmax", dcu, rung="packed", fields=fields).time_s
    assert float(time) == pytest.approx(0.62e-3, rel=1e-6)
    # 128 MiB in less than 0.62 ms: the bandwidth asked for is below what is stated
    assert 2.1e11 < bandwidth < 3e11


def test_nothing_explains_what_another_bound_forbids() -> None:
    dcu = load_device("dcu")
    assert value_that_explains(dcu, "packed", "dram_bandwidth_achievable", 1e-5) is None
