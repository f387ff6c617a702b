"""Predictions: what they hold, and what they refuse."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

import pytest

from perfmodel import device_names, ladder, load_device, predict, predict_times
from perfmodel.analyses.occupancy import occupancy
from perfmodel.errors import DataError, UsageError
from perfmodel.kernels.loading import kernel_names, load_description
from perfmodel.scheduler.prediction import limiters

if TYPE_CHECKING:
    from pathlib import Path

    from perfmodel.results.prediction import Prediction

S5000 = load_device("s5000")


def test_vector_addition_by_hand() -> None:
    """12 bytes an element at the achievable bandwidth, less what stays in the L2 of 60 MiB."""
    result = predict("vecadd:vector_loads", S5000)
    read, written = 8 * 16777216, 4 * 16777216
    assert result.level("compulsory").bytes == read + written
    moved = read + written * (1 - 60 * 2**20 / (read + written))
    assert result.level("dram").bytes == pytest.approx(moved, rel=1e-12)
    assert result.bound("dram").time_s == pytest.approx(moved / 1.332e12, rel=1e-12)
    assert result.limiter == "dram"
    assert result.counts["global_requests"] == 3 * 16777216 / 4 / 32
    low, high = result.time_range_s
    assert low <= result.time_s <= high


def test_the_unknowns_are_ordered_by_what_they_move() -> None:
    result = predict("softmax:thread_per_row", load_device("dcu"))
    widths = [each.width_s for each in result.unknowns]
    assert widths == sorted(widths, reverse=True)
    assert all(width > 0 for width in widths)
    assert {"line_rate", "l2_bandwidth"} <= {each.name for each in result.unknowns}


def test_a_device_without_ranges_gives_a_time_without_one() -> None:
    exact = S5000.what_if(
        **{
            name: f"{value.value!r}" if value.unit == "" else str(value).split(" (")[0]
            for name, value in S5000.quantities().items()
            if not value.is_exact
        }
    )
    result = predict("vecadd:naive", exact)
    assert result.time_range_s[0] == pytest.approx(result.time_s, rel=1e-3)
    assert result.time_range_s[1] == pytest.approx(result.time_s, rel=1e-3)


@pytest.mark.parametrize("device", device_names())
@pytest.mark.parametrize("kernel", kernel_names())
def test_resident_blocks_are_those_of_the_occupancy_calculator(kernel: str, device: str) -> None:
    chosen = load_device(device)
    for rung in load_description(kernel).rungs:
        for launch in predict(kernel, chosen, rung=rung, ranges=False).launches:
            x, y, z = launch.block
            alone = occupancy(
                chosen,
                threads_per_block=x * y * z,
                registers_per_thread=min(
                    launch.registers_per_thread, chosen.max_registers_per_thread.whole
                ),
                shared_bytes_per_block=launch.shared_bytes_per_block,
            )
            assert launch.blocks_per_mp == alone.blocks_per_mp, rung


def test_a_warm_l2_saves_what_fits() -> None:
    parameters = {"n": 1 << 18}  # 3 MiB
    cold, warm = (
        predict("vecadd:naive", S5000, parameters=parameters, caches=caches)
        for caches in ("cold", "warm")
    )
    assert warm.level("dram").bytes < cold.level("dram").bytes
    assert warm.time_s < cold.time_s


def test_spills_are_traffic_and_a_warning() -> None:
    few = predict("gemm:register_tile", S5000, ranges=False)
    many = predict(
        "gemm:register_tile",
        S5000,
        parameters={"bm": 256, "bn": 256, "tm": 16, "tn": 16},
        ranges=False,
    )
    assert not [each for each in few.warnings if "spills" in each]
    assert [each for each in many.warnings if "spills to local memory" in each]


@pytest.mark.parametrize(
    ("kernel", "parameters", "message"),
    [
        ("gemm:register_tile", {"bk": 256}, r"cannot run a single block: .* B of shared memory"),
        ("gemm:naive", {"block_x": 64, "block_y": 64}, "block of launch gemm has 4096 threads"),
        ("gemm:register_tile", {"m": 100}, "tile must divide"),
    ],
)
def test_what_the_device_cannot_give_is_named(
    kernel: str, parameters: dict[str, int], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        predict(kernel, S5000, parameters=parameters)


def test_a_parameter_that_is_none() -> None:
    with pytest.raises(UsageError, match="did you mean t"):
        predict("gemm:tiled", S5000, parameters={"tyle": 16})
    with pytest.raises(UsageError, match="no parameter 'nope'"):
        ladder("gemm", S5000, parameters={"nope": 1})


def test_limiters_name_latency_where_nothing_is_busy() -> None:
    assert limiters({"dram": 0.59, "latency": 0.1}, 1.0) == ("latency", "dram")
    assert limiters({"dram": 0.61, "latency": 0.1}, 1.0) == ("dram", "latency")


def test_everything_goes_to_json_and_back() -> None:
    result = predict("reduce:single_kernel", S5000)
    text = json.dumps(result.to_dict(), allow_nan=False)
    assert json.loads(text)["limiter"] == result.limiter


def test_frames_and_html_show_the_same() -> None:
    result: Prediction = predict("gemv:warp_per_row", S5000)
    frame = result.to_frame()
    assert list(frame.columns) == ["bound", "time_s", "utilization"]
    assert frame["time_s"].iloc[0] == result.bounds[0].time_s
    assert "gemv:warp_per_row on s5000" in result._repr_html_()
    steps = ladder("gemv", S5000)
    assert steps.to_frame()["rung"].tolist() == [each.rung for each in steps.steps]
    assert steps._repr_html_().count("<tr>") == len(steps.steps) + 1
    partial = predict("softmax:packed_as_printed", S5000)
    assert escape(partial.missing_work) in partial._repr_html_()


OWN = """\
format: 1
kernel: scale
title: y = a x
source: made up for a test
parameters: {n: {default: 1048576, about: elements}}
pipe: fp32
flop: n
compulsory: 8LL * n
arrays:
  x: {type: fp32, extent: n}
  y: {type: fp32, extent: n}
