"""Coalescing, bank conflicts and divergence as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.tables.text import percent, table, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfmodel.results import (
        BankConflictResult,
        CoalescingResult,
        DivergenceResult,
        LayoutSuggestion,
    )


def coalescing_table(results: Sequence[CoalescingResult]) -> str:
    """Results side by side, one device a column."""
    first = results[0]
    cells: list[list[str]] = [
        ["active lanes", *(_amount(r.lanes) for r in results)],
        ["instructions", *(str(r.instructions) for r in results)],
        ["requests", *(_requests(r) for r in results)],
        ["lines", *(f"{_amount(r.lines)} of {r.line_bytes} B" for r in results)],
        ["sectors", *(f"{_amount(r.sectors)} of {r.sector_bytes} B" for r in results)],
        ["bytes requested", *(_amount(r.bytes_requested) for r in results)],
        ["bytes moved", *(_amount(r.bytes_moved) for r in results)],
        ["efficiency", *(_share(r.efficiency) for r in results)],
        ["address path", *(f"{_amount(r.address_cycles)} cycles" for r in results)],
    ]
    title = f"{first.operation} of {first.element_bytes} B a lane, at {first.level}"
    return "\n".join([title, "", table(cells, header=["", *(r.device for r in results)])])


def bank_conflict_table(
    results: Sequence[BankConflictResult], layout: LayoutSuggestion | None = None
) -> str:
    """Results side by side, one device a column; below them the layout that frees them."""
    first = results[0]
    cells = [
        ["active lanes", *(_amount(r.lanes) for r in results)],
        ["passes", *(_amount(r.passes) for r in results)],
        ["ideal passes", *(_amount(r.ideal_passes) for r in results)],
        ["conflict-free", *(_verdict(r.conflict_free) for r in results)],
        ["worst bank", *(_worst(r) for r in results)],
        ["lanes a group", *(_group_sizes(r) for r in results)],
    ]
    one_device = len({r.device for r in results}) == 1 and len(results) > 1
    names = [f"access {n}" if one_device else r.device for n, r in enumerate(results, 1)]
    where = f" of {first.device}" if one_device else ""
    title = f"{first.operation} of {first.element_bytes} B a lane from shared memory{where}"
    lines = [title, "", table(cells, header=["", *names])]
    if layout is not None:
        lines += ["", *_layout(layout)]
    return "\n".join(lines)


def divergence_table(result: DivergenceResult) -> str:
    """The warps of a block, those that agree summed up."""
    kinds: dict[tuple[int, tuple[int, ...]], int] = {}
    for paths, lanes in zip(result.serial_paths, result.active_lanes, strict=True):
        key = (paths, tuple(lanes))
        kinds[key] = kinds.get(key, 0) + 1
    rows = [
        [str(count), str(paths), *(str(number) for number in lanes)]
        for (paths, lanes), count in kinds.items()
    ]
    summary = [
        ["warps", str(result.warps)],
        ["divergent", str(result.divergent_warps)],
        ["taking the branch", str(result.active_warps)],
        ["SIMD efficiency", percent(result.simd_efficiency)],
    ]
    return "\n".join(
        [
            f"{result.device}: the branch, warp by warp",
            "",
            table(summary),
            "",
            table(rows, header=["warps", "paths", "lanes taking it", "lanes not"], align="rrrr"),
        ]
    )


def _amount(value: Any) -> str:
    """A number, or the span of an array of them."""
    if not hasattr(value, "shape") or not value.shape:
        return f"{value:g}" if isinstance(value, float) else str(value)
    low, high = value.min(), value.max()
    return f"{low:g}" if low == high else f"{low:g} .. {high:g}"


def _share(value: Any) -> str:
    if not hasattr(value, "shape") or not value.shape:
        return percent(float(value))
    low, high = float(value.min()), float(value.max())
    return percent(low) if low == high else f"{percent(low)} .. {percent(high)}"


def _requests(result: CoalescingResult) -> str:
    least, most = (_amount(end) for end in result.requests_range)
    stated = _amount(result.requests)
    return stated if least == most else f"{stated} ({least} .. {most})"


def _verdict(free: Any) -> str:
    if not hasattr(free, "shape") or not free.shape:
        return "yes" if free else "no"
    return "yes" if free.all() else f"no, {int((~free).sum())} of {free.size} accesses conflict"


def _worst(result: BankConflictResult) -> str:
    if not hasattr(result.worst_bank, "shape") or not result.worst_bank.shape:
        return f"bank {result.worst_bank}, {result.worst_degree} words"
    return f"{_amount(result.worst_degree)} words"


def _group_sizes(result: BankConflictResult) -> str:
    size = len(result.groups[0])
    first = result.groups[0]
    consecutive = list(first) == list(range(first[0], first[0] + size))
    return f"{size}" if consecutive else f"{size}, not consecutive"


def _layout(layout: LayoutSuggestion) -> list[str]:
    lines = []
    if layout.padding is None:
        lines.append("padding: none of up to a turn of the banks frees all accesses")
    elif layout.padding.pad_elements == 0:
        lines.append("padding: none needed")
    else:
        pad = layout.padding
        lines.append(
            f"padding: {pad.pad_elements} after every {pad.row_elements} elements, "
            f"{percent(pad.extra_share)} more space; passes {_passes(pad.passes)}"
        )
    if layout.swizzle is None:
        lines.append("swizzle: no mask and shift of this form frees all accesses")
    elif layout.swizzle.mask == 0:
        lines.append("swizzle: none needed")
    else:
        xor = layout.swizzle
        lines.append(
            f"swizzle: address ^ ((address & {xor.mask:#x}) >> {xor.shift}), bytes; "
            f"passes {_passes(xor.passes)}"
        )
    return [wrapped(line, indent="         ") for line in lines]


def _passes(passes: Sequence[int]) -> str:
    return ", ".join(map(str, sorted(set(passes))))
