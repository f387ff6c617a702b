"""Scaling against letting the devices run, and the ring step by step."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from perfmodel.engines import scaling
from perfmodel.errors import ArgumentError

speed_lists = st.lists(st.floats(0.01, 100), min_size=1, max_size=8)
times = st.floats(0, 1e3)


def test_four_unequal_devices() -> None:
    # Claim multigpu-split.
    shares = scaling.split_shares(speeds=[1, 1, 2, 2])
    assert shares == pytest.approx([1 / 6, 1 / 6, 1 / 3, 1 / 3], rel=1e-9)
    assert scaling.gain_over_equal_split(speeds=[1, 1, 2, 2]) == 1.5


@given(speed_lists)
def test_a_split_by_speed_ends_together_and_soonest(speeds: list[float]) -> None:
    shares = scaling.split_shares(speeds=speeds)
    ends = [share / speed for share, speed in zip(shares, speeds, strict=True)]
    assert sum(shares) == pytest.approx(1, rel=1e-12)
    assert max(ends) == pytest.approx(min(ends), rel=1e-9)
    equal_end = max(1 / len(speeds) / speed for speed in speeds)
    gain = scaling.gain_over_equal_split(speeds=speeds)
    assert gain == pytest.approx(equal_end / max(ends), rel=1e-9)
    assert gain >= 1 - 1e-12


@given(speed_lists, st.data())
def test_no_other_split_is_sooner(speeds: list[float], data: st.DataObject) -> None:
    weights = [data.draw(st.floats(0.01, 1)) for _ in speeds]
    other = max(w / sum(weights) / speed for w, speed in zip(weights, speeds, strict=True))
    assert other >= 1 / sum(speeds) * (1 - 1e-9)


@given(st.integers(1, 200), st.floats(0, 2))
def test_speedups_equal_the_clock(devices: int, share: float) -> None:
    fixed = 1 / (1 / devices + share)
    actual = scaling.strong_scaling_speedup(devices=devices, communication_share=share)
    assert actual == pytest.approx(fixed, rel=1e-12)
    grown = devices / (1 + share)
    weak = scaling.weak_scaling_speedup(devices=devices, communication_share=share)
    assert weak == pytest.approx(grown, rel=1e-12)
    assert actual <= weak * (1 + 1e-12)
    assert weak <= devices
    if share:
        assert actual < 1 / share


def test_96_devices_within_five_per_cent() -> None:
    # Claim multigpu-96.
    share = scaling.strong_scaling_share_allowed(devices=96, shortfall=0.05)
    assert share == pytest.approx(1 / 1824, rel=1e-12)
    speedup = scaling.strong_scaling_speedup(devices=96, communication_share=share)
    assert speedup == pytest.approx(0.95 * 96, rel=1e-12)
    of_the_step = share / (1 / 96 + share)
    assert of_the_step == pytest.approx(0.05, rel=1e-12)
    assert scaling.strong_scaling_speedup(devices=96, communication_share=0) == 96
    weak = scaling.weak_scaling_share_allowed(shortfall=0.05)
    assert weak == pytest.approx(1 / 19, rel=1e-12)


@given(st.integers(1, 1000), st.floats(0, 0.99))
def test_the_share_allowed_is_the_boundary(devices: int, shortfall: float) -> None:
    wanted = (1 - shortfall) * devices
    strong = scaling.strong_scaling_share_allowed(devices=devices, shortfall=shortfall)
    reached = scaling.strong_scaling_speedup(devices=devices, communication_share=strong)
    assert reached == pytest.approx(wanted, rel=1e-9)
    weak = scaling.weak_scaling_share_allowed(shortfall=shortfall)
    grown = scaling.weak_scaling_speedup(devices=devices, communication_share=weak)
    assert grown == pytest.approx(wanted, rel=1e-9)


def ring_by_steps(values: list[list[float]], bandwidth: float, latency: float) -> float:
    """Pass pieces round a ring until each device holds the sum; the time that this takes."""
    devices = len(values)
    expected = [sum(column) for column in zip(*values, strict=True)]
    elapsed = 0.0
    for phase in ("gather", "hand round"):
        for step in range(devices - 1):
            sent = []
            for rank in range(devices):
                piece = (rank - step + (phase == "hand round")) % devices
                sent.append((rank, piece, values[rank][piece]))
            for rank, piece, value in sent:
                after = values[(rank + 1) % devices]
                after[piece] = after[piece] + value if phase == "gather" else value
            elapsed += 8 / bandwidth + latency
    assert all(row == pytest.approx(expected) for row in values)
    return elapsed


@given(st.integers(1, 9), st.floats(1, 1e3), st.floats(0, 1))
def test_the_ring_equals_passing_pieces_round(
    devices: int, bandwidth: float, latency: float
) -> None:
    values = [[float(rank * piece + 1) for piece in range(devices)] for rank in range(devices)]
    actual = scaling.ring_all_reduce_time(
        message_bytes=8 * devices,
        devices=devices,
        link_bandwidth_bytes_per_s=bandwidth,
        link_latency_s=latency,
    )
    assert actual == pytest.approx(ring_by_steps(values, bandwidth, latency), rel=1e-9)


def test_the_ring_of_one_and_of_many() -> None:
    link = {"message_bytes": 1e9, "link_bandwidth_bytes_per_s": 1e9, "link_latency_s": 0.0}
    assert scaling.ring_all_reduce_time(devices=1, **link) == 0
    assert scaling.ring_all_reduce_time(devices=2, **link) == 1.0
    assert scaling.ring_all_reduce_time(devices=10**6, **link) == pytest.approx(2, rel=1e-5)


def pipeline_by_pieces(compute: float, transfer: float, pieces: int) -> float:
    arrived = done = 0.0
    for _ in range(pieces):
        arrived += transfer / pieces
        done = max(done, arrived) + compute / pieces
    return done


@given(times, times, st.integers(1, 50))
def test_overlap_equals_running_the_pieces(compute: float, transfer: float, pieces: int) -> None:
    # Claim multigpu-overlap.
    actual = scaling.overlapped_time(compute_s=compute, transfer_s=transfer, pieces=pieces)
    assert actual == pytest.approx(pipeline_by_pieces(compute, transfer, pieces), rel=1e-9)
    assert max(compute, transfer) <= actual <= (compute + transfer) * (1 + 1e-12)


def test_overlap_goes_from_the_sum_to_the_larger() -> None:
    # Claim multigpu-overlap.
    step = {"compute_s": 3.0, "transfer_s": 2.0}
    falling = [scaling.overlapped_time(pieces=n, **step) for n in (1, 2, 4, 8, math.inf)]
    assert falling == [5.0, 4.0, 3.5, 3.25, 3.0]


@given(st.integers(1, 64), st.floats(1e-3, 1e4), st.floats(0, 1e3))
def test_separate_jobs_finish_more(devices: int, job: float, communication: float) -> None:
    # Claim multigpu-independent-jobs.
    apart = scaling.independent_jobs_throughput(devices=devices, job_time_s=job)
    spread = scaling.spread_job_throughput(
        devices=devices, job_time_s=job, communication_s=communication
    )
    assert apart == pytest.approx(devices * (1 / job), rel=1e-12)
    assert spread <= apart * (1 + 1e-12)
    if communication > 1e-9 * job:
        assert spread < apart
    speedup = scaling.strong_scaling_speedup(
        devices=devices, communication_share=communication / job
    )
    assert spread * job == pytest.approx(speedup, rel=1e-9)


def test_eight_jobs_on_eight_devices() -> None:
    # Claim multigpu-independent-jobs.
    apart = scaling.independent_jobs_throughput(devices=8, job_time_s=2.0)
    assert apart * 2.0 == 8
    spread = scaling.spread_job_throughput(devices=8, job_time_s=2.0, communication_s=0.25)
    assert spread * 2.0 == 4


def test_arrays_go_element_by_element() -> None:
    devices = np.array([1, 2, 8, 96])
    numbers = devices.tolist()
    np.testing.assert_allclose(
        scaling.strong_scaling_speedup(devices=devices, communication_share=0.01),
        [scaling.strong_scaling_speedup(devices=n, communication_share=0.01) for n in numbers],
        rtol=1e-15,
    )
    link = {"message_bytes": 3e6, "link_bandwidth_bytes_per_s": 1e9, "link_latency_s": 1e-6}
    np.testing.assert_allclose(
        scaling.ring_all_reduce_time(devices=devices, **link),
        [scaling.ring_all_reduce_time(devices=n, **link) for n in numbers],
        rtol=1e-15,
    )
    transfers = np.array([0.0, 1.0, 4.0])
    np.testing.assert_array_equal(
        scaling.overlapped_time(compute_s=2.0, transfer_s=transfers, pieces=2), [2, 2.5, 5]
    )
    speeds = [np.array([1.0, 2.0]), np.array([3.0, 2.0])]
    np.testing.assert_array_equal(scaling.split_shares(speeds=speeds)[0], [0.25, 0.5])
    gains = scaling.gain_over_equal_split(speeds=speeds)
    np.testing.assert_array_equal(gains, [2.0, 1.0])


def test_symbols_give_the_formula() -> None:
    n, c, x, size, rate, late = sympy.symbols("n c x size rate late", positive=True)
    strong = scaling.strong_scaling_speedup(devices=n, communication_share=c)
    assert sympy.limit(strong, n, sympy.oo).equals(1 / c)
    (solved,) = sympy.solve(strong - (1 - x) * n, c)
    allowed = scaling.strong_scaling_share_allowed(devices=n, shortfall=x)
    assert sympy.simplify(solved - allowed) == 0
    ring = scaling.ring_all_reduce_time(
        message_bytes=size,
        devices=n,
        link_bandwidth_bytes_per_s=rate,
        link_latency_s=late,
    )
    assert sympy.simplify(ring - 2 * (n - 1) * (size / (n * rate) + late)) == 0
    one, two = sympy.symbols("s1 s2", positive=True)
    assert scaling.split_shares(speeds=[one, two])[0].equals(one / (one + two))
    together = scaling.overlapped_time(compute_s=one, transfer_s=two, pieces=1)
    assert together.subs({one: 3, two: 2}) == 5


LAWS: list[tuple[Callable[..., Any], dict[str, float]]] = [
    (scaling.strong_scaling_speedup, {"devices": 8}),
    (scaling.strong_scaling_share_allowed, {"devices": 8}),
    (scaling.weak_scaling_speedup, {"devices": 8}),
    (scaling.ring_all_reduce_time, {"devices": 8, "link_bandwidth_bytes_per_s": 1e9}),
    (scaling.overlapped_time, {"pieces": 8}),
    (scaling.independent_jobs_throughput, {"devices": 8, "job_time_s": 1.0}),
    (scaling.spread_job_throughput, {"devices": 8, "job_time_s": 1.0}),
]
OTHERS: dict[Callable[..., Any], dict[str, float]] = {
    scaling.strong_scaling_speedup: {"communication_share": 0.1},
    scaling.strong_scaling_share_allowed: {"shortfall": 0.1},
    scaling.weak_scaling_speedup: {"communication_share": 0.1},
    scaling.weak_scaling_share_allowed: {"shortfall": 0.1},
    scaling.ring_all_reduce_time: {"message_bytes": 8.0, "link_latency_s": 0.0},
    scaling.overlapped_time: {"compute_s": 1.0, "transfer_s": 1.0},
    scaling.spread_job_throughput: {"communication_s": 0.1},
}


@pytest.mark.parametrize("bad", [0, -1, math.nan, "8", True, None])
@pytest.mark.parametrize(
    ("law", "arguments", "name"),
    [(law, arguments, name) for law, arguments in LAWS for name in arguments],
)
def test_what_must_be_above_zero(
    law: Callable[..., Any], arguments: dict[str, float], name: str, bad: object
) -> None:
    with pytest.raises(ArgumentError, match=rf"^{name} is {bad!r}: it must be"):
        law(**{**arguments, **OTHERS.get(law, {}), name: bad})


@pytest.mark.parametrize("bad", [-0.1, math.nan, math.inf, "8", True, None])
@pytest.mark.parametrize(
    ("law", "name"), [(law, name) for law, arguments in OTHERS.items() for name in arguments]
)
def test_what_may_be_zero(law: Callable[..., Any], name: str, bad: object) -> None:
    arguments = {**dict(LAWS).get(law, {}), **OTHERS[law]}
    with pytest.raises(ArgumentError, match=rf"^{name} is {bad!r}: it must be"):
        law(**{**arguments, name: bad})


def test_the_rest_of_what_is_refused() -> None:
    with pytest.raises(ArgumentError, match="1 - shortfall is 0"):
        scaling.weak_scaling_share_allowed(shortfall=1)
    with pytest.raises(ArgumentError, match=r"devices is 2\.5: it must be a whole number"):
        scaling.ring_all_reduce_time(
            message_bytes=1, devices=2.5, link_bandwidth_bytes_per_s=1, link_latency_s=0
        )


@pytest.mark.parametrize(
    ("speeds", "message"),
    [
        ([], "speeds is empty"),
        ([1, 0], "speeds is 0"),
        ([1, -2], "speeds is -2"),
        ([math.nan], "speeds is nan"),
        ([math.inf], "speeds is inf"),
        ([True], "speeds is True"),
        (["1"], "speeds is '1'"),
        ("12", "give the speed of each device"),
        (3, "give the speed of each device"),
    ],
)
def test_speeds_that_cannot_be_are_refused(speeds: Any, message: str) -> None:
    for law in (scaling.split_shares, scaling.gain_over_equal_split):
        with pytest.raises(ArgumentError, match=message):
            law(speeds=speeds)
