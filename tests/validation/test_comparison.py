"""What is published of the errors, recomputed from the measurements."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import pytest

import perfmodel
from perfmodel.errors import DataError, UsageError
from perfmodel.plots.validation import draw_validation
from perfmodel.tables.validation import cases_table, validation_table
from perfmodel.validation import committed
from perfmodel.validation.measurements import measured_devices, measurements

if TYPE_CHECKING:
    from pathlib import Path

    from perfmodel.results.validation import Validation


@pytest.fixture(scope="module")
def h200() -> Validation:
    return perfmodel.validate("h200")


@pytest.mark.parametrize("device", sorted(set(measured_devices()) - {"h200"}))
def test_errors_are_those_committed(device: str) -> None:
    found = perfmodel.validate(device)
    assert committed.drifted(found) == []
    assert max(map(len, validation_table(found).splitlines())) <= 80


def test_errors_of_the_h200_are_those_committed(h200: Validation) -> None:
    assert committed.drifted(h200) == []
    assert max(map(len, validation_table(h200).splitlines())) <= 80
    assert max(map(len, cases_table(h200.cases).splitlines())) <= 80


def test_every_case_was_checked_and_counted() -> None:
    cases = measurements("h200")
    assert len(cases) == len({(case.name, str(case.parameters)) for case in cases})
    assert all(case.counters for case in cases)
    assert len({case.name for case in cases}) >= 40  # rungs


def test_the_aims_that_are_met_stay_met(h200: Validation) -> None:
    every, held = h200.group("all"), h200.group("held-out half")
    assert every.median <= 0.10
    assert every.p90 <= 0.25
    assert held.median <= 0.10
    assert every.medians["dram"] <= 0.10
    assert every.medians["l2"] <= 0.10
    assert every.medians["l1"] <= 0.10
    assert every.roofline_median > 5 * every.median
    assert every.ordered >= 0.95 * every.pairs


def test_groups_hold_what_they_say(h200: Validation) -> None:
    frame = h200.to_frame()
    assert len(frame) == h200.group("all").cases == len(h200.cases)
    halves = h200.group("open half").cases + h200.group("held-out half").cases
    assert halves == len(frame)
    errors = [abs(case.ratio - 1) for case in h200.cases if case.operation == "gemm"]
    assert h200.group("gemm").median == pytest.approx(median(errors))
    assert set(frame.columns) >= {"measured_us", "predicted_us", "roofline_us", "dram_ratio"}
    assert "h200" in h200._repr_html_()


def test_the_roofline_is_work_over_peak_or_bytes_over_bandwidth(h200: Validation) -> None:
    device = perfmodel.load_device("h200")
    case = next(each for each in h200.cases if each.name == "vecadd:naive")
    moved = 12 * int(case.parameters["n"])
    assert case.roofline_s == pytest.approx(moved / device.dram_bandwidth.value)
    case = next(
        each for each in h200.cases if each.name == "gemm:tensor" and each.parameters["m"] == 8192
    )
    assert case.roofline_s == pytest.approx(2 * 8192**3 / device.peaks["tensor_fp16"].value)


def test_a_kernel_that_was_not_measured_is_told_those_that_were() -> None:
    with pytest.raises(UsageError, match="gemm, gemv"):
        perfmodel.validate("h200", kernel="fft")


def test_drift_is_told_number_by_number(
    h200: Validation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "h200.json"
    monkeypatch.setattr(committed, "errors_file", lambda device: path)
    with pytest.raises(DataError, match="not there"):
        committed.drifted(h200)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match=r"h200\.json"):
        committed.drifted(h200)
    path.write_text('{"all": {"median": 0.5}}', encoding="utf-8")
    assert any(line.startswith("all: median was 0.5, is") for line in committed.drifted(h200))


def test_the_picture_has_both_halves(h200: Validation) -> None:
    figure = draw_validation(h200)
    scatter, spread = figure.axes
    assert "[us]" in scatter.get_xlabel()
    assert "error" in spread.get_xlabel()
    legend = scatter.get_legend()
    assert legend is not None
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels[:2] == ["vecadd", "transpose"]
