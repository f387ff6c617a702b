"""The parsed expression, as other parts of perfmodel hold it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from perfmodel.expressions import counting
from perfmodel.expressions.nodes import Node, free_names
from perfmodel.expressions.syntax import parse_tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt


@dataclass(frozen=True)
class Expression:
    """An expression of C, parsed; made by :func:`parse`.

    Two expressions are equal when their texts are.

    Attributes:
        text: The expression as it was given.
        root: Its syntax tree.
    """

    text: str
    root: Node = field(compare=False, repr=False)

    @cached_property
    def names(self) -> frozenset[str]:
        """The free names: parameters and built-ins such as ``threadIdx.x``.

        >>> sorted(parse("threadIdx.x * n + n").names)
        ['n', 'threadIdx.x']
        """
        return frozenset(free_names(self.root))

    @cached_property
    def integer_operations(self) -> Mapping[str, int]:
        """Number of integer operations of one evaluation by kind, zeros included.

        The kinds are add, multiply, divide, shift, logic, compare, select and convert. The text is
        counted as written, both branches of a ``?:`` included, with every parameter an int.

        >>> operations = parse("threadIdx.x * 32 + i").integer_operations
        >>> {kind: number for kind, number in operations.items() if number}
        {'add': 1, 'multiply': 1}
        """
        return MappingProxyType(counting.integer_operations(self.root))

    def evaluate(self, values: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Evaluate over all elements of the given arrays at once, as C would each of them.

        Members of threadIdx, blockIdx, blockDim and gridDim are unsigned int, warpSize is int. Any
        other name has the type of its values: int where all of them fit, else long long, else
        unsigned long long; arrays of uint32 and uint64 stay unsigned, floats are double.

        Args:
            values: A value for each free name: a number, an array, or a sequence; what the
                expression does not use is ignored.

        Returns:
            An array of the broadcast shape of the names used, 0-d for scalars: bool for a truth
            value, float64 for double, int64 for every integer, and uint64 for an
            unsigned long long of which a value is beyond int64.

        Raises:
            ExpressionError: A name has no value, a value is no finite number or does not fit its
                name, shapes do not broadcast, an operator got a double it cannot take, or C leaves
                the result undefined: division by zero, signed overflow, a shift outside the width,
                a double that does not fit an integer. The message has the first element for which
                that happens. The operand that ``?:``, ``&&`` or ``||`` skips raises nothing.

        >>> parse("threadIdx.x * 32 + i").evaluate({"threadIdx.x": [0, 1, 2], "i": 5})
        array([ 5, 37, 69])
        >>> parse("i - 1u").evaluate({"i": 0})
        array(4294967295)
        """
        from perfmodel.expressions.evaluation import evaluate

        return evaluate(self.text, self.root, values)

    def symbolic(self, *, relaxed: bool = False) -> Any:
        """The expression as a sympy formula over symbols with the free names.

        Integer division is ``floor(a / b)``, ``%`` is ``Mod``, ``?:`` is ``Piecewise``, a truth
        value is a sympy Boolean. The formula holds where no operand is negative and nothing wraps
        or overflows: it knows no widths. Its symbols are non-negative integers.

        Args:
            relaxed: Leave out the rounding of the operations in :attr:`relaxed_operations`, so that
                the formula can be differentiated and solved. Its symbols are non-negative reals.

        Raises:
            ExpressionError: An operation on bits has no closed form, or a constant part has no
                value.

        >>> parse("n / 32").symbolic()
        floor(n/32)
        >>> parse("n / 32").symbolic(relaxed=True)
        n/32
        """
        from perfmodel.expressions.symbolic import symbolic

        return symbolic(self.text, self.root, relaxed=relaxed)

    @cached_property
    def relaxed_operations(self) -> tuple[str, ...]:
        """The operations that ``symbolic(relaxed=True)`` does not round; empty where it is exact.

        >>> parse("ceil_div(n, 32) * (m / 4)").relaxed_operations
        ('ceil_div', '/')
        """
        from perfmodel.expressions.symbolic import relaxed_operations

        return relaxed_operations(self.root)


def parse(text: str) -> Expression:
    """Parse a C expression; the same text is parsed once.

    Args:
        text: One expression, of at most 4096 characters, 64 levels and 2000 nodes.

    Raises:
        ExpressionError: The text is no expression of the language, or beyond its limits; the
            message names the place.

    >>> parse("blockIdx.x * blockDim.x + threadIdx.x < n ? 1 : 0").evaluate(
    ...     {"blockIdx.x": 1, "blockDim.x": 256, "threadIdx.x": [0, 1], "n": 257})
    array([1, 0])
    """
    if not isinstance(text, str):
        raise TypeError(f"an expression is text, not {type(text).__name__}")
    return _parse(text)


@lru_cache(maxsize=4096)
def _parse(text: str) -> Expression:
    return Expression(text, parse_tree(text))
