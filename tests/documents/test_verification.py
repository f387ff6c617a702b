"""Comparison and verdicts."""

from dataclasses import replace
from typing import Any

import pytest

from perfmodel.documents import registry
from perfmodel.documents.claims import load_claims
from perfmodel.documents.registry import Check, Finding
from perfmodel.documents.verification import STATUSES, ClaimResult, compare, decide, verify
from perfmodel.errors import ArgumentError, UsageError

CLAIM = load_claims()["gemm-threads"]


def decided(
    monkeypatch: pytest.MonkeyPatch, found: Any, *, expected: Any = CLAIM.expected, **fields: Any
) -> ClaimResult:
    """The verdict on a claim whose check finds something of our choosing."""

    def function(given: Any) -> Any:
        if isinstance(found, Exception):
            raise found
        return found

    made = {CLAIM.id: Check(id=CLAIM.id, borrows=(), function=function)}
    monkeypatch.setattr("perfmodel.documents.verification.checks", lambda: made)
    return decide(replace(CLAIM, expected=expected, **fields))


@pytest.mark.parametrize(
    ("expected", "actual", "tolerance", "error"),
    [
        (4, 4.0, 0, 0.0),
        (0, 0.0, 0, 0.0),
        (3.0, 3.0 * (1 + 2**-52), 0, 2**-52),
        (100.0, 101.0, 0.02, 0.01),
        (-100.0, -101.0, 0.02, 0.01),
        ([1, 100], [1, 101], 0.02, 0.01),
        ({"a": {"b": 100}, "c": "x"}, {"c": "x", "a": {"b": 101}}, 0.02, 0.01),
    ],
)
def test_what_is_near_enough_agrees(
    expected: Any, actual: Any, tolerance: float, error: float
) -> None:
    faults, worst = compare(expected=expected, actual=actual, tolerance=tolerance)
    assert not faults
    assert worst == pytest.approx(error)


@pytest.mark.parametrize(
    ("expected", "actual", "fault"),
    [
        (100, 103, "it is 103: expected 100"),
        (0, 1e-300, "it is 1e-300: expected 0"),
        (1.0, float("nan"), "it is nan: expected 1"),
        (1, True, "it is True: expected 1"),
        (True, 1, "it is 1: expected True"),
        (1, None, "it is None: expected 1"),
        (1, "1", "it is '1': expected 1"),
        ([1, 2], [1], "it has 1 elements: expected 2"),
        ({"a": 1}, {}, "a is missing"),
        ({}, {"a": 1}, "a is not expected"),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "a[1].b is 3: expected 2"),
        ({"a": 1}, [1], "it is a list: expected a mapping"),
        ([1], 1, "it is a single value: expected a list"),
        (1, {"a": 1}, "it is a mapping: expected a single value"),
    ],
)
def test_what_differs_is_named(expected: Any, actual: Any, fault: str) -> None:
    faults, _ = compare(expected=expected, actual=actual, tolerance=0.02)
    assert faults == [fault]


def test_without_a_tolerance_only_rounding_is_allowed() -> None:
    assert not compare(expected=1.0, actual=1 + 1e-13, tolerance=0)[0]
    assert compare(expected=1.0, actual=1 + 1e-11, tolerance=0)[0]


def test_a_check_that_raises_is_a_failed_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    result = decided(monkeypatch, KeyError("tile"))
    assert (result.status, result.reason, result.actual) == ("fail", "KeyError: 'tile'", None)
    result = decided(monkeypatch, ArgumentError("warps is 0: it must be above 0\nmore"))
    assert (result.status, result.reason) == ("fail", "warps is 0: it must be above 0")
    assert decided(monkeypatch, ValueError()).reason == "ValueError: "


def test_a_claim_without_check_or_reason_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perfmodel.documents.verification.checks", dict)
    assert decide(CLAIM).reason == "no check is registered for it"


def test_what_must_hold_beside_the_figure_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Finding(actual=CLAIM.expected, because="so it is", holds={"a": True, "b": True})
    assert decided(monkeypatch, right).reason == "so it is"
    wrong = replace(right, holds={"a": True, "b": False})
    result = decided(monkeypatch, wrong)
    assert (result.status, result.reason) == ("fail", "does not hold: b")


@pytest.mark.parametrize(
    ("expected", "numbers", "status"),
    [
        ("128x128 (32) against 32x512 (15.06)", (128, 128, 32, 32, 512, 15.0588), "pass"),
        ("128x128 (32) against 32x512 (15.07)", (128, 128, 32, 32, 512, 15.0588), "fail"),
        ("about ten times", (10,), "pass"),
        ("about ten times", (100,), "fail"),
        ("twice 4", (4, 2), "fail"),
        ("a proof", (), "pass"),
        ("a proof", (1,), "fail"),
    ],
)
def test_a_text_is_decided_by_its_numbers(
    monkeypatch: pytest.MonkeyPatch, expected: str, numbers: tuple[float, ...], status: str
) -> None:
    found = Finding(actual="derived", numbers=numbers)
    result = decided(monkeypatch, found, expected=expected)
    assert (result.status, result.relative_error) == (status, None)


@pytest.mark.parametrize(
    ("expected", "status"),
    [
        ("P = min(pi, beta * I)", "pass"),
        ("P = min(I * beta, pi)", "pass"),
        ("P = max(pi, beta * I)", "fail"),
        ("Q = min(pi, beta * I)", "fail"),
        ("P = min(pi, beta * I); Q = 2", "fail"),
        ("P = min(pi, beta *", "fail"),
    ],
)
def test_a_text_is_decided_by_its_formulas(
    monkeypatch: pytest.MonkeyPatch, expected: str, status: str
) -> None:
    import sympy

    pi, beta, intensity = sympy.symbols("pi beta I")
    found = Finding(actual="derived", formulas={"P": sympy.Min(pi, beta * intensity)})
    result = decided(monkeypatch, found, expected=expected)
    assert result.status == status


def test_every_status_is_known_and_every_claim_has_one() -> None:
    results = verify()
    assert [result.id for result in results] == list(load_claims())
    assert {result.status for result in results} <= set(STATUSES)
    assert not [result.id for result in results if result.status == "fail"]
    assert all(result.reason for result in results if result.actual is None)


def test_a_disputed_claim_is_recorded_with_both_figures() -> None:
    (result,) = verify(["disputed-line-size"])
    assert (result.status, result.actual, result.document_says) == ("recorded", 64, 128)


def test_claims_come_in_the_order_asked_for() -> None:
    ids = ["gemm-threads", "amdahl-limit"]
    assert [result.id for result in verify(ids)] == ids


def test_an_unknown_claim_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean gemm-threads"):
        verify(["gemm-thread"])


def test_a_check_is_given_what_the_document_prints_but_not_what_is_expected() -> None:
    claim = load_claims()["erratum-fa-prefetch-room"]
    given = registry.checks()[claim.id].inputs(claim)
    assert given == {**claim.inputs, "document_says": claim.document_says}
