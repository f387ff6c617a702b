"""What the maps of a warp's access share: its first access, and lanes as short text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from perfmodel.results import BankConflictResult, CoalescingResult


def runs(lanes: Iterable[int]) -> list[tuple[int, int]]:
    """First and last of each run of consecutive numbers.

    Example:
        >>> runs([0, 1, 2, 3, 20, 21])
        [(0, 3), (20, 21)]
    """
    found: list[tuple[int, int]] = []
    for lane in sorted(set(lanes)):
        if found and found[-1][1] == lane - 1:
            found[-1] = (found[-1][0], lane)
        else:
            found.append((lane, lane))
    return found


def ranges_text(lanes: Iterable[int]) -> str:
    """Lanes as ranges.

    Example:
        >>> ranges_text([0, 1, 2, 3, 20, 21])
        '0-3, 20-21'
    """
    return ", ".join(
        str(first) if first == last else f"{first}-{last}" for first, last in runs(lanes)
    )


def cell_text(lanes: Iterable[int], *, longest: int = 5) -> str:
    """Lanes as text that fits a cell: their ranges, or how many they are.

    Example:
        >>> cell_text([5]), cell_text(range(32)), cell_text([0, 16]), cell_text(range(0, 32, 2))
        ('5', '0-31', '0,16', 'x16')
    """
    lanes = sorted(set(lanes))
    text = ranges_text(lanes).replace(" ", "")
    return text if len(text) <= longest else f"x{len(lanes)}"


def first_access(
    result: BankConflictResult | CoalescingResult,
) -> tuple[NDArray[np.int64], NDArray[np.bool_], int]:
    """Addresses and active lanes of a result's first access, and how many accesses it has."""
    import numpy as np

    addresses, active = np.broadcast_arrays(
        np.atleast_1d(np.asarray(result.addresses)), np.asarray(result.active, dtype=bool)
    )
    lanes = addresses.shape[-1]
    accesses = addresses.size // lanes
    return addresses.reshape(accesses, lanes)[0], active.reshape(accesses, lanes)[0], accesses


def first_of(field: Any) -> Any:
    """A field's value for the first access."""
    import numpy as np

    return np.ravel(np.asarray(field))[0].item()


def access_title(result: BankConflictResult | CoalescingResult, accesses: int) -> str:
    """How a map names what it shows."""
    which = f", access 1 of {accesses}" if accesses > 1 else ""
    return f"{result.element_bytes}-byte {result.operation} on {result.device}{which}"
