"""Files of measurements, right and wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from perfmodel.errors import DataError, UsageError
from perfmodel.validation import measurements as module
from perfmodel.validation.measurements import measured_devices, measurements

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TIMES = "kernel,rung,parameters,cold_us\nvecadd,naive,n=1024;type=fp32,2.5\n"
COUNTERS = "kernel,rung,parameters,instructions\nvecadd,naive,n=1024;type=fp32,7\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "cuda").mkdir()
    (tmp_path / "public").mkdir()
    monkeypatch.setattr(module, "folder", lambda: tmp_path)
    measurements.cache_clear()
    yield tmp_path
    measurements.cache_clear()


def test_times_and_counters_meet(place: Path) -> None:
    (place / "cuda" / "h200_times.csv").write_text(TIMES, encoding="utf-8")
    (place / "cuda" / "h200_counters.csv").write_text(COUNTERS, encoding="utf-8")
    (case,) = measurements("h200")
    assert (case.name, case.counters) == ("vecadd:naive", {"instructions": 7})
    assert case.time_s == pytest.approx(2.5e-6, rel=1e-12)
    assert case.parameters == {"n": 1024, "type": "fp32"}
    assert case.ours
    assert not case.held_out
    assert measured_devices() == ("h200",)


def test_a_size_that_is_no_power_of_two_is_held_out(place: Path) -> None:
    rows = TIMES.replace("1024", "1025")
    (place / "cuda" / "h200_times.csv").write_text(rows, encoding="utf-8")
    assert measurements("h200")[0].held_out


def test_a_device_without_measurements_is_told_those_that_have_some(place: Path) -> None:
    (place / "public" / "s5000.csv").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match=r"h100 has no measurements: .*s5000"):
        measurements("h100")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("2.5", "fast", "h200_times.csv:2: cold_us is 'fast': a number is wanted"),
        ("2.5", "-1", "h200_times.csv:2: cold_us is '-1': a time above 0 is wanted"),
        ("2.5", "nan", "a time above 0 is wanted"),
        ("2.5", "2.5,3", "h200_times.csv:2: not as many cells as the 4 columns"),
        (",2.5", "", "not as many cells"),
        ("n=1024;", "n;", "h200_times.csv:2: parameters are 'n;type=fp32': n=1024"),
        ("cold_us", "time", "h200_times.csv:1: no column cold_us"),
    ],
)
def test_a_wrong_row_is_named(place: Path, old: str, new: str, said: str) -> None:
    (place / "cuda" / "h200_times.csv").write_text(TIMES.replace(old, new), encoding="utf-8")
    with pytest.raises(DataError) as raised:
        measurements("h200")
    assert said in str(raised.value)


def test_a_library_is_yes_or_no(place: Path) -> None:
    text = (
        "operation,kernel,rung,parameters,time_us,waited,library\n"
        "copy,vecadd,naive,n=1024,2.5,no,perhaps\n"
    )
    (place / "public" / "s5000.csv").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"s5000.csv:2: library is 'perhaps': yes or no"):
        measurements("s5000")
