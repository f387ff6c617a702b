"""The expression as a sympy formula, for printing, differentiating and solving.

The formula is over the mathematical integers: it takes every operand as non-negative and knows no
width, so it agrees with the evaluation wherever operands are not negative and nothing wraps.
Operations on single bits have no such form and are refused, except ``&`` with 2**k - 1.
"""

from __future__ import annotations

from operator import add, mul, sub
from typing import Any, Final

import sympy  # noqa: TID253 - this module is imported on first use

from perfmodel.expressions.c_types import BOOL
from perfmodel.expressions.counting import static_type
from perfmodel.expressions.errors import ExpressionError
from perfmodel.expressions.nodes import (
    Binary,
    Call,
    Cast,
    Conditional,
    Literal,
    Name,
    Node,
    Unary,
    walk,
)

_ARITHMETIC: Final = {"+": add, "-": sub, "*": mul}
_COMPARISONS: Final = {
    "==": sympy.Eq,
    "!=": sympy.Ne,
    "<": sympy.Lt,
    "<=": sympy.Le,
    ">": sympy.Gt,
    ">=": sympy.Ge,
}
_EXTREMES: Final = {"min": sympy.Min, "max": sympy.Max}
_LOGICAL: Final = {"&&": sympy.And, "||": sympy.Or}
_LARGEST_SHIFT: Final = 63
_QUICK_NAMES: Final = 6
_FOLDABLE_OPERATIONS: Final = 16


def symbolic(text: str, root: Node, *, relaxed: bool) -> Any:
    """Translate a tree; see :meth:`perfmodel.expressions.Expression.symbolic`."""
    form = _Translation(text, relaxed=relaxed).formula(root)
    if form.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
        raise ExpressionError(f"the formula has no finite value: {form}", text, root.offset)
    return form


def relaxed_operations(root: Node) -> tuple[str, ...]:
    """The operations that the relaxed form does not round, each once, in order of the text."""
    found = [(node.offset, name) for node in walk(root) if (name := _rounding(node))]
    return tuple(dict.fromkeys(name for _, name in sorted(found)))


def _rounding(node: Node) -> str | None:
    """The name of an operation that rounds its exact value to an integer, or None."""
    match node:
        case Binary(operator=">>"):
            return ">>"
        case Binary(operator="/") if not static_type(node).floating:
            return "/"
        case Call(function="ceil_div"):
            return "ceil_div"
        case Cast(kind=kind, operand=operand) if kind != BOOL and not kind.floating:
            return f"({kind.name})" if static_type(operand).floating else None
    return None


