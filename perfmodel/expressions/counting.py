"""The integer operations of one evaluation, by kind.

They are counted as written: nothing is folded, shared or strength-reduced, and both branches of a
``?:`` and both sides of ``&&`` count, as a GPU issues them under predicates. Types are those of
the expression with every parameter an int; operations on doubles are not counted.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from perfmodel.expressions.c_types import (
    BOOL,
    DOUBLE,
    INT,
    CType,
    common,
    conditional,
    promote,
)
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

KINDS: Final = ("add", "multiply", "divide", "shift", "logic", "compare", "select", "convert")
"""The kinds of integer operation."""

_OPERATORS: Final = {
    "add": ("+", "-"),
    "multiply": ("*",),
    "divide": ("/", "%"),
    "shift": ("<<", ">>"),
    "logic": ("&", "|", "^", "&&", "||"),
    "compare": ("==", "!=", "<", "<=", ">", ">="),
    "select": ("min", "max"),
}
_BINARY_KINDS: Final = {
    operator: kind for kind, operators in _OPERATORS.items() for operator in operators
}
_UNARY_KINDS: Final = {"-": "add", "~": "logic", "!": "logic", "abs": "select"}


def integer_operations(root: Node) -> dict[str, int]:
    """Number of integer operations by kind, every kind of :data:`KINDS` present."""
    counts: Counter[str] = Counter()
    _count(root, counts)
    return {kind: counts[kind] for kind in KINDS}


def static_type(node: Node) -> CType:
    """The type of a node where every parameter is an int."""
    return _count(node, Counter())


def _count(node: Node, counts: Counter[str]) -> CType:
    """Add the operations of a node to the counts and return its type."""
    match node:
        case Literal(kind=kind):
            return kind
        case Name(name=name):
            return BUILTIN_TYPES.get(name, INT)
        case Cast(kind=kind, operand=operand):
            source = _count(operand, counts)
            counts["convert"] += source.bits != kind.bits or source.floating != kind.floating
            return kind
        case Unary(operator=operator, operand=operand):
            source = promote(_count(operand, counts))
            if operator in _UNARY_KINDS and not source.floating:
                counts[_UNARY_KINDS[operator]] += 1
            return BOOL if operator == "!" else source
        case Conditional(condition=condition, if_true=if_true, if_false=if_false):
            _count(condition, counts)
            kind = conditional(_count(if_true, counts), _count(if_false, counts))
            counts["select"] += not kind.floating
            return kind
        case Binary(operator=operator, left=left, right=right):
            return _binary(operator, _count(left, counts), _count(right, counts), counts)
        case Call(function=function, arguments=arguments):
            return _call(function, [_count(each, counts) for each in arguments], counts)


def _binary(operator: str, left: CType, right: CType, counts: Counter[str]) -> CType:
    kind = _BINARY_KINDS[operator]
    operands = common(left, right)
    if kind == "shift":
        operands = promote(left)
    logical = operator in ("&&", "||")
    counts[kind] += logical or not operands.floating
    return BOOL if logical or kind == "compare" else operands


def _call(function: str, kinds: list[CType], counts: Counter[str]) -> CType:
    if function in ("min", "max"):
        return _binary(function, kinds[0], kinds[1], counts)
    if function == "ceil_div":  # (a + b - 1) / b
        counts["add"] += 2
        counts["divide"] += 1
        return common(kinds[0], kinds[1])
    if function == "abs":
        counts["select"] += not kinds[0].floating
        return promote(kinds[0])
    if function == "log2":
        counts["convert"] += not kinds[0].floating
        return DOUBLE
    counts["logic"] += 1
    return INT
