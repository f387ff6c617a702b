"""What an index does with the variables that a whole warp shares.

A block's number and a loop's counter enter most indices by being added: ``row * n + i`` moves by
one element when i does, whatever the lane. Such a variable shifts an access without changing its
shape, so only what it shifts by, modulo a line, can matter. Where a variable is tied up with the
lane (``tid % (2 * stride)``) its values have to be looked at one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from perfmodel.expressions.c_types import INT, LONG
from perfmodel.expressions.nodes import (
    Binary,
    Call,
    Cast,
    Conditional,
    Literal,
    Name,
    Node,
    Unary,
    free_names,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

ZERO = Literal(0, 0, LONG)
ONE = Literal(0, 1, INT)
MEMBERS = ("x", "y", "z")
THREAD_NAMES = frozenset(f"threadIdx.{member}" for member in MEMBERS)


def substitute(node: Node, names: Mapping[str, Node]) -> Node:
    """The tree with some of its free names replaced by trees."""
    match node:
        case Name(name=name):
            return names.get(name, node)
        case Unary(offset=at, operator=operator, operand=operand):
            return Unary(at, operator, substitute(operand, names))
        case Cast(offset=at, kind=kind, operand=operand):
            return Cast(at, kind, substitute(operand, names))
        case Binary(offset=at, operator=operator, left=left, right=right):
            return Binary(at, operator, substitute(left, names), substitute(right, names))
        case Conditional(offset=at, condition=condition, if_true=if_true, if_false=if_false):
            return Conditional(
                at,
                substitute(condition, names),
                substitute(if_true, names),
                substitute(if_false, names),
            )
        case Call(offset=at, function=function, arguments=arguments):
            return Call(at, function, tuple(substitute(each, names) for each in arguments))
        case _:
            return node


_known: dict[int, tuple[Node, frozenset[str]]] = {}
_MOST_KNOWN = 1 << 16


def reads(node: Node) -> frozenset[str]:
    """The free names of a tree; worked out once for each, since it is asked for all the time."""
    found = _known.get(id(node))
    if found is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        found = _known[id(node)] = (node, frozenset(free_names(node)))  # the tree is kept alive
    return found[1]


@dataclass(slots=True)
class Decomposition:
    """An expression as ``fixed + sum of coefficient x variable + shifts``.

    Attributes:
        linear: Variables that are added times a factor that no lane and no variable is read by.
        shifts: Added terms that read variables in any way, but no lane.
        tangled: Variables tied up with the lane; they are read by `fixed`.
        fixed: What is left.
    """

    linear: dict[str, Node] = field(default_factory=dict)
    shifts: list[Node] = field(default_factory=list)
    tangled: set[str] = field(default_factory=set)
    fixed: Node = ZERO


def decompose(node: Node, variables: Collection[str]) -> Decomposition:
    """Take an expression apart by the variables that a whole warp shares.

    Args:
        node: The expression.
        variables: Names of block indices and loop counters.

    Returns:
        Its parts; they add up to the expression in mathematics, where nothing overflows.

    Example:
        >>> from perfmodel.expressions import parse
        >>> root = parse("(blockIdx.x * 8 + i / 2) * n + (threadIdx.x ^ j)").root
        >>> parts = decompose(root, {"blockIdx.x", "i", "j"})
        >>> sorted(parts.linear), len(parts.shifts), sorted(parts.tangled)
        (['blockIdx.x'], 1, ['j'])
    """
    names = reads(node)
    shared = names & frozenset(variables)
    if not shared:
        return Decomposition(fixed=node)
    match node:
        case Name(name=name):
            return Decomposition(linear={name: ONE})
        case Unary(operator="+" | "-" as sign, operand=operand):
            parts = decompose(operand, variables)
            return parts if sign == "+" else _scaled(parts, Literal(0, -1, INT))
        case Cast(kind=kind, operand=operand) if not kind.floating and kind.bits >= 32:
            return decompose(operand, variables)
        case Binary(operator="+" | "-" as sign, left=left, right=right):
            other = decompose(right, variables)
            other = other if sign == "+" else _scaled(other, Literal(0, -1, INT))
            return _sum(decompose(left, variables), other)
        case Binary(operator="*", left=left, right=right):
            for varying, factor in ((left, right), (right, left)):
                if not reads(factor) & (frozenset(variables) | THREAD_NAMES):
                    return _scaled(decompose(varying, variables), factor)
    if not names & THREAD_NAMES:
        return Decomposition(shifts=[node])
    return Decomposition(tangled=set(shared), fixed=node)


def _scaled(parts: Decomposition, factor: Node) -> Decomposition:
    return Decomposition(
        linear={name: _product(each, factor) for name, each in parts.linear.items()},
        shifts=[_product(each, factor) for each in parts.shifts],
        tangled=parts.tangled,
        fixed=_product(parts.fixed, factor),
    )


def _product(left: Node, right: Node) -> Node:
    if left is ZERO or left == ONE:
        return right if left is not ZERO else ZERO
    return Binary(0, "*", left, Cast(0, LONG, right))


def _sum(left: Decomposition, right: Decomposition) -> Decomposition:
    linear = dict(left.linear)
    for name, each in right.linear.items():
        linear[name] = Binary(0, "+", linear[name], each) if name in linear else each
    fixed = left.fixed if right.fixed is ZERO else right.fixed
    if left.fixed is not ZERO and right.fixed is not ZERO:
        fixed = Binary(0, "+", left.fixed, right.fixed)
    return Decomposition(
        linear=linear,
        shifts=left.shifts + right.shifts,
        tangled=left.tangled | right.tangled,
        fixed=fixed,
    )
