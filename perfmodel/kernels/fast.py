"""Expressions compiled for counting: whole numbers or arrays of them in, the same out.

Counting evaluates the same few expressions for every prediction, with numbers for one and with
arrays for a batch. What C would refuse (an overflow, a division by zero) is refused when a
description is checked, by :meth:`perfmodel.expressions.Expression.evaluate`; here the expression
means what it means in mathematics, with C's truncating division.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from perfmodel.expressions.nodes import (
    Binary,
    Call,
    Cast,
    Conditional,
    Literal,
    Name,
    Node,
    Unary,
)

Values: TypeAlias = Mapping[str, Any]
"""A whole number or an int64 array for each name."""
Compiled: TypeAlias = Callable[[Values], Any]


def _truncated(left: Any, right: Any) -> Any:
    quotient = abs(left) // abs(right)
    if isinstance(quotient, np.ndarray):
        return np.where((left < 0) != (right < 0), -quotient, quotient)
    return -quotient if (left < 0) != (right < 0) else quotient


def _divide(left: Any, right: Any) -> Any:
    if type(left) is int and type(right) is int:
        return left // right if left >= 0 and right > 0 else _truncated(left, right)
    if isinstance(left, float) or isinstance(right, float):
        return left / right
    return _truncated(left, right)


def _remainder(left: Any, right: Any) -> Any:
    return left - _truncated(left, right) * right


def _ceil_divide(left: Any, right: Any) -> Any:
    return -(-left // right)


def _least(left: Any, right: Any) -> Any:
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return np.minimum(left, right)
    return min(left, right)


def _greatest(left: Any, right: Any) -> Any:
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return np.maximum(left, right)
    return max(left, right)


def _both(left: Any, right: Any) -> Any:
    return _truth(left) & _truth(right)


def _either(left: Any, right: Any) -> Any:
    return _truth(left) | _truth(right)


def _truth(value: Any) -> Any:
    return value != 0


def _log2(value: Any) -> Any:
    return np.log2(value) if isinstance(value, np.ndarray) else float(np.log2(value))


def _popcount(value: Any) -> Any:
    return np.bitwise_count(value) if isinstance(value, np.ndarray) else int(value).bit_count()


_BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "%": _remainder,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "&&": _both,
    "||": _either,
}
_UNARY: Mapping[str, Callable[[Any], Any]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
    "!": lambda value: value == 0,
}
_CALLS: Mapping[str, Callable[..., Any]] = {
    "abs": abs,
    "ceil_div": _ceil_divide,
    "log2": _log2,
    "max": _greatest,
    "min": _least,
    "popcount": _popcount,
    "__popc": _popcount,
    "__popcll": _popcount,
}


_known: dict[int, tuple[Node, Compiled]] = {}
_MOST_KNOWN = 1 << 16


def compiled(node: Node) -> Compiled:
    """A function that evaluates a tree; made once for each.

    Args:
        node: The tree.

    Returns:
        A function of the values of the free names, numbers or arrays that broadcast.

    Example:
        >>> from perfmodel.expressions import parse
        >>> compiled(parse("ceil_div(m, block) * 2").root)({"m": 1000, "block": 256})
        8
    """
    found = _known.get(id(node))
    if found is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        found = _known[id(node)] = (node, _compile(node))  # the tree is kept alive
    return found[1]


def _compile(node: Node) -> Compiled:
    match node:
        case Literal(value=value):
            return lambda _: value
        case Name(name=name):
            return operator.itemgetter(name)
        case Unary(operator=sign, operand=operand):
            return _applied(_UNARY[sign], compiled(operand))
        case Binary(operator=sign, left=left, right=right):
            return _combined(_BINARY[sign], compiled(left), compiled(right))
        case Cast(kind=kind, operand=operand):
            inner = compiled(operand)
            return _applied(float, inner) if kind.floating else inner
        case Conditional(condition=condition, if_true=if_true, if_false=if_false):
            asked, yes, no = compiled(condition), compiled(if_true), compiled(if_false)
            return lambda values: _chosen(asked(values), yes, no, values)
        case Call(function=function, arguments=arguments):
            apply, inputs = _CALLS[function], [compiled(each) for each in arguments]
            return lambda values: apply(*(each(values) for each in inputs))


def _applied(function: Callable[[Any], Any], inner: Compiled) -> Compiled:
    return lambda values: function(inner(values))


def _combined(function: Callable[[Any, Any], Any], left: Compiled, right: Compiled) -> Compiled:
    return lambda values: function(left(values), right(values))


def _chosen(condition: Any, yes: Compiled, no: Compiled, values: Values) -> Any:
    """One branch for a number; both for an array, where neither can fault."""
    if isinstance(condition, np.ndarray):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(condition, yes(values), no(values))
    return yes(values) if condition else no(values)
