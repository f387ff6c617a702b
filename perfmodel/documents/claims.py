"""The claims: every figure of the documents, read from claims.yaml.

A claim has its place in a document, a statement in our words, the inputs that the document gives
and the figure that should come out of them. An erratum also holds what the document prints.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from perfmodel.errors import DataError
from perfmodel.located_yaml import read_file
from perfmodel.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfmodel.located_yaml import Document

Kind = Literal["closed_form", "measured", "advice", "disputed", "erratum"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""closed_form: follows from the inputs; measured: a time or rate that somebody measured; advice: a
rule of thumb; disputed: sources differ and nothing settles it; erratum: the document is wrong."""

CLAIMS_FILE = Path(__file__).with_name("claims.yaml")

_FORMAT = 1
_NEEDED = ("id", "document", "section", "kind", "statement", "expected", "unit")
_OPTIONAL = ("inputs", "tolerance", "document_says", "note")
_ELSEWHERE = re.compile(r"see (\w+) below")


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A figure of a document."""

    id: str
    document: str
    """Number of the document."""
    section: str
    kind: Kind
    statement: str
    """What is claimed, in our words."""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """What the figure is computed from."""
    expected: Any
    """The right figure: a number, a text, or lists and mappings of them."""
    unit: str
    tolerance: float | None = None
    """Greatest relative error; None where the claim gives none."""
    document_says: Any = None
    """What the document prints where that is wrong or disputed."""
    note: str | None = None


@lru_cache(maxsize=1)
def load_claims() -> Mapping[str, Claim]:
    """Every shipped claim by its id, in the order of the documents.

    Example:
        >>> load_claims()["reduce-large-grid"].inputs
        {'elements': 40960, 'block': 1024}
    """
    return read_claims(CLAIMS_FILE)


def read_claims(path: Path) -> Mapping[str, Claim]:
    """Read a file of claims.

    Args:
        path: The file.

    Returns:
        The claims by id, in the order of the file.

    Raises:
        DataError: The file is wrong; the message gives its name and line.
    """
    document = read_file(path)
    rows = document.data.get("claims")
    if document.data.get("format") != _FORMAT or not isinstance(rows, list):
        raise DataError(f"{path}:1: a file of claims has format: {_FORMAT} and a list of claims")
    found: dict[str, Claim] = {}
    for number, row in enumerate(rows):
        claim = _claim(document, number, row)
        if claim.id in found:
            raise _fault(document, number, f"the id {claim.id} stands twice")
        found[claim.id] = claim
    return MappingProxyType(found)


def _claim(document: Document, number: int, row: Any) -> Claim:
    if not isinstance(row, dict):
        raise _fault(document, number, "a claim is a mapping")
    missing = [name for name in _NEEDED if name not in row]
    if missing:
        raise _fault(document, number, f"{missing[0]} is missing")
    unknown = [name for name in row if name not in (*_NEEDED, *_OPTIONAL)]
    if unknown:
        near = did_you_mean(unknown[0], (*_NEEDED, *_OPTIONAL))
        raise _fault(document, number, f"a claim has no {unknown[0]}: {near}")
    if row["kind"] not in KINDS:
        raise _fault(document, number, f"no kind {row['kind']!r}: {did_you_mean('', KINDS)}")
    return Claim(**{**row, "expected": _resolved(document, number, row["expected"])})


def _resolved(document: Document, number: int, expected: Any) -> Any:
    """What is expected; a table that stands elsewhere in the file is put in its place."""
    match = _ELSEWHERE.fullmatch(expected) if isinstance(expected, str) else None
    if match is None:
        return expected
    if match[1] not in document.data:
        raise _fault(document, number, f"{match[1]} does not stand in this file")
    return document.data[match[1]]


def _fault(document: Document, number: int, message: str) -> DataError:
    return DataError(f"{document.place(('claims', number))}: {message}")
