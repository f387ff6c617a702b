"""The blocks of a launch that are resident on a multiprocessor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from perfmodel.engines import occupancy as law

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfmodel.kernels.counting import LaunchCounts
    from perfmodel.kernels.setting import Amount
    from perfmodel.scheduler.fields import Fields


def blocks_by(counts: LaunchCounts, fields: Fields) -> Mapping[str, Amount]:
    """Blocks that each resource of a multiprocessor allows.

    Args:
        counts: The launch.
        fields: The device.

    Returns:
        The blocks by resource, named as `perfmodel.analyses.occupancy` names them.
    """
    width = fields["warp_width"]
    warps = counts.warps
    limits: dict[str, Amount] = {
        "warps": law.blocks_by_warps(
            warps_per_block=warps, max_warps_per_mp=fields["max_warps_per_mp"]
        ),
        "blocks": fields["max_blocks_per_mp"],
        "threads": _by_threads(counts, fields),
        "registers": law.blocks_by_registers(
            registers_per_thread=np.minimum(counts.registers, fields["max_registers_per_thread"]),
            warps_per_block=warps,
            warp_width=width,
            registers_per_mp=fields["registers_per_mp"],
            register_partitions=fields["register_partitions"],
            register_allocation_unit=fields["register_allocation_unit"],
            registers_per_block=fields.get("registers_per_block", fields["registers_per_mp"]),
            max_registers_per_thread=fields["max_registers_per_thread"],
        ),
        "shared_memory": _by_shared(counts, fields),
    }
    if "barriers_per_mp" in fields:
        limits["barriers"] = law.blocks_by_barriers(
            barriers_per_block=counts.barriers,
            warps_per_block=warps,
            barriers_per_mp=fields["barriers_per_mp"],
            barrier_free_warps=fields.get("barrier_free_warps", 0),
        )
    return limits


def _by_threads(counts: LaunchCounts, fields: Fields) -> Amount:
    """Blocks by threads; none where a block has more threads than the device allows it."""
    can_be = counts.threads <= fields["max_threads_per_block"]
    return fields["max_threads_per_mp"] // counts.threads * can_be


def _by_shared(counts: LaunchCounts, fields: Fields) -> Amount:
    allocated = shared_allocated(counts, fields)
    return law.blocks_by_shared(
        shared_allocated_bytes=allocated,
        shared_setting_bytes=fields["shared_per_mp"],
        shared_limit_bytes_per_block=fields["shared_per_block"]
        + fields["shared_reserved_per_block"],
    )


def shared_allocated(counts: LaunchCounts, fields: Fields) -> Amount:
    """Shared memory a block takes, reserve and rounding included [bytes]."""
    return law.shared_allocated(
        shared_bytes_per_block=counts.shared_bytes,
        shared_reserved_bytes_per_block=fields["shared_reserved_per_block"],
        shared_allocation_unit_bytes=fields["shared_allocation_unit"],
    )


def l1_left(counts: LaunchCounts, fields: Fields, blocks_per_mp: Amount) -> Amount:
    """L1 left for global memory where shared memory is taken from the same body [bytes]."""
    if fields.device.shared_carveouts is None:
        return fields["l1_size"]
    steps = np.array(sorted(fields.device.shared_carveouts.values))
    taken = shared_allocated(counts, fields) * blocks_per_mp
    place = np.minimum(np.searchsorted(steps, taken), len(steps) - 1)
    return np.maximum(fields["l1_size"] - steps[place], 0.0)
