"""The values of a loop that goes on while a condition holds, one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.errors import DataError
from perfmodel.expressions import Expression, ExpressionError
from perfmodel.kernels.fast import compiled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfmodel.expressions.nodes import Node
    from perfmodel.kernels.schema import For

LONGEST = 10**6
"""Iterations of such a loop at most."""
_AS_IN_C = 1000
"""So many first values are worked out with C's overflow, the others as in mathematics."""


def table(loop: For, roots: tuple[Node, Node, Node], values: Mapping[str, Any]) -> list[int]:
    """The values of a loop's variable in all iterations.

    Args:
        loop: The loop, for messages.
        roots: Its start, condition and next value as trees that read `values` and the variable.
        values: A number for each name around the loop.

    Returns:
        The values, in their order.

    Raises:
        DataError: The loop does not end, or has more than `LONGEST` iterations, or C leaves a value
            undefined.
    """
    what = f"for {loop.variable}"
    names = {**values}
    texts = (loop.start.text, loop.condition.text, loop.following.text if loop.following else "")
    start, condition, following = map(Expression, texts, roots)
    found: list[int] = []
    try:
        value = int(start.evaluate(names))
        while len(found) < _AS_IN_C:
            names[loop.variable] = value
            if not condition.evaluate(names):
                return found
            found.append(value)
            value = _next(loop, value, int(following.evaluate(names)))
    except ExpressionError as error:
        raise DataError(f"{loop.place}: {what}: {error.message}") from None
    goes_on, after = compiled(condition.root), compiled(following.root)
    while len(found) <= LONGEST:
        names[loop.variable] = value
        if not goes_on(names):
            return found
        found.append(value)
        value = _next(loop, value, int(after(names)))
    raise DataError(
        f"{loop.place}: {what} does not end within {LONGEST} iterations: at most so many "
        "values are listed one by one"
    )


def _next(loop: For, value: int, following: int) -> int:
    if following == value:
        raise DataError(
            f"{loop.place}: for {loop.variable} never ends: after {value} comes {value} again"
        )
    return following
