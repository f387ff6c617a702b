"""Block orders and register tiles on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.analyses.occupancy import ENDS, Kernel, blocks_by
from perfmodel.device.loading import as_device
from perfmodel.engines import block_order, register_bandwidth
from perfmodel.engines.arithmetic import require
from perfmodel.errors import ArgumentError
from perfmodel.results import BlockOrderResult, RegisterTileResult

if TYPE_CHECKING:
    from perfmodel.device.model import Device

LARGEST_GRID = 1 << 20
"""Blocks of a grid that are ordered at most."""


def block_orders(
    *, rows: int, columns: int, macro: int, resident_blocks: int
) -> list[BlockOrderResult]:
    """The reuse of three block orders for the blocks that are resident together.

    Args:
        rows: Block rows of the grid.
        columns: Block columns of the grid.
        macro: Width of the serpentine's strips, and rows of a group of the grouped order.
        resident_blocks: Blocks that are resident on the device at a time.

    Returns:
        Row order, serpentine macro tiles and grouped order, in this order.

    Raises:
        ArgumentError: A number is outside its range.

    Source: `perfmodel.engines.block_order`; document 000, section 5 GEMM 3.

    Example:
        >>> orders = block_orders(rows=10, columns=10, macro=8, resident_blocks=64)
        >>> [(o.order, round(o.first_window_amplification, 4)) for o in orders]
        [('row', 7.5294), ('serpentine', 8.0), ('grouped', 8.0)]
    """
    for name, number in (("rows", rows), ("columns", columns), ("macro", macro)):
        require(name, number, low=1, high=LARGEST_GRID, whole=True)
    require("resident_blocks", resident_blocks, low=1, whole=True)
    if rows * columns > LARGEST_GRID:
        raise ArgumentError(f"the grid has {rows * columns} blocks: at most {LARGEST_GRID}")
    orders = {
        "row": block_order.row_order(grid_rows=rows, grid_columns=columns),
        "serpentine": block_order.serpentine_order(
            grid_rows=rows, grid_columns=columns, strip_width=macro
        ),
        "grouped": block_order.grouped_order(
            grid_rows=rows, grid_columns=columns, group_rows=macro
        ),
    }
    found = []
    for name, order in orders.items():
        first = order[:resident_blocks]
        found.append(
            BlockOrderResult(
                order=name,
                rows=rows,
                columns=columns,
                resident_blocks=resident_blocks,
                first_window_rows=len(set(first[:, 0].tolist())),
                first_window_columns=len(set(first[:, 1].tolist())),
                first_window_amplification=block_order.blocks_amplification(blocks=first),
                amplification=block_order.order_amplification(
                    order=order, resident_blocks=resident_blocks
                ),
                visits=order,
            )
        )
    return found


def register_tile(
    device: Device | str,
    *,
    tile_m: int,
    tile_n: int,
    tile_k: int = 1,
    threads_per_block: int = 256,
    fragment_buffers: int = 1,
    shared_efficiency: float = 1.0,
) -> RegisterTileResult:
    """What a thread's tile of an fp32 matrix product needs of a device.

    Args:
        device: The device, or its name.
        tile_m: Rows of C that a thread owns.
        tile_n: Columns of C that a thread owns.
        tile_k: Steps of k whose operands are held.
        threads_per_block: Threads of a block [threads].
        fragment_buffers: Copies of the operands held, 2 for a double buffer.
        shared_efficiency: Share of shared-memory bandwidth left by bank conflicts [-].

    Returns:
        Registers, and the shares of the FMA peak that register ports and shared memory allow.

    Raises:
        ArgumentError: A number is outside its range.

    Source: `perfmodel.engines.register_bandwidth`; document 000, section 5 GEMM 2.

    Example:
        >>> from perfmodel import load_device
        >>> tile = register_tile(load_device("s5000"), tile_m=8, tile_n=8)
        >>> tile.tile_registers, tile.shared_bytes_per_cycle_needed, tile.shared_peak_share
        (80, 128.0, 1.0)
    """
    device = as_device(device)
    registers = register_bandwidth.tile_registers(
        tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, fragment_buffers=fragment_buffers
    )
    needed = register_bandwidth.shared_bytes_per_cycle(
        tile_m=tile_m, tile_n=tile_n, element_bytes=4, active_lanes=device.lanes["fp32"].value
    )
    available = device.shared_bandwidth.value
    blocks, fewest, most = (
        blocks_by(
            device,
            Kernel(threads_per_block=threads_per_block, registers_per_thread=registers),
            end,
        )["registers"]
        for end in ENDS
    )
    ports = device.register_read_ports
    share, least, greatest = (
        float(register_bandwidth.fma_peak_share(reads_per_cycle=reads, reads_per_fma=3))
        for reads in (ports.value, ports.low, ports.high)
    )
    return RegisterTileResult(
        device=device.device,
        tile_m=tile_m,
        tile_n=tile_n,
        tile_k=tile_k,
        threads_per_block=threads_per_block,
        tile_registers=registers,
        block_tile_elements=register_bandwidth.covered_elements(
            threads=threads_per_block, tile_m=tile_m, tile_n=tile_n
        ),
        blocks_by_registers=blocks,
        blocks_by_registers_range=(fewest, most),
        largest_square_tile=register_bandwidth.largest_square_tile(
            registers=device.max_registers_per_thread.whole, tile_k=tile_k
        ),
        register_peak_share=share,
        register_peak_share_range=(least, greatest),
        shared_bytes_per_cycle_needed=needed,
        shared_bytes_per_cycle_available=available,
        shared_peak_share=float(
            register_bandwidth.shared_peak_share(
                needed_bytes_per_cycle=needed,
                available_bytes_per_cycle=available,
                shared_efficiency=shared_efficiency,
            )
        ),
    )
