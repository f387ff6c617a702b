"""`perfmodel ladder --measured`: predictions beside the times of a document."""

from __future__ import annotations

import json

import pytest

from perfmodel.cli import run


def test_it_shows_both_times_and_what_would_explain_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["ladder", "softmax", "-d", "dcu", "--measured"]) == 0
    shown = capsys.readouterr().out
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert all(time in shown for time in ("2.34 ms", "1.48 ms", "980 us", "620 us"))
    assert "l2_bandwidth" in shown


def test_the_fitted_rung_takes_its_measured_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ladder", "softmax", "-d", "dcu", "--measured", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    first = found["rungs"][0]
    assert first["fitted_s"] == pytest.approx(first["measured_s"], rel=1e-6)
    assert first["predicted_s"] != pytest.approx(first["measured_s"], rel=1e-3)


@pytest.mark.parametrize(
    "words",
    [["gemm", "-d", "dcu"], ["softmax", "-d", "s5000"], ["softmax", "-d", "dcu", "-p", "m=8"]],
)
def test_no_other_ladder_was_measured(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ladder", *words, "--measured"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
