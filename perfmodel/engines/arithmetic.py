"""The few functions that differ between numbers, NumPy arrays and sympy symbols.

A law is written once. Given plain numbers it returns plain numbers and NumPy is never
imported; given arrays it works element by element; given sympy symbols it returns the formula.
Which of the three is meant is read off the arguments.
"""

import math
import sys
from collections.abc import Callable
from typing import Any

from perfmodel.errors import ArgumentError

EXACT = 2**53
"""Whole numbers up to this are exact as floats; no count or size of a kernel is beyond it."""

Number = Any
"""An int, a float, a NumPy array of either, or a sympy expression."""


def is_array(value: object) -> bool:
    """Whether `value` is a NumPy array or NumPy scalar."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray | numpy.generic)


def as_number(value: Number) -> Number:
    """A list, an array or a NumPy scalar in a type in which nothing wraps; a number as it is.

    Raises:
        ArgumentError: The elements are neither integers nor floats.
    """
    if not is_array(value) and not isinstance(value, list | tuple):
        return value
    import numpy as np

    try:
        array = np.asarray(value)
    except ValueError:
        raise ArgumentError(
            "a list holds lists of different lengths: give one number each"
        ) from None
    if array.dtype.kind not in "iuf":
        raise ArgumentError(f"an array holds {array.dtype} values: it must hold numbers")
    if array.dtype.kind == "u" and array.size and array.max() > EXACT:
        raise ArgumentError(f"an array holds {array.max()}: at most {EXACT} is exact")
    wide = array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
    return wide if wide.ndim else wide.item()


def is_symbolic(value: object) -> bool:
    """Whether `value` is a sympy expression."""
    sympy = sys.modules.get("sympy")
    return sympy is not None and isinstance(value, sympy.Basic)


def _dispatch(
    values: tuple[Number, ...],
    plain: Callable[..., Number],
    numpy_name: str,
    sympy_name: str,
) -> Number:
    """Apply the form of a function that fits the kind of its arguments."""
    if any(is_symbolic(value) for value in values):
        return getattr(sys.modules["sympy"], sympy_name)(*values)
    if any(is_array(value) for value in values):
        return getattr(sys.modules["numpy"], numpy_name)(*values)
    return plain(*values)


def minimum(first: Number, second: Number) -> Number:
    """The smaller of two, element by element."""
    return _dispatch((first, second), min, "minimum", "Min")


def maximum(first: Number, second: Number) -> Number:
    """The larger of two, element by element."""
    return _dispatch((first, second), max, "maximum", "Max")


def exponential(exponent: Number) -> Number:
    """The exponential function."""
    return _dispatch((exponent,), math.exp, "exp", "exp")


def square_root(value: Number) -> Number:
    """The square root."""
    return _dispatch((value,), math.sqrt, "sqrt", "sqrt")


def floor_divide(numerator: Number, denominator: Number) -> Number:
    """Integer division, rounded down."""
    if is_symbolic(numerator) or is_symbolic(denominator):
        return sys.modules["sympy"].floor(numerator / denominator)
    return numerator // denominator


def ceil_divide(numerator: Number, denominator: Number) -> Number:
    """Integer division, rounded up."""
    numerator = _signed(numerator)
    if is_symbolic(numerator) or is_symbolic(denominator):
        return sys.modules["sympy"].ceiling(numerator / denominator)
    return -(-numerator // denominator)


def _signed(value: Number) -> Number:
    """An unsigned array as a signed one, in which a number below 0 does not wrap."""
    if is_array(value) and value.dtype.kind == "u":
        return value.astype("int64")
    return value


def round_up(value: Number, unit: Number) -> Number:
    """The least multiple of `unit` that is not below `value`."""
    return ceil_divide(value, unit) * unit


def where(condition: Number, if_true: Number, if_false: Number) -> Number:
    """`if_true` where the condition holds, `if_false` elsewhere."""
    if is_symbolic(condition):
        return sys.modules["sympy"].Piecewise((if_true, condition), (if_false, True))
    if is_array(condition):
        return sys.modules["numpy"].where(condition, if_true, if_false)
    return if_true if condition else if_false


def require(
    name: str,
    value: Number,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    whole: bool = False,
    above_low: bool = False,
    finite: bool = True,
) -> None:
    """Refuse a number, or an array with a number, that a law does not hold for.

    Args:
        name: The argument's name, as the message gives it.
        value: A number, an array or a symbol; a symbol is let through.
        low: The least value allowed.
        high: The greatest value allowed.
        whole: Whether only whole numbers are allowed.
        above_low: Whether `low` itself is refused.
        finite: Whether infinity is refused.

    Raises:
        ArgumentError: With the name, the value and what would be right.

    Example:
        >>> require("warps", 4, low=1, whole=True)
        >>> require("warps", 0, low=1, whole=True)
        Traceback (most recent call last):
        perfmodel.errors.ArgumentError: warps is 0: it must be a whole number of at least 1
    """
    if is_symbolic(value):
        return
    exact = EXACT if whole and finite else math.inf
    for number in _numbers(name, value):
        fits = number > low if above_low else number >= low
        fits = fits and number <= high
        if fits and exact < number < math.inf:
            raise ArgumentError(f"{name} is {_shown(number)}: at most {EXACT} is exact")
        if isinstance(number, float):
            fits = fits and not math.isnan(number) and not (finite and math.isinf(number))
            fits = fits and (not whole or math.isinf(number) or number.is_integer())
        if not fits:
            wanted = _wanted(low=low, high=high, whole=whole, above_low=above_low)
            raise ArgumentError(f"{name} is {_shown(number)}: it must be {wanted}")


def _shown(number: float) -> str:
    """A number, cut where it has too many digits to be read."""
    if isinstance(number, int) and abs(number) > 10**20:
        return "a number of more than 20 digits"
    return str(number)


def _numbers(name: str, value: Number) -> list[int | float]:
    """The numbers to check: the value itself, or an array's smallest, largest and odd ones."""
    if is_array(value):
        numpy = sys.modules["numpy"]
        array = numpy.asarray(value)
        if array.dtype.kind not in "iufb" or array.ndim > 32:
            raise ArgumentError(f"{name} holds {array.dtype} values: it must hold numbers")
        if not array.size:
            raise ArgumentError(f"{name} is empty: it must hold at least one number")
        if array.dtype.kind == "f":
            odd = array[numpy.isnan(array) | (array != numpy.floor(array))]
            extremes = [array.min(), array.max(), *odd[:1]]
        else:
            extremes = [array.min(), array.max()]
        return [number.item() for number in extremes]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ArgumentError(f"{name} is {value!r}: it must be a number")
    return [value]


def _wanted(*, low: float, high: float, whole: bool, above_low: bool) -> str:
    noun = "a whole number" if whole else "a finite number" if math.isinf(high) else "a number"
    parts = []
    if not math.isinf(low):
        parts.append(f"{'above' if above_low else 'of at least'} {low:g}")
    if not math.isinf(high):
        parts.append(f"at most {high:g}")
    return " ".join([noun, " and ".join(parts)]).strip()
