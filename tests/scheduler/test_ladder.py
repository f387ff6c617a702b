"""Ladders: what a step brought, and rungs that cannot be held against the others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from perfmodel import ladder, load_device, predict
from perfmodel.errors import DataError
from perfmodel.results.prediction import shared_parameters
from perfmodel.scheduler.ladder import what_was_removed
from perfmodel.tables.prediction import ladder_notes, ladder_table, parameter_lines

if TYPE_CHECKING:
    from perfmodel.results.prediction import Ladder

S5000 = load_device("s5000")
DCU = load_device("dcu")
LADDERS = ("reduce", "gemv", "gemm", "attention", "softmax", "transpose", "vecadd")


def steps_of(kernel: str, device: str) -> Ladder:
    return ladder(kernel, load_device(device), alternatives=True, ranges=False)


def test_a_ladder_says_what_each_step_did() -> None:
    steps = ladder("transpose", S5000, alternatives=True, ranges=False)
    assert steps.steps[0].removed == ""
    assert steps.step("shared_tile").removed.startswith("l2 -")
    assert steps.step("swizzled_tile").is_alternative
    assert "brings nothing" in steps.step("swizzled_tile").removed
    assert steps.steps[0].speedup == 1
    product = 1.0
    for step in steps.steps[1:3]:
        product *= step.step_speedup
    assert product == pytest.approx(steps.step("padded_tile").speedup, rel=1e-12)


@pytest.mark.parametrize("device", ["s5000", "dcu", "h200"])
@pytest.mark.parametrize("kernel", LADDERS)
def test_what_is_named_shrank_in_a_gain_and_grew_in_a_loss(kernel: str, device: str) -> None:
    for step in steps_of(kernel, device).steps[1:]:
        said = step.removed.split(" ", 1)[-1]
        if step.step_speedup >= 1.02:
            assert said.startswith("-"), step
        if step.step_speedup <= 0.98:
            assert said.startswith(("+", "x ")) or said == "is new", step


def test_the_bound_named_is_the_one_that_had_to_shrink() -> None:
    """Rung by rung, with numbers: the time after lies below that bound before, and no other."""
    before, after = (
        predict(f"gemm:{rung}", DCU, ranges=False) for rung in ("block_swizzle", "tensor")
    )
    above = [each.name for each in before.bounds if each.time_s > after.time_s]
    assert above == ["issue"]
    assert what_was_removed(before, after).startswith("issue -")
    assert what_was_removed(after, before).startswith("issue +")


def test_where_no_bound_had_to_shrink_the_latency_explains_it() -> None:
    """Issue grew here, and the time fell."""
    before, after = (
        predict(f"gemm:{rung}", DCU, ranges=False)
        for rung in ("shared_double_buffer", "global_double_buffer")
    )
    assert after.bound("issue").time_s > before.bound("issue").time_s
    assert after.time_s < before.time_s
    assert what_was_removed(before, after).startswith("latency -")


def test_a_rung_that_cannot_run_is_listed_and_stepped_over() -> None:
    """Blocks of 64 rows are too few for the tensor rung's two groups."""
    steps = ladder("gemm", S5000, parameters={"bm": 64}, alternatives=True, ranges=False)
    tensor = steps.step("tensor")
    assert tensor.prediction is None
    assert "bm must be 64 x groups" in tensor.cannot
    assert math.isnan(tensor.speedup)
    text = ladder_table([steps])
    assert "note: tensor: cannot run: gemm:tensor with" in text
    assert max(map(len, text.splitlines())) <= 80
    frame = steps.to_frame().set_index("rung")
    assert frame.loc["tensor", "cannot"] == tensor.cannot
    assert "cannot run" in steps._repr_html_()
    shown = {each["rung"]: each for each in steps.to_dict()["steps"]}
    assert shown["tensor"]["speedup"] is None


def test_the_step_after_one_that_cannot_run_is_over_the_last_that_does() -> None:
    steps = ladder("attention", S5000.what_if(shared_per_block="40 KiB"), ranges=False)
    runs = [step.rung for step, _ in steps.running()]
    assert 0 < len(runs) < len(steps.steps)
    times = [prediction.time_s for _, prediction in steps.running()]
    for (step, _), one, other in zip(steps.running()[1:], times, times[1:], strict=False):
        assert step.step_speedup == one / other


def test_a_ladder_of_which_nothing_runs_is_refused() -> None:
    with pytest.raises(DataError, match="must be multiples of 32"):
        ladder("transpose", S5000, parameters={"m": 33}, ranges=False)


def test_a_rung_that_leaves_work_out_has_no_speedup() -> None:
    steps = ladder("softmax", S5000, alternatives=True, ranges=False)
    partial = steps.step("packed_as_printed")
    assert math.isnan(partial.speedup)
    assert math.isnan(partial.step_speedup)
    assert partial.removed == "not the whole work"
    best = max((each for each in steps.steps if each.speedup > 0), key=lambda each: each.speedup)
    assert best.rung in ("packed", "grid_remap")
    assert "packed_as_printed: does not do the whole work" in ladder_table([steps])
    assert "does not do the whole work" in steps._repr_html_()
    frame = steps.to_frame().set_index("rung")
    assert frame.loc["packed_as_printed", "missing_work"]
    assert not frame.loc["packed", "missing_work"]


def test_the_heading_has_what_all_rungs_share() -> None:
    steps = ladder("gemm", S5000, ranges=False)
    assert "type" not in steps.parameters
    assert steps.parameters == {"m": 4096, "n": 4096, "k": 4096}
    shown = ladder_table([steps]).splitlines()
    assert shown[0] == "gemm on s5000: m=4096, n=4096, k=4096"
    assert "tensor: type=fp16; the other rungs: type=fp32" in shown


def test_a_parameter_that_was_asked_for_is_shown_with_the_rungs_that_have_it() -> None:
    predictions = [predict(f"gemm:{rung}", S5000, ranges=False) for rung in ("naive", "tiled")]
    assert "tile" not in shared_parameters(predictions)
    assert parameter_lines(predictions)[1] == []
    assert parameter_lines(predictions, ["tile"])[1] == ["tiled: tile=16"]


def test_each_note_is_said_once_with_its_rungs() -> None:
    steps = ladder("softmax", S5000, alternatives=True, ranges=False)
    notes = ladder_notes(steps)
    said = [note.split(": ", 2)[2] for note in notes]
    assert len(said) == len(set(said))
    assert any(note.startswith("note: thread_per_row, warp_per_row: ") for note in notes)
    (note,) = ladder_notes(ladder("vecadd", DCU, parameters={"n": 64}, ranges=False))
    assert note.startswith("note: all rungs: the limiter rests on kernel_launch = ")
