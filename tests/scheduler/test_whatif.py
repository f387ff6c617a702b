"""What-ifs, sensitivities, crossovers and best values."""

from __future__ import annotations

import pytest

from perfmodel import load_device
from perfmodel.errors import UsageError
from perfmodel.scheduler.explanation import explain_prediction
from perfmodel.scheduler.prediction import predict
from perfmodel.scheduler.whatif import (
    best_values,
    crossovers,
    elasticities,
    parameter_effects,
    what_if,
)

S5000 = load_device("s5000")


def test_twice_the_bandwidth_and_what_takes_over() -> None:
    found = {each.rung: each for each in what_if("gemv", S5000, {"dram_bandwidth": "3.2 TB/s"})}
    assert found["vector_loads"].before.limiter == "dram"
    assert found["vector_loads"].after.limiter != "dram"
    assert found["thread_per_row"].speedup == pytest.approx(1, rel=1e-3)
    for each in found.values():
        assert each.speedup == each.before.time_s / each.after.time_s >= 1


def test_a_field_that_is_none() -> None:
    with pytest.raises(UsageError, match="did you mean dram_bandwidth"):
        what_if("gemv", S5000, {"dram_bandwith": "3.2 TB/s"})


def test_a_streaming_kernel_follows_its_bandwidth() -> None:
    first = elasticities("vecadd:vector_loads", S5000)[0]
    now = predict("vecadd:vector_loads", S5000, ranges=False).time_s
    assert first.name == "dram_bandwidth_achievable"
    assert first.time_at_low_s / now == pytest.approx(1 / 0.9, rel=0.05)
    assert first.time_at_high_s / now == pytest.approx(1 / 1.1, rel=0.05)


def test_a_size_is_what_moves_a_kernel_most() -> None:
    first = parameter_effects("vecadd:naive", S5000)[0]
    assert (first.name, first.low, first.high) == ("n", 8388608, 33554432)


def test_a_value_that_breaks_a_constraint_is_not_taken() -> None:
    effects = {each.name: each for each in parameter_effects("gemm:register_tile", S5000)}
    assert effects["tm"].low == 8  # 4 rows a thread would leave half a float4 to load
    assert effects["tm"].high == 16


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


def test_terms_are_amounts_over_rates() -> None:
    shown = explain_prediction("vecadd:naive", S5000)
    first = shown.terms[0]
    assert (first.name, first.formula) == ("dram", "192 MiB / 1.332 TB/s")
    assert first.time_s == pytest.approx(192 * 2**20 / 1.332e12, rel=1e-12)
    assert first.source == S5000.dram_bandwidth_achievable.source
    names = [term.name for term in shown.terms]
    assert {"latency", "kernel_launch", "block_launch", "issue", "load_store"} <= set(names)
    assert "blend of latency" in shown.combination[0]
