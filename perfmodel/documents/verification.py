"""Verification: every claim computed again and compared with what it expects.

A claim passes where every leaf of what it expects is met within its tolerance, a relative error;
where it gives none, the digits printed must be met, but for the rounding of floats. What a check
does wrong, whatever it is, is a failed claim and never a crash.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from perfmodel.documents.claims import load_claims
from perfmodel.documents.registry import Finding, checks
from perfmodel.documents.undecided import undecided
from perfmodel.errors import PerfmodelError, UsageError, quoted
from perfmodel.results import Result, plain
from perfmodel.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from perfmodel.documents.claims import Claim

Status = Literal["pass", "fail", "recorded", "disagrees", "not_modelled", "pending"]
STATUSES: tuple[Status, ...] = get_args(Status)
"""pass and fail: decided; recorded: both figures stand beside each other and nothing is decided;
disagrees: a rule of thumb that does not follow from the model; not_modelled: outside of what is
modelled; pending: a part of the model is missing."""

PREDICTED_KINDS = ("measured", "advice")
"""Claims that predictions stand beside. These are guarded by the ones committed."""
DRIFT = 5e-3
"""Relative change of a prediction from the one committed that is a failure."""

ROUNDING = 1e-12
"""Relative error that floats may have where a claim gives no tolerance."""


@dataclass(frozen=True, kw_only=True)
class ClaimResult(Result):
    """A claim, what it was found to be, and the verdict."""

    id: str
    kind: str
    document: str
    section: str
    statement: str
    status: Status
    expected: Any
    """The right figure, as the claim has it."""
    actual: Any
    """The figure computed; None where nothing was."""
    document_says: Any
    """What the document prints where that is wrong or disputed."""
    relative_error: float | None
    """The worst over all leaves; None where nothing is compared by number."""
    tolerance: float
    """Greatest relative error allowed."""
    unit: str
    reason: str
    """Why it fails or is not decided; for an erratum, what makes the document's figure wrong."""


def verify(ids: Iterable[str] | None = None) -> tuple[ClaimResult, ...]:
    """Verify claims of the documents.

    Args:
        ids: The claims; by default all of them.

    Returns:
        One result a claim, in the order in which they are named or, by default, in the order of
        the documents.

    Raises:
        UsageError: There is no such claim; the message has the nearest.

    Example:
        >>> [(result.actual, result.status) for result in verify(["occupancy-active-warps"])]
        [(32, 'pass')]
    """
    claims = load_claims()
    wanted = list(claims if ids is None else ids)
    for name in wanted:
        if name not in claims:
            raise UsageError(f"no claim {quoted(name)}: {did_you_mean(name, claims)}")
    return tuple(decide(claims[name]) for name in wanted)


def decide(claim: Claim) -> ClaimResult:
    """Compute one claim again and compare it with what it expects.

    Args:
        claim: The claim; the check registered for its id is run on its inputs.

    Returns:
        The result.
    """
    check = checks().get(claim.id)
    if check is None:
        open_claim = undecided(claim)
        if open_claim is None:
            return _result(claim, "fail", reason="no check is registered for it")
        return _result(claim, open_claim.status, reason=open_claim.reason)
    try:
        returned = check.function(check.inputs(claim))
        found = returned if isinstance(returned, Finding) else Finding(actual=returned)
        faults, error = _compared(claim, found)
        drifted = _drifted(claim, found)
    except Exception as caught:  # noqa: BLE001 - a broken check is a failed claim, not a crash
        return _result(claim, "fail", reason=_one_line(caught))
    if drifted:
        return _result(claim, "fail", found, error, reason=drifted)
    if claim.kind == "advice":
        verdict: Status = "disagrees" if faults else "pass"
        more = f" and {len(faults) - 1} more" if len(faults) > 1 else ""
        reason = f"{faults[0]}{more}: {found.because}" if faults else found.because
        return _result(claim, verdict, found, error, reason=reason)
    if faults and claim.kind != "measured":
        return _result(claim, "fail", found, error, reason=faults[0])
    status: Status = "recorded" if claim.kind in ("disputed", "measured") else "pass"
    return _result(claim, status, found, error, reason=found.because)


@lru_cache(maxsize=1)
def committed_predictions() -> Mapping[str, Any]:
    """The predictions beside claims that were committed, by claim."""
    from perfmodel.located_yaml import read_file

    return read_file(PREDICTIONS).data


