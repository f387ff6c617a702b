"""Occupancy as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.tables.text import percent, table, wrapped
from perfmodel.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfmodel.results import OccupancyResult

_RESOURCES = {
    "warps": "warp slots",
    "blocks": "block slots",
    "threads": "thread slots",
    "registers": "registers",
    "scalar_registers": "scalar registers",
    "shared_memory": "shared memory",
    "barriers": "barriers",
}


def occupancy_table(results: Sequence[OccupancyResult]) -> str:
    """One result in full, or several side by side."""
    return _one(results[0]) if len(results) == 1 else _several(results)


def occupancy_sweep_table(swept: OccupancyResult, over: str) -> str:
    """The stretches of a swept quantity over which the blocks and the limiters stay the same."""
    values = getattr(swept, over).tolist()
    rows: list[list[str]] = []
    keys: list[tuple[int, tuple[str, ...]]] = []
    for index, value in enumerate(values):
        key = (int(swept.blocks_per_mp[index]), swept.limiters[index])
        # Warps of a block grow along a sweep of threads, so only there every step is its own.
        if keys and keys[-1] == key and over != "threads_per_block":
            rows[-1][1] = _amount(over, value)
            continue
        keys.append(key)
        rows.append(
            [
                _amount(over, value),
                _amount(over, value),
                str(key[0]),
                f"{swept.active_warps[index]}/{swept.max_warps}",
                percent(float(swept.occupancy[index])),
                ", ".join(_RESOURCES[name] for name in key[1]),
            ]
        )
    return "\n".join(
        [
            f"{swept.device}: occupancy over {over.replace('_', ' ')}",
            "",
            table(
                rows,
                header=["from", "to", "blocks", "warps", "occupancy", "limited by"],
                align="rrrrr",
            ),
        ]
    )


def _amount(over: str, value: int) -> str:
    return f"{value} B" if over == "shared_bytes_per_block" else str(value)


def _one(result: OccupancyResult) -> str:
    asked = (
        f"{result.threads_per_block} threads, {result.registers_per_thread} registers a thread, "
        f"{format_quantity(result.shared_bytes_per_block, 'bytes')} shared a block"
    )
    rows = [
        ["blocks per MP", str(result.blocks_per_mp)],
        ["active warps", f"{result.active_warps} of {result.max_warps}"],
        ["occupancy", percent(result.occupancy) + _range(result)],
        ["limited by", ", ".join(_RESOURCES[name] for name in result.limiters)],
    ]
    limits = [
        [
            _RESOURCES[name],
            "no limit" if blocks is None else f"{blocks} blocks",
            "<- limits" if name in result.limiters else "",
        ]
        for name, blocks in result.blocks_by.items()
    ]
    return "\n".join(
        [
            f"{result.device}: {asked}",
            "",
            table(rows),
            "",
            table(limits, header=["resource", "allows", ""], align="lr"),
            "",
            wrapped(_advice(result)),
        ]
    )


def _range(result: OccupancyResult) -> str:
    low, high = result.occupancy_range
    if low == high:
        return ""
    return f"  ({percent(low)} .. {percent(high)} over device values that are ranges)"


def _advice(result: OccupancyResult) -> str:
    """What to give up for one block more, in a sentence."""
    more = result.one_block_more
    if result.blocks_per_mp == 0:
        return (
            f"No block fits: {', '.join(_RESOURCES[name] for name in result.limiters)} "
            f"of {result.device} cannot hold one."
        )
    if more is None:
        return "One block more: not to be had by giving up registers, shared memory or threads."
    steps = []
    for name, noun in (
        ("registers_per_thread", "registers a thread"),
        ("scalar_registers_per_warp", "scalar registers a warp"),
        ("threads_per_block", "threads a block"),
        ("barriers_per_block", "barriers a block"),
    ):
        target = getattr(more, name)
        if target is not None:
            present = getattr(result, name, None)
            fewer = f"{present - target} fewer, " if present is not None else "at most "
            steps.append(f"{fewer}{target} {noun}")
    if more.shared_bytes_per_block is not None:
        less = format_quantity(result.shared_bytes_per_block - more.shared_bytes_per_block, "bytes")
        target = format_quantity(more.shared_bytes_per_block, "bytes")
        steps.append(f"{less} less, {target} shared a block")
    return f"One block more ({more.blocks_per_mp}): {'; and '.join(steps)}."


def _several(results: Sequence[OccupancyResult]) -> str:
    rows = [
        [
            result.device,
            str(result.blocks_per_mp),
            f"{result.active_warps}/{result.max_warps}",
            percent(result.occupancy),
            ", ".join(_RESOURCES[name] for name in result.limiters),
        ]
        for result in results
    ]
    return table(
        rows, header=["device", "blocks", "warps", "occupancy", "limited by"], align="lrrr"
    )
