"""The documents' claims and their verdicts as text."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from perfmodel.documents.claims import KINDS
from perfmodel.documents.verification import STATUSES
from perfmodel.tables.text import WIDTH, table, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfmodel.documents.verification import ClaimResult

COLUMNS = (
    "id",
    "kind",
    "status",
    "expected",
    "actual",
    "relative_error",
    "tolerance",
    "document_says",
    "document",
    "section",
    "unit",
    "reason",
)
"""What is given of each claim as JSON and as CSV."""

_GAP = "  "
_CUT = "..."


def claim_rows(results: Sequence[ClaimResult]) -> list[dict[str, Any]]:
    """Every claim by the names of `COLUMNS`, ready for JSON."""
    rows = [result.to_dict() for result in results]
    return [{name: row[name] for name in COLUMNS} for row in rows]


def claims_table(
    results: Sequence[ClaimResult], *, total: Sequence[ClaimResult], details: bool = False
) -> str:
    """One line a claim, or all that is known of each; then a summary.

    Args:
        results: The claims to show.
        total: The claims to count, which may be more.
        details: Whether to show everything of each claim.
    """
    shown = "\n\n".join(map(_in_full, results)) if details else _lines(results)
    return "\n\n".join(filter(None, [shown or "none", _summary(total)]))


def compact(value: Any) -> str:
    """A figure in few letters.

    Args:
        value: A number, a text, or lists and mappings of them.

    Returns:
        One line.

    Example:
        >>> compact({"lines": [1, 4], "efficiency": 0.03125})
        'lines 1 4, efficiency 0.03125'
    """
    if isinstance(value, dict):
        return ", ".join(f"{name} {compact(item)}" for name, item in value.items())
    if isinstance(value, list):
        parts = (
            f"({compact(item)})" if isinstance(item, list) else compact(item) for item in value
        )
        return " ".join(parts)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _lines(results: Sequence[ClaimResult]) -> str:
    if not results:
        return ""
    status = max(len(result.status) for result in results)
    name = max(len(result.id) for result in results)
    room = WIDTH - status - name - 2 * len(_GAP)
    return table([[result.status, result.id, _figure(result, room)] for result in results])


def _figure(result: ClaimResult, room: int) -> str:
    """What a line says of a claim: the figure, or why there is none."""
    if result.actual is None or result.status == "fail":
        return _cut(result.reason, room)
    ours = _values(result.actual)
    if result.document_says is not None:
        return _beside(ours, f"document: {_values(result.document_says)}", room)
    expected = _values(result.expected)
    if isinstance(result.expected, str) or ours == expected:
        return _cut(_with_unit(ours, result), room)
    return _cut(f"{ours}, expected {_with_unit(expected, result)}", room)


def _values(figure: Any) -> str:
    """A figure in still fewer letters: of a mapping its values alone."""
    if isinstance(figure, dict):
        return " | ".join(map(compact, figure.values()))
    return compact(figure)


def _with_unit(figure: str, result: ClaimResult) -> str:
    """A number or a list of them with its unit; the parts of a mapping have units of their own."""
    bare = isinstance(result.expected, str | dict) or result.unit in ("-", "ratio")
    return figure if bare else f"{figure} {result.unit}"


def _beside(ours: str, theirs: str, room: int) -> str:
    """Both figures on one line, the longer cut first."""
    left = room - len("; ")
    half = left // 2
    ours = _cut(ours, max(half, left - len(theirs)))
    return f"{ours}; {_cut(theirs, left - len(ours))}"


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - len(_CUT)].rstrip() + _CUT


def _in_full(result: ClaimResult) -> str:
    error = "" if result.relative_error is None else f"{result.relative_error:.3g}"
    facts = [
        ("claim", result.statement),
        ("source", f"document {result.document}, section {result.section} ({result.kind})"),
        ("document", "" if result.document_says is None else compact(result.document_says)),
        ("expected", _with_unit(compact(result.expected), result)),
        ("computed", "" if result.actual is None else compact(result.actual)),
        ("error", f"{error}, {result.tolerance:g} allowed" if error else ""),
        ("reason", result.reason),
    ]
    indent = " " * 12
    return "\n".join(
        [
            f"{result.id}: {result.status}",
            *(wrapped(f"  {name:<10}{text}", indent=indent) for name, text in facts if text),
        ]
    )


def _summary(results: Sequence[ClaimResult]) -> str:
    """Claims by kind and status."""
    counts = Counter((result.kind, result.status) for result in results)
    kinds = [kind for kind in KINDS if any(result.kind == kind for result in results)]
    rows = [[kind, *(str(counts[kind, status]) for status in STATUSES)] for kind in kinds]
    for row in rows:
        row.append(str(sum(map(int, row[1:]))))
    if len(kinds) > 1:
        rows.append(
            ["all", *(str(sum(int(row[i]) for row in rows)) for i in range(1, len(STATUSES) + 2))]
        )
    return table(rows, header=["kind", *STATUSES, "claims"], align="l" + "r" * len(STATUSES) + "r")
