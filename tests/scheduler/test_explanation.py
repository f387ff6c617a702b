"""Predictions taken apart: the terms are what was counted, and they give the time."""

from __future__ import annotations

from math import ceil, prod

import pytest

from perfmodel import device_names, load_device
from perfmodel.errors import DataError
from perfmodel.kernels.loading import kernel_names, load_description
from perfmodel.scheduler.explanation import Explanation, Part, Term, explain_prediction
from perfmodel.tables.explanation import explanation_table

S5000 = load_device("s5000")


def term(shown: Explanation, name: str) -> Term:
    return next(each for launch in shown.launches for each in launch.terms if each.name == name)


def put_in(shown: Explanation, part: Part) -> float:
    values = {each.name: each.value for each in shown.quantities}
    rate = prod(values[name] for name in part.divided_by)
    factor = prod(values[name] for name in part.times)
    return part.amount * part.share[0] / part.share[1] * factor / rate


@pytest.mark.parametrize("name", device_names())
@pytest.mark.parametrize("kernel", kernel_names())
def test_the_terms_give_the_time_of_every_rung(kernel: str, name: str) -> None:
    device = load_device(name)
    for rung in load_description(kernel).rungs:
        shown = explain_prediction(f"{kernel}:{rung}", device)
        whole = shown.launch_time_s + sum(each.combination.time_s for each in shown.launches)
        assert whole == pytest.approx(shown.prediction.time_s, rel=1e-9)
        for launch in shown.launches:
            for each in launch.terms:
                assert sum(part.time_s for part in each.parts) == pytest.approx(each.time_s)
                for part in each.parts:
                    assert part.amount > 0
                    assert put_in(shown, part) == pytest.approx(part.time_s)
        assert max(map(len, explanation_table(shown).splitlines())) <= 80


def test_amounts_are_the_counts_of_the_prediction() -> None:
    shown = explain_prediction("gemm:tiled", S5000)
    counts = shown.prediction.counts
    amounts = {
        name: term(shown, name).parts[0].amount for name in ("dram", "l2", "l1", "shared", "fp32")
    }
    assert amounts["dram"] == pytest.approx(counts["dram_bytes"])
    assert amounts["l2"] == pytest.approx(counts["l2_bytes"])
    assert amounts["l1"] == pytest.approx(counts["l1_bytes"])
    row = S5000.shared_banks.value * S5000.shared_bank_width.value
    assert amounts["shared"] == pytest.approx(counts["shared_passes"] * row)
    assert amounts["fp32"] == pytest.approx(4096**3)  # an FMA is one operation


def test_the_tensor_unit_is_a_term_of_all_flop_at_its_own_clock() -> None:
    h200 = load_device("h200")
    (part,) = term(explain_prediction("gemm:tensor", h200), "tensor").parts
    assert part.amount == pytest.approx(2 * 4096**3)
    assert part.divided_by == ("tensor_flop_per_cycle.fp16", "tensor_clock")


def test_vector_addition_by_hand() -> None:
    shown = explain_prediction("vecadd:naive", S5000)
    first = shown.launches[0].terms[0]
    assert first.name == "dram"
    moved = (128 + 64 * (1 - 60 / 192)) * 2**20  # of what is written the L2 of 60 MiB keeps some
    assert first.parts[0].amount == pytest.approx(moved)
    assert first.time_s == pytest.approx(moved / 1.332e12)
    source = next(each for each in shown.quantities if each.name == "dram_bandwidth_achievable")
    assert source.source == S5000.dram_bandwidth_achievable.source
    (launch,) = shown.launches
    assert launch.most_blocks == ceil(launch.blocks / 56)
    assert launch.rounds == ceil(launch.most_blocks / launch.blocks_per_mp)
    started = term(shown, "block_launch").parts[0]
    assert started.amount == pytest.approx(launch.most_blocks)
    assert min(launch.allowed_blocks.values()) == launch.blocks_per_mp


def test_global_accesses_may_pass_fewer_lanes_than_shared_ones() -> None:
    device = S5000.what_if(address_rate="8 /cycle")
    parts = term(explain_prediction("gemm:tiled", device), "load_store").parts
    assert [part.divided_by[0] for part in parts] == ["address_rate", "lanes.load_store"]
    # of 2 x 4096 / 16 tiles a block, each thread loads one element of both; and it stores one
    assert parts[0].amount == pytest.approx(4096**2 * (2 * 4096 / 16 + 1))


def test_where_blocks_differ_the_tail_is_told() -> None:
    causal = explain_prediction("attention:fused", S5000, parameters={"causal": 1})
    assert causal.launches[0].combination.tail_s > 0
    assert "tail" in explanation_table(causal)
    assert explain_prediction("attention:fused", S5000).launches[0].combination.tail_s == 0


def test_what_cannot_run_cannot_be_taken_apart() -> None:
    with pytest.raises(DataError, match="cannot run a single block"):
        explain_prediction("attention:fused", load_device("dcu"), parameters={"bc": 256})
