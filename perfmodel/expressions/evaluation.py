"""Values of an expression over arrays, with the meaning the expression has in C.

One walk over the tree; each node gives its type and its values for all elements at once. A mask
goes down with the walk: the elements for which C would evaluate the node. A fault outside it (the
division that ``n != 0 && m / n`` guards) is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from perfmodel.expressions import arithmetic
from perfmodel.expressions.arithmetic import INTEGERS_ONLY, Array, Mask, Outcome
from perfmodel.expressions.c_types import (
    BOOL,
    DOUBLE,
    UNSIGNED,
    UNSIGNED_LONG,
    CType,
    common,
    conditional,
    promote,
)
from perfmodel.expressions.errors import ExpressionError
from perfmodel.expressions.inputs import missing, typed
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
    from collections.abc import Callable, Iterable, Mapping

_SHIFTS: Final = frozenset({"<<", ">>"})
_UNARY: Final[Mapping[str, Callable[[CType, Array], Outcome]]] = {
    "-": arithmetic.negate,
    "+": Outcome,
    "~": arithmetic.invert,
    "abs": arithmetic.absolute,
}
_POPCOUNT_TYPES: Final = {"__popc": UNSIGNED, "__popcll": UNSIGNED_LONG}


def evaluate(text: str, root: Node, values: Mapping[str, Any]) -> Array:
    """Evaluate a tree; see :meth:`perfmodel.expressions.Expression.evaluate`."""
    names = free_names(root)
    complaint = missing(names, values)
    if complaint is not None:
        absent = next(name for name in names if name not in values)
        raise ExpressionError(complaint, text, names[absent])
    inputs = {name: _input(text, name, at, values[name]) for name, at in names.items()}
    try:
        shape = np.broadcast_shapes(*(array.shape for _, array in inputs.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, (_, array) in inputs.items())
        message = f"the inputs do not broadcast together: {shapes}"
        raise ExpressionError(message, text, min(names.values())) from None
    with np.errstate(all="ignore"):
        kind, array = _Evaluation(text, inputs, shape).value(root, None)
    if kind == UNSIGNED_LONG and (array <= np.uint64(np.iinfo(np.int64).max)).all():
        array = array.astype(np.int64)
    return np.array(np.broadcast_to(array, shape))


def _input(text: str, name: str, offset: int, value: Any) -> tuple[CType, Array]:
    try:
        return typed(name, value)
    except ValueError as error:
        raise ExpressionError(str(error), text, offset) from None


class _Evaluation:
    """One evaluation: the inputs, and the walk over the tree."""

    def __init__(
        self, text: str, inputs: Mapping[str, tuple[CType, Array]], shape: tuple[int, ...]
    ) -> None:
        self._text = text
        self._inputs = inputs
        self._shape = shape

    def value(self, node: Node, active: Mask | None) -> tuple[CType, Array]:
        """Type and values of a node; ``active`` marks the elements that C evaluates."""
        match node:
            case Literal(value=value, kind=kind):
                return kind, np.asarray(value, dtype=_DTYPES.get(kind, np.int64))
            case Name(name=name):
                return self._inputs[name]
            case Cast(kind=kind, operand=operand):
                return kind, self._operand(node, operand, active, kind)
            case Unary(operator="!", operand=operand):
                return BOOL, ~self._operand(node, operand, active, BOOL)
            case Unary(operator=operator, operand=operand):
                return self._unary(node, operator, operand, active)
            case Binary(operator="&&" | "||" as operator, left=left, right=right):
                return BOOL, self._lazy(node, operator, left, right, active)
            case Binary(operator=operator, left=left, right=right):
                return self._binary(node, operator, left, right, active)
            case Conditional():
                return self._conditional(node, active)
            case Call(function=function, arguments=arguments):
                return self._call(node, function, arguments, active)

    def _call(
        self, node: Node, function: str, arguments: tuple[Node, ...], active: Mask | None
    ) -> tuple[CType, Array]:
        if function in arithmetic.BINARY:
            return self._binary(node, function, arguments[0], arguments[1], active)
        (operand,) = arguments
        if function == "abs":
            return self._unary(node, function, operand, active)
        if function == "log2":
            values = self._operand(node, operand, active, DOUBLE)
            return self._settle(arithmetic.log2(values), node, (operand,), (values,), active)
        return self._popcount(node, function, operand, active)

    def _operand(self, node: Node, operand: Node, active: Mask | None, kind: CType) -> Array:
        """The values of an operand, converted to the type its operator wants."""
        source, values = self.value(operand, active)
        outcome = arithmetic.convert(source, kind, values)
        return self._settle(outcome, node, (operand,), (values,), active)[1]

    def _unary(
        self, node: Node, operator: str, operand: Node, active: Mask | None
    ) -> tuple[CType, Array]:
        source, values = self.value(operand, active)
        self._check_integers(operator, node, source)
        kind = promote(source)
        values = arithmetic.convert(source, kind, values).values
        return self._settle(_UNARY[operator](kind, values), node, (operand,), (values,), active)

    def _binary(
        self, node: Node, operator: str, left: Node, right: Node, active: Mask | None
    ) -> tuple[CType, Array]:
        left_kind, first = self.value(left, active)
        right_kind, second = self.value(right, active)
        self._check_integers(operator, node, left_kind, right_kind)
        if operator in _SHIFTS:
            kind, count_kind = promote(left_kind), promote(right_kind)
        else:
            kind = count_kind = common(left_kind, right_kind)
        first = arithmetic.convert(left_kind, kind, first).values
        second = arithmetic.convert(right_kind, count_kind, second).values
        outcome = arithmetic.BINARY[operator](kind, first, second)
        return self._settle(outcome, node, (left, right), (first, second), active)

    def _lazy(
        self, node: Node, operator: str, left: Node, right: Node, active: Mask | None
    ) -> Array:
        first = self._operand(node, left, active, BOOL)
        undecided = first if operator == "&&" else ~first
        second = self._operand(node, right, _both(active, undecided), BOOL)
        return first & second if operator == "&&" else first | second

    def _conditional(self, node: Conditional, active: Mask | None) -> tuple[CType, Array]:
        condition = self._operand(node, node.condition, active, BOOL)
        true_kind, if_true = self.value(node.if_true, _both(active, condition))
        false_kind, if_false = self.value(node.if_false, _both(active, ~condition))
        kind = conditional(true_kind, false_kind)
        if_true = arithmetic.convert(true_kind, kind, if_true).values
        if_false = arithmetic.convert(false_kind, kind, if_false).values
        return kind, np.where(condition, if_true, if_false)

    def _popcount(
        self, node: Node, function: str, operand: Node, active: Mask | None
    ) -> tuple[CType, Array]:
        source, values = self.value(operand, active)
        kind = _POPCOUNT_TYPES.get(function)
        if kind is None:
            self._check_integers(function, node, source)
            kind = promote(source)
        outcome = arithmetic.convert(source, kind, values)
        _, converted = self._settle(outcome, node, (operand,), (values,), active)
        return arithmetic.popcount(kind, converted)[:2]

    def _check_integers(self, operator: str, node: Node, *kinds: CType) -> None:
        if operator in _INTEGERS_ONLY and any(kind.floating for kind in kinds):
            side = ("left ", "right ")[kinds[0] != DOUBLE] if len(kinds) > 1 else ""
            raise ExpressionError(
                f"'{operator}' takes integers, its {side}operand is double: cast it, as in int(x)",
                self._text,
                node.offset,
            )

    def _settle(
        self,
        outcome: Outcome,
        node: Node,
        operands: tuple[Node, ...],
        values: tuple[Array, ...],
        active: Mask | None,
    ) -> tuple[CType, Array]:
        """The result of an operation, once none of its faults is active."""
        for fault in outcome.faults:
            where = fault.where if active is None else fault.where & active
            where = np.broadcast_to(where, self._shape)
            if not where.any():
                continue
            element = int(np.argmax(where))
            shown = [str(self._at(array, element)) for array in values]
            culprits = operands if fault.culprit is None else (operands[fault.culprit],)
            message = fault.reason.format(*shown) + self._inputs_at(culprits, element)
            raise ExpressionError(message, self._text, node.offset)
        return outcome.kind, outcome.values

    def _inputs_at(self, nodes: Iterable[Node], element: int) -> str:
        """The values of the names in some nodes: `` for i=0, n=32``."""
        names = free_names(*nodes)
        listed = ", ".join(f"{each}={self._at(self._inputs[each][1], element)}" for each in names)
        return f" for {listed}" if listed else ""

    def _at(self, array: Array, element: int) -> Any:
        return np.broadcast_to(array, self._shape).flat[element]


_DTYPES: Final = {BOOL: np.bool_, DOUBLE: np.float64, UNSIGNED_LONG: np.uint64}
_INTEGERS_ONLY: Final = INTEGERS_ONLY | {"popcount"}


def _both(active: Mask | None, also: Mask) -> Mask:
    return also if active is None else active & also
