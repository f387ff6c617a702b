"""Occupancy as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.tables.text import percent, table, wrapped
from perfmodel.units import format_quantity
from perfmodel.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfmodel.results import OccupancyResult, OneBlockMore

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
    keys: list[tuple[int, tuple[str, ...], tuple[float, float]]] = []
    lows, highs = swept.occupancy_range
    ranges = bool((lows != highs).any())
    for index, value in enumerate(values):
        ends = (float(lows[index]), float(highs[index]))
        key = (int(swept.blocks_per_mp[index]), swept.limiters[index], ends)
        # Warps of a block grow along a sweep of threads, so only there every step is its own.
        if keys and keys[-1] == key and over != "threads_per_block":
            rows[-1][1] = str(value)
            continue
        keys.append(key)
        rows.append(
            [
                str(value),
                str(value),
                str(key[0]),
                percent(float(swept.occupancy[index])),
                *([f"{100 * ends[0]:.3g} .. {percent(ends[1])}"] if ranges else []),
                ", ".join(_RESOURCES[name] for name in key[1]),
            ]
        )
    return "\n".join(
        [
            f"{swept.device}: occupancy over {over.replace('_', ' ')}",
            "",
            table(
                rows,
                header=[
                    *("from", "to", "blocks", "occupancy"),
                    *(["over ranges"] if ranges else []),
                    "limited by",
                ],
                align="rrrrl",
            ),
        ]
    )


def _one(result: OccupancyResult) -> str:
    registers = (
        f"{result.registers_per_thread} registers a thread"
        if result.registers_per_thread
        else "registers not given"
    )
    shared = format_quantity(result.shared_bytes_per_block, "bytes")
    rows = [
        ["blocks per MP", str(result.blocks_per_mp)],
        ["active warps", f"{result.active_warps} of {result.max_warps}"],
        ["occupancy", percent(result.occupancy) + _range(result)],
        ["limited by", ", ".join(_RESOURCES[name] for name in result.limiters)],
    ]
    if result.carveout_percent is not None:
        setting = format_quantity(result.shared_setting_bytes, "bytes")
        rows.append(["shared memory", f"{setting} an MP, preferred {result.carveout_percent} %"])
    limits = [
        [
            _RESOURCES[name],
            "no limit" if blocks is None else counted(blocks, "block"),
            "<- limits" if name in result.limiters else "",
        ]
        for name, blocks in result.blocks_by.items()
    ]
    asked = f"{result.threads_per_block} threads, {registers}, {shared} shared a block"
    return "\n".join(
        [
            f"{result.device}: {asked}",
            "",
            table(rows),
            "",
            table(limits, header=["resource", "allows", ""], align="lr"),
            "",
            *(wrapped(line) for line in _advice(result)),
        ]
    )


def _range(result: OccupancyResult) -> str:
    low, high = result.occupancy_range
    if low == high:
        return ""
    return f"  ({percent(low)} .. {percent(high)} over device values that are ranges)"


def _advice(result: OccupancyResult) -> list[str]:
    """What to give up for one block more, in sentences."""
    if result.impossible_because is not None:
        return [f"No block fits on {result.device}: {result.impossible_because}."]
    more = result.one_block_more
    if more is None:
        return ["One block more: not to be had by giving up registers, shared memory or threads."]
    if more.active_warps <= result.active_warps:
        return ["One block more: only with smaller blocks, which hold no more warps in all."]
    reached = f"{more.blocks_per_mp}, {more.active_warps} warps"
    lines = [f"One block more ({reached}): {_given_up(result, more)}."]
    surely = result.one_block_more_surely
    if surely is not None:
        lines.append(f"Over all device values that are ranges: {_given_up(result, surely)}.")
    return lines


def _given_up(result: OccupancyResult, more: OneBlockMore) -> str:
    """What is given up, each with how much less it is; in exact amounts, to be typed back in."""
    steps = []
    for name, noun in (
        ("registers_per_thread", "registers a thread"),
        ("scalar_registers_per_warp", "scalar registers a warp"),
        ("shared_bytes_per_block", "B of shared memory a block"),
        ("threads_per_block", "threads a block"),
        ("barriers_per_block", "barriers a block"),
    ):
        target = getattr(more, name)
        if target is not None:
            steps.append(f"{getattr(result, name) - target} fewer, {target} {noun}")
    return "; and ".join(steps)


def _short_range(result: OccupancyResult) -> str:
    low, high = result.occupancy_range
    return "" if low == high else f" ({percent(low)} .. {percent(high)})"


def _several(results: Sequence[OccupancyResult]) -> str:
    rows = [
        [
            result.device,
            str(result.blocks_per_mp),
            f"{result.active_warps}/{result.max_warps}",
            percent(result.occupancy) + _short_range(result),
            ", ".join(_RESOURCES[name] for name in result.limiters),
        ]
        for result in results
    ]
    return table(
        rows, header=["device", "blocks", "warps", "occupancy", "limited by"], align="lrrl"
    )
