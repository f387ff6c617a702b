"""The values given for free names, brought to the types of the language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from perfmodel.expressions.arithmetic import Array, wrap
from perfmodel.expressions.c_types import DOUBLE, INT, LONG, UNSIGNED, UNSIGNED_LONG, CType
from perfmodel.expressions.diagnosis import near
from perfmodel.expressions.nodes import BUILTIN_TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_UNSIGNED_DTYPES: Final = {np.dtype(np.uint32): UNSIGNED, np.dtype(np.uint64): UNSIGNED_LONG}
_EXPECTED: Final = "an integer, a number, or a NumPy array of them is expected"


def typed(name: str, value: Any) -> tuple[CType, Array]:
    """The C type and the array of one input.

    Args:
        name: The free name.
        value: A number, a NumPy array, or a sequence of numbers.

    Raises:
        ValueError: It is no number, not finite, or outside the type of a built-in name.

    >>> kind, array = typed("n", 2**31)
    >>> kind.name, array.dtype.name
    ('long long', 'int64')
    """
    array = _array(name, value)
    if array.dtype.kind == "f":
        array = array.astype(np.float64)
        if not np.isfinite(array).all():
            worst = array[~np.isfinite(array)].flat[0]
            raise ValueError(f"'{name}' is {worst}: a finite number is expected")
    fixed = BUILTIN_TYPES.get(name)
    if fixed is not None:
        return fixed, _within(name, fixed, array)
    if array.dtype.kind == "f":
        return DOUBLE, array
    kind = _UNSIGNED_DTYPES.get(array.dtype) or _narrowest(array)
    return kind, wrap(kind, array)


def missing(names: Mapping[str, int], given: Mapping[str, Any]) -> str | None:
    """The complaint about free names without a value, or None."""
    absent = [name for name in names if name not in given]
    if not absent:
        return None
    listed = ", ".join(f"'{name}'" for name in absent)
    if not given:
        return f"no value for {listed}: nothing is given"
    hint = near(absent[0], map(str, given)).replace("known:", "given:")
    return f"no value for {listed}{hint}"


def _array(name: str, value: Any) -> Array:
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"'{name}' is a ragged sequence: {_EXPECTED}") from None
    if array.size == 0 and isinstance(value, list | tuple):
        return array.astype(np.int64)
    if isinstance(value, list | tuple) and array.dtype.kind == "f" and _all_integers(value):
        raise ValueError(f"'{name}' mixes integers that share no 64-bit type")
    if array.dtype.kind == "O" and isinstance(value, int):
        raise ValueError(f"'{name}' is {value}: integers of up to 64 bits are known")
    if array.dtype.kind not in "biuf":
        shown = repr(value)
        shown = shown if len(shown) <= 40 else f"{shown[:37]}..."
        raise ValueError(f"'{name}' is {shown}: {_EXPECTED}")
    return array


def _all_integers(value: Sequence[Any]) -> bool:
    """Whether a sequence has no float: NumPy makes doubles of wide integers of both signs."""
    elements = np.asarray(value, dtype=object)
    return all(isinstance(each, int | np.integer) for each in elements.flat)


def _within(name: str, kind: CType, array: Array) -> Array:
    if array.dtype.kind == "f":
        raise ValueError(f"'{name}' has type {kind.name}: a whole number is expected")
    low, high = _extremes(array)
    if low < kind.minimum or high > kind.maximum:
        worst = low if low < kind.minimum else high
        raise ValueError(f"'{name}' is {worst}: {kind.name} takes {kind.minimum} to {kind.maximum}")
    return wrap(kind, array)


def _narrowest(array: Array) -> CType:
    low, high = _extremes(array)
    if INT.minimum <= low and high <= INT.maximum:
        return INT
    return LONG if high <= LONG.maximum else UNSIGNED_LONG


def _extremes(array: Array) -> tuple[int, int]:
    return (int(array.min()), int(array.max())) if array.size else (0, 0)
