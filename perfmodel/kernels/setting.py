"""The numbers a rung is counted for: one prediction's, or a batch of them at once.

A value is a whole number where all predictions of a batch share it, and an int64 array with one
element a prediction where they do not. A single prediction is a batch in which all share
everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perfmodel.kernels.geometry import Geometry

Amount: TypeAlias = Any
"""A number, or an array with one element a prediction."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Parameters and geometries of a batch."""

    size: int
    values: Mapping[str, int | npt.NDArray[np.int64]]
    """What expressions read by name: parameters, and the sizes of types."""
    types: Mapping[str, str]
    """Parameters whose values are words."""
    geometries: tuple[Geometry, ...]
    """The distinct geometries of the devices of the batch."""
    geometry_of: int | npt.NDArray[np.int64] = 0
    """Which of them a prediction has."""

    def geometry(self, place: int) -> Geometry:
        """The geometry of one prediction."""
        chosen: int = at(self.geometry_of, place)
        return self.geometries[chosen]

    def of_geometry(self, name: str) -> Amount:
        """A size of the geometries, for every prediction."""
        sizes = [getattr(each, name) for each in self.geometries]
        if isinstance(self.geometry_of, int):
            return sizes[self.geometry_of]
        return np.array(sizes, dtype=np.int64)[self.geometry_of]


def at(value: Amount, place: int) -> Any:
    """One prediction's value."""
    if isinstance(value, np.ndarray):
        return value[place].item() if value.ndim else value.item()
    return value.item() if isinstance(value, np.generic) else value


def distinct(columns: Sequence[Amount], size: int) -> tuple[list[int], Any]:
    """The distinct combinations of several amounts over a batch.

    Args:
        columns: Amounts; those that all share are no reason to differ.
        size: Predictions in the batch.

    Returns:
        A prediction that stands for each combination, and for every prediction which of them it
        has; 0 for all where there is one.

    Example:
        >>> distinct([np.array([8, 8, 16]), 4, np.array([1, 1, 1])], 3)
        ([0, 2], array([0, 0, 1]))
    """
    codes: Any = None
    span = 1
    for each in columns:
        if not isinstance(each, np.ndarray) or not each.ndim:
            continue
        code, width = _coded(each)
        if width == 1:
            continue
        codes, span = (code, width) if codes is None else (codes * width + code, span * width)
        if span > _WIDEST:
            values, codes = np.unique(codes, return_inverse=True)
            span = len(values)
    if codes is None:
        return [0], 0
    first = np.full(span, size, dtype=np.int64)
    first[codes[::-1]] = np.arange(size - 1, -1, -1)
    present = first < size
    return first[present].tolist(), (np.cumsum(present) - 1)[codes]


_WIDEST = 1 << 18
"""Codes up to this are told apart by a table, which takes no sorting."""


def _coded(column: Any) -> tuple[Any, int]:
    """Small numbers from 0 that are equal where the values are, and how many there can be."""
    low, high = column.min(), column.max()
    if low == high:
        return column, 1
    if column.dtype.kind == "i" and high - low < _WIDEST:
        return column - low, int(high - low) + 1
    values, inverse = np.unique(column, return_inverse=True)
    return inverse, len(values)


def rows(columns: Sequence[Amount], chosen: Sequence[int]) -> list[tuple[Any, ...]]:
    """The amounts of some predictions of a batch, one row each.

    Example:
        >>> rows([np.array([8, 8, 16]), 4], [0, 2])
        [(8, 4), (16, 4)]
    """
    lists = [
        each[chosen].tolist()
        if isinstance(each, np.ndarray) and each.ndim
        else [at(each, 0)] * len(chosen)
        for each in columns
    ]
    return list(zip(*lists, strict=True))


def gathered(amounts: Sequence[float], which: Any) -> Amount:
    """Amounts of the distinct combinations, given to every prediction that has them."""
    if isinstance(which, int):
        return amounts[which]
    return np.asarray(amounts)[which]
