"""Thousands of configurations in one call equal as many single predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from perfmodel import load_device
from perfmodel.errors import UsageError
from perfmodel.kernels.loading import load_description
from perfmodel.kernels.parameters import possible
from perfmodel.scheduler.prediction import predict_times

GEMM = load_description("gemm")
S5000 = load_device("s5000")
CONFIGURATIONS = 10_000


def gemm_configurations(count: int) -> dict[str, Any]:
    """Tile configurations that keep the constraints of the rung, drawn with a fixed seed."""
    random = np.random.default_rng(20)
    drawn = 8 * count
    choices = {
        "bm": [32, 64, 96, 128, 192, 256],
        "bn": [32, 64, 96, 128, 192, 256],
        "bk": [4, 8, 16, 32],
        "tm": [4, 8, 16],
        "tn": [4, 8, 16],
        "m": [3072, 6144, 12288],
        "n": [6144, 12288],
        "k": [4096, 8192],
    }
    configurations = {name: random.choice(values, drawn) for name, values in choices.items()}
    threads = (configurations["bm"] // configurations["tm"]) * (
        configurations["bn"] // configurations["tn"]
    )
    kept = possible(GEMM.rungs["register_tile"], configurations, drawn)
    kept &= (threads >= 32) & (threads <= 1024)
    found = {name: values[kept][:count] for name, values in configurations.items()}
    assert len(found["bm"]) == count
    return found


def test_ten_thousand_tilings_in_one_call() -> None:
    tilings = gemm_configurations(CONFIGURATIONS)
    batch = predict_times(GEMM, S5000, rung="register_tile", parameters=tilings)
    assert batch.time_s.shape == (CONFIGURATIONS,)
    assert len(np.unique(batch.time_s)) > 200
    for place in range(0, CONFIGURATIONS, 200):
        own = {name: int(values[place]) for name, values in tilings.items()}
        alone = predict_times(GEMM, S5000, rung="register_tile", parameters=own)
        assert float(batch.time_s[place]) == pytest.approx(float(alone.time_s), rel=1e-9)
        ours, theirs = batch.launches[0], alone.launches[0]
        for name, bound in theirs.bounds.items():
            value = np.broadcast_to(ours.bounds[name], (CONFIGURATIONS,))[place]
            assert float(value) == pytest.approx(float(bound), rel=1e-9, abs=1e-18), name


def test_what_does_not_fit_takes_for_ever() -> None:
    batch = predict_times(
        GEMM,
        S5000,
        rung="register_tile",
        parameters={"bk": np.array([8, 256]), "bm": 128, "bn": 128},
    )
    assert np.isfinite(batch.time_s).tolist() == [True, False]


def test_arrays_of_different_lengths_are_refused() -> None:
    with pytest.raises(UsageError, match="different lengths"):
        predict_times(
            GEMM,
            S5000,
            rung="naive",
            parameters={"m": np.array([64, 128]), "n": np.array([64] * 3)},
        )