class _Translation:
    """One translation: the assumptions, and the walk over the tree."""

    def __init__(self, text: str, *, relaxed: bool) -> None:
        self._text = text
        self._relaxed = relaxed

    def formula(self, node: Node) -> Any:
        """The sympy form of a node, a number or a truth value."""
        match node:
            case Literal(value=bool() as value):
                return sympy.true if value else sympy.false
            case Literal(value=int() as value):
                return sympy.Integer(value)
            case Literal(value=value):
                return sympy.Float(value)
            case Name(name=name):
                return sympy.Symbol(name, nonnegative=True, integer=None if self._relaxed else True)
            case Cast():
                return self._cast(node)
            case Unary():
                return self._unary(node)
            case Binary(operator=operator, left=left, right=right):
                return self._binary(node, operator, left, right)
            case Conditional():
                return self._conditional(node)
            case Call(function=function, arguments=arguments):
                return self._call(node, function, [self._number(each) for each in arguments])

    def _number(self, node: Node) -> Any:
        """A node where C wants a number: a truth value counts as 0 or 1."""
        form = self.formula(node)
        return self._choice(node, form, 1, 0) if static_type(node) == BOOL else form

    def _truth(self, node: Node) -> Any:
        """A node where C wants a truth value: a number is true unless zero."""
        form = self.formula(node)
        return form if static_type(node) == BOOL else sympy.Ne(form, 0)

    def _unary(self, node: Unary) -> Any:
        match node.operator:
            case "!":
                return sympy.Not(self._truth(node.operand))
            case "-":
                return -self._number(node.operand)
            case "+":
                return self._number(node.operand)
        raise self._refusal(node, node.operator)

    def _binary(self, node: Node, operator: str, left: Node, right: Node) -> Any:
        if operator in _LOGICAL:
            return _LOGICAL[operator](self._truth(left), self._truth(right))
        first, second = self._number(left), self._number(right)
        if operator in _ARITHMETIC:
            return _ARITHMETIC[operator](first, second)
        if operator in _COMPARISONS:
            return _COMPARISONS[operator](first, second, evaluate=_is_small(first, second))
        if operator in ("/", "%"):
            return self._quotient(node, operator, first, second)
        if operator in ("<<", ">>"):
            return self._shift(node, operator, first, second)
        return self._bits(node, operator, first, second)

    def _quotient(self, node: Node, operator: str, first: Any, second: Any) -> Any:
        if second.is_zero:
            raise ExpressionError("division by zero", self._text, node.offset)
        if operator == "%":
            return sympy.Mod(first, second)
        if self._relaxed or static_type(node).floating:
            return first / second
        return (sympy.ceiling if operator == "ceil_div" else sympy.floor)(first / second)

    def _shift(self, node: Node, operator: str, first: Any, count: Any) -> Any:
        possible = count.is_Integer and count >= 0 if count.is_number else True
        if not possible or any(
            abs(number) > _LARGEST_SHIFT for number in count.atoms(sympy.Number)
        ):
            message = f"shift by {count}: 0 to {_LARGEST_SHIFT} is possible"
            raise ExpressionError(message, self._text, node.offset)
        power = sympy.Pow(2, count)
        if operator == "<<":
            return first * power
        return first / power if self._relaxed else sympy.floor(first / power)

    def _bits(self, node: Node, operator: str, first: Any, second: Any) -> Any:
        """``x & (2**k - 1)`` is a remainder; no other bit operation has a closed form."""
        for value, mask in ((first, second), (second, first)):
            if operator == "&" and mask.is_Integer and mask >= 0 and mask & (mask + 1) == 0:
                return sympy.Mod(value, mask + 1)
        raise self._refusal(node, operator)

    def _conditional(self, node: Conditional) -> Any:
        condition = self._truth(node.condition)
        if static_type(node) == BOOL:
            return sympy.ITE(condition, self._truth(node.if_true), self._truth(node.if_false))
        if_true, if_false = self._number(node.if_true), self._number(node.if_false)
        return self._choice(node, condition, if_true, if_false)

    def _choice(self, node: Node, condition: Any, if_true: Any, if_false: Any) -> Any:
        """A value that depends on a condition; sympy folds choices inside the condition."""
        if condition.has(sympy.Piecewise) and condition.count_ops() > _FOLDABLE_OPERATIONS:
            message = "a condition that chooses too often for a formula: evaluate it over arrays"
            raise ExpressionError(f"{message} instead", self._text, node.offset)
        return sympy.Piecewise((if_true, condition), (if_false, True))

    def _cast(self, node: Cast) -> Any:
        if node.kind == BOOL:
            return self._truth(node.operand)
        form = self._number(node.operand)
        truncates = not node.kind.floating and static_type(node.operand).floating
        return sympy.floor(form) if truncates and not self._relaxed else form

    def _call(self, node: Node, function: str, arguments: list[Any]) -> Any:
        match function:
            case "min" | "max":
                return _EXTREMES[function](*arguments, evaluate=_is_small(*arguments))
            case "abs":
                return sympy.Abs(*arguments)
            case "log2":
                return sympy.log(*arguments, 2)
            case "ceil_div":
                return self._quotient(node, function, *arguments)
        raise self._refusal(node, function)

    def _refusal(self, node: Node, operation: str) -> ExpressionError:
        return ExpressionError(
            f"'{operation}' has no closed form: evaluate it over arrays instead",
            self._text,
            node.offset,
        )


def _is_small(*forms: Any) -> bool:
    """Whether sympy decides a comparison of these quickly: its time grows exponentially."""
    names = set().union(*(form.free_symbols for form in forms))
    return len(names) <= _QUICK_NAMES and not any(form.has(sympy.Piecewise) for form in forms)