PREDICTIONS = Path(__file__).with_name("predictions.yaml")


def record_predictions() -> int:
    """Write what is predicted now beside the claims as what is committed.

    Returns:
        How many predictions were written.
    """
    import yaml

    found: dict[str, Any] = {}
    for name, claim in load_claims().items():
        registered = checks().get(name)
        if claim.kind in PREDICTED_KINDS and registered is not None and undecided(claim) is None:
            returned = registered.function(registered.inputs(claim))
            finding = returned if isinstance(returned, Finding) else Finding(actual=returned)
            found[name] = _committed_form(finding)
    text = yaml.safe_dump(found, sort_keys=True, default_flow_style=None, width=100)
    PREDICTIONS.write_text(_PREDICTIONS_HEAD + text, encoding="utf-8")
    committed_predictions.cache_clear()
    return len(found)


_PREDICTIONS_HEAD = """\
# What the model predicts beside the documents' measured figures and rules of thumb, as committed.
# `perfmodel verify` fails where a prediction drifts from this; --record writes it.
"""


def _committed_form(found: Finding) -> dict[str, Any]:
    """A finding as it is committed: its figures to five digits, and which comparisons hold."""
    return {"actual": _rounded(plain(found.actual)), "holds": dict(found.holds)}


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def _drifted(claim: Claim, found: Finding) -> str:
    """How a prediction differs from the committed one; empty where it does not."""
    if claim.kind not in PREDICTED_KINDS:
        return ""
    before = committed_predictions().get(claim.id)
    if before is None:
        return "no prediction is committed for it: perfmodel verify --record writes it"
    now = _committed_form(found)
    faults, _ = compare(expected=before["actual"], actual=now["actual"], tolerance=DRIFT)
    if not faults and before["holds"] != now["holds"]:
        changed = sorted(
            name
            for name in before["holds"].keys() | now["holds"].keys()
            if before["holds"].get(name) != now["holds"].get(name)
        )
        faults = [f"what holds is another: {changed[0]}"]
    wanted = "perfmodel verify --record commits the new one"
    return f"drifted from the committed prediction: {faults[0]}; {wanted}" if faults else ""


def _one_line(error: Exception) -> str:
    """What an error says on its first line, and what it is where that is a programming error."""
    first = (str(error).splitlines() or [""])[0]
    known = isinstance(error, PerfmodelError) and first
    return first if known else f"{type(error).__name__}: {first}"


def _result(
    claim: Claim,
    status: Status,
    found: Finding | None = None,
    error: float | None = None,
    *,
    reason: str,
) -> ClaimResult:
    return ClaimResult(
        id=claim.id,
        kind=claim.kind,
        document=claim.document,
        section=claim.section,
        statement=claim.statement,
        status=status,
        expected=claim.expected,
        actual=None if found is None else _in_order(plain(found.actual), claim.expected),
        document_says=claim.document_says,
        relative_error=error,
        tolerance=claim.tolerance or 0.0,
        unit=claim.unit,
        reason=reason,
    )


def _in_order(actual: Any, expected: Any) -> Any:
    """The figure with its parts in the order in which the claim names them."""
    if not (isinstance(actual, dict) and isinstance(expected, dict)):
        return actual
    return {name: actual[name] for name in expected if name in actual} | actual


def _compared(claim: Claim, found: Finding) -> tuple[list[str], float | None]:
    """What does not agree, and the worst relative error."""
    faults = [
        f"does not hold: {statement}" for statement, holds in found.holds.items() if not holds
    ]
    if claim.kind == "advice":
        return faults, None
    if isinstance(claim.expected, str):
        return faults + _text_faults(claim.expected, found), None
    differences, error = compare(
        expected=claim.expected, actual=plain(found.actual), tolerance=claim.tolerance or 0.0
    )
    return differences + faults, error


