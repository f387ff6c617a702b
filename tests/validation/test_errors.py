"""The statistics of errors, by hand and by enumeration."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfmodel.validation.errors import (
    factor_apart,
    kendall_tau,
    order_of_pairs,
    quantile,
    relative_error,
)

TIMES = st.floats(1e-7, 1.0)


@given(predicted=TIMES, measured=TIMES)
def test_a_factor_is_the_same_either_way(predicted: float, measured: float) -> None:
    factor = factor_apart(predicted=predicted, measured=measured)
    assert factor >= 1
    assert factor == pytest.approx(factor_apart(predicted=measured, measured=predicted))
    if predicted > measured:
        error = relative_error(predicted=predicted, measured=measured)
        assert factor == pytest.approx(1 + error, rel=1e-6)


@given(values=st.lists(TIMES, min_size=1, max_size=40), share=st.floats(0, 1))
def test_so_many_lie_at_or_below_a_quantile(values: list[float], share: float) -> None:
    found = quantile(values, share)
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9 * len(values)
    assert min(values) <= found <= max(values)


@given(pairs=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=8))
def test_tau_counts_pairs(pairs: list[tuple[float, float]]) -> None:
    differing = [(a, b) for a, b in combinations(pairs, 2) if a[1] != b[1]]
    agreeing = sum((a[0] < b[0] and a[1] < b[1]) or (a[0] > b[0] and a[1] > b[1])
                   for a, b in differing)  # fmt: skip
    expected = (2 * agreeing - len(differing)) / len(differing) if differing else 1.0
    assert kendall_tau(pairs) == pytest.approx(expected)


def test_pairs_that_hardly_differ_may_come_in_any_order() -> None:
    turned = [(2.0, 1.00), (1.0, 1.04)]
    assert order_of_pairs(turned, least=0.05) == (0, 0)
    assert order_of_pairs(turned, least=0.03) == (0, 1)
    assert order_of_pairs([(1.0, 1.0), (1.0, 2.0)], least=0.05) == (0, 1)  # a tie is no order
