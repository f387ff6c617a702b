"""The ends of an expression hold every value it has."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfmodel.expressions import ExpressionError, parse
from perfmodel.kernels.ranges import Range, name_range, range_of

NAMES = ("a", "b", "threadIdx.x")


def ends(text: str, **names: tuple[int, int]) -> tuple[int, int] | None:
    found = range_of(parse(text).root, {n: name_range(n, *each) for n, each in names.items()})
    return None if found is None else (found.low, found.high)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a * 4 + b", (4, 43)),
        ("a - b", (-2, 10)),
        ("-a", (-10, -1)),
        ("a / 3", (0, 3)),
        ("b % 2", (0, 1)),
        ("b % 8", (0, 3)),
        ("a & 3", (0, 3)),
        ("a ^ b", (0, 15)),
        ("a << 2", (4, 40)),
        ("a >> 1", (0, 5)),
        ("a < b", (0, 1)),
        ("a < b ? 100 : b", (0, 100)),
        ("min(a, b) + max(a, b)", (1, 13)),
        ("ceil_div(a, 4)", (1, 3)),
        ("1LL * a * 1000000000", (1000000000, 10000000000)),
        ("abs(a)", (1, 10)),
        ("(long long)a", (1, 10)),
        ("(bool)a", (0, 1)),
        ("!a", (0, 1)),
    ],
)
def test_the_ends_of_an_expression(text: str, expected: tuple[int, int]) -> None:
    assert ends(text, a=(1, 10), b=(0, 3)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a * 1000000000",  # overflows int
        "a / b",  # by zero
        "(b - a) % 3",
        "a << 31",
        "1.5 * a",
        "c",
        "(char)(a * 100)",
        "popcount(a)",
        "~a",
        "b - a - 1u",
    ],
)
def test_nothing_is_said_where_nothing_is_certain(text: str) -> None:
    assert ends(text, a=(1, 10), b=(0, 3)) is None


LEAVES = st.sampled_from(["a", "b", "threadIdx.x", "1", "3", "8", "32"])


def combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", "=="])
    two = st.tuples(inner, operators, inner).map(lambda parts: f"({' '.join(parts)})")
    called = st.tuples(st.sampled_from(["min", "max", "ceil_div"]), inner, inner)
    chosen = st.tuples(inner, inner, inner).map(lambda parts: "({} ? {} : {})".format(*parts))
    return two | called.map(lambda parts: "{}({}, {})".format(*parts)) | chosen


@given(
    st.recursive(LEAVES, combined, max_leaves=6),
    st.tuples(*(st.tuples(st.integers(0, 40), st.integers(0, 5)) for _ in NAMES)),
)
def test_every_value_lies_between_the_ends(text: str, sizes: tuple[tuple[int, int], ...]) -> None:
    bounds = {name: (low, low + more) for name, (low, more) in zip(NAMES, sizes, strict=True)}
    found = range_of(parse(text).root, {n: name_range(n, *each) for n, each in bounds.items()})
    grid = itertools.product(*(range(low, high + 1) for low, high in bounds.values()))
    values = dict(zip(NAMES, map(np.array, zip(*grid, strict=True)), strict=True))
    try:
        every = parse(text).evaluate(values).astype(np.int64)
    except ExpressionError:
        assert found is None
        return
    if found is not None:
        assert found.low <= every.min()
        assert every.max() <= found.high


def test_a_range_keeps_the_type_that_a_name_has() -> None:
    assert name_range("threadIdx.x", 0, 5).kind.name == "unsigned int"
    assert name_range("n", 0, 1 << 31).kind.name == "long long"
    assert Range(0, 1).kind.name == "long long"
