"""Block orders, register tiles and scaling as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.tables.text import WIDTH, percent, side_by_side, table, wrapped
from perfmodel.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfmodel.results import BlockOrderResult, RegisterTileResult, ScalingResult


def block_orders_table(orders: Sequence[BlockOrderResult], drawn: str) -> str:
    """The reuse of each order, and one of them as a numbered grid where it fits."""
    first = orders[0]
    rows = [
        [
            order.order,
            str(order.first_window_rows),
            str(order.first_window_columns),
            f"{order.first_window_amplification:.4g} x",
            f"{order.amplification:.4g} x",
        ]
        for order in orders
    ]
    lines = [
        f"{first.rows} x {first.columns} blocks, {first.resident_blocks} resident together",
        "",
        table(
            rows,
            header=["order", "first: rows", "columns", "amplification", "whole order"],
            align="lrrrr",
        ),
    ]
    chosen = next(order for order in orders if order.order == drawn)
    grid = _grid(chosen)
    if grid:
        lines += ["", f"{drawn} order:", "", grid]
    return "\n".join(lines)


def _grid(order: BlockOrderResult) -> str:
    """The visiting numbers laid out as the grid, empty where it would not fit the terminal."""
    width = len(str(order.rows * order.columns - 1)) + 1
    if width * order.columns > WIDTH or order.rows > 40:
        return ""
    cells = [[""] * order.columns for _ in range(order.rows)]
    for number, (row, column) in enumerate(order.visits.tolist()):
        cells[row][column] = str(number).rjust(width)
    return "\n".join("".join(row) for row in cells)


_NOTE = (
    "fp32; shared bytes count the operands of every lane, as the document does: lanes that read "
    "one address are served together, which may halve them"
)


def register_tile_table(results: Sequence[RegisterTileResult]) -> str:
    """Results side by side, one device a column."""
    first = results[0]
    rows = [
        ["registers of the tile", *(f"{r.tile_registers} a thread" for r in results)],
        ["blocks by registers", *(_blocks(r) for r in results)],
        ["largest square tile", *(f"{r.largest_square_tile} x {r.largest_square_tile}"
                                  for r in results)],
        ["shared bytes a cycle", *(f"{r.shared_bytes_per_cycle_needed:g} of "
                                   f"{r.shared_bytes_per_cycle_available:g}" for r in results)],
        ["peak by shared memory", *(percent(r.shared_peak_share) for r in results)],
        ["peak by register reads", *(_reads(r) for r in results)],
    ]  # fmt: skip
    title = (
        f"{first.tile_m} x {first.tile_n} of C a thread, {first.tile_k} k at a time; "
        f"{first.threads_per_block} threads cover {first.block_tile_elements} elements"
    )
    return "\n".join(
        [wrapped(title), "", side_by_side(rows, [r.device for r in results]), "", wrapped(_NOTE)]
    )


def _blocks(result: RegisterTileResult) -> str:
    fewest, most = result.blocks_by_registers_range
    stated = str(result.blocks_by_registers)
    return stated if fewest == most else f"{stated} ({fewest} .. {most})"


def _reads(result: RegisterTileResult) -> str:
    least, most = result.register_peak_share_range
    stated = percent(result.register_peak_share)
    return stated if least == most else f"{stated} ({percent(least)} .. {percent(most)})"


def scaling_table(result: ScalingResult) -> str:
    """Shares, speed-ups and the all-reduce time."""
    shares = ", ".join(f"{share:.4g}" for share in result.shares[:12])
    more = ", ..." if len(result.shares) > 12 else ""
    rows = [
        ["devices", str(result.devices)],
        ["gain over an equal split", f"{result.gain_over_equal_split:.4g} x"],
        ["communication share", f"{result.communication_share:.4g}"],
        [
            "strong scaling",
            f"{result.strong_scaling_speedup:.4g} x, {percent(result.strong_scaling_efficiency)}",
        ],
        ["weak scaling", f"{result.weak_scaling_speedup:.4g} x"],
    ]
    if result.share_allowed_within_5_percent is not None:
        rows.append(
            [
                "within 5 % of linear up to",
                f"a share of {result.share_allowed_within_5_percent:.3g}",
            ]
        )
    if result.all_reduce_time_s is not None:
        rows.append(
            [
                "ring all-reduce",
                f"{format_quantity(result.all_reduce_time_s, 's')} over {result.all_reduce_link}",
            ]
        )
    return "\n".join([wrapped(f"shares: {shares}{more}", indent="        "), "", table(rows)])
