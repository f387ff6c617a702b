"""Latency: Little's law, rounds, and the blend between two asymptotes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfmodel.engines.latency import blended_time, concurrency, latency_bound_time
from perfmodel.errors import ArgumentError

TIMES = st.floats(0, 1e12, allow_nan=False)
SHARPNESS = st.floats(1, 50)


def test_littles_law_counts_what_is_under_way() -> None:
    # One request a cycle, each under way for 7 cycles: enumerated, 7 are under way at any time.
    started = range(100)
    under_way = sum(1 for start in started if start <= 50 < start + 7)
    assert concurrency(rate_per_s=1, latency_s=7) == under_way


def test_rounds_by_hand() -> None:
    assert latency_bound_time(pieces=0, resident=4, piece_time=3.0) == 0
    assert latency_bound_time(pieces=5, resident=4, piece_time=3.0) == 6.0


@given(latency=TIMES, busy=TIMES, part=st.floats(0, 1), sharpness=SHARPNESS)
def test_the_blend_lies_between_its_asymptotes_and_no_overlap(
    latency: float, busy: float, part: float, sharpness: float
) -> None:
    waiting = part * latency
    time = blended_time(
        latency_time=latency, busy_time=busy, waiting_time=waiting, sharpness=sharpness
    )
    assert time >= max(latency, busy)
    assert time <= max(waiting + busy, latency, busy) * (1 + 1e-12)


@given(latency=TIMES, busy=TIMES, more=st.floats(1, 10), sharpness=SHARPNESS)
def test_more_of_either_never_shortens_it(
    latency: float, busy: float, more: float, sharpness: float
) -> None:
    def time(latency: float, busy: float) -> float:
        result: float = blended_time(
            latency_time=latency, busy_time=busy, waiting_time=latency, sharpness=sharpness
        )
        return result

    assert time(latency * more, busy) >= time(latency, busy) * (1 - 1e-12)
    assert time(latency, busy * more) >= time(latency, busy) * (1 - 1e-12)


def test_the_sum_and_the_greater_are_its_ends() -> None:
    ends = [
        blended_time(latency_time=3.0, busy_time=4.0, waiting_time=3.0, sharpness=n)
        for n in (1, 1000)
    ]
    assert ends == pytest.approx([7.0, 4.0])


def test_what_is_busy_all_the_time_takes_just_that() -> None:
    time = blended_time(latency_time=5.0, busy_time=5.0, waiting_time=0.0, sharpness=2.5)
    assert time == 5.0


def test_nothing_overflows() -> None:
    time = blended_time(latency_time=1e300, busy_time=1e300, waiting_time=1e300, sharpness=2)
    assert time == pytest.approx(math.sqrt(2) * 1e300)


def test_arrays_work_element_by_element() -> None:
    latency = np.array([3.0, 0.0])
    time = blended_time(latency_time=latency, busy_time=4.0, waiting_time=latency, sharpness=2)
    assert time.tolist() == [5.0, 4.0]


def test_a_sharpness_below_one_is_refused() -> None:
    with pytest.raises(ArgumentError, match="sharpness"):
        blended_time(latency_time=1.0, busy_time=1.0, waiting_time=1.0, sharpness=0.5)
