"""Results of the occupancy analysis."""

from dataclasses import dataclass
from typing import Any

from perfmodel.results.base import Result


@dataclass(frozen=True, kw_only=True)
class OneBlockMore(Result):
    """The least to give up so that an MP holds one block more; None stays as it is."""

    blocks_per_mp: int
    active_warps: int
    registers_per_thread: int | None = None
    shared_bytes_per_block: int | None = None
    threads_per_block: int | None = None
    scalar_registers_per_warp: int | None = None
    barriers_per_block: int | None = None


@dataclass(frozen=True, kw_only=True)
class OccupancyResult(Result):
    """Blocks and warps resident on an MP, and what limits them."""

    device: str
    threads_per_block: Any
    registers_per_thread: Any
    shared_bytes_per_block: Any
    scalar_registers_per_warp: Any
    barriers_per_block: Any
    carveout_percent: int | None
    warps_per_block: Any
    blocks_per_mp: Any
    """Blocks resident on an MP."""
    active_warps: Any
    """Warps resident on an MP."""
    max_warps: int
    """Warps an MP can hold."""
    occupancy: Any
    """active_warps / max_warps."""
    limiters: Any
    """The resources that stop the next block; for arrays, an array of tuples."""
    blocks_by: dict[str, Any]
    """Blocks that each resource allows; None where it sets no limit."""
    registers_per_warp: Any
    """Registers a warp takes, rounded up as the device does."""
    shared_allocated_bytes: Any
    """Shared memory a block takes, reserve and rounding included."""
    shared_setting_bytes: Any
    """Shared memory of an MP as the carve-out preference leaves it."""
    occupancy_range: tuple[Any, Any]
    """The least and the greatest occupancy over the ends of the device values that are ranges."""
    one_block_more: OneBlockMore | None
    """What to give up for one block more; None where nothing helps, and for arrays."""
    one_block_more_surely: OneBlockMore | None
    """The same at the worst ends of the device values that are ranges, where that differs."""
    impossible_because: str | None
    """Why not a single block fits; None where one does, and for arrays."""


@dataclass(frozen=True, kw_only=True)
class WavesPerSimdResult(Result):
    """Waves a SIMD holds, as AMD's compiler states a kernel's occupancy."""

    device: str
    waves_per_simd: Any
    """The least over the resources."""
    max_waves_per_simd: int
    """Waves a SIMD has room for."""
    waves_by: dict[str, Any]
    """Waves by resource, each for itself: blocks (with slots, barriers and shared memory),
    registers and scalar_registers."""
