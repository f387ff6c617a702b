"""Distinct values along the last axis: what coalescing and bank conflicts both count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Mask = NDArray[np.bool_]


def ordered_distinct(values: Integers, wanted: Mask) -> tuple[Integers, Mask]:
    """The values sorted along the last axis, and which of them are the first of their kind.

    A value that is not wanted sorts to the end and is never a first one.
    """
    import numpy as np

    nothing = np.iinfo(np.int64).max
    ordered = np.sort(np.where(wanted, values, nothing), axis=-1)
    first = np.ones(ordered.shape, dtype=bool)
    first[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    return ordered, first & (ordered != nothing)


def spanned_blocks(
    addresses: Integers, active: Mask, element_bytes: int, block_bytes: int
) -> tuple[Integers, Mask]:
    """The aligned blocks that each lane's element lies in, flattened over lanes.

    The second array tells which of them count: an element of a lane that takes part, and no
    block beyond the element's last byte.
    """
    import numpy as np

    most = (element_bytes + block_bytes - 2) // block_bytes + 1
    blocks = (addresses // block_bytes)[..., None] + np.arange(most)
    last = (addresses + element_bytes - 1) // block_bytes
    touched = (blocks <= last[..., None]) & active[..., None]
    flat = (*addresses.shape[:-1], addresses.shape[-1] * most)
    return blocks.reshape(flat), touched.reshape(flat)


def require_addresses(addresses: Integers, active: Mask) -> None:
    """Refuse an address below 0 in a lane that takes part.

    Args:
        addresses: Byte address of each lane's element; shape (..., lanes).
        active: Whether a lane takes part [-]; shape (..., lanes).

    Raises:
        ArgumentError: An address is below 0; the message names the lane.

    Example:
        >>> import numpy as np
        >>> require_addresses(np.array([4, -4]), np.array([True, True]))
        Traceback (most recent call last):
        perfmodel.errors.ArgumentError: the address of lane 1 is -4: it may not be below 0
    """
    import numpy as np

    below = np.argwhere(active & (addresses < 0))
    if below.size:
        place = tuple(below[0])
        raise ArgumentError(
            f"the address of lane {place[-1]} is {addresses[place]}: it may not be below 0"
        )
