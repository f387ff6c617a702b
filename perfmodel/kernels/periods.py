"""After how many steps of a variable an expression has the same values again.

``i % n`` with ``i = blockIdx.x * 256 + threadIdx.x`` comes back after n / gcd(n, 256) blocks, so
that many are enough to look at, however large the grid is.
"""

from __future__ import annotations

from math import gcd, lcm
from typing import TYPE_CHECKING, Any

from perfmodel.expressions.nodes import Binary, Call, Cast, Conditional, Node, Unary
from perfmodel.kernels.affine import THREAD_NAMES, decompose, reads
from perfmodel.kernels.fast import compiled

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


def period(
    node: Node, name: str, variables: Collection[str], names: Mapping[str, Any]
) -> int | None:
    """The steps after which an expression repeats itself.

    It does so where the variable is only added, times something, to what a remainder is taken of;
    what that is taken of must not be negative.

    Args:
        node: The expression.
        name: The variable.
        variables: Everything that takes several values but the threads.
        names: Values of everything else.

    Returns:
        The steps; 1 where the variable is not read, None where the expression does not repeat
        itself or the numbers differ over a batch.

    Example:
        >>> from perfmodel.expressions import parse
        >>> root = parse("(b * 256 + threadIdx.x) % n + (b & 3)").root
        >>> period(root, "b", {"b"}, {"n": 4096})
        16
    """
    if name not in reads(node):
        return 1
    parts: tuple[Node, ...]
    match node:
        case Binary(operator="%" | "&" as operator, left=left, right=right):
            divisor = _number(right, variables, names)
            if divisor is not None and operator == "&":
                divisor = divisor + 1 if divisor & (divisor + 1) == 0 else None
            inner = decompose(left, variables)
            if divisor is not None and divisor > 0 and name in inner.linear:
                moved = any(name in reads(each) for each in (*inner.shifts, inner.fixed))
                step = _number(inner.linear[name], variables, names)
                if not moved and step is not None and step >= 0:
                    return divisor // gcd(divisor, step)
            parts = (left, right)
        case Binary(left=left, right=right):
            parts = (left, right)
        case Unary(operand=operand) | Cast(operand=operand):
            parts = (operand,)
        case Conditional(condition=condition, if_true=if_true, if_false=if_false):
            parts = (condition, if_true, if_false)
        case Call(arguments=arguments):
            parts = arguments
        case _:
            return None
    found = [period(each, name, variables, names) for each in parts]
    known = [each for each in found if each is not None]
    return lcm(*known) if len(known) == len(found) else None


def _number(node: Node, variables: Collection[str], names: Mapping[str, Any]) -> int | None:
    """The value of an expression that has one."""
    if reads(node) & (frozenset(variables) | THREAD_NAMES):
        return None
    value = compiled(node)(names)
    return int(value) if not getattr(value, "ndim", 0) else None
