"""Divergence: what a warp pays when its lanes do not agree on a branch.

The lanes of a warp share one program counter. Where some take a branch and others do not, both
ways are issued one after the other, each under a mask, and the warp takes about the sum of their
times. A warp whose lanes agree, all of them in or all of them out, takes one way and pays for that
one alone.

So what matters is not how many threads take a branch but how they lie. Eight threads in warps of 2
that sum by `tid % (2 * stride) == 0` put one lane to work in every warp that works at all: half of
what is issued is useful. With `tid < stride` the same seven additions fill whole warps until the
last step, and 7/8 is useful. In both, warps without a lane in the branch are idle: they skip it,
and do not diverge.

Three shares are told apart. Active warps have a lane in the branch, idle ones have none, divergent
ones have lanes on both sides. SIMD efficiency is the lanes that took the branch over the lane
slots that the active warps issued for it.

A predicate is an array whose last axis runs over the threads of a block, in the order in which
they fill warps; the last warp may be partly filled, and lanes that are not there take no path. Left
without a warp size, the last axis is one warp's lanes and the one before it the warps. Axes further
left (steps of a loop, blocks) are independent. A switch is the same with a path's number for each
thread in the place of true and false.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from perfmodel.engines.arithmetic import Number, require
from perfmodel.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

NO_LANE = -1
"""The path of a lane that a partly filled warp lacks."""

MOST_PATHS = 1 << 16
"""Paths that are counted one by one; a greater number is a slip, and would fill the memory."""


def path_lanes(
    *, paths: "ArrayLike", warp_width: int | None = None, path_count: int | None = None
) -> "NDArray[np.int64]":
    """Lanes of each warp on each path of a branch.

    Equation: for each warp and path, the count of its lanes with that path

    Args:
        paths: The path of each thread [-]: true or false, or a whole number of at least 0.
        warp_width: Lanes of a warp [-], at least 1; left out where the last axis is a warp.
        path_count: Paths that the branch has [-], 1 to `MOST_PATHS`; left out, those up to the
            greatest in `paths`, and 2 for true and false.

    Returns:
        Lanes [-], shape [..., warps, paths], by the number of the path: for a predicate first
        those that do not take the branch, then those that do.

    Raises:
        ArgumentError: `paths` holds something else, or has too few axes; a path is not below
            `path_count`, or a number is not whole and large enough.

    Source: document 000, section 2.2 (masks), by counting.

    Example:
        >>> path_lanes(paths=[True] * 31 + [False], warp_width=32).tolist()
        [[1, 31]]
    """
    import numpy as np

    warps = _into_warps(paths, warp_width)
    least = 2 if np.asarray(paths).dtype == bool else int(warps.max()) + 1
    count = least if path_count is None else path_count
    require("path_count", count, low=1, high=MOST_PATHS, whole=True)
    if warps.max() >= count:
        raise ArgumentError(f"paths holds {warps.max()}: it must be below path_count, {count}")
    lanes = [(warps == path).sum(axis=-1, dtype=np.int64) for path in range(int(count))]
    return np.stack(lanes, axis=-1)


def serial_paths(*, paths: "ArrayLike", warp_width: int | None = None) -> "NDArray[np.int64]":
    """Ways that each warp has to issue one after the other.

    Equation: the number of different paths among the lanes of the warp

    Args:
        paths: The path of each thread [-]: true or false, or a whole number of at least 0.
        warp_width: Lanes of a warp [-], at least 1; left out where the last axis is a warp.

    Returns:
        Ways [-], shape [..., warps]: 1 where the lanes agree, 2 where a predicate splits them.

    Raises:
        ArgumentError: As `path_lanes`.

    Validity: the ways join again right after the branch.

    Source: document 000, section 2.2.

    Example:
        >>> serial_paths(paths=[True, True, True, False], warp_width=2).tolist()
        [1, 2]
    """
    import numpy as np

    warps = np.sort(_into_warps(paths, warp_width), axis=-1)
    # Sorted lanes change path once for each path but the first, which missing lanes stand for.
    changes: NDArray[np.int64] = (warps[..., 1:] != warps[..., :-1]).sum(axis=-1, dtype=np.int64)
    changes += warps[..., 0] != NO_LANE
    return changes


def divergent_warps(*, paths: "ArrayLike", warp_width: int | None = None) -> Number:
    """Warps whose lanes do not agree.

    Equation: the count of warps with more than one serial path

    Args:
        paths: The path of each thread [-]: true or false, or a whole number of at least 0.
        warp_width: Lanes of a warp [-], at least 1; left out where the last axis is a warp.

    Returns:
        Warps [-], shape [...]: one number for each step or block.

    Raises:
        ArgumentError: As `path_lanes`.

    Source: document 000, section 2.2.

    Example:
        >>> int(divergent_warps(paths=[True, True, True, False], warp_width=2))
        1
    """
    return (serial_paths(paths=paths, warp_width=warp_width) > 1).sum(axis=-1)


def active_lanes(*, taken: "ArrayLike", warp_width: int | None = None) -> "NDArray[np.int64]":
    """Lanes of each warp that take a branch.

    Equation: the count of true lanes of the warp

    Args:
        taken: Whether each thread takes the branch [-].
        warp_width: Lanes of a warp [-], at least 1; left out where the last axis is a warp.

    Returns:
        Lanes [-], shape [..., warps]; 0 for an idle warp.

    Raises:
        ArgumentError: `taken` does not hold true and false, or has too few axes; or `warp_width`
            is not a whole number of at least 1.

    Source: document 000, section 2.2.

    Example:
        >>> active_lanes(taken=[True, False, True, True], warp_width=2).tolist()
        [1, 2]
    """
    _require_predicate(taken)
    return path_lanes(paths=taken, warp_width=warp_width)[..., 1]


def active_warps(*, taken: "ArrayLike", warp_width: int | None = None) -> Number:
    """Warps with at least one lane in a branch: those that issue it.

    Equation: the count of warps with active lanes above 0

    Args:
        taken: Whether each thread takes the branch [-].
        warp_width: Lanes of a warp [-], at least 1; left out where the last axis is a warp.

    Returns:
        Warps [-], shape [...]: one number for each step or block.

    Raises:
        ArgumentError: As `active_lanes`.

    Source: document 000, section 2.2.

    Example:
        >>> int(active_warps(taken=[True, False, False, False], warp_width=2))
        1
    """
    return (active_lanes(taken=taken, warp_width=warp_width) > 0).sum(axis=-1)


def idle_warps(*, taken: "ArrayLike", warp_width: int | None = None) -> Number:
    """Warps without a lane in a branch: they skip it together and do not diverge.

    Equation: the count of warps with no active lane

    Args:
        taken: Whether each thread takes the branch [-].
        warp_width: Lanes of a warp [-], at least 1; left out where the last axis is a warp.

    Returns:
        Warps [-], shape [...]: one number for each step or block.

    Raises:
        ArgumentError: As `active_lanes`.

    Source: document 000, section 2.2, which counts such warps as divergent; they are not.

    Example:
        >>> int(idle_warps(taken=[True, False, False, False], warp_width=2))
        1
    """
    return (active_lanes(taken=taken, warp_width=warp_width) == 0).sum(axis=-1)


def simd_efficiency(*, taken: "ArrayLike", warp_width: int | None = None) -> float:
    """Useful share of the lane slots issued for the body of a branch.

    Equation: ``lanes that take it / (active warps x warp size)``, summed over all that is given

    Args:
        taken: Whether each thread takes the branch [-]; with a leading axis for the steps of a
            loop, the efficiency is that of the whole loop.
        warp_width: Lanes of a warp [-], at least 1; left out where the last axis is a warp.

    Returns:
        The efficiency [-], above 0 and at most 1; 1 where no warp is active, as nothing is wasted.

    Raises:
        ArgumentError: As `active_lanes`.

    Validity: each active warp issues the same body; the lanes that a partly filled warp lacks are
    slots too. What the other side of the branch issues is not counted: see `path_efficiency`.

    Source: document 000, section 2.2, with the share made by us.

    Example:
        >>> simd_efficiency(taken=[True, True, True, False, False, False], warp_width=2)  # 3 / 4
        0.75
    """
    lanes = active_lanes(taken=taken, warp_width=warp_width)
    slots = (lanes > 0).sum() * _lanes_of_a_warp(taken, warp_width)
    return float(lanes.sum() / slots) if slots else 1.0


def path_efficiency(*, paths: "ArrayLike", warp_width: int | None = None) -> float:
    """Useful share of the lane slots when every path has a body, all equally long.

    Equation: ``threads / (sum of serial paths x warp size)``, summed over all that is given

    Args:
        paths: The path of each thread [-]: true or false, or a whole number of at least 0.
        warp_width: Lanes of a warp [-], at least 1; left out where the last axis is a warp.

    Returns:
        The efficiency [-], above 0 and at most 1.

    Raises:
        ArgumentError: As `path_lanes`.

    Validity: bodies of unequal length need `warp_times`.

    Source: document 000, section 2.2, with the share made by us.

    Example:
        >>> path_efficiency(paths=[0, 1, 2, 3], warp_width=4)  # 4 lanes in 4 x 4 slots
        0.25
    """
    import numpy as np

    slots = serial_paths(paths=paths, warp_width=warp_width).sum()
    return float(np.asarray(paths).size / (slots * _lanes_of_a_warp(paths, warp_width)))


def divergent_time(*, path_times: Sequence[Number]) -> Number:
    """Time of a warp that has lanes on every path of a branch.

    Equation: ``sum(t_i)``

    Args:
        path_times: t_i, the time of each path [s], in seconds or in cycles, at least 0.

    Returns:
        The time of the warp [s], in the unit of the paths.

    Raises:
        ArgumentError: There is no path, or a time is below 0.

    Validity: the paths do not overlap; hardware that interleaves them hides some latency.

    Source: document 000, section 2.2.

    Example:
        >>> divergent_time(path_times=[100, 60])
        160
    """
    _require_times(path_times)
    return sum(path_times)


def warp_times(
    *, paths: "ArrayLike", path_times: Sequence[float], warp_width: int | None = None
) -> "NDArray[np.float64]":
    """Time of each warp: the sum over the paths that at least one of its lanes takes.

    Equation: ``sum of t_i over the paths i with lanes``

    Args:
        paths: The path of each thread [-]: true or false, or a whole number of at least 0.
        path_times: t_i, the time of each path [s], in seconds or in cycles, at least 0; for a
            predicate first that of the lanes that do not take the branch.
        warp_width: Lanes of a warp [-], at least 1; left out where the last axis is a warp.

    Returns:
        The time of each warp [s], in the unit of the paths, shape [..., warps].

    Raises:
        ArgumentError: As `path_lanes`, or a time is below 0, or a path has none.

    Validity: as `divergent_time`.

    Source: document 000, section 2.2.

    Example:
        >>> warp_times(paths=[True, True, True, False], path_times=[60, 100], warp_width=2).tolist()
        [100.0, 160.0]
    """
    import numpy as np

    _require_times(path_times)
    lanes = path_lanes(paths=paths, warp_width=warp_width, path_count=len(path_times))
    times: NDArray[np.float64] = (lanes > 0).astype(np.float64) @ np.asarray(path_times)
    return times


def _into_warps(paths: "ArrayLike", warp_width: int | None) -> "NDArray[np.int64]":
    """The path of each lane, shape [..., warps, lanes], `NO_LANE` where a warp is not filled."""
    import numpy as np

    array = _path_array(paths)
    if warp_width is None:
        if array.ndim < 2:
            raise ArgumentError("warp_width is left out: the last two axes must be warps and lanes")
        return array
    threads, lanes = array.shape[-1], _lanes_of_a_warp(paths, warp_width)
    warps = -(-threads // lanes)
    missing = np.full((*array.shape[:-1], warps * lanes - threads), NO_LANE, dtype=np.int64)
    filled = np.concatenate([array, missing], axis=-1)
    return filled.reshape(*array.shape[:-1], warps, lanes)


def _path_array(paths: "ArrayLike") -> "NDArray[np.int64]":
    import numpy as np

    try:
        array: NDArray[Any] = np.asarray(paths)
    except ValueError as error:
        raise ArgumentError("paths has rows of unequal length: give one path a thread") from error
    if not array.ndim:
        raise ArgumentError(f"paths is {paths!r}: give one path a thread")
    require("paths", array, low=0, high=2**31 - 1, whole=True)
    return array.astype(np.int64)


def _lanes_of_a_warp(paths: "ArrayLike", warp_width: int | None) -> int:
    import numpy as np

    if warp_width is None:
        return int(np.asarray(paths).shape[-1])
    require("warp_width", warp_width, low=1, whole=True)
    return int(warp_width)


def _require_predicate(taken: "ArrayLike") -> None:
    import numpy as np

    try:
        dtype = np.asarray(taken).dtype
    except ValueError as error:
        raise ArgumentError("taken has rows of unequal length: give one for each thread") from error
    if dtype.kind != "b":
        raise ArgumentError(f"taken holds {dtype} values: it must hold true or false")


def _require_times(path_times: Sequence[Number]) -> None:
    if not len(path_times):
        raise ArgumentError("path_times is empty: give the time of each path")
    for time in path_times:
        require("path_times", time, low=0)
