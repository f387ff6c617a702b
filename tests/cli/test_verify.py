"""perfmodel verify."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from perfmodel.cli import run
from perfmodel.documents import verification
from perfmodel.documents.claims import load_claims
from perfmodel.documents.verification import verify
from perfmodel.tables.verify import COLUMNS, compact

Capsys = pytest.CaptureFixture[str]


def test_every_claim_has_a_line_and_none_fails(capsys: Capsys) -> None:
    assert run(["verify"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    named = [line.split()[1] for line in lines[: len(load_claims())]]
    assert named == list(load_claims())
    assert [lines[-1].split()[0], lines[-1].split()[-1]] == ["all", "164"]


def test_errata_show_both_figures(capsys: Capsys) -> None:
    assert run(["verify", "--kind", "erratum"]) == 0
    out = capsys.readouterr().out
    assert "1024; document: 131072" in out
    assert out.count("; document: ") == 28
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("details", [[], ["--details"]])
def test_nothing_is_wider_than_a_terminal(capsys: Capsys, details: list[str]) -> None:
    assert run(["verify", *details]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_json_has_the_fields_of_every_claim(capsys: Capsys) -> None:
    assert run(["verify", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert list(shown) == ["claims"]
    assert [tuple(row) for row in shown["claims"]] == [COLUMNS] * 164
    by_id = {row["id"]: row for row in shown["claims"]}
    assert by_id["erratum-warp-rows"]["actual"] == {"tx": 16, "ty": 2, "lines": 2}
    assert by_id["erratum-warp-rows"]["document_says"] == {"tx": 32, "ty": 1, "lines": 1}
    assert by_id["softmax-v0-time"]["status"] == "recorded"
    assert by_id["softmax-v0-time"]["relative_error"] == pytest.approx(
        abs(by_id["softmax-v0-time"]["actual"] / 2.34e-3 - 1), rel=1e-9
    )
    assert by_id["hipify-share"]["actual"] is None


def test_one_claim_as_json_is_still_a_list(capsys: Capsys) -> None:
    assert run(["verify", "amdahl-limit", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["claims"]
    assert row["status"] == "pass"
    assert row["relative_error"] <= row["tolerance"] == 1e-12


def test_csv_has_a_row_a_claim(capsys: Capsys) -> None:
    assert run(["verify", "--document", "003", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == sum(claim.document == "003" for claim in load_claims().values())
    assert json.loads(rows[5]["actual"]) == {"steps": 32, "barriers": 64}


def test_filters_go_together(capsys: Capsys) -> None:
    assert run(["verify", "--document", "002", "--kind", "measured", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["claims"]
    assert rows
    assert {(row["document"], row["kind"]) for row in rows} == {("002", "measured")}
    assert run(["verify", "--status", "recorded", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["claims"]
    assert {row["kind"] for row in rows} == {"measured", "disputed"}


def test_a_status_that_no_claim_has_is_no_error(capsys: Capsys) -> None:
    assert run(["verify", "--status", "fail"]) == 0
    assert capsys.readouterr().out.startswith("none\n")
    assert run(["verify", "--status", "fail", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"claims": []}
    assert run(["verify", "--status", "fail", "--csv"]) == 0
    assert capsys.readouterr().out == ",".join(COLUMNS) + "\n"


def test_details_tell_the_claim_and_both_figures(capsys: Capsys) -> None:
    assert run(["verify", "erratum-tiled-n-fold", "--details"]) == 0
    out = capsys.readouterr().out
    for text in ("erratum-tiled-n-fold: pass", "document 003, section 5, 6", "512", "16 x"):
        assert text in out


def test_a_claim_named_twice_is_shown_once(capsys: Capsys) -> None:
    assert run(["verify", "gemm-threads", "gemm-threads", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["claims"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gemm-thread"], "did you mean gemm-threads?"),
        (["gemm-thread", "--kind", "advice"], "did you mean gemm-threads?"),
        (["--kind", "errata"], "did you mean erratum?"),
        (["--document", "001"], "--document is '001'"),
        (["--status", "passed"], "did you mean pass?"),
        (["--json", "--csv"], "--json and --csv"),
        (["--json", "--csv", "--status", "fail"], "--json and --csv"),
    ],
)
def test_a_wrong_use_is_one_line_and_exit_code_2(
    capsys: Capsys, arguments: list[str], message: str
) -> None:
    assert run(["verify", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert not captured.out


@pytest.fixture
def one_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    claims = dict(load_claims())
    claims["gemm-threads"] = replace(claims["gemm-threads"], expected=16385)
    monkeypatch.setattr(verification, "load_claims", lambda: claims)


@pytest.mark.usefixtures("one_that_fails")
def test_a_failed_claim_is_exit_code_1(capsys: Capsys) -> None:
    assert run(["verify", "gemm-threads"]) == 1
    assert "fail  gemm-threads  it is 16384: expected 16385" in capsys.readouterr().out
    assert run(["verify", "--document", "000"]) == 1
    assert run(["verify", "--document", "000", "--status", "pass", "--json"]) == 1
    assert run(["verify", "--document", "003"]) == 0


def test_a_figure_with_a_tolerance_is_shown_beside_the_expected_one(capsys: Capsys) -> None:
    assert run(["verify", "softmax-speedup-arithmetic"]) == 0
    assert "1.58108 3.77419, expected 1.58 3.77 x" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("value", "text"),
    [(5, "5"), (0.25, "0.25"), ([[1, 2], [3, 4]], "(1 2) (3 4)"), ({"a": [1, 2]}, "a 1 2")],
)
def test_compact(value: Any, text: str) -> None:
    assert compact(value) == text


def test_the_results_are_those_of_the_api(capsys: Capsys) -> None:
    assert run(["verify", "--document", "004", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["claims"]
    results = verify(name for name, claim in load_claims().items() if claim.document == "004")
    assert [row["actual"] for row in shown] == [result.to_dict()["actual"] for result in results]


def test_record_is_for_a_checkout(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from perfmodel.documents import verification

    monkeypatch.setattr(verification, "PREDICTIONS", tmp_path / "a" / "b" / "predictions.yaml")
    assert run(["verify", "--record"]) == 2
    assert "is for a checkout" in capsys.readouterr().err


def test_record_writes_what_is_committed(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from perfmodel.documents import verification

    (tmp_path / "pyproject.toml").touch()
    file = tmp_path / "perfmodel" / "documents" / "predictions.yaml"
    file.parent.mkdir(parents=True)
    committed = verification.PREDICTIONS.read_text("utf-8")
    monkeypatch.setattr(verification, "PREDICTIONS", file)
    assert run(["verify", "--record"]) == 0
    assert "predictions written to predictions.yaml" in capsys.readouterr().out
    assert file.read_text("utf-8") == committed
    verification.committed_predictions.cache_clear()