rungs:
  - name: plain
    change: One element a thread.
    source: made up for a test
    launches:
      - block: [256]
        grid: ["ceil_div(n, 256)"]
        registers: 16
        body:
          - let: {i: "blockIdx.x * blockDim.x + threadIdx.x"}
          - if: "i < n"
            then:
              - {load: v, from: x, index: i}
              - {op: mul.fp32, to: w, uses: [v]}
              - {store: w, to: y, index: i}
"""


def test_a_file_of_ones_own_works_as_a_shipped_one_does(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(OWN)
    result = predict(f"{file}:plain", S5000, parameters={"n": 1000003})
    assert (result.kernel, result.rung) == ("scale", "plain")
    assert result.counts["bytes_requested"] == 8 * 1000003
    assert len(ladder(str(file), S5000).steps) == 1


def test_useful_work_below_none_is_refused(tmp_path: Path) -> None:
    from perfmodel.kernels.starting_file import starting_file

    file = tmp_path / "mine.yaml"
    file.write_text(starting_file("mine").replace("flop: 1LL", "flop: -1LL"), "utf-8")
    with pytest.raises(DataError, match=r"flop is -.*: at least 0 is wanted"):
        predict(f"{file}:vector_loads", load_device("s5000"))


def test_a_rung_that_leaves_work_out_is_named() -> None:
    """A lane reads one pair of a row of 512, so a warp of 32 lanes covers an eighth of it."""
    partial = predict("softmax:packed_as_printed", S5000, ranges=False)
    assert partial.level("l2").bytes * 8 == partial.level("compulsory").bytes
    assert partial.level("dram").bytes * 2 == partial.level("l2").bytes  # what it writes stays
    assert partial.missing_work == partial.warnings[0]
    assert "does not do the whole work: moves 16 MiB of 128 MiB" in partial.missing_work
    warm = predict("softmax:packed_as_printed", S5000, caches="warm", ranges=False)
    assert warm.missing_work == ""


@pytest.mark.parametrize("device", ["s5000", "dcu", "h200"])
def test_every_step_of_the_shipped_ladders_does_the_whole_work(device: str) -> None:
    chosen = load_device(device)
    partial = [
        f"{kernel}:{rung}"
        for kernel in kernel_names()
        for rung in load_description(kernel).rungs
        if predict(kernel, chosen, rung=rung, ranges=False).missing_work
    ]
    assert partial == ["softmax:packed_as_printed"]


def test_only_assumed_values_that_matter_are_named() -> None:
    """Eleven levels of shuffles wait for the shuffle, and never for a word of shared memory."""
    shuffled = " ".join(predict("reduce:warp_shuffle", S5000, ranges=False).warnings)
    assert "latencies.shuffle" in shuffled
    assert "shared_latency" not in shuffled
    few = {"n": 1 << 14}
    tree = " ".join(predict("reduce:sequential_tree", S5000, parameters=few, ranges=False).warnings)
    assert "shuffle" not in tree


@pytest.mark.parametrize("rung", ["gemm:naive", "gemv:thread_per_row", "softmax:vector_loads"])
def test_what_is_named_moves_the_time(rung: str) -> None:
    now = predict(rung, S5000, ranges=False)
    assert now.warnings
    for warning in now.warnings:
        name = warning.removeprefix("the limiter rests on ").split(" = ")[0]
        stated = S5000.quantities()[name]
        moved = [
            float(predict_times(rung, S5000, fields={name: stated.value * factor}).time_s)
            for factor in (0.9, 1.1)
        ]
        assert max(abs(time / now.time_s - 1) for time in moved) > 0.01, name


def test_the_limiter_of_a_warning_is_that_of_the_prediction() -> None:
    """Of a launch of one block the start is what takes longest, and no latency is to blame."""
    small = predict("vecadd:naive", load_device("dcu"), parameters={"n": 64}, ranges=False)
    assert small.limiter == "kernel_launch"
    assert [each.split(" = ")[0] for each in small.warnings] == [
        "the limiter rests on kernel_launch"
    ]
