"""The operations of C on arrays, each with the faults that C leaves undefined.

Integers of up to 32 bits and ``long long`` are held as int64, ``unsigned long long`` as uint64,
double as float64, bool as a bool array. An operation is given operands that already have its type,
computes every element, and returns besides the values its faults: masks of elements without a
defined value, and the reason. Who calls it decides whether those elements matter. Faulty elements
hold some value within the range of the type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from perfmodel.expressions.c_types import BOOL, DOUBLE, INT, LONG, UNSIGNED, UNSIGNED_LONG, CType

Array: TypeAlias = npt.NDArray[Any]
Mask: TypeAlias = npt.NDArray[np.bool_]


class Fault(NamedTuple):
    """Elements without a defined value.

    Attributes:
        where: A mask that broadcasts against the operands.
        reason: What happened, with {0} and {1} in place of the operands.
        culprit: The one operand whose names explain it, or None for all.
    """

    where: Mask
    reason: str
    culprit: int | None = None


class Outcome(NamedTuple):
    """The values of an operation, their type, and its faults."""

    kind: CType
    values: Array
    faults: tuple[Fault, ...] = ()


Operation: TypeAlias = Callable[[CType, Array, Array], Outcome]


def wrap(kind: CType, values: Array) -> Array:
    """Integers reduced to the range of an integer type, as a conversion does in C."""
    if kind == UNSIGNED_LONG:
        return values.astype(np.uint64, copy=False)
    values = values.astype(np.int64, copy=False)
    if kind == LONG:
        return values
    low = values & ((1 << kind.bits) - 1)
    if not kind.signed:
        return low
    sign = 1 << (kind.bits - 1)
    return (low ^ sign) - sign


def convert(source: CType, kind: CType, values: Array) -> Outcome:
    """A conversion: modulo 2**bits between integers, towards zero from double.

    A double whose whole part does not fit the integer type is a fault.
    """
    if source == kind:
        return Outcome(kind, values)
    if kind == BOOL:
        return Outcome(kind, values != 0)
    if kind.floating:
        return Outcome(kind, values.astype(np.float64))
    if not source.floating:
        return Outcome(kind, wrap(kind, values))
    whole = np.trunc(values)
    outside = (whole < float(kind.minimum)) | (whole >= float(kind.maximum + 1))
    target = np.uint64 if kind == UNSIGNED_LONG else np.int64
    integers = np.where(outside, 0.0, whole).astype(target)
    return Outcome(kind, integers, _faults(outside, f"{{0}} does not fit {kind.name}"))


def add(kind: CType, left: Array, right: Array) -> Outcome:
    """``left + right``."""
    total = left + right
    lost = ((left ^ total) & (right ^ total)) < 0 if kind == LONG else None
    return _checked(kind, total, lost, "{0} + {1}")


def subtract(kind: CType, left: Array, right: Array) -> Outcome:
    """``left - right``."""
    total = left - right
    lost = ((left ^ right) & (left ^ total)) < 0 if kind == LONG else None
    return _checked(kind, total, lost, "{0} - {1}")


def multiply(kind: CType, left: Array, right: Array) -> Outcome:
    """``left * right``."""
    product = left * right
    lost = None
    if kind == LONG and _magnitude(left) * _magnitude(right) > LONG.maximum:
        invertible = (left != 0) & (left != -1)
        lost = invertible & (product // np.where(invertible, left, 1) != right)
        lost |= (left == -1) & (right == LONG.minimum)
    return _checked(kind, product, lost, "{0} * {1}")


def divide(kind: CType, left: Array, right: Array) -> Outcome:
    """``left / right``, truncated towards zero for integers."""
    zero = right == 0
    if kind.floating:
        quotient = left / np.where(zero, 1.0, right)
        by_zero = _faults(zero, "division by zero: {0} / {1}", 1)
        return Outcome(kind, quotient, by_zero + _not_finite(quotient, "{0} / {1}"))
    divisor, faults = _divisor(kind, left, right, "/")
    return Outcome(kind, _truncated(left, divisor)[0], faults)


def remainder(kind: CType, left: Array, right: Array) -> Outcome:
    """``left % right``, with the sign of the dividend."""
    divisor, faults = _divisor(kind, left, right, "%")
    return Outcome(kind, _truncated(left, divisor)[1], faults)


def ceil_div(kind: CType, left: Array, right: Array) -> Outcome:
    """The smallest integer that is not below ``left / right``."""
    divisor, faults = _divisor(kind, left, right, "/")
    quotient, rest = _truncated(left, divisor)
    upwards = (rest != 0) & ((left < 0) == (divisor < 0))
    return Outcome(kind, quotient + upwards.astype(quotient.dtype), faults)


def shift_left(kind: CType, left: Array, count: Array) -> Outcome:
    """``left << count`` by the rules before C++20: no sign, no bit may be lost when signed."""
    bad_count, safe = _shift_count(kind, count)
    shifted = left << safe.astype(left.dtype)
    if not kind.signed:
        return Outcome(kind, wrap(kind, shifted), bad_count)
    negative = left < 0
    lost = ~negative & (left > (kind.maximum >> safe.astype(np.int64)))
    faults = _faults(negative, "left shift of a negative value: {0} << {1}", 0)
    faults += _faults(lost, f"signed overflow: {{0}} << {{1}} does not fit {kind.name}")
    return Outcome(kind, wrap(kind, shifted), bad_count + faults)


def shift_right(kind: CType, left: Array, count: Array) -> Outcome:
    """``left >> count``, which keeps the sign."""
    bad_count, safe = _shift_count(kind, count)
    return Outcome(kind, left >> safe.astype(left.dtype), bad_count)


def negate(kind: CType, values: Array) -> Outcome:
    """``-values``."""
    lost = values == kind.minimum if kind == LONG else None
    return _checked(kind, np.negative(values), lost, "-({0})")


def invert(kind: CType, values: Array) -> Outcome:
    """``~values``."""
    return Outcome(kind, wrap(kind, ~values))


def absolute(kind: CType, values: Array) -> Outcome:
    """``abs(values)``."""
    lost = values == kind.minimum if kind == LONG else None
    return _checked(kind, np.abs(values), lost, "abs({0})")


def log2(values: Array) -> Outcome:
    """The logarithm to base 2 of doubles."""
    faults = _faults(values <= 0, "log2 of {0}, it takes values above zero")
    return Outcome(DOUBLE, np.log2(np.where(values > 0, values, 1.0)), faults)


def popcount(kind: CType, values: Array) -> Outcome:
    """The number of one bits of integers, negative ones in two's complement."""
    unsigned = UNSIGNED_LONG if kind.bits == LONG.bits else UNSIGNED
    return Outcome(INT, np.bitwise_count(wrap(unsigned, values)).astype(np.int64))


