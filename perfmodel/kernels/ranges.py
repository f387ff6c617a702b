"""The least and the greatest value of an expression, from those of the names it reads.

Whether an index stays in its array for every thread and iteration can mostly be read off the
ends: ``row * n + i`` is greatest where all are. What comes out holds for all values in between;
where C would wrap, overflow or stop anywhere in them, or the rule for an operation is not here,
nothing comes out, and the values themselves have to be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfmodel.expressions.c_types import BOOL, INT, LONG, CType, common, promote
from perfmodel.expressions.nodes import (
    BUILTIN_TYPES,
    Binary,
    Call,
    Cast,
    Conditional,
    Literal,
    Name,
    Node,
    Unary,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!=", "&&", "||"})


@dataclass(frozen=True, slots=True)
class Range:
    """Whole numbers of a type of C between two ends, both included."""

    low: int
    high: int
    kind: CType = LONG


Ends = tuple[int, int]


def name_range(name: str, low: int, high: int) -> Range:
    """The range of a name, of the type that its values give it.

    Example:
        >>> name_range("n", 1, 5).kind.name, name_range("threadIdx.x", 0, 255).kind.name
        ('int', 'unsigned int')
    """
    fits = INT.minimum <= low and high <= INT.maximum
    return Range(low, high, BUILTIN_TYPES.get(name, INT if fits else LONG))


def range_of(node: Node, names: Mapping[str, Range]) -> Range | None:
    """The least and greatest value an expression can have.

    Args:
        node: The expression.
        names: The ranges of the names it reads; one that is missing is not known.

    Returns:
        A range that holds every value the expression has; None where nothing is certain.

    Example:
        >>> from perfmodel.expressions import parse
        >>> names = {name: name_range(name, 0, 255) for name in ("threadIdx.x", "i")}
        >>> found = range_of(parse("threadIdx.x / 8 * 1024 + i % 4").root, names)
        >>> found.low, found.high
        (0, 31747)
    """
    match node:
        case Literal(value=int(value), kind=kind):
            return Range(value, value, kind)
        case Name(name=name):
            return names.get(name)
        case Unary(operator=operator, operand=operand):
            return _unary(operator, range_of(operand, names))
        case Binary(operator=operator, left=left, right=right):
            return _binary(operator, range_of(left, names), range_of(right, names))
        case Conditional(condition=condition, if_true=if_true, if_false=if_false):
            asked = range_of(condition, names)
            return _either(asked, range_of(if_true, names), range_of(if_false, names))
        case Cast(kind=kind, operand=operand):
            return _cast(kind, range_of(operand, names))
        case Call(function=function, arguments=(left, right)):
            return _binary(function, range_of(left, names), range_of(right, names))
        case Call(function="abs", arguments=(operand,)):
            return _absolute(range_of(operand, names))
        case _:
            return None


def _fitting(low: int, high: int, kind: CType) -> Range | None:
    """A range of a type; None where the type does not hold it."""
    return Range(low, high, kind) if kind.minimum <= low and high <= kind.maximum else None


def _unary(operator: str, inner: Range | None) -> Range | None:
    if inner is None:
        return None
    match operator:
        case "+":
            return Range(inner.low, inner.high, promote(inner.kind))
        case "-":
            return _fitting(-inner.high, -inner.low, promote(inner.kind))
        case "!":
            return Range(0, 1, BOOL)
        case _:
            return None


def _absolute(inner: Range | None) -> Range | None:
    if inner is None or inner.low < 0:
        return None
    return Range(inner.low, inner.high, promote(inner.kind))


def _cast(kind: CType, inner: Range | None) -> Range | None:
    if inner is None or kind.floating:
        return None
    return Range(0, 1, BOOL) if kind == BOOL else _fitting(inner.low, inner.high, kind)


def _either(asked: Range | None, yes: Range | None, no: Range | None) -> Range | None:
    if asked is None or yes is None or no is None:
        return None
    return _fitting(min(yes.low, no.low), max(yes.high, no.high), common(yes.kind, no.kind))


def _binary(operator: str, left: Range | None, right: Range | None) -> Range | None:
    if left is None or right is None:
        return None
    kind = promote(left.kind) if operator in ("<<", ">>") else common(left.kind, right.kind)
    if not all(kind.minimum <= each.low and each.high <= kind.maximum for each in (left, right)):
        return None
    if operator in _COMPARISONS:
        return Range(0, 1, BOOL)
    ends: Ends | None
    if operator in _MONOTONE:
        ends = _MONOTONE[operator](left, right)
    elif left.low < 0 or right.low < 0 or operator not in _NOT_NEGATIVE:
        return None
    else:
        ends = _NOT_NEGATIVE[operator](left, right)
    return None if ends is None else _fitting(*ends, kind)


def _product(left: Range, right: Range) -> Ends:
    corners = [one * other for one in (left.low, left.high) for other in (right.low, right.high)]
    return min(corners), max(corners)


def _quotient(left: Range, right: Range) -> Ends | None:
    return (left.low // right.high, left.high // right.low) if right.low > 0 else None


def _quotient_up(left: Range, right: Range) -> Ends | None:
    return (-(-left.low // right.high), -(-left.high // right.low)) if right.low > 0 else None


def _remainder(left: Range, right: Range) -> Ends | None:
    if right.low <= 0:
        return None
    if left.high < right.low:
        return left.low, left.high
    return 0, min(left.high, right.high - 1)


def _all_bits(left: Range, right: Range) -> Ends:
    return 0, (1 << max(left.high.bit_length(), right.high.bit_length())) - 1


def _shifted_left(left: Range, right: Range) -> Ends | None:
    return (left.low << right.low, left.high << right.high) if right.high < INT.bits else None


def _shifted_right(left: Range, right: Range) -> Ends | None:
    return (left.low >> right.high, left.high >> right.low) if right.high < INT.bits else None


_MONOTONE: Mapping[str, Callable[[Range, Range], Ends]] = {
    "+": lambda left, right: (left.low + right.low, left.high + right.high),
    "-": lambda left, right: (left.low - right.high, left.high - right.low),
    "*": _product,
    "min": lambda left, right: (min(left.low, right.low), min(left.high, right.high)),
    "max": lambda left, right: (max(left.low, right.low), max(left.high, right.high)),
}
"""Operations whose ends are found among the ends of their operands."""
_NOT_NEGATIVE: Mapping[str, Callable[[Range, Range], Ends | None]] = {
    "/": _quotient,
    "%": _remainder,
    "ceil_div": _quotient_up,
    "&": lambda left, right: (0, min(left.high, right.high)),
    "|": _all_bits,
    "^": _all_bits,
    "<<": _shifted_left,
    ">>": _shifted_right,
}
"""Operations whose rule holds where no operand is negative."""
