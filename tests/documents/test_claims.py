"""Reading the file of claims."""

from collections import Counter
from pathlib import Path

import pytest

from perfmodel.documents.claims import CLAIMS_FILE, KINDS, load_claims, read_claims
from perfmodel.errors import DataError

CLAIM = "{id: a, document: '000', section: '1', kind: advice, statement: s, expected: 1, unit: x}"


def test_the_shipped_file_holds_every_claim() -> None:
    claims = load_claims()
    assert len(claims) == 164
    assert {claim.document for claim in claims.values()} == {"000", "002", "003", "004"}
    assert Counter(claim.kind for claim in claims.values()) == {
        "closed_form": 91,
        "measured": 14,
        "advice": 30,
        "disputed": 1,
        "erratum": 28,
    }


def test_every_claim_says_what_its_kind_needs() -> None:
    for claim in load_claims().values():
        assert claim.kind in KINDS
        assert claim.statement
        assert claim.expected is not None
        assert (claim.document_says is not None) == (claim.kind in ("erratum", "disputed"))
        assert claim.tolerance is None or 0 <= claim.tolerance <= 0.005


def test_the_swizzle_table_is_put_in_its_place() -> None:
    order = load_claims()["gemm-swizzle-order"].expected
    assert len(order) == 100
    assert len({tuple(pair) for pair in order}) == 100


def read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text(text)
    read_claims(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("format: 2\nclaims: []\n", "format: 1"),
        ("format: 1\nclaims: {}\n", "list of claims"),
        ("format: 1\nclaims:\n- 3\n", ":3: a claim is a mapping"),
        ("format: 1\nclaims:\n- {id: a}\n", ":3: document is missing"),
        (f"format: 1\nclaims:\n- {CLAIM}\n- {CLAIM}\n", ":4: the id a stands twice"),
        (f"format: 1\nclaims:\n- {CLAIM[:-1]}, notes: n}}\n", "did you mean note?"),
        (f"format: 1\nclaims:\n- {CLAIM.replace('advice', 'rumour')}\n", "no kind 'rumour'"),
        (
            f"format: 1\nclaims:\n- {CLAIM.replace('expected: 1', 'expected: see table below')}\n",
            ":3: table does not stand in this file",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)


def test_the_shipped_file_is_beside_its_module() -> None:
    assert CLAIMS_FILE.parent.name == "documents"
    assert CLAIMS_FILE.is_file()
