"""Divergence against stepping through each warp lane by lane."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfmodel.engines import divergence
from perfmodel.errors import ArgumentError

predicates = st.lists(st.booleans(), min_size=1, max_size=40)
path_ids = st.lists(st.integers(0, 5), min_size=1, max_size=40)
warp_widths = st.integers(1, 9)
MODULO = np.array([np.arange(8) % (2 * stride) == 0 for stride in (1, 2, 4)])
SEQUENTIAL = np.array([np.arange(8) < stride for stride in (4, 2, 1)])


def warps_by_hand(paths: list[Any], warp_width: int) -> list[list[Any]]:
    return [paths[first : first + warp_width] for first in range(0, len(paths), warp_width)]


def test_31_lanes_against_one() -> None:
    # Claim divergence-31-1.
    assert divergence.serial_paths(paths=np.arange(32) < 31, warp_width=32).tolist() == [2]


def test_even_and_odd_lanes() -> None:
    # Claim divergence-even-odd.
    even = np.arange(64) % 2 == 0
    assert divergence.serial_paths(paths=even, warp_width=32).tolist() == [2, 2]
    assert divergence.path_lanes(paths=even, warp_width=32).tolist() == [[16, 16], [16, 16]]


def test_both_branches_take_their_time() -> None:
    # Claim divergence-time-sum.
    assert divergence.divergent_time(path_times=[100, 60]) == 160
    lanes = np.arange(32) < 31
    assert divergence.warp_times(paths=lanes, path_times=[60, 100], warp_width=32) == [160]


def test_the_modulo_tree() -> None:
    # Claims divergence-reduce-modulo and erratum-modulo-idle-warps.
    assert divergence.divergent_warps(paths=MODULO, warp_width=2).tolist() == [4, 2, 1]
    assert divergence.active_warps(taken=MODULO, warp_width=2).tolist() == [4, 2, 1]
    assert divergence.idle_warps(taken=MODULO, warp_width=2).tolist() == [0, 2, 3]
    lanes = divergence.active_lanes(taken=MODULO, warp_width=2)
    assert [set(step[step > 0].tolist()) for step in lanes] == [{1}, {1}, {1}]
    assert divergence.simd_efficiency(taken=MODULO, warp_width=2) == 0.5


def test_the_sequential_tree() -> None:
    # Claim divergence-reduce-sequential.
    assert divergence.divergent_warps(paths=SEQUENTIAL, warp_width=2).tolist() == [0, 0, 1]
    assert divergence.active_warps(taken=SEQUENTIAL, warp_width=2).tolist() == [2, 1, 1]
    assert divergence.simd_efficiency(taken=SEQUENTIAL, warp_width=2) == 0.875


@given(path_ids, warp_widths)
def test_paths_equal_stepping_through_the_warps(paths: list[int], warp_width: int) -> None:
    warps = warps_by_hand(paths, warp_width)
    ways = [len(set(warp)) for warp in warps]
    assert divergence.serial_paths(paths=paths, warp_width=warp_width).tolist() == ways
    lanes = divergence.path_lanes(paths=paths, warp_width=warp_width, path_count=6)
    assert lanes.tolist() == [[warp.count(path) for path in range(6)] for warp in warps]
    diverging = divergence.divergent_warps(paths=paths, warp_width=warp_width)
    assert diverging == sum(way > 1 for way in ways)
    efficiency = divergence.path_efficiency(paths=paths, warp_width=warp_width)
    assert efficiency == pytest.approx(len(paths) / (sum(ways) * warp_width), rel=1e-12)


@given(predicates, warp_widths)
def test_a_branch_equals_stepping_through_the_warps(taken: list[bool], warp_width: int) -> None:
    active = idle = useful = issued = 0
    for warp in warps_by_hand(taken, warp_width):
        if any(warp):
            active += 1
            useful += sum(warp)
            issued += warp_width
        else:
            idle += 1
    assert divergence.active_warps(taken=taken, warp_width=warp_width) == active
    assert divergence.idle_warps(taken=taken, warp_width=warp_width) == idle
    assert divergence.active_lanes(taken=taken, warp_width=warp_width).sum() == useful
    efficiency = divergence.simd_efficiency(taken=taken, warp_width=warp_width)
    assert efficiency == pytest.approx(useful / issued if issued else 1, rel=1e-12)


@given(path_ids, warp_widths, st.lists(st.floats(0, 100), min_size=6, max_size=6))
def test_times_equal_running_the_paths(
    paths: list[int], warp_width: int, path_times: list[float]
) -> None:
    expected = [
        sum(path_times[path] for path in sorted(set(warp)))
        for warp in warps_by_hand(paths, warp_width)
    ]
    actual = divergence.warp_times(paths=paths, path_times=path_times, warp_width=warp_width)
    np.testing.assert_allclose(actual, expected, rtol=1e-12)
    slowest = divergence.divergent_time(path_times=path_times)
    assert (actual <= slowest * (1 + 1e-12)).all()


@given(predicates, warp_widths)
def test_threads_in_order_of_their_path_split_one_warp_at_most(
    taken: list[bool], warp_width: int
) -> None:
    assert divergence.divergent_warps(paths=sorted(taken), warp_width=warp_width) <= 1


@given(predicates, warp_widths)
def test_one_predicate_has_one_or_two_ways(taken: list[bool], warp_width: int) -> None:
    ways = divergence.serial_paths(paths=taken, warp_width=warp_width)
    assert set(ways.tolist()) <= {1, 2}
    opposite = [not flag for flag in taken]
    np.testing.assert_array_equal(
        divergence.serial_paths(paths=opposite, warp_width=warp_width), ways
    )


def test_warps_and_lanes_as_axes() -> None:
    warps = SEQUENTIAL.reshape(3, 4, 2)
    for law in (divergence.active_warps, divergence.idle_warps, divergence.active_lanes):
        np.testing.assert_array_equal(law(taken=warps), law(taken=SEQUENTIAL, warp_width=2))
    assert divergence.simd_efficiency(taken=warps) == 0.875
    assert divergence.path_efficiency(paths=warps) == pytest.approx(24 / 26, rel=1e-12)
    np.testing.assert_array_equal(
        divergence.serial_paths(paths=warps),
        divergence.serial_paths(paths=SEQUENTIAL, warp_width=2),
    )


def test_a_last_warp_partly_filled() -> None:
    everyone = np.ones(40, dtype=bool)
    assert divergence.serial_paths(paths=everyone, warp_width=32).tolist() == [1, 1]
    assert divergence.active_lanes(taken=everyone, warp_width=32).tolist() == [32, 8]
    assert divergence.path_lanes(paths=everyone, warp_width=32).tolist() == [[0, 32], [0, 8]]
    assert divergence.simd_efficiency(taken=everyone, warp_width=32) == 40 / 64


def test_nobody_in_the_branch() -> None:
    nobody = np.zeros(64, dtype=bool)
    assert divergence.divergent_warps(paths=nobody, warp_width=32) == 0
    assert divergence.idle_warps(taken=nobody, warp_width=32) == 2
    assert divergence.simd_efficiency(taken=nobody, warp_width=32) == 1.0


def test_steps_are_independent() -> None:
    for step, alone in enumerate(MODULO):
        together = divergence.active_lanes(taken=MODULO, warp_width=2)[step]
        np.testing.assert_array_equal(together, divergence.active_lanes(taken=alone, warp_width=2))


LAWS: list[tuple[Callable[..., Any], str]] = [
    (divergence.path_lanes, "paths"),
    (divergence.serial_paths, "paths"),
    (divergence.divergent_warps, "paths"),
    (divergence.path_efficiency, "paths"),
    (divergence.active_lanes, "taken"),
    (divergence.active_warps, "taken"),
    (divergence.idle_warps, "taken"),
    (divergence.simd_efficiency, "taken"),
]


@pytest.mark.parametrize(("law", "name"), LAWS)
@pytest.mark.parametrize("bad", [0, -1, 1.5, math.nan, math.inf, "32", True])
def test_a_warp_width_that_cannot_be_is_refused(
    law: Callable[..., Any], name: str, bad: object
) -> None:
    with pytest.raises(ArgumentError, match=f"^warp_width is {bad!r}: it must be"):
        law(**{name: [True, False]}, warp_width=bad)


@pytest.mark.parametrize(("law", "name"), LAWS)
def test_lanes_without_a_warp_width_need_two_axes(law: Callable[..., Any], name: str) -> None:
    with pytest.raises(ArgumentError, match="the last two axes must be warps and lanes"):
        law(**{name: [True, False]})


@pytest.mark.parametrize(
    "bad", [[], [-1], [0.5], [math.nan], [math.inf], ["1"], [None], 1, [[0, 1], [0]]]
)
def test_paths_that_cannot_be_are_refused(bad: Any) -> None:
    for law in (divergence.path_lanes, divergence.serial_paths, divergence.divergent_warps):
        with pytest.raises(ArgumentError, match="paths"):
            law(paths=bad, warp_width=2)
    with pytest.raises(ArgumentError, match="paths"):
        divergence.path_efficiency(paths=bad, warp_width=2)


@pytest.mark.parametrize("bad", [[1, 0], [0.5], ["1"], [None], 1, [[True], [True, False]]])
def test_a_predicate_must_be_true_or_false(bad: Any) -> None:
    for law in (divergence.active_lanes, divergence.active_warps, divergence.idle_warps):
        with pytest.raises(ArgumentError, match="taken"):
            law(taken=bad, warp_width=2)
    with pytest.raises(ArgumentError, match="taken"):
        divergence.simd_efficiency(taken=bad, warp_width=2)


@pytest.mark.parametrize("bad", [[], [-1, 2], [math.nan, 1], [math.inf, 1], ["1", 2], [True, 2]])
def test_times_that_cannot_be_are_refused(bad: Any) -> None:
    with pytest.raises(ArgumentError, match="path_times is"):
        divergence.divergent_time(path_times=bad)
    with pytest.raises(ArgumentError, match="path_times is"):
        divergence.warp_times(paths=[0, 1], path_times=bad, warp_width=2)


def test_a_path_beyond_the_count_is_refused() -> None:
    with pytest.raises(ArgumentError, match="paths holds 3: it must be below path_count, 3"):
        divergence.path_lanes(paths=[0, 3], path_count=3, warp_width=2)
    with pytest.raises(ArgumentError, match="paths holds 2"):
        divergence.warp_times(paths=[0, 2], path_times=[1.0, 2.0], warp_width=2)
    with pytest.raises(ArgumentError, match="path_count is"):
        divergence.path_lanes(paths=[0, 10**9], warp_width=2)
    with pytest.raises(ArgumentError, match="path_count is 0"):
        divergence.path_lanes(paths=[0], path_count=0, warp_width=2)
