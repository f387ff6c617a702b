"""Periods of expressions against trying steps one by one, and counts that rest on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfmodel import load_device
from perfmodel.expressions import parse
from perfmodel.kernels.fast import compiled
from perfmodel.kernels.periods import period
from perfmodel.scheduler.evaluation import evaluate
from perfmodel.scheduler.fields import Fields
from tests.scheduler.small import small

REPEATING = (
    "(b * {c} + threadIdx.x) % {m}",
    "(b * {c} + threadIdx.x) % {m} * 7 + (b * 3 + 1) % 5",
    "((b * {c} + threadIdx.x) & 15) ^ threadIdx.x",
    "(threadIdx.x + b * {c}) % {m} < 3 ? 1 : b % 4",
)


def values(text: str, b: Any) -> Any:
    lanes = np.arange(32)[None, :]
    return np.broadcast_to(
        compiled(parse(text).root)({"b": np.asarray(b)[:, None], "threadIdx.x": lanes}),
        (len(b), 32),
    )


@settings(deadline=None, max_examples=80)
@given(text=st.sampled_from(REPEATING), c=st.integers(0, 40), m=st.integers(1, 60))
def test_an_expression_repeats_itself_after_its_period(text: str, c: int, m: int) -> None:
    written = text.format(c=c, m=m)
    found = period(parse(written).root, "b", {"b"}, {})
    assert found is not None
    first = np.arange(60)
    assert (values(written, first) == values(written, first + found)).all()


@pytest.mark.parametrize(("c", "m"), [(256, 4096), (6, 4), (7, 5), (0, 9), (12, 1)])
def test_the_period_of_a_remainder_is_the_shortest(c: int, m: int) -> None:
    written = f"(b * {c} + threadIdx.x) % {m}"
    tried = next(
        step
        for step in range(1, m + 1)
        if (values(written, np.arange(m)) == values(written, np.arange(m) + step)).all()
    )
    assert period(parse(written).root, "b", {"b"}, {}) == tried


@pytest.mark.parametrize("text", ["b", "b + b % 4", "b * b % 8", "(b ^ 3) % 4", "b & 5", "b % k"])
def test_what_does_not_repeat_has_no_period(text: str) -> None:
    assert period(parse(text).root, "b", {"b", "k"}, {}) is None


def test_counts_over_a_period_are_those_of_all_blocks() -> None:
    """Rows of 96 elements over blocks of 64 threads: 3 blocks, of 1536, are enough."""
    row = small(row='- {load: x, from: a, index: "(blockIdx.x * 64 + threadIdx.x) % 96 * 3"}\n')
    blocks, h200 = 1536, load_device("h200")
    found = evaluate(
        row.rungs["row"], {"n": 64 * blocks, "block": 64, "steps": 1}, Fields(h200)
    ).launches[0]
    thread = np.arange(64 * blocks).reshape(-1, 32)
    sectors = sum(len(np.unique(each % 96 * 3 * 4 // 32)) for each in thread)
    (role,) = found.counts.roles
    (tallies,) = role.tallies.values()
    assert float(tallies.sectors) == sectors


def test_lets_may_stand_in_amounts() -> None:
    """A width and a count that a let names, as in `v: 16 / type_bytes`."""
    by_let, written_out = small(
        by_let="""
- let: {v: 16 / 4, i: "(blockIdx.x * blockDim.x + threadIdx.x) * v"}
- {load: x, from: a, index: i, width: v}
- {op: add.fp32, to: y, uses: [x], count: v}
- for: j
  below: 8
  unroll: v
  do: [{op: mul.fp32, to: y, uses: [y], count: v * 2}]
- {store: y, to: c, index: i, width: v}
""",
        written_out="""
- let: {v: 16 / 4, i: "(blockIdx.x * blockDim.x + threadIdx.x) * v"}
- {load: x, from: a, index: i, width: 4}
- {op: add.fp32, to: y, uses: [x], count: 4}
- for: j
  below: 8
  unroll: 4
  do: [{op: mul.fp32, to: y, uses: [y], count: 8}]
- {store: y, to: c, index: i, width: 4}
""",
    ).rungs.values()
    parameters = {"n": 1 << 20, "block": 256, "steps": 1}
    fields = Fields(load_device("s5000"))
    times = [float(evaluate(rung, parameters, fields).time_s) for rung in (by_let, written_out)]
    assert times[0] == pytest.approx(times[1], rel=1e-9)
