"""What overlaps follows from which statement uses which value."""

from __future__ import annotations

from typing import Any

import pytest

from perfmodel import load_device
from perfmodel.scheduler.evaluation import evaluate
from perfmodel.scheduler.fields import Fields
from tests.scheduler.small import small

IDLE = {
    # A device on which nothing costs anything but what a test sets.
    "issue_width": 1e9,
    "lanes.fp32": 1e9,
    "lanes.int32": 1e9,
    "lanes.load_store": 1e9,
    "address_rate": 1e9,
    "line_rate": 1e9,
    "l1_bandwidth": 1e15,
    "shared_bandwidth": 1e15,
    "l2_bandwidth": 1e24,
    "l2_bandwidth_per_mp": 1e15,
    "l2_line_rate": 1e9,
    "l2_store_bandwidth": 1e24,
    "store_bandwidth_per_mp": 1e15,
    "dram_bandwidth_achievable": 1e24,
    "dram_read_bandwidth": 1e24,
    "dram_write_bandwidth": 1e24,
    "bytes_in_flight_per_mp": 1e18,
    "register_read_ports": 1e9,
    "l1_latency": 1000.0,
    "l2_latency": 1000.0,
    "dram_latency": 1000.0,
    "shared_latency": 50.0,
    "latencies.fp32": 10.0,
    "latencies.int32": 0.0,
    "latencies.barrier": 0.0,
}
ADDRESS = "blockIdx.x * blockDim.x + threadIdx.x"


def cycles(body: str, changes: dict[str, Any] | None = None, **parameters: int) -> float:
    """Cycles of a block of a body on the idle device."""
    description = small(one=body)
    values = {"n": 1 << 20, "block": 256, "steps": 64, **parameters}
    fields = Fields(load_device("h200"), {**IDLE, **(changes or {})})
    evaluation = evaluate(description.rungs["one"], values, fields)
    return float(evaluation.launches[0].block_cycles)


def test_a_load_and_what_uses_it_wait_for_one_another() -> None:
    body = f"""
- {{load: x, from: a, index: "{ADDRESS}"}}
- {{op: add.fp32, to: y, uses: [x]}}
"""
    assert cycles(body) == pytest.approx(1010, rel=1e-3)


def test_two_loads_are_under_way_together() -> None:
    body = f"""
- {{load: x, from: a, index: "{ADDRESS}"}}
- {{load: y, from: c, index: "{ADDRESS}"}}
- {{op: add.fp32, to: z, uses: [x, y]}}
"""
    assert cycles(body) == pytest.approx(1010, rel=1e-3)


def test_a_load_whose_address_needs_another_waits_for_it() -> None:
    body = f"""
- {{load: x, from: a, index: "{ADDRESS}"}}
- {{load: y, from: c, index: "{ADDRESS}", uses: [x]}}
"""
    assert cycles(body) == pytest.approx(2000, rel=1e-3)


def test_a_chain_of_operations_costs_its_latency_each() -> None:
    body = "- {op: add.fp32, to: y, count: 8, chain: 8}"
    assert cycles(body) == pytest.approx(80, rel=1e-3)


def test_independent_operations_cost_theirs_once() -> None:
    body = "- {op: add.fp32, to: y, count: 8}"
    assert cycles(body) == pytest.approx(10, rel=1e-3)


def test_a_recurrence_costs_its_latency_in_every_iteration() -> None:
    body = """
- for: i
  below: steps
  do:
    - {op: add.fp32, to: acc, uses: [acc]}
"""
    assert cycles(body, steps=64) == pytest.approx(640, rel=1e-2)


LOAD_THEN_USE = f"""
- for: i
  below: steps
  do:
    - {{load: x, from: a, index: "({ADDRESS}) + i * 4096"}}
    - {{op: add.fp32, to: acc, uses: [acc, x]}}
"""


def test_a_loop_that_uses_what_it_loads_waits_every_time() -> None:
    assert cycles(LOAD_THEN_USE, steps=64) == pytest.approx(64 * 1010, rel=0.02)


def test_unrolling_puts_loads_under_way_together() -> None:
    unrolled = LOAD_THEN_USE.replace("below: steps", "below: steps\n  unroll: 4")
    assert cycles(unrolled, steps=64) == pytest.approx(16 * (1000 + 40), rel=0.02)


def test_a_value_of_the_iteration_before_lets_the_load_run_under_the_arithmetic() -> None:
    prefetched = f"""
- {{load: x, from: a, index: "{ADDRESS}"}}
- for: i
  below: steps
  do:
    - {{op: add.fp32, to: acc, uses: [acc, x], count: 80, chain: 80}}
    - {{load: x, from: a, index: "({ADDRESS}) + (i + 1) * 4096"}}
"""
    early = f"""
- {{load: x, from: a, index: "{ADDRESS}"}}
- for: i
  below: steps
  do:
    - {{load: x, from: a, index: "({ADDRESS}) + (i + 1) * 4096"}}
    - {{op: add.fp32, to: acc, uses: [acc, "x@1"], count: 80, chain: 80}}
"""
    serial, overlapped = cycles(prefetched, steps=64), cycles(early, steps=64)
    assert serial == pytest.approx(64 * 1800, rel=0.03)
    assert overlapped == pytest.approx(64 * 1000, rel=0.03)


def test_a_shared_load_waits_for_the_store_before_the_barrier() -> None:
    body = f"""
- {{load: x, from: a, index: "{ADDRESS}"}}
- {{store: x, to: s, index: threadIdx.x}}
- barrier: block
- {{load: y, from: s, index: threadIdx.x}}
- {{op: add.fp32, to: z, uses: [y]}}
"""
    assert cycles(body) == pytest.approx(1000 + 50 + 50 + 10, rel=0.01)


def test_a_busy_pipe_is_what_a_block_takes() -> None:
    body = "- {op: fma.fp32, to: y, count: 1000}"
    # 256 lanes x 1000 on 128 lanes a cycle, then 10 cycles until the last is there
    taken = cycles(body, {"lanes.fp32": 128.0})
    assert taken == pytest.approx(256 * 1000 / 128 + 10, rel=1e-3)


def test_a_branch_that_few_blocks_take_costs_little_on_the_average() -> None:
    rare = f"""
- if: "blockIdx.x == 0"
  then:
    - {{load: x, from: a, index: "{ADDRESS}"}}
    - {{op: add.fp32, to: y, uses: [x]}}
"""
    assert cycles(rare) < 10
