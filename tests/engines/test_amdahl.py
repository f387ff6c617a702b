"""Amdahl's law against a walk over the parts, its limits and its symbolic form."""

import math

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from perfmodel.engines import amdahl
from perfmodel.errors import ArgumentError

fractions = st.floats(0, 1)
factors = st.floats(0.1, 1e6)


def time_after(parts: list[tuple[float, float]]) -> float:
    """The obvious way: run the parts one after the other, then what was left alone."""
    elapsed = 0.0
    rest = 1.0
    for share, factor in parts:
        elapsed += share / factor
        rest -= share
    return elapsed + max(rest, 0.0)


@given(fractions, factors)
def test_speedup_equals_the_walk_over_the_parts(fraction: float, factor: float) -> None:
    expected = 1 / time_after([(fraction, factor)])
    actual = amdahl.speedup(parallel_fraction=fraction, part_speedup=factor)
    assert actual == pytest.approx(expected, rel=1e-12)


@given(st.lists(st.tuples(st.floats(0, 0.2), factors), min_size=1, max_size=5))
def test_several_parts_equal_the_walk(parts: list[tuple[float, float]]) -> None:
    shares, part_factors = zip(*parts, strict=True)
    actual = amdahl.speedup_of_parts(fractions=shares, part_speedups=part_factors)
    assert actual == pytest.approx(1 / time_after(parts), rel=1e-9)


@given(fractions, st.floats(1, 1e6))
def test_speedup_stays_between_one_and_its_limit(fraction: float, factor: float) -> None:
    actual = amdahl.speedup(parallel_fraction=fraction, part_speedup=factor)
    assert 1 - 1e-12 <= actual <= amdahl.speedup_limit(parallel_fraction=fraction) * (1 + 1e-12)


@given(st.floats(1, 100), st.floats(1.001, 1e4))
def test_the_fraction_needed_reaches_the_target(target: float, factor: float) -> None:
    needed = amdahl.fraction_needed(target_speedup=target, part_speedup=factor)
    if needed <= 1:
        reached = amdahl.speedup(parallel_fraction=needed, part_speedup=factor)
        assert reached == pytest.approx(target, rel=1e-9)
    else:
        assert target > factor


def test_gustafson_equals_counting_the_work() -> None:
    serial, parallel, processors = 3, 7, 16
    work_done = serial + parallel * processors
    actual = amdahl.scaled_speedup(parallel_fraction=0.7, processors=processors)
    assert actual == pytest.approx(work_done / (serial + parallel), rel=1e-12)


def test_everything_infinitely_fast() -> None:
    assert amdahl.speedup(parallel_fraction=1, part_speedup=math.inf) == math.inf
    assert amdahl.speedup_limit(parallel_fraction=1) == math.inf


def test_arrays_go_element_by_element() -> None:
    factors_array = np.array([1.0, 2.0, 4.0, np.inf])
    actual = amdahl.speedup(parallel_fraction=0.8, part_speedup=factors_array)
    expected = [amdahl.speedup(parallel_fraction=0.8, part_speedup=float(n)) for n in factors_array]
    np.testing.assert_allclose(actual, expected, rtol=1e-15)


def test_symbols_give_the_formula() -> None:
    p, n = sympy.symbols("P N", positive=True)
    formula = amdahl.speedup(parallel_fraction=p, part_speedup=n)
    assert sympy.simplify(formula - 1 / (1 - p + p / n)) == 0
    assert sympy.limit(formula, n, sympy.oo).equals(amdahl.speedup_limit(parallel_fraction=p))


def test_the_largest_part_left_is_named() -> None:
    gains = amdahl.what_to_attack_first(fractions=[0.2, 0.6, 0.1], part_speedups=[10, 3, 10])
    assert [gain.part for gain in gains] == [1, 0, 2]
    total = amdahl.speedup_of_parts(fractions=[0.2, 0.6, 0.1], part_speedups=[10, 3, 10])
    rest = 0.1 * total
    assert sum(gain.fraction_after for gain in gains) + rest == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("fraction", [-0.1, 1.1, math.nan, math.inf, "0.8", True])
def test_a_share_outside_zero_to_one_is_refused(fraction: float) -> None:
    with pytest.raises(ArgumentError, match="parallel_fraction is"):
        amdahl.speedup(parallel_fraction=fraction, part_speedup=2)


@pytest.mark.parametrize("factor", [0, -1, math.nan])
def test_a_speedup_not_above_zero_is_refused(factor: float) -> None:
    with pytest.raises(ArgumentError, match="part_speedup is"):
        amdahl.speedup(parallel_fraction=0.5, part_speedup=factor)


def test_parts_that_do_not_match_are_refused() -> None:
    with pytest.raises(ArgumentError, match="give one speed-up for each fraction"):
        amdahl.speedup_of_parts(fractions=[0.5], part_speedups=[2, 3])
    with pytest.raises(ArgumentError, match="sum of fractions"):
        amdahl.speedup_of_parts(fractions=[0.7, 0.7], part_speedups=[2, 2])
