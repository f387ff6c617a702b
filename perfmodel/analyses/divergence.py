"""Divergence of a branch in a block on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.analyses.warp_access import evaluate, lane_names
from perfmodel.device.loading import as_device
from perfmodel.engines import divergence as law
from perfmodel.errors import ArgumentError
from perfmodel.results import DivergenceResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfmodel.device.model import Device


def divergence(
    device: Device | str,
    *,
    predicate: str,
    block: tuple[int, ...] = (),
    parameters: Mapping[str, int] | None = None,
) -> DivergenceResult:
    """How a branch splits the warps of a block.

    Args:
        device: The device, whose warp width counts.
        predicate: The condition as in the source, such as ``threadIdx.x % 2 == 0``; `tid` means
            the thread's number in the block unless a parameter of that name is given.
        block: Shape of the block [threads]; by default one warp.
        parameters: Values of the named parameters.

    Returns:
        The result, warp by warp.

    Raises:
        ArgumentError: A number is outside its range.
        ExpressionError: The predicate is wrong or names what is not given.

    Source: `perfmodel.engines.divergence`; document 000, section 2.2.

    Example:
        >>> from perfmodel import load_device
        >>> result = divergence(load_device("s5000"), predicate="threadIdx.x < 31")
        >>> result.serial_paths, result.active_lanes
        ([2], [[31, 1]])
    """
    device = as_device(device)
    import numpy as np

    given = dict(parameters or {})
    names, present = lane_names(device, block=block, warp=None, parameters=given)
    names.setdefault("tid", np.arange(present.size))
    taken = np.broadcast_to(evaluate(predicate, names) != 0, present.shape)
    if taken.ndim != 1:
        raise ArgumentError("a predicate is looked at for one value of each parameter at a time")
    taken = taken[: int(present.sum())]
    width = device.warp_width.whole
    lanes = law.path_lanes(paths=(~taken).astype(np.int64), warp_width=width, path_count=2)
    return DivergenceResult(
        device=device.device,
        warps=len(lanes),
        active_warps=int(law.active_warps(taken=taken, warp_width=width)),
        divergent_warps=int(law.divergent_warps(paths=taken.astype(np.int64), warp_width=width)),
        serial_paths=law.serial_paths(paths=taken.astype(np.int64), warp_width=width).tolist(),
        active_lanes=lanes.tolist(),
        simd_efficiency=float(law.simd_efficiency(taken=taken, warp_width=width)),
        taken=taken,
    )
