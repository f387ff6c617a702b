"""Comparisons, what-ifs and sensitivities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from perfmodel import load_device
from perfmodel.errors import DataError, UsageError
from perfmodel.scheduler.prediction import predict
from perfmodel.scheduler.whatif import compare, elasticities, parameter_effects, what_if

if TYPE_CHECKING:
    from perfmodel.results.prediction import Attempt, Prediction

S5000 = load_device("s5000")


def predicted(attempt: Attempt) -> Prediction:
    assert attempt.prediction is not None, attempt.cannot
    return attempt.prediction


def test_twice_the_bandwidth_and_what_takes_over() -> None:
    found = {each.rung: each for each in what_if("gemv", S5000, {"dram_bandwidth": "3.2 TB/s"})}
    assert predicted(found["vector_loads"].before).limiter == "dram"
    assert predicted(found["vector_loads"].after).limiter != "dram"
    assert found["thread_per_row"].speedup == pytest.approx(1, rel=1e-3)
    for each in found.values():
        before, after = predicted(each.before), predicted(each.after)
        assert each.speedup == before.time_s / after.time_s >= 1


def test_a_rung_that_no_longer_fits_is_named_and_the_others_are_shown() -> None:
    found = {
        each.rung: each for each in what_if("attention", S5000, {"shared_per_block": "40 KiB"})
    }
    assert found["three_kernels"].speedup == 1
    assert found["fused"].after.prediction is None
    assert "49152 B of shared memory a block" in found["fused"].after.cannot
    assert math.isnan(found["fused"].speedup)


def test_devices_side_by_side_are_single_predictions() -> None:
    devices = [S5000, load_device("dcu")]
    found = compare("softmax", devices, parameters={"n": 1024}, caches="warm")
    assert len(found) == 2 * 5
    for each in found:
        device = next(device for device in devices if device.device == each.device)
        alone = predict(
            f"softmax:{each.rung}", device, parameters={"n": 1024}, caches="warm", ranges=False
        )
        assert predicted(each).time_s == alone.time_s


def test_a_device_that_cannot_run_it_is_named() -> None:
    devices = [load_device("dcu"), load_device("h200")]
    dcu, h200 = compare("gemm:register_tile", devices, parameters={"bk": 64})
    assert dcu.prediction is None
    assert "dcu allows 65536" in dcu.cannot
    assert predicted(h200).parameters["bk"] == 64
    with pytest.raises(DataError, match="cannot run a single block"):
        compare("gemm:register_tile", devices[:1], parameters={"bk": 64})


def test_a_parameter_that_no_rung_has() -> None:
    with pytest.raises(UsageError, match="no parameter 'tile_w': did you mean tile_v"):
        compare("gemv", [S5000], parameters={"tile_w": 512})
    with pytest.raises(UsageError, match="no parameter 'mm'"):
        what_if("gemv", S5000, {"clock": "2 GHz"}, parameters={"mm": 1})


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


def test_resources_that_are_counted_are_moved_too() -> None:
    moved = {each.name: each for each in elasticities("reduce:warp_shuffle", S5000)}
    assert (moved["mps"].low, moved["mps"].high) == (50, 62)
    assert moved["mps"].time_at_low_s > moved["mps"].time_at_high_s
    assert "warp_width" not in moved


def test_a_block_beyond_what_the_device_allows_is_not_taken() -> None:
    effects = {each.name: each for each in parameter_effects("vecadd:naive", S5000)}
    assert S5000.max_threads_per_block.whole == 1024
    assert (effects["block"].low, effects["block"].high) == (512, 1024)  # 1024 is the default
