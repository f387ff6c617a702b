"""The checks: every claim is decided or says why not, and a check computes what it returns."""

import ast
import inspect
from dataclasses import replace
from typing import Any

import pytest

from perfmodel.device.loading import load_device
from perfmodel.documents.claims import load_claims
from perfmodel.documents.registry import MODULES, Check, Finding, check, checks
from perfmodel.documents.undecided import UNDECIDED, undecided
from perfmodel.documents.verification import PREDICTED_KINDS, compare, decide
from perfmodel.engines import online_softmax, roofline, tile_reuse
from perfmodel.results import LayoutSuggestion, plain
from tests.documents.perturbing import leaves, other_inputs, replaced, wrong_leaf

CLAIMS = load_claims()
CHECKS = checks()
SAME_FOR_ALL_INPUTS = {
    "fa-online-softmax": "a proof over symbols: it has no inputs",
    "roofline-ridge": "a formula over symbols; the device gives the numbers beside it",
    "erratum-lds-per-simd": "on every device the MP has one shared memory",
    "reduce-launches": "the launches stand in the description; it has no inputs",
}
FIGURES = [name for name in CHECKS if CLAIMS[name].kind not in PREDICTED_KINDS]
"""Checks of figures that follow from the documents' own inputs."""

every_check = pytest.mark.parametrize("claim_id", FIGURES)


def value(found: Any) -> Any:
    return plain(found.actual if isinstance(found, Finding) else found)


def test_every_claim_is_decided_or_says_why_not() -> None:
    for claim in CLAIMS.values():
        reason = undecided(claim)
        assert (claim.id in CHECKS) != (reason is not None), claim.id
        assert reason is None or reason.reason


def test_nothing_stands_for_a_claim_that_does_not_exist() -> None:
    assert set(CHECKS) <= set(CLAIMS)
    assert set(UNDECIDED) <= set(CLAIMS)
    assert {name for check in CHECKS.values() for name in check.borrows} <= set(CLAIMS)


def test_every_erratum_is_decided_and_few_closed_forms_are_not() -> None:
    open_claims = {
        claim.id for claim in CLAIMS.values() if claim.kind != "advice" and undecided(claim)
    } - {claim.id for claim in CLAIMS.values() if claim.kind == "measured"}
    assert open_claims == {"softmax-half2-alignment"}


@every_check
def test_the_check_passes(claim_id: str) -> None:
    result = decide(CLAIMS[claim_id])
    assert result.status == ("recorded" if result.kind == "disputed" else "pass"), result.reason


@every_check
def test_another_expected_figure_fails(claim_id: str) -> None:
    claim = CLAIMS[claim_id]
    place, leaf = list(leaves(claim.expected))[-1]
    wrong = replaced(claim.expected, place, wrong_leaf(leaf))
    result = decide(_expecting(claim_id, wrong))
    assert result.status == "fail"
    assert result.reason


@pytest.mark.parametrize(
    "claim_id", [name for name in FIGURES if not isinstance(CLAIMS[name].expected, str)]
)
def test_every_leaf_of_the_expected_figure_counts(claim_id: str) -> None:
    claim = CLAIMS[claim_id]
    actual = decide(claim).actual
    for place, leaf in leaves(claim.expected):
        wrong = replaced(claim.expected, place, wrong_leaf(leaf))
        faults, _ = compare(expected=wrong, actual=actual, tolerance=claim.tolerance or 0)
        assert faults, place


def _expecting(claim_id: str, expected: Any) -> Any:
    return replace(CLAIMS[claim_id], expected=expected)


@every_check
def test_other_inputs_give_another_figure(claim_id: str) -> None:
    check = CHECKS[claim_id]
    given = check.inputs(CLAIMS[claim_id])
    before = value(check.function(given))
    differ = any(_differs(check, changed, before) for changed in other_inputs(given))
    assert differ != (claim_id in SAME_FOR_ALL_INPUTS)


def _differs(check: Check, given: dict[str, Any], before: Any) -> bool:
    try:
        return bool(value(check.function(given)) != before)
    except Exception:  # noqa: BLE001 - whatever it raises, it did not repeat the figure
        return True


@every_check
def test_borrowed_inputs_do_not_contradict_each_other(claim_id: str) -> None:
    own = CLAIMS[claim_id].inputs
    seen: dict[str, Any] = {}
    for name in CHECKS[claim_id].borrows:
        for key, given in CLAIMS[name].inputs.items():
            assert key in own or seen.setdefault(key, given) == given, key


