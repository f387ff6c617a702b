"""The syntax tree: seven kinds of node, frozen, each with its place in the text.

``offset`` is the place that a message names: the operator of an operation, the start of everything
else. Parentheses leave no node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from perfmodel.expressions.c_types import INT, UNSIGNED, CType

if TYPE_CHECKING:
    from collections.abc import Iterator

BUILTIN_MEMBERS: Final = dict.fromkeys(
    ("threadIdx", "blockIdx", "blockDim", "gridDim"), ("x", "y", "z")
)
"""The built-in structures of a kernel and their members."""

BUILTIN_TYPES: Final = {
    f"{base}.{member}": UNSIGNED for base, members in BUILTIN_MEMBERS.items() for member in members
} | {"warpSize": INT}
"""Names whose type the language fixes; any other name has the type of its values."""

FUNCTION_ARITY: Final = {
    "abs": 1,
    "ceil_div": 2,
    "log2": 1,
    "max": 2,
    "min": 2,
    "popcount": 1,
    "__popc": 1,
    "__popcll": 1,
}
"""The functions of the language and how many arguments each takes."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, ``true`` or ``false``."""

    offset: int
    value: int | float
    kind: CType


@dataclass(frozen=True, slots=True)
class Name:
    """A free name, with its member where it has one: ``threadIdx.x``."""

    offset: int
    name: str


@dataclass(frozen=True, slots=True)
class Unary:
    """``-x``, ``+x``, ``~x`` or ``!x``."""

    offset: int
    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary:
    """Two operands and an operator; ``&&`` and ``||`` evaluate the right one lazily."""

    offset: int
    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Conditional:
    """``condition ? if_true : if_false``, each branch evaluated only where it is taken."""

    offset: int
    condition: Node
    if_true: Node
    if_false: Node


@dataclass(frozen=True, slots=True)
class Cast:
    """A conversion to a type, in any of its three spellings."""

    offset: int
    kind: CType
    operand: Node


@dataclass(frozen=True, slots=True)
class Call:
    """One of the functions of :data:`FUNCTION_ARITY`."""

    offset: int
    function: str
    arguments: tuple[Node, ...]


Node: TypeAlias = Literal | Name | Unary | Binary | Conditional | Cast | Call


def children(node: Node) -> tuple[Node, ...]:
    """The operands of a node, left to right."""
    match node:
        case Unary(operand=operand) | Cast(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return (left, right)
        case Conditional(condition=condition, if_true=if_true, if_false=if_false):
            return (condition, if_true, if_false)
        case Call(arguments=arguments):
            return arguments
        case _:
            return ()


def walk(node: Node) -> Iterator[Node]:
    """All nodes of a tree, each before its operands, left to right."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(children(current)))


def free_names(*nodes: Node) -> dict[str, int]:
    """The free names of trees in order of first use, with the offset of that use."""
    found: dict[str, int] = {}
    for root in nodes:
        for node in walk(root):
            if isinstance(node, Name):
                found.setdefault(node.name, node.offset)
    return found
