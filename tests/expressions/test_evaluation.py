"""Known values, the rules of C one by one, and what an error of evaluation says."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from perfmodel.expressions import ExpressionError, parse


def _value(text: str, **values: Any) -> Any:
    return parse(text).evaluate(values).tolist()


def _failure(text: str, **values: Any) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        parse(text).evaluate(values)
    return caught.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("7 / -2", -3),
        ("-7 % 3", -1),
        ("7 % -3", 1),
        ("-7 >> 1", -4),
        ("-1 >> 31", -1),
        ("1 << 30", 2**30),
        ("1u << 31", 2**31),
        ("3u << 31", 2**31),
        ("1ll << 62", 2**62),
        ("0u - 1", 2**32 - 1),
        ("0ull - 1", 2**64 - 1),
        ("-1 < 1u", False),
        ("-1 < 1ll", True),
        ("-1 + 1ull == 0", True),
        ("4294967295u + 1u", 0),
        ("4294967295u + 1ll", 2**32),
        ("65536u * 65536u", 0),
        ("4294967295u * 4294967295u", 1),
        ("18446744073709551615u * 18446744073709551615u", 1),
        ("-1 / 2u", 2147483647),
        ("-2147483647 - 1", -(2**31)),
        ("2147483647 + 1ll", 2**31),
        ("~0", -1),
        ("~0u", 2**32 - 1),
        ("~true", -2),
        ("!5", False),
        ("!0.0", True),
        ("true + true", 2),
        ("(char)200", -56),
        ("(uint8_t)300", 44),
        ("(uint8_t)200 + (uint8_t)100", 300),
        ("(short)40000", -25536),
        ("(bool)7 + 0", 1),
        ("(int)4294967295u", -1),
        ("(unsigned)-1", 2**32 - 1),
        ("(size_t)-1 == 18446744073709551615u", True),
        ("(int)2.9 + (int)-2.9", 0),
        ("(unsigned long long)1.8e19", 18 * 10**18),
        ("7 / 2.0", 3.5),
        ("1.5f * 2", 3.0),
        ("true ? -1 : 2u", 2**32 - 1),
        ("false ? 1.5 : 2", 2.0),
        ("true ? true : false", True),
        ("3 > 2 > 1", False),
        ("1 | 2 ^ 3 & 2", 1 | (2 ^ (3 & 2))),
        ("min(-1, 3u)", 3),
        ("max(-1, 3)", 3),
        ("min(1, 0.5)", 0.5),
        ("abs(-5) + abs(5u)", 10),
        ("abs(-1.5)", 1.5),
        ("ceil_div(7, 2)", 4),
        ("ceil_div(-7, 2)", -3),
        ("ceil_div(-7, -2)", 4),
        ("ceil_div(2147483647, 2)", 2**30),
        ("log2(1024)", 10.0),
        ("popcount(255) + popcount(-1)", 40),
        ("popcount(-1ll) + __popcll(-1) + __popc(-1)", 160),
    ],
)
def test_known_values(text: str, value: float) -> None:
    result = _value(text)
    assert result == value
    assert type(result) is type(value)


def test_an_index_over_lanes() -> None:
    lanes = np.arange(32)
    result = parse("(threadIdx.x ^ (threadIdx.x >> 3)) * 32 + i").evaluate(
        {"threadIdx.x": lanes, "i": 5}
    )
    assert result.tolist() == [(lane ^ (lane >> 3)) * 32 + 5 for lane in range(32)]


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        *[
            ("a", "int64"),
            ("u - 1", "int64"),
            ("a < 1", "bool"),
            ("!a", "bool"),
            ("a && u", "bool"),
        ],
        *[("a * 0.5", "float64"), ("log2(a)", "float64"), ("0ull - a", "uint64")],
        *[("0ull + a", "int64"), ("(bool)a", "bool"), ("(char)a", "int64"), ("d", "float64")],
    ],
)
def test_the_dtype_of_the_result(text: str, dtype: str) -> None:
    values = {"a": [1, 2], "u": np.array([0, 1], np.uint32), "d": np.float32(0.5)}
    assert parse(text).evaluate(values).dtype == np.dtype(dtype)


def test_shapes_broadcast() -> None:
    column, row = np.arange(3)[:, None], np.arange(4)
    assert parse("a * 4 + b").evaluate({"a": column, "b": row}).tolist() == [
        *([0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]),
    ]
    assert parse("a").evaluate({"a": 1, "unused": row}).shape == ()
    assert parse("1 ? 2 : a").evaluate({"a": row}).tolist() == [2, 2, 2, 2]
    assert parse("a / 0").evaluate({"a": []}).shape == (0,)
    assert parse("a + b").evaluate({"a": np.zeros((0, 1), int), "b": row}).shape == (0, 4)


def test_the_result_is_an_array_of_its_own() -> None:
    given = np.arange(3)
    result = parse("a").evaluate({"a": given})
    result[0] = 7
    assert given.tolist() == [0, 1, 2]


def test_a_parameter_has_the_type_of_its_values() -> None:
    assert _value("a * 2 / 2", a=2**31) == 2**31
    assert "does not fit int" in _failure("a * 2", a=2**30).message
    assert "does not fit long long" in _failure("a * 2", a=2**62).message
    assert _value("a * 2", a=2**63) == 0
    assert _value("a - 1", a=np.uint32(0)) == 2**32 - 1
    assert _value("a - 1", a=np.uint64(0)) == 2**64 - 1
    assert _value("a - 1", a=np.uint8(0)) == -1
    assert _value("a + a", a=True) == 2
    assert _value("a / 2", a=np.float16(3)) == 1.5
    assert _value("a / 2", a=[3, 2**40]) == [1, 2**39]


def test_built_in_names_have_fixed_types() -> None:
    values = {"threadIdx.x": 0, "warpSize": np.uint32(32)}
    assert parse("threadIdx.x - 1").evaluate(values) == 2**32 - 1
    assert parse("0 - warpSize").evaluate(values) == -32


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n != 0 && 12 / n > 4", [False, True, True]),
        ("n == 0 || 12 / n > 4", [True, True, True]),
        ("n ? 12 / n : -1", [-1, 12, 6]),
        ("n == 0 ? -1 : n == 1 ? 12 % n : 1 << (n - 2)", [-1, 0, 1]),
        ("n < 1 ? 0 : 2147483647 + (1 - n)", [0, 2**31 - 1, 2**31 - 2]),
        ("n == 0 ? 0 : (int)(1e300 / (1e300 / n))", [0, 1, 2]),
        ("n < 0 && 1 / 0", [False, False, False]),
        ("n >= 0 || 1 / 0", [True, True, True]),
        ("n >= 0 ? 1 : 1 / 0 + (1 << 40) + (int)1e30", [1, 1, 1]),
        ("n ? n ? 12 / n : 1 / 0 : 3", [3, 12, 6]),
    ],
)
def test_what_c_skips_raises_nothing(text: str, expected: list[object]) -> None:
    assert _value(text, n=[0, 1, 2]) == expected
    assert [_value(text, n=n) for n in range(3)] == expected


@pytest.mark.parametrize(
    ("text", "values", "message", "column"),
    [
        ("12 / n", {"n": [3, 0, 0]}, "integer division by zero for n=0", 4),
        ("m % (n - 1)", {"n": [3, 1], "m": 5}, "integer division by zero for n=1", 3),
        ("ceil_div(n, 0)", {"n": 4}, "integer division by zero", 1),
        ("1.5 / n", {"n": 0}, "division by zero: 1.5 / 0.0 for n=0", 5),
        ("n + 1", {"n": [0, 2**31 - 1]}, "2147483647 + 1 does not fit int for n=2147483647", 3),
        ("n - m", {"n": -2, "m": 2**31 - 1}, "-2 - 2147483647 does not fit int for n=-2, m=", 3),
        ("n * n", {"n": [1, 65536]}, "65536 * 65536 does not fit int for n=65536", 3),
        ("n * 2", {"n": -(2**62) - 1}, "-4611686018427387905 * 2 does not fit long long", 3),
        ("n * -1", {"n": -(2**63)}, "does not fit long long", 3),
        ("-1 * n", {"n": -(2**63)}, "does not fit long long", 4),
        ("n + n", {"n": [0, 2**62]}, "does not fit long long for n=4611686018427387904", 3),
        ("n - m", {"n": -(2**63), "m": 1}, "-9223372036854775808 - 1 does not fit long long", 3),
        ("-n", {"n": -(2**31)}, "-(-2147483648) does not fit int", 1),
        ("-n", {"n": -(2**63)}, "does not fit long long", 1),
        ("abs(n)", {"n": -(2**31)}, "abs(-2147483648) does not fit int", 1),
        ("n / -1", {"n": -(2**31)}, "-2147483648 / -1 does not fit int", 3),
        ("n % -1", {"n": -(2**63)}, "% -1 does not fit long long", 3),
        ("1 << n", {"n": [0, 31]}, "signed overflow: 1 << 31 does not fit int for n=31", 3),
        ("1 << n", {"n": [0, 32]}, "shift by 32: int takes 0 to 31 for n=32", 3),
        ("1ull >> n", {"n": -1}, "shift by -1: unsigned long long takes 0 to 63 for n=-1", 6),
        ("n << 1", {"n": -1}, "left shift of a negative value: -1 << 1 for n=-1", 3),
        ("log2(n)", {"n": [1, 0]}, "log2 of 0.0, it takes values above zero for n=0", 1),
        ("(int)(n * 1e9)", {"n": [1, 3]}, "3000000000.0 does not fit int for n=3", 1),
        ("(unsigned)(n * 1.0)", {"n": -1}, "-1.0 does not fit unsigned int for n=-1", 1),
        ("1e200 * 1e200", {}, "1e+200 * 1e+200 is no finite number", 7),
        ("n ? 1 / m : 2", {"n": [0, 1], "m": [1, 0]}, "integer division by zero for m=0", 7),
        ("n && 1 / m", {"n": [0, 1], "m": [1, 0]}, "integer division by zero for m=0", 8),
        ("1.5 % n", {"n": 1}, "'%' takes integers, its left operand is double", 5),
        ("n & 1.5", {"n": 1}, "'&' takes integers, its right operand is double", 3),
        ("n << 1.0", {"n": 1}, "its right operand is double: cast it, as in int(x)", 3),
        ("1 ? 2 : ~n", {"n": 0.5}, "'~' takes integers, its operand is double", 9),
        ("ceil_div(n, 2)", {"n": 0.5}, "'ceil_div' takes integers", 1),
        ("popcount(n)", {"n": 0.5}, "'popcount' takes integers", 1),
    ],
)
def test_what_c_leaves_undefined_is_an_error(
    text: str, values: dict[str, Any], message: str, column: int
) -> None:
    error = _failure(text, **values)
    assert message in error.message
    assert error.column == column


def test_the_first_offending_element_is_named() -> None:
    values = {"threadIdx.x": np.arange(4)[:, None], "i": np.array([3, 0, 1])}
    with pytest.raises(ExpressionError) as caught:
        parse("100u / (threadIdx.x * i)").evaluate(values)
    assert str(caught.value) == (
        'column 6 of "100u / (threadIdx.x * i)": integer division by zero for threadIdx.x=0, i=3'
    )
    with pytest.raises(ExpressionError, match=r"for threadIdx.x=2, i=1$"):
        parse("1 / (threadIdx.x - 2 * i)").evaluate({**values, "i": [3, 4, 1]})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "'n' is nan: a finite number is expected"),
        ([1.0, float("-inf")], "'n' is -inf: a finite number is expected"),
        ("3", "'n' is '3': an integer, a number, or a NumPy array"),
        (None, "'n' is None"),
        (1j, "'n' is 1j"),
        ({}, "'n' is {}"),
        (np.array(["a"]), "'n' is array(['a']"),
        (np.datetime64("2026-11-30"), "'n' is "),
        ([[1], [1, 2]], "'n' is a ragged sequence"),
        (2**64, "'n' is 18446744073709551616: integers of up to 64 bits are known"),
        ([2**63, -1], "'n' mixes integers that share no 64-bit type"),
    ],
)
def test_an_input_that_is_no_number(value: object, message: str) -> None:
    error = _failure("1 + n", n=value)
    assert message in error.message
    assert error.column == 5


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-1, "'threadIdx.x' is -1: unsigned int takes 0 to 4294967295"),
        ([0, 2**32], "'threadIdx.x' is 4294967296"),
        (1.0, "'threadIdx.x' has type unsigned int: a whole number is expected"),
    ],
)
def test_a_built_in_name_outside_its_type(value: object, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse("threadIdx.x").evaluate({"threadIdx.x": value})
    assert message in caught.value.message


def test_missing_names_are_listed_with_what_was_given() -> None:
    error = _failure("tile * n + m", tiles=4, m=1)
    assert error.message == "no value for 'tile', 'n'; did you mean 'tiles'? given: m, tiles"
    assert error.column == 1
    assert _failure("m + n", m=1).column == 5
    assert _failure("n").message == "no value for 'n': nothing is given"


def test_shapes_that_do_not_broadcast() -> None:
    error = _failure("a + b", a=[1, 2], b=[1, 2, 3])
    assert error.message == "the inputs do not broadcast together: a (2,), b (3,)"


def test_a_million_lanes_take_no_python_loop() -> None:
    lanes = np.arange(1_000_000)
    index = parse("(threadIdx.x ^ (threadIdx.x >> 3)) % n < 7 ? threadIdx.x / (i + 1) : i * 4")
    start = time.perf_counter()
    index.evaluate({"threadIdx.x": lanes, "i": 3, "n": 1000})
    with pytest.raises(ExpressionError):
        parse("1 / (threadIdx.x - 999999)").evaluate({"threadIdx.x": lanes})
    assert time.perf_counter() - start < 2
