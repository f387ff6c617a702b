"""The functions that differ between numbers, arrays and symbols."""

import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from perfmodel.engines import arithmetic
from perfmodel.errors import ArgumentError

numbers = st.integers(-1000, 1000)
units = st.integers(1, 100)


@given(numbers, units)
def test_division_equals_counting(value: int, unit: int) -> None:
    below = max(k * unit for k in range(-1001, 1001) if k * unit <= value)
    above = min(k * unit for k in range(-1001, 1001) if k * unit >= value)
    assert arithmetic.floor_divide(value, unit) * unit == below
    assert arithmetic.ceil_divide(value, unit) * unit == above
    assert arithmetic.round_up(value, unit) == above


@given(st.integers(-(2**62), 2**62), units)
def test_large_whole_numbers_stay_exact(value: int, unit: int) -> None:
    up = arithmetic.round_up(value, unit)
    assert up % unit == 0
    assert 0 <= up - value < unit


BINARY = [
    arithmetic.minimum,
    arithmetic.maximum,
    arithmetic.floor_divide,
    arithmetic.ceil_divide,
    arithmetic.round_up,
]
UNARY = [arithmetic.exponential, arithmetic.square_root]


@pytest.mark.parametrize("function", BINARY)
def test_two_arguments_in_every_kind(function: Callable[..., Any]) -> None:
    firsts, seconds = np.arange(1, 60), np.arange(1, 60)[::-1] % 7 + 1
    together = function(firsts, seconds)
    a, b = sympy.symbols("a b", positive=True, integer=True)
    formula = function(a, b)
    for first, second, found in zip(firsts.tolist(), seconds.tolist(), together, strict=True):
        alone = function(first, second)
        assert alone == found
        assert type(alone) is int
        assert formula.subs({a: first, b: second}) == alone
        assert function(np.int64(first), second) == alone
        assert function(a, second).subs(a, first) == alone
        assert function(first, b).subs(b, second) == alone


@pytest.mark.parametrize("function", UNARY)
def test_one_argument_in_every_kind(function: Callable[..., Any]) -> None:
    values = np.array([0.0, 0.25, 1.0, 9.0])
    together = function(values)
    x = sympy.Symbol("x", positive=True)
    for value, found in zip(values.tolist(), together, strict=True):
        assert function(value) == pytest.approx(found, rel=1e-15)
        assert type(function(value)) is float
        assert float(function(x).subs(x, value)) == pytest.approx(found, rel=1e-12)


def test_where_in_every_kind() -> None:
    assert arithmetic.where(2 > 1, "yes", "no") == "yes"
    assert arithmetic.where(2 < 1, "yes", "no") == "no"
    values = np.arange(5)
    chosen = arithmetic.where(values > 2, values, -values)
    assert chosen.tolist() == [0, -1, -2, 3, 4]
    x = sympy.Symbol("x", real=True)
    formula = arithmetic.where(x > 2, x, -x)
    assert [formula.subs(x, value) for value in range(5)] == [0, -1, -2, 3, 4]


def test_kinds_are_told_apart() -> None:
    x = sympy.Symbol("x")
    assert arithmetic.is_array(np.array([1]))
    assert arithmetic.is_array(np.float64(1))
    assert not arithmetic.is_array([1])
    assert not arithmetic.is_array(x)
    assert arithmetic.is_symbolic(x + 1)
    assert arithmetic.is_symbolic(x > 1)
    assert not arithmetic.is_symbolic(np.array([1]))
    assert not arithmetic.is_symbolic(1)


def test_plain_numbers_import_neither_numpy_nor_sympy() -> None:
    code = (
        "import sys\n"
        "from perfmodel.engines import occupancy, arithmetic\n"
        "occupancy.blocks_by_warps(warps_per_block=8, max_warps_per_mp=64)\n"
        "arithmetic.minimum(1, 2)\n"
        "print([name for name in ('numpy', 'sympy') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


class TestRequire:
    """What a law does not hold for is refused, with what would be right."""

    @pytest.mark.parametrize(
        ("value", "rules"),
        [
            (1, {"low": 1}),
            (0, {"low": 0}),
            (0.5, {"low": 0, "above_low": True}),
            (1, {"low": 0, "high": 1}),
            (2.0, {"whole": True}),
            (math.inf, {"finite": False}),
            (math.inf, {"finite": False, "whole": True}),
            (-5, {}),
            (2**50, {"whole": True, "low": 1}),
            (np.array([1, 2, 3]), {"low": 1, "high": 3, "whole": True}),
            (np.array([1.0, 2.0]), {"whole": True}),
            (np.float64(2.0), {"whole": True}),
            (np.array([True, False]), {"low": 0}),
            (sympy.Symbol("n"), {"low": 5, "whole": True}),
        ],
    )
    def test_what_fits_is_let_through(self, value: Any, rules: dict[str, Any]) -> None:
        arithmetic.require("n", value, **rules)

    @pytest.mark.parametrize(
        ("value", "rules", "message"),
        [
            (0, {"low": 1, "whole": True}, "n is 0: it must be a whole number of at least 1"),
            (1.5, {"low": 1, "whole": True}, "n is 1.5: it must be a whole number of at least 1"),
            (0, {"low": 0, "above_low": True}, "n is 0: it must be a finite number above 0"),
            (2, {"low": 0, "high": 1}, "n is 2: it must be a number of at least 0 and at most 1"),
            (math.nan, {}, "n is nan: it must be a finite number"),
            (math.nan, {"finite": False}, "n is nan"),
            (math.inf, {}, "n is inf: it must be a finite number"),
            (-math.inf, {"low": 0}, "n is -inf"),
            ("3", {}, "n is '3': it must be a number"),
            (None, {}, "n is None: it must be a number"),
            (True, {}, "n is True: it must be a number"),
            ([1, 2], {}, r"n is \[1, 2\]: it must be a number"),
            (np.array([3, 0, 2]), {"low": 1}, "n is 0"),
            (np.array([3, 9, 2]), {"high": 8}, "n is 9"),
            (np.array([1.0, 2.5, 3.0]), {"whole": True}, "n is 2.5"),
            (np.array([1.0, math.nan]), {}, "n is nan"),
            (np.array([1.0, math.inf]), {}, "n is inf"),
            (np.array([]), {}, "n is empty"),
            (np.array(["a"]), {}, "n holds <U1 values: it must hold numbers"),
            (np.array([1 + 2j]), {}, "n holds complex128 values"),
            (np.array([None]), {}, "n holds object values"),
        ],
    )
    def test_what_does_not_fit_is_refused(
        self, value: Any, rules: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(ArgumentError, match=message):
            arithmetic.require("n", value, **rules)

    @given(st.lists(st.floats(allow_nan=True), min_size=1, max_size=6))
    def test_an_array_is_refused_where_one_of_its_numbers_is(self, values: list[float]) -> None:
        def refused(value: Any) -> bool:
            try:
                arithmetic.require("n", value, low=0, high=10, whole=True)
            except ArgumentError:
                return True
            return False

        assert refused(np.array(values)) == any(refused(value) for value in values)
