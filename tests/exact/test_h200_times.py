"""Predicted times beside those of our own CUDA kernels on an H200; nothing is fitted to them."""

from __future__ import annotations

import csv
import math
from functools import lru_cache
from pathlib import Path
from statistics import median

import pytest

from perfmodel import load_device
from perfmodel.kernels.loading import load_description
from perfmodel.kernels.parameters import rung_parameters
from perfmodel.scheduler.evaluation import evaluate
from perfmodel.scheduler.fields import Fields

TIMES = Path(__file__).parents[2] / "validation" / "cuda" / "h200_times.csv"
ROWS = list(csv.DictReader(TIMES.read_text("utf-8").splitlines()))


@lru_cache(maxsize=1)
def ratios() -> tuple[tuple[float, float], ...]:
    """The measured time [s] of each case with a cold L2, and predicted by measured."""
    h200 = Fields(load_device("h200"))
    found = []
    for row in ROWS:
        rung = load_description(row["kernel"]).rungs[row["rung"]]
        pairs = (each.split("=") for each in row["parameters"].split(";"))
        values = rung_parameters(rung, {name: int(value) for name, value in pairs}, warp_width=32)
        measured = float(row["cold_us"]) * 1e-6
        found.append((measured, float(evaluate(rung, values, h200).time_s) / measured))
    return tuple(found)


def apart(least_s: float) -> list[float]:
    """Factors by which predictions lie away, the least first, of cases that take so long."""
    return sorted(
        math.exp(abs(math.log(ratio))) for measured, ratio in ratios() if measured >= least_s
    )


def test_every_case_computed_what_it_should() -> None:
    assert len(ROWS) == 119
    for row in ROWS:
        assert float(row["error"]) <= (2e-3 if row["kernel"] == "softmax" else 1e-5), row
        assert float(row["cold_p10_us"]) <= float(row["cold_us"]) <= float(row["cold_p90_us"])


def test_how_far_predictions_lie_away_is_what_the_readme_says() -> None:
    long, every = apart(100e-6), apart(0)
    assert (len(long), len(every)) == (50, 119)
    assert median(long) == pytest.approx(1.12, rel=0.005)
    assert sum(factor <= 1.25 for factor in long) == 37
    assert median(every) == pytest.approx(1.26, rel=0.005)
    assert every[-1] == pytest.approx(4.1, rel=0.01)
