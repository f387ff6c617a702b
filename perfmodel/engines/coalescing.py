"""Coalescing: what a warp's global access becomes.

The lanes of a warp give one address each. Below the load/store unit memory is moved in lines, or
in the sectors of a line, so what is moved is the number of *distinct* lines or sectors that the
lanes touch, times their size. Worked by hand: 32 lanes reading consecutive 4-byte floats from an
aligned base touch one 128-byte line and use all of it; at a stride of 32 floats they touch 32
lines and use 4 bytes of each, 1/32.

Three things are told apart that are often mixed. *Bytes moved* depend on the distinct lines of
the whole warp. *Requests* are what the address path has to handle: a device that merges only
groups of 4 or 8 neighbouring lanes sends several requests for one line, which costs it time but
moves no more. *Instructions* depend on how wide an access is: 16-byte loads need a quarter of the
instructions of 4-byte loads and move the same lines.

Addresses come as arrays whose last axis is the lane; all else is vectorized over the axes before
it. A lane that takes no part is masked out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.engines.arithmetic import Number, ceil_divide, minimum, require
from perfmodel.engines.distinct import ordered_distinct, require_addresses, spanned_blocks

if TYPE_CHECKING:
    from perfmodel.engines.distinct import Integers, Mask


def distinct_blocks(
    *, addresses: Integers, active: Mask, element_bytes: int, block_bytes: int
) -> Integers:
    """Distinct aligned blocks (lines, sectors, banks' words) that the active lanes touch.

    Equation: ``|union over lanes of {floor(a / b), ..., floor((a + e - 1) / b)}|``

    Args:
        addresses: a, byte address of each lane's element [bytes]; shape (..., lanes).
        active: Whether a lane takes part [-]; shape (..., lanes).
        element_bytes: e, bytes that a lane accesses [bytes], at least 1.
        block_bytes: b, size of a block [bytes], at least 1.

    Returns:
        Distinct blocks [-]; shape (...).

    Raises:
        ArgumentError: A size is not a whole number of at least 1, or an address is negative.

    Source: document 000, section 3.1 (128-byte requests); the CUDA C++ programming guide, device
    memory accesses (32-byte sectors).

    Example:
        >>> import numpy as np
        >>> lanes = np.arange(32)
        >>> int(distinct_blocks(addresses=lanes * 4 * 4, active=lanes >= 0,
        ...                     element_bytes=4, block_bytes=128))  # 32 x 16 bytes / 128
        4
    """
    require("element_bytes", element_bytes, low=1, whole=True)
    require("block_bytes", block_bytes, low=1, whole=True)
    require_addresses(addresses, active)
    blocks, touched = spanned_blocks(addresses, active, element_bytes, block_bytes)
    _, first = ordered_distinct(blocks, touched)
    counted: Integers = first.sum(axis=-1)
    return counted


def strided_lines(
    *, lanes: Number, stride_bytes: Number, element_bytes: Number, line_bytes: Number
) -> Number:
    """Distinct lines of an access with a constant stride from the start of a line.

    Equation: ``min(n, ceil(((n - 1) s + e) / L))``

    Args:
        lanes: n, active lanes [lanes], at least 1.
        stride_bytes: s, from one lane's element to the next [bytes], at least e.
        element_bytes: e, bytes that a lane accesses [bytes], at least 1.
        line_bytes: L, size of a line [bytes], at least e.

    Returns:
        Lines [lines].

    Raises:
        ArgumentError: An argument is outside its range.

    Validity: a stride that divides the line or is a multiple of it, so that no element lies in
    two lines; `distinct_blocks` counts any pattern.

    Source: document 000, section 3.1.

    Example:
        >>> strided_lines(lanes=32, stride_bytes=16, element_bytes=4, line_bytes=128)  # 500 / 128
        4
    """
    require("lanes", lanes, low=1, whole=True)
    require("element_bytes", element_bytes, low=1, whole=True)
    require("stride_bytes", stride_bytes, low=1, whole=True)
    require("line_bytes", line_bytes, low=1, whole=True)
    span = (lanes - 1) * stride_bytes + element_bytes
    return minimum(lanes, ceil_divide(span, line_bytes))


def requests(
    *,
    addresses: Integers,
    active: Mask,
    element_bytes: int,
    group_lanes: int,
    transaction_bytes: int,
) -> Integers:
    """Requests of a device that merges the accesses of groups of neighbouring lanes.

    Equation: ``sum over groups of |distinct transactions of the group|``

    Args:
        addresses: Byte address of each lane's element [bytes]; shape (..., lanes).
        active: Whether a lane takes part [-]; shape (..., lanes).
        element_bytes: Bytes that a lane accesses [bytes], at least 1.
        group_lanes: Neighbouring lanes whose accesses are merged [lanes], at least 1.
        transaction_bytes: Size of a request, to which it is aligned [bytes], at least 1.

    Returns:
        Requests [-]; shape (...).

    Raises:
        ArgumentError: A size is not a whole number of at least 1, or an address is negative.

    Source: document 000, section 3.1 (the S5000 merges 4 or 8 lanes into 128-byte requests).

    Example:
        >>> import numpy as np
        >>> lanes = np.arange(32)
        >>> int(requests(addresses=lanes * 4, active=lanes >= 0, element_bytes=4,
        ...              group_lanes=8, transaction_bytes=128))  # one for each group of 8
        4
    """
    import numpy as np

    require("group_lanes", group_lanes, low=1, whole=True)
    lanes = addresses.shape[-1]
    short = -lanes % group_lanes
    edges = [(0, 0)] * (addresses.ndim - 1) + [(0, short)]
    grouped = (*addresses.shape[:-1], (lanes + short) // group_lanes, group_lanes)
    of_groups: Integers = distinct_blocks(
        addresses=np.pad(addresses, edges).reshape(grouped),
        active=np.pad(active, edges).reshape(grouped),
        element_bytes=element_bytes,
        block_bytes=transaction_bytes,
    ).sum(axis=-1)
    return of_groups


def bytes_used(*, addresses: Integers, active: Mask, element_bytes: int) -> Integers:
    """Distinct bytes that the active lanes ask for.

    Equation: ``|union over lanes of [a, a + e)|``

    Args:
        addresses: a, byte address of each lane's element [bytes]; shape (..., lanes).
        active: Whether a lane takes part [-]; shape (..., lanes).
        element_bytes: e, bytes that a lane accesses [bytes], at least 1.

    Returns:
        Bytes [bytes]; shape (...). A byte that several lanes ask for counts once.

    Raises:
        ArgumentError: `element_bytes` is not a whole number of at least 1.

    Source: document 000, section 3.1 (4 of 128 bytes used at a stride of 32 floats).

    Example:
        >>> import numpy as np
        >>> int(bytes_used(addresses=np.array([0, 0, 4, 6]), active=np.ones(4, bool),
        ...                element_bytes=4))  # bytes 0 to 9
        10
    """
    import numpy as np

    require("element_bytes", element_bytes, low=1, whole=True)
    far = np.iinfo(np.int64).max
    ordered = np.sort(np.where(active, addresses, far), axis=-1)
    # An element adds what lies before the next element's start, and never more than its size.
    # Lanes masked out sort to the end, at `far`, and add nothing.
    steps = np.minimum(np.diff(ordered, axis=-1), element_bytes)
    own = np.where(ordered[..., :-1] != far, steps, 0).sum(axis=-1)
    used: Integers = own + np.where(ordered[..., -1] != far, element_bytes, 0)
    return used


def efficiency(*, bytes_used: Number, bytes_moved: Number) -> Number:
    """Share of the moved bytes that the lanes asked for.

    Equation: ``used / moved``

    Args:
        bytes_used: Distinct bytes asked for [bytes], at least 0.
        bytes_moved: Bytes of the lines or sectors touched [bytes], above 0.

    Returns:
        Efficiency [-], 0 to 1.

    Raises:
        ArgumentError: An argument is outside its range.

    Source: document 000, section 3.1.

    Example:
        >>> efficiency(bytes_used=32 * 4, bytes_moved=32 * 128)
        0.03125
    """
    require("bytes_used", bytes_used, low=0)
    require("bytes_moved", bytes_moved, low=0, above_low=True)
    return bytes_used / bytes_moved


def instructions_per_lane(
    *, bytes_per_lane: Number, access_bytes: Number, max_access_bytes: Number
) -> Number:
    """Load or store instructions a lane issues to move its bytes.

    Equation: ``ceil(bytes / access) x ceil(access / widest access)``

    Args:
        bytes_per_lane: What one lane moves in all [bytes], at least 1.
        access_bytes: Width of the access as written, such as 16 for float4 [bytes], at least 1.
        max_access_bytes: Widest access the device has [bytes], at least 1.

    Returns:
        Instructions [-].

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Source: document 000, section 3.2 (four scalar loads become one float4 load).

    Example:
        >>> scalar = instructions_per_lane(bytes_per_lane=64, access_bytes=4, max_access_bytes=16)
        >>> float4 = instructions_per_lane(bytes_per_lane=64, access_bytes=16, max_access_bytes=16)
        >>> scalar, float4
        (16, 4)
    """
    require("bytes_per_lane", bytes_per_lane, low=1, whole=True)
    require("access_bytes", access_bytes, low=1, whole=True)
    require("max_access_bytes", max_access_bytes, low=1, whole=True)
    return ceil_divide(bytes_per_lane, access_bytes) * ceil_divide(access_bytes, max_access_bytes)


def elements_per_access(*, access_bytes: Number, element_bytes: Number) -> Number:
    """Elements that one access of a lane carries.

    Equation: ``floor(access / element)``

    Args:
        access_bytes: Width of the access [bytes], at least 1.
        element_bytes: Size of an element [bytes], at least 1.

    Returns:
        Elements [-].

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Source: document 000, section 3.2 (128 bits carry 4 float, 8 half or 16 int8).

    Example:
        >>> elements_per_access(access_bytes=16, element_bytes=2)
        8
    """
    require("access_bytes", access_bytes, low=1, whole=True)
    require("element_bytes", element_bytes, low=1, whole=True)
    return access_bytes // element_bytes
