"""The sympy form: known formulas, agreement with the evaluation, what is refused."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
import sympy
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from perfmodel.expressions import Expression, ExpressionError, parse

if TYPE_CHECKING:
    from random import Random


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("threadIdx.x * 32 + i", "i + 32*threadIdx.x"),
        ("n / 32", "floor(n/32)"),
        ("n >> 5", "floor(n/32)"),
        ("n << 5", "32*n"),
        ("n << m", "2**m*n"),
        ("n % 32", "Mod(n, 32)"),
        ("n & 31", "Mod(n, 32)"),
        ("31 & n", "Mod(n, 32)"),
        ("6 & 3", "2"),
        ("ceil_div(n, 256)", "ceiling(n/256)"),
        ("min(n, 3) + max(n, 3)", "Max(3, n) + Min(3, n)"),
        ("log2(8)", "3"),
        ("n / 2.0", "0.5*n"),
        ("(int)(n * 0.5)", "floor(0.5*n)"),
        ("(size_t)n * 2", "2*n"),
        ("(double)n / m", "n/m"),
        ("n < m", "n < m"),
        ("!(n < m)", "n >= m"),
        ("n && m < 2", "(m < 2) & Ne(n, 0)"),
        ("n < m ? n : 0", "Piecewise((n, m > n), (0, True))"),
        ("(n < m) + 1", "Piecewise((1, m > n), (0, True)) + 1"),
        ("(bool)n", "Ne(n, 0)"),
        ("n < m ? true : n < 2", "ITE(n < m, True, n < 2)"),
        ("+n - -m", "m + n"),
        ("abs(n)", "n"),
    ],
)
def test_known_formulas(text: str, formula: str) -> None:
    assert str(parse(text).symbolic()) == formula


def test_the_symbols_carry_the_free_names() -> None:
    exact = parse("threadIdx.x / n").symbolic()
    assert {str(symbol) for symbol in exact.free_symbols} == {"threadIdx.x", "n"}
    assert all(symbol.is_integer and symbol.is_nonnegative for symbol in exact.free_symbols)
    relaxed = parse("threadIdx.x / n").symbolic(relaxed=True)
    assert all(symbol.is_real and symbol.is_integer is None for symbol in relaxed.free_symbols)


def test_the_relaxed_form_can_be_differentiated_and_solved() -> None:
    expression = parse("ceil_div(m, 128) * ceil_div(n, 128) * k / 2")
    assert expression.relaxed_operations == ("ceil_div", "/")
    formula = expression.symbolic(relaxed=True)
    n = sympy.Symbol("n", nonnegative=True)
    m, k = (sympy.Symbol(name, nonnegative=True) for name in "mk")
    assert sympy.simplify(sympy.diff(formula, n) - m * k / 32768) == 0
    assert sympy.solve(parse("3 * n / 2 - 4").symbolic(relaxed=True), n) == [sympy.Rational(8, 3)]


@pytest.mark.parametrize(
    ("text", "operations"),
    [
        ("a * b + c % d", ()),
        ("a / 2 + b / 3", ("/",)),
        ("a / 2.0", ()),
        ("a >> 1", (">>",)),
        ("a + ceil_div(a >> 1, b / c)", ("ceil_div", ">>", "/")),
        ("(int)(a * 0.5)", ("(int)",)),
        ("(int)a + (double)b", ()),
    ],
)
def test_the_relaxed_operations_are_listed(text: str, operations: tuple[str, ...]) -> None:
    assert parse(text).relaxed_operations == operations


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("n ^ 1", "'^' has no closed form", 3),
        ("n | 1", "'|' has no closed form", 3),
        ("n & 5", "'&' has no closed form", 3),
        ("~n", "'~' has no closed form", 1),
        ("popcount(n)", "'popcount' has no closed form", 1),
        ("n / 0", "division by zero", 3),
        ("n % (m - m)", "division by zero", 3),
        ("ceil_div(n, 0)", "division by zero", 1),
        ("log2(0)", "no finite value", 1),
        ("1 << 64", "shift by 64: 0 to 63 is possible", 3),
        ("1 << 1.5", "shift by 1.5", 3),
        ("n << (1 << 62)", "0 to 63 is possible", 3),
        ("n << (m + (1 << 62))", "0 to 63 is possible", 3),
        ("n << ((1 << 62) * m)", "0 to 63 is possible", 3),
        ("n >> 0 - 1", "shift by -1", 3),
    ],
)
def test_what_has_no_formula_is_refused(text: str, message: str, column: int) -> None:
    for relaxed in (False, True):
        with pytest.raises(ExpressionError) as caught:
            parse(text).symbolic(relaxed=relaxed)
        assert message in caught.value.message
        assert caught.value.column == column


@pytest.mark.parametrize(
    "text",
    [
        "1 << 63" + " << 63" * 50,
        "".join(f"max(n{i}, " for i in range(60)) + "z" + ")" * 60,
        "".join(f"c{i} < {i} ? x{i} : " for i in range(60)) + "z",
        "".join(f"(n{i} < m{i}) == " for i in range(30)) + "c",
        "(a < b ? a : b) < " * 40 + "c",
        "(a - b) / (c - d) < " * 20 + "e",
        "".join(f"(n{i} % " for i in range(30)) + "z" + ")" * 30,
        "(n << (63 * n * (n + 63))) % 3",
    ],
)
def test_large_formulas_end_quickly(text: str) -> None:
    start = time.perf_counter()
    formula, refusal = _formula_or_refusal(parse(text))
    assert "chooses too often" in refusal if formula is None else str(formula)
    assert time.perf_counter() - start < 4


def _formula_or_refusal(expression: Expression) -> tuple[Any, str]:
    try:
        return expression.symbolic(), ""
    except ExpressionError as error:
        return None, error.message


def _random_text(random: Random, depth: int) -> str:
    """An expression without subtraction, so that no operand is ever negative."""
    if depth == 0:
        return random.choice(["a", "b", "c", "1", "2", "7", "32"])

    def below() -> str:
        return _random_text(random, depth - 1)

    shape = random.randrange(6)
    if shape == 0:
        return f"{random.choice(['min', 'max', 'ceil_div'])}({below()}, {below()} + 1)"
    if shape == 1:
        order = random.choice(["<", "<=", "==", "!=", ">", ">="])
        return f"({below()} {order} {below()} ? {below()} : {below()})"
    if shape == 2:
        return f"({below()} {random.choice(['/', '%'])} ({below()} + 1))"
    if shape == 3:
        return f"({below()} {random.choice(['>> 3', '<< 2', '& 7', '% 5', '/ 3'])})"
    if shape == 4:
        return f"({below()} {random.choice(['&&', '||'])} {below()})"
    return f"({below()} {random.choice('+*')} {below()})"


@settings(max_examples=120, deadline=None)
@given(
    st.randoms(use_true_random=False),
    st.integers(0, 3),
    st.fixed_dictionaries({name: st.integers(0, 300) for name in "abc"}),
)
def test_the_formula_agrees_with_the_evaluation(
    random: Random, depth: int, values: dict[str, int]
) -> None:
    expression = parse(_random_text(random, depth))
    try:
        expected = expression.evaluate(values)
    except ExpressionError:  # an overflow: the formula has no widths
        reject()
    formula, refusal = _formula_or_refusal(expression)
    if formula is None:
        assert "chooses too often" in refusal
        return
    symbols = {sympy.Symbol(name, nonnegative=True, integer=True): n for name, n in values.items()}
    value = formula.subs(symbols)
    assert (bool(value) if expected.dtype == bool else int(value)) == expected
