"""Crossovers and best values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from perfmodel import load_device
from perfmodel.errors import UsageError
from perfmodel.scheduler.crossover import best_values, crossovers, doublings
from perfmodel.scheduler.prediction import predict, predict_times

S5000 = load_device("s5000")


def test_one_block_is_faster_only_for_short_vectors() -> None:
    found = crossovers(
        "reduce:one_block",
        "reduce:vector_load",
        S5000,
        over="n",
        low=1 << 12,
        high=1 << 26,
    )
    (crossing,) = found.crossings
    assert crossing.faster_below == "reduce:one_block"
    for n, winner in (
        (crossing.last_below, "reduce:one_block"),
        (crossing.first_above, "reduce:vector_load"),
    ):
        times = {
            name: predict(name, S5000, parameters={"n": n}, ranges=False).time_s
            for name in ("reduce:one_block", "reduce:vector_load")
        }
        assert min(times, key=lambda name: times[name]) == winner


def test_no_crossing_says_who_wins() -> None:
    found = crossovers(
        "transpose:shared_tile", "transpose:padded_tile", S5000, over="m", low=1024, high=8192
    )
    assert found.crossings == ()
    assert found.faster_at_low == found.faster_at_high == "transpose:padded_tile"


def test_a_parameter_that_only_one_has() -> None:
    with pytest.raises(UsageError, match="both rungs must have it"):
        crossovers("gemm:naive", "gemm:tiled", S5000, over="tile", low=4, high=64)
    with pytest.raises(UsageError, match="upwards"):
        crossovers("gemm:naive", "gemm:tiled", S5000, over="m", low=64, high=64)


def test_the_best_tile_is_the_fastest_of_all() -> None:
    tiles = [512, 1024, 2048]
    best = best_values("gemv:cached_vector", S5000, {"tile_v": tiles})
    times = {
        tile: predict("gemv:cached_vector", S5000, parameters={"tile_v": tile}, ranges=False).time_s
        for tile in tiles
    }
    assert best.values == {"tile_v": min(times, key=lambda tile: times[tile])}
    assert best.time_s == pytest.approx(min(times.values()), rel=1e-9)


def test_what_no_device_can_run() -> None:
    with pytest.raises(UsageError, match="cannot run any"):
        best_values("attention:fused", load_device("dcu"), {"br": [512], "bc": [512]})
    with pytest.raises(UsageError, match="no combination"):
        best_values("gemv:cached_vector", S5000, {"tile_v": [1000]})


@pytest.mark.parametrize(("loads", "step"), [(4, 4096), (5, 10240), (3, 6144)])
def test_values_are_those_that_both_constraints_allow(loads: int, step: int) -> None:
    found = crossovers(
        "reduce:one_block",
        "reduce:vector_load",
        S5000,
        over="n",
        low=256,
        high=1 << 26,
        parameters={"loads": loads},
    )
    (crossing,) = found.crossings
    assert math.lcm(4 * 512, 4 * 256 * loads) == step
    assert crossing.first_above - crossing.last_below == step
    assert crossing.last_below % step == found.low % step == found.high % step == 0


def test_every_crossing_is_where_the_faster_one_changes() -> None:
    """Held against all values one by one."""
    columns = np.arange(1, 161)
    rungs = ("gemv:batch_gemv", "gemv:thin_gemm")
    first, second = (predict_times(rung, S5000, parameters={"n": columns}).time_s for rung in rungs)
    changes = np.flatnonzero((first < second)[1:] != (first < second)[:-1])
    found = crossovers(*rungs, S5000, over="n", low=1, high=160)
    assert [each.last_below for each in found.crossings] == (changes + 1).tolist()
    assert found.crossings[0].faster_below == "gemv:batch_gemv"


def test_who_cannot_run_is_slower() -> None:
    found = crossovers(
        "attention:fused", "attention:pipelined", S5000, over="bc", low=16, high=1024
    )
    (crossing,) = found.crossings
    assert (crossing.last_below, crossing.first_above) == (128, 256)
    assert crossing.faster_above == "attention:fused"
    assert crossing.because_it_runs
    # a second tile of K and of V of 256 x 128 halves each does not fit
    assert S5000.shared_per_block.value < 2 * (128 + 4 * 256) * 128
    assert found.high == 256  # neither runs with 512


def test_equal_times_are_no_crossing() -> None:
    found = crossovers("vecadd:naive", "vecadd:naive", S5000, over="n", low=1024, high=1 << 20)
    assert (found.faster_at_low, found.faster_at_high, found.crossings) == ("", "", ())


@pytest.mark.parametrize(
    ("over", "given", "said"),
    [
        ("type", {}, "is a word"),
        ("m", {"m": 64}, "leave it out"),
        ("m", {"kk": 64}, "no parameter 'kk'"),
    ],
)
def test_what_cannot_grow(over: str, given: dict[str, int], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        crossovers("gemm:naive", "gemm:tiled", S5000, over=over, low=16, high=64, parameters=given)


def test_combinations_that_do_not_fit_are_infinite_and_say_why() -> None:
    best = best_values("attention:fused", S5000, {"br": [64, 128, 1024], "bc": [32, 48, 256]})
    assert best.tried == 9
    assert len(best.trials) == 6  # 48 keys do not divide 4096
    by_values = {tuple(each.values.values()): each for each in best.trials}
    # a block of 2 x 1024 threads is beyond the device, its tiles are beyond shared memory
    assert S5000.shared_per_block.value < (1024 + 2 * 32) * 128 * 2
    unfit = by_values[1024, 32]
    assert math.isinf(unfit.time_s)
    assert unfit.cannot == "threads, registers, shared_memory"
    for (br, bc), each in by_values.items():
        if not each.cannot:
            alone = predict("attention:fused", S5000, parameters={"br": br, "bc": bc}, ranges=False)
            assert each.time_s == pytest.approx(alone.time_s, rel=1e-9)
            assert each.limiter == alone.limiter
            assert each.occupancy == pytest.approx(alone.occupancy)
    assert best.time_s == min(each.time_s for each in best.trials)
    assert best.possible == sum(math.isfinite(each.time_s) for each in best.trials)


def test_a_block_beyond_the_device_is_never_best() -> None:
    best = best_values("gemm:naive", S5000, {"block_x": [16, 32], "block_y": [16, 32, 64]})
    assert [tuple(each.values.values()) for each in best.trials if each.cannot] == [(32, 64)]


def test_doublings_run_around_the_default() -> None:
    assert doublings("gemv:cached_vector", "tile_v") == (128, 256, 512, 1024, 2048, 4096, 8192)
    assert doublings("gemv:cached_vector", "tile_v", low=300, high=1024) == (512, 1024)
    assert doublings("attention:fused", "causal") == (0, 1)
    with pytest.raises(UsageError, match="no doubling of 1024"):
        doublings("gemv:cached_vector", "tile_v", low=1500, high=1600)
    with pytest.raises(UsageError, match="did you mean tile_v"):
        doublings("gemv:cached_vector", "tile_w")
    with pytest.raises(UsageError, match="is a word"):
        doublings("gemv:cached_vector", "type")