def compare(*, expected: Any, actual: Any, tolerance: float) -> tuple[list[str], float | None]:
    """Compare a figure with what is expected, leaf by leaf.

    Args:
        expected: A number, a truth value, a text, or lists and mappings of them.
        actual: What was computed, in the same shape.
        tolerance: Greatest relative error; with 0, `ROUNDING` is allowed.

    Returns:
        A line for each leaf that differs, none where all agree; and the worst relative error,
        None where no two numbers were compared.

    Example:
        >>> compare(expected={"lines": [1, 4]}, actual={"lines": [1, 5]}, tolerance=0)
        (['lines[1] is 5: expected 4'], 0.25)
    """
    faults: list[str] = []
    worst: float | None = None
    for place, wanted, got in _leaves(expected, actual, ""):
        name = place or "it"
        if isinstance(got, _Absent):
            faults.append(f"{name} {got.what}")
        elif not (_is_number(wanted) and _is_number(got)):
            if type(wanted) is not type(got) or wanted != got:
                faults.append(f"{name} is {got!r}: expected {wanted!r}")
        else:
            error = _relative_error(wanted, got)
            worst = error if worst is None else max(worst, error)
            if not error <= (tolerance or ROUNDING):
                faults.append(f"{name} is {got:.10g}: expected {wanted:.10g}")
    return faults, worst


@dataclass(frozen=True)
class _Absent:
    """In the place of a leaf that has no counterpart."""

    what: str


def _leaves(expected: Any, actual: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    """Every leaf with its place and its counterpart."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name in [*expected, *(name for name in actual if name not in expected)]:
            inner = f"{place}.{name}" if place else str(name)
            if name not in actual:
                yield inner, None, _Absent("is missing")
            elif name not in expected:
                yield inner, None, _Absent("is not expected")
            else:
                yield from _leaves(expected[name], actual[name], inner)
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield place, None, _Absent(f"has {len(actual)} elements: expected {len(expected)}")
            return
        for index, (wanted, got) in enumerate(zip(expected, actual, strict=True)):
            yield from _leaves(wanted, got, f"{place}[{index}]")
    elif isinstance(expected, dict | list) or isinstance(actual, dict | list):
        yield place, None, _Absent(f"is a {_shape(actual)}: expected a {_shape(expected)}")
    else:
        yield place, expected, actual


def _shape(value: Any) -> str:
    if isinstance(value, dict):
        return "mapping"
    return "list" if isinstance(value, list) else "single value"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _relative_error(expected: float, actual: float) -> float:
    if expected == actual:
        return 0.0
    return abs(actual - expected) / abs(expected) if expected else float("inf")


_NUMBER = re.compile(r"\d+(?:\.\d+)?|\bten\b")
_EQUATION = re.compile(r"\s*(\w+)\s*=\s*(.+)")
_ELEMENT = re.compile(r"\s*(\w+)\[(.+)\]\s*")


def _text_faults(expected: str, found: Finding) -> list[str]:
    """Where what a text states differs from what was derived."""
    stated = _stated_formulas(expected)
    if stated:
        return _formula_faults(stated, found)
    printed = ["10" if text == "ten" else text for text in _NUMBER.findall(expected)]
    if len(printed) != len(found.numbers):
        return [f"{len(found.numbers)} numbers derived: the text states {len(printed)}"]
    return [
        f"{number:.10g} derived: the text states {text}"
        for text, number in zip(printed, found.numbers, strict=True)
        if round(number, len(text.partition(".")[2])) != float(text)
    ]


def _stated_formulas(expected: str) -> list[tuple[str, str, bool]]:
    """Name, formula and whether it is one of real numbers, for each part of a text that is one."""
    found = []
    for part in expected.split(";"):
        equation, element = _EQUATION.fullmatch(part), _ELEMENT.fullmatch(part)
        match = equation or element
        if match is not None:
            found.append((match[1], match[2], equation is not None))
    return found


def _formula_faults(stated: Sequence[tuple[str, str, bool]], found: Finding) -> list[str]:
    names = [name for name, _, _ in stated]
    if sorted(names) != sorted(found.formulas):
        return [f"{', '.join(found.formulas) or 'nothing'} derived: expected {', '.join(names)}"]
    return [
        f"{name} is {found.formulas[name]}: expected {text}"
        for name, text, is_real in stated
        if not _same_formula(text, found.formulas[name], is_real=is_real)
    ]


def _same_formula(text: str, formula: Any, *, is_real: bool) -> bool:
    """Whether an expression in C and a sympy expression are equal, whatever their symbols know."""
    import sympy

    from perfmodel.expressions import parse

    def bare(expression: Any) -> Any:
        return expression.subs(
            {symbol: sympy.Symbol(symbol.name, positive=True) for symbol in expression.free_symbols}
        )

    stated = parse(text).symbolic(relaxed=is_real)
    return bool(sympy.simplify(bare(stated) - bare(sympy.Integer(0) + formula)) == 0)