def _plain(function: Callable[[Array, Array], Array]) -> Operation:
    """An operation whose values stay in the range of its operands."""
    return lambda kind, left, right: Outcome(kind, function(left, right))


def _comparison(function: Callable[[Array, Array], Array]) -> Operation:
    return lambda _, left, right: Outcome(BOOL, function(left, right))


BINARY: Final[Mapping[str, Operation]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "%": remainder,
    "&": _plain(np.bitwise_and),
    "|": _plain(np.bitwise_or),
    "^": _plain(np.bitwise_xor),
    "<<": shift_left,
    ">>": shift_right,
    "==": _comparison(np.equal),
    "!=": _comparison(np.not_equal),
    "<": _comparison(np.less),
    "<=": _comparison(np.less_equal),
    ">": _comparison(np.greater),
    ">=": _comparison(np.greater_equal),
    "min": _plain(np.minimum),
    "max": _plain(np.maximum),
    "ceil_div": ceil_div,
}
"""Operators and functions of two operands, but for the lazy ones."""

INTEGERS_ONLY: Final = frozenset({"%", "&", "|", "^", "<<", ">>", "~", "ceil_div"})
"""Operators and functions that no double can take."""


def _faults(where: Mask, reason: str, culprit: int | None = None) -> tuple[Fault, ...]:
    return (Fault(where, reason, culprit),) if where.any() else ()


def _not_finite(values: Array, operation: str) -> tuple[Fault, ...]:
    return _faults(~np.isfinite(values), f"{operation} is no finite number")


def _checked(kind: CType, values: Array, lost: Mask | None, operation: str) -> Outcome:
    """Bring a result into the range of its type; signed, what does not fit is a fault.

    ``lost`` marks the overflows of long long, which the values themselves no longer show.
    """
    if kind.floating:
        return Outcome(kind, values, _not_finite(values, operation))
    if not kind.signed:
        return Outcome(kind, wrap(kind, values))
    if kind != LONG and values.size:
        inside = kind.minimum <= values.min() and values.max() <= kind.maximum
        lost = None if inside else (values < kind.minimum) | (values > kind.maximum)
    if lost is None:
        return Outcome(kind, values)
    reason = f"signed overflow: {operation} does not fit {kind.name}"
    return Outcome(kind, wrap(kind, values), _faults(lost, reason))


def _magnitude(values: Array) -> int:
    return max(abs(int(values.min())), abs(int(values.max()))) if values.size else 0


def _divisor(
    kind: CType, left: Array, right: Array, operator: str
) -> tuple[Array, tuple[Fault, ...]]:
    """The divisors with 1 in place of those that have no quotient, and their faults."""
    zero = right == 0
    faults = _faults(zero, "integer division by zero", 1)
    unusable = zero
    if kind.signed:
        lost = (left == kind.minimum) & (right == -1)
        reason = f"signed overflow: {{0}} {operator} {{1}} does not fit {kind.name}"
        faults += _faults(lost, reason)
        unusable = zero | lost
    return (np.where(unusable, 1, right).astype(right.dtype) if faults else right), faults


def _truncated(left: Array, divisor: Array) -> tuple[Array, Array]:
    """Quotient towards zero and remainder."""
    rest = np.fmod(left, divisor)
    return (left - rest) // divisor, rest


def _shift_count(kind: CType, count: Array) -> tuple[tuple[Fault, ...], Array]:
    outside = (count < 0) | (count >= kind.bits)
    reason = f"shift by {{1}}: {kind.name} takes 0 to {kind.bits - 1}"
    return _faults(outside, reason, 1), np.where(outside, 0, count)
