"""Short branches are issued by every warp, long ones by those with a lane that passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from perfmodel import load_device, predict
from tests.scheduler.small import small

if TYPE_CHECKING:
    from perfmodel.results.prediction import Prediction

ADDRESS = "blockIdx.x * blockDim.x + threadIdx.x"


def predicted(body: str, **parameters: Any) -> Prediction:
    values = {"n": 1 << 20, "block": 256, **parameters}
    return predict(
        small(one=body), load_device("h200"), rung="one", parameters=values, ranges=False
    )


def guarded(amount: int, condition: str) -> str:
    return f"""
- if: "{condition}"
  then:
    - {{op: fma.fp32, to: y, count: {amount}}}
"""


@pytest.mark.parametrize(("amount", "issued_by"), [(7, 8), (8, 1)])
def test_seven_instructions_are_issued_by_all_warps_eight_by_one(
    amount: int, issued_by: int
) -> None:
    """One warp of eight has lanes that pass; the fp32 pipe counts what is issued."""
    none = predicted(guarded(amount, "threadIdx.x < 0")).counts["warp_instructions"]
    some = predicted(guarded(amount, "threadIdx.x < 32")).counts["warp_instructions"]
    every = predicted(guarded(amount, "threadIdx.x < 256")).counts["warp_instructions"]
    blocks = (1 << 20) / 256
    assert every - some == pytest.approx(blocks * amount * (8 - issued_by))
    if issued_by == 1:
        assert some - none == pytest.approx(blocks * amount)


def test_flop_are_those_of_the_lanes_that_pass() -> None:
    assert predicted(guarded(4, "threadIdx.x < 32")).counts["arithmetic_flop"] == 4096 * 32 * 4 * 2


def test_an_idle_warp_takes_a_pass_of_shared_memory() -> None:
    """As the counters of an H200 show for a tree of additions."""
    body = """
- {op: move.fp32, to: x}
- {store: x, to: s, index: threadIdx.x}
- barrier: block
- if: "threadIdx.x < %d"
  then:
    - {load: x, from: s, index: threadIdx.x}
    - {op: add.fp32, to: y, uses: [x]}
"""
    some, every = (predicted(body % lanes).bound("shared").time_s for lanes in (32, 256))
    assert some == pytest.approx(every, rel=1e-12)


def test_a_branch_around_a_loop_is_no_short_one() -> None:
    body = """
- if: "threadIdx.x < 32"
  then:
    - for: i
      below: 2
      do:
        - {op: fma.fp32, to: y, uses: [y]}
"""
    flat = guarded(2, "threadIdx.x < 32")
    looped, predicated = (predicted(each).bound("fp32").time_s for each in (body, flat))
    assert predicated == pytest.approx(8 * looped, rel=1e-12)


DIVIDED = """
- for: stride
  from: 1
  while: "stride < blockDim.x"
  next: "stride * 2"
  do:
    - if: "(threadIdx.x %s (2 * stride)) == 0"
      then:
        - {op: fma.fp32, to: y, uses: [y]}
"""


def test_a_remainder_by_what_only_the_running_kernel_knows_is_a_sequence() -> None:
    """8 strides, 8 warps, 4096 blocks: 21 instructions and two where a mask takes one."""
    divided, masked = (predicted(DIVIDED % sign).counts["warp_instructions"] for sign in "%&")
    assert divided - masked == pytest.approx(8 * 8 * 4096 * (21 + 2 - 1), rel=1e-12)
