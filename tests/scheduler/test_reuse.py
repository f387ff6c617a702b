"""Bytes at each level, against footprints worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from perfmodel import load_device
from perfmodel.scheduler.evaluation import Evaluation, evaluate
from perfmodel.scheduler.fields import Fields
from tests.scheduler.small import small

ADDRESS = "blockIdx.x * blockDim.x + threadIdx.x"
TWICE = small(
    twice=f"""
- for: pass
  below: 2
  do:
    - {{load: x, from: a, index: "{ADDRESS}"}}
- {{store: x, to: c, index: "{ADDRESS}"}}
""",
    walk="""
- for: i
  below: steps
  do:
    - {load: x, from: a, index: "(blockIdx.x * blockDim.x + threadIdx.x) * steps + i"}
- {store: x, to: c, index: threadIdx.x}
""",
    shared_by_all="""
- {load: x, from: a, index: "threadIdx.x"}
- {store: x, to: c, index: "blockIdx.x * blockDim.x + threadIdx.x"}
""",
)


def evaluated(rung: str, changes: dict[str, Any] | None = None, **parameters: int) -> Evaluation:
    values = {"n": 1 << 20, "block": 256, "steps": 32, **parameters}
    return evaluate(TWICE.rungs[rung], values, Fields(load_device("h200"), changes))


def traffic(evaluation: Evaluation, array: str, kind: str = "load") -> tuple[float, float, float]:
    found = evaluation.launches[0].traffic.by_array[array, kind]
    return float(found.asked), float(found.l2), float(found.dram)


def test_a_second_pass_is_found_where_it_fits() -> None:
    size = 4 * (1 << 20)
    assert traffic(evaluated("twice"), "a") == pytest.approx((2 * size, size, size))


def test_and_not_where_it_does_not() -> None:
    size = 4 * (1 << 20)
    tiny = {"l1_size": 1.0, "l2_size": 1.0}
    assert traffic(evaluated("twice", tiny), "a") == pytest.approx((2 * size,) * 3, rel=1e-3)


def test_more_capacity_never_means_more_traffic() -> None:
    previous = (float("inf"),) * 3
    for capacity in (1.0, 1e3, 1e4, 1e5, 1e6, 1e7, 1e9):
        now = traffic(evaluated("walk", {"l1_size": capacity, "l2_size": capacity}), "a")
        assert all(new <= old * (1 + 1e-12) for new, old in zip(now, previous, strict=True))
        previous = now


def test_a_walk_along_a_row_takes_each_line_once_where_lines_stay() -> None:
    """256 threads x 32 elements of 4 bytes: 32 requests of 32 sectors a warp ask for 8 times."""
    asked, l2, dram = traffic(evaluated("walk"), "a")
    size = 4 * 32 * (1 << 20)
    assert asked == 8 * size
    assert l2 == pytest.approx(size, rel=0.35)
    assert dram == pytest.approx(size, rel=1e-9)


def test_what_all_blocks_read_comes_from_dram_once() -> None:
    _, l2, dram = traffic(evaluated("shared_by_all"), "a")
    blocks_of_all_mps = 132
    assert dram == 256 * 4
    assert l2 <= 4096 * 256 * 4 / 8  # the resident blocks of a multiprocessor share it
    assert l2 >= 256 * 4 * blocks_of_all_mps


def test_a_launch_finds_what_the_one_before_left() -> None:
    from perfmodel import predict

    reduced = predict("reduce:sequential_tree", load_device("h200"), ranges=False)
    partial = 4 * (1 << 26) // 1024
    second = reduced.launches[1]
    assert second.counts["bytes_requested"] >= partial
    assert second.counts["dram_bytes"] < second.counts["l2_bytes"]
