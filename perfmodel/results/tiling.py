"""Results of block orders, register tiles and scaling."""

from dataclasses import dataclass, field
from typing import Any

from perfmodel.results.base import Result


@dataclass(frozen=True, kw_only=True)
class BlockOrderResult(Result):
    """The reuse that an order of blocks gives to the blocks resident together."""

    order: str
    rows: int
    columns: int
    resident_blocks: int
    first_window_rows: int
    """Distinct block rows among the first resident blocks."""
    first_window_columns: int
    first_window_amplification: float
    """Bandwidth amplification of the first resident blocks."""
    amplification: float
    """The same for the whole order, window by window."""
    visits: Any = field(repr=False)
    """(row, column) of each block in visiting order."""


@dataclass(frozen=True, kw_only=True)
class RegisterTileResult(Result):
    """What a thread tile needs of registers and of shared-memory bandwidth."""

    device: str
    tile_m: int
    tile_n: int
    tile_k: int
    threads_per_block: int
    tile_registers: int
    """Registers of C and its operands, before any address."""
    block_tile_elements: int
    """Elements of C that the threads of a block cover."""
    blocks_by_registers: int
    """Blocks an MP's registers hold, were these the only registers."""
    largest_square_tile: int
    """Side of the largest square tile for the registers a thread can address."""
    blocks_by_registers_range: tuple[int, int]
    """The same at the worst and the best ends of the device values that are ranges."""
    register_peak_share: float
    """Share of the FMA peak that the register read ports allow."""
    register_peak_share_range: tuple[float, float]
    """The same where the ports are known as a range."""
    shared_bytes_per_cycle_needed: float
    shared_bytes_per_cycle_available: float
    shared_peak_share: float
    """Share of the FMA peak that shared-memory bandwidth allows."""


@dataclass(frozen=True, kw_only=True)
class ScalingResult(Result):
    """Several devices working together."""

    devices: int
    shares: tuple[float, ...]
    """Share of the work for each device, so that all finish together."""
    gain_over_equal_split: float
    communication_share: float
    """Communication as a share of one device's time for the whole problem."""
    strong_scaling_speedup: float
    strong_scaling_efficiency: float
    share_allowed_within_5_percent: float | None
    """The communication share up to which the devices stay within 5 % of linear."""
    weak_scaling_speedup: float
    all_reduce_time_s: float | None
    all_reduce_link: str | None
