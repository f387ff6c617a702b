"""What physics demands of any prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfmodel import load_device
from perfmodel.scheduler.evaluation import BOUNDS, Evaluation, evaluate
from perfmodel.scheduler.fields import Fields
from tests.scheduler.small import small

ADDRESS = "blockIdx.x * blockDim.x + threadIdx.x"
KERNELS = small(
    stream=f"""
- {{load: x, from: a, index: "{ADDRESS}"}}
- {{op: fma.fp32, to: y, uses: [x], count: 4}}
- {{store: y, to: c, index: "{ADDRESS}"}}
""",
    tiles=f"""
- for: t
  below: steps
  do:
    - {{load: x, from: a, index: "({ADDRESS}) + t * 1024"}}
    - {{store: x, to: s, index: threadIdx.x}}
    - barrier: block
    - for: k
      below: 16
      unroll: 4
      do:
        - {{load: y, from: s, index: "(threadIdx.x / 16) * 16 + k"}}
        - {{op: fma.fp32, to: acc, uses: [acc, y]}}
    - barrier: block
- {{store: acc, to: c, index: "{ADDRESS}"}}
""",
    strided="""
- for: i
  below: steps
  do:
    - {load: x, from: a, index: "(blockIdx.x * blockDim.x + threadIdx.x) * steps + i"}
    - {op: max.fp32, to: m, uses: [m, x]}
- {store: m, to: c, index: threadIdx.x}
""",
)
FASTER = (
    "clock",
    "dram_bandwidth_achievable",
    "l2_bandwidth",
    "l2_bandwidth_per_mp",
    "l1_bandwidth",
    "shared_bandwidth",
    "line_rate",
    "address_rate",
    "issue_width",
    "lanes.fp32",
    "lanes.int32",
    "lanes.load_store",
    "bytes_in_flight_per_mp",
    "l2_size",
)
SLOWER = (
    "l1_latency",
    "l2_latency",
    "dram_latency",
    "shared_latency",
    "latencies.fp32",
    "latencies.barrier",
    "kernel_launch",
    "block_launch",
)
DEVICES = ("s5000", "dcu", "h200")
SIZES = st.sampled_from([1 << 10, 1 << 14, 1 << 18, 1 << 22])


def _times(rung: str, device: str, changes: dict[str, Any], n: int, size: int) -> Evaluation:
    return evaluate(
        KERNELS.rungs[rung],
        {"n": n, "block": 256, "steps": 32},
        Fields(load_device(device), changes),
        size=size,
    )


@pytest.mark.parametrize("device", DEVICES)
@given(rung=st.sampled_from(sorted(KERNELS.rungs)), name=st.sampled_from(FASTER), n=SIZES)
def test_more_of_a_good_thing_never_slows(device: str, rung: str, name: str, n: int) -> None:
    stated = Fields(load_device(device))[name]
    grown = np.array([stated, stated * 1.5, stated * 2, stated * 4])
    times = np.broadcast_to(_times(rung, device, {name: grown}, n, 4).time_s, (4,))
    assert np.all(np.diff(times) <= times[:-1] * 1e-9), times


@pytest.mark.parametrize("device", DEVICES)
@given(rung=st.sampled_from(sorted(KERNELS.rungs)), name=st.sampled_from(SLOWER), n=SIZES)
def test_more_waiting_never_speeds_up(device: str, rung: str, name: str, n: int) -> None:
    stated = Fields(load_device(device))[name]
    grown = np.array([stated, stated * 1.5, stated * 2, stated * 4])
    times = np.broadcast_to(_times(rung, device, {name: grown}, n, 4).time_s, (4,))
    assert np.all(np.diff(times) >= -times[:-1] * 1e-9), times


@pytest.mark.parametrize("device", DEVICES)
@given(rung=st.sampled_from(sorted(KERNELS.rungs)), n=SIZES)
def test_no_time_is_below_a_bound(device: str, rung: str, n: int) -> None:
    evaluation = _times(rung, device, {}, n, 1)
    for launch in evaluation.launches:
        for name in BOUNDS:
            assert launch.time >= launch.bounds[name] * (1 - 1e-12), name


@given(rung=st.sampled_from(sorted(KERNELS.rungs)), n=SIZES)
def test_more_bytes_never_speed_up(rung: str, n: int) -> None:
    small_, large = (float(_times(rung, "s5000", {}, each, 1).time_s) for each in (n, 2 * n))
    assert large >= small_ * (1 - 1e-12)


def test_a_batch_over_device_fields_equals_single_predictions() -> None:
    bandwidths = np.array([4e11, 8e11, 1.6e12])
    lines = np.array([64, 128, 128])
    batch = _times(
        "strided", "s5000", {"dram_bandwidth_achievable": bandwidths, "l1_line": lines}, 1 << 18, 3
    )
    for place in range(3):
        alone = _times(
            "strided",
            "s5000",
            {"dram_bandwidth_achievable": float(bandwidths[place]), "l1_line": int(lines[place])},
            1 << 18,
            1,
        )
        assert float(batch.time_s[place]) == pytest.approx(float(alone.time_s), rel=1e-9)