@every_check
def test_no_expected_number_is_typed_into_a_check(claim_id: str) -> None:
    tree = ast.parse(inspect.cleandoc(inspect.getsource(CHECKS[claim_id].function)))
    (function,) = tree.body
    assert isinstance(function, ast.FunctionDef)
    typed = {
        node.value
        for statement in function.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float)
    }
    expected = {
        leaf
        for _, leaf in leaves(CLAIMS[claim_id].expected)
        if isinstance(leaf, int | float) and leaf not in (0, 1, 2)
    }
    assert not typed & expected


def test_a_claim_has_one_check() -> None:
    def another(given: Any) -> int:
        return len(given)

    with pytest.raises(ValueError, match="gemm-threads has two checks"):
        check("gemm-threads")(another)
    assert CHECKS["gemm-threads"].function is not another


def test_the_modules_are_those_of_the_folder() -> None:
    from pathlib import Path

    import perfmodel.documents.checks

    folder = Path(str(perfmodel.documents.checks.__file__)).parent
    found = {path.stem for path in folder.glob("*.py")} - {"__init__", "common", "predicting"}
    assert found == set(MODULES)


# A wrong law must not get through the checks that are decided by a derivation.


def test_a_wrong_recurrence_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    right = online_softmax.rescaled_total

    def wrong(**numbers: Any) -> Any:
        return right(**{**numbers, "old_maximum": numbers["new_maximum"]})

    monkeypatch.setattr(online_softmax, "rescaled_total", wrong)
    result = decide(CLAIMS["fa-online-softmax"])
    assert result.status == "fail"
    assert result.reason == "does not hold: the induction holds"


def test_a_wrong_roofline_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(**numbers: Any) -> Any:
        return numbers["bandwidth_bytes_per_s"] / numbers["peak_flop_per_s"]

    monkeypatch.setattr(roofline, "ridge_point", wrong)
    assert decide(CLAIMS["roofline-ridge"]).status == "fail"


def test_a_form_of_attention_that_grows_otherwise_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    right = tile_reuse.attention_input_output_bytes

    def wrong(**numbers: Any) -> Any:
        return right(**numbers) + numbers["keys"] * numbers["queries"]

    monkeypatch.setattr(tile_reuse, "attention_input_output_bytes", wrong)
    assert decide(CLAIMS["fa-standard-memory"]).status == "fail"


def test_an_intensity_that_favours_flat_tiles_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*, tile_m: Any, tile_n: Any, element_bytes: Any) -> Any:
        return (tile_m + tile_n) / element_bytes

    monkeypatch.setattr(tile_reuse, "tile_intensity", wrong)
    assert decide(CLAIMS["gemm-square-best"]).status == "fail"


def test_a_device_file_that_changes_fails_its_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    smaller = load_device("dcu").what_if(shared_per_block="16 KiB")
    monkeypatch.setattr("perfmodel.documents.checks.errata_002.load_device", lambda name: smaller)
    assert decide(CLAIMS["erratum-lds-per-simd"]).status == "fail"


def test_a_tile_that_no_swizzle_frees_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "perfmodel.documents.checks.memory.suggest_layout",
        lambda device, **access: LayoutSuggestion(
            device=device.device, padding=None, least_padding=None, swizzle=None
        ),
    )
    result = decide(CLAIMS["bank-column-swizzle"])
    assert (result.status, result.actual) == ("fail", "no swizzle")


def test_an_erratum_that_prints_no_index_fails() -> None:
    claim = replace(CLAIMS["erratum-smem-index"], document_says="i / TILE_K")
    assert decide(claim).reason == "does not hold: the document prints an index"


def test_an_index_that_stays_inside_is_no_erratum() -> None:
    claim = replace(CLAIMS["erratum-smem-index"], document_says="smem[(i / TILE_K) % 2]")
    assert decide(claim).reason == "does not hold: the printed index leaves the array"


def test_a_schedule_that_is_recorded_otherwise_fails() -> None:
    claim = replace(CLAIMS["erratum-fa-pipeline-loads"], document_says=[0, 2, 3, 4, 5, 6, 7, 8])
    assert decide(claim).status == "fail"
