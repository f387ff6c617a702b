"""Coalescing, bank conflicts and divergence as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.tables.text import percent, side_by_side, table, wrapped
from perfmodel.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfmodel.results import (
        BankConflictResult,
        CoalescingResult,
        DivergenceResult,
        LayoutSuggestion,
        Padding,
    )


_NOT_ALIGNED = (
    "Not aligned: an address is no multiple of what an instruction accesses. NVIDIA parts stop a "
    "kernel that does this; the counts are those of a part that allows it."
)


def coalescing_table(results: Sequence[CoalescingResult]) -> str:
    """Results side by side, one device or one access a column."""
    first = results[0]
    cells: list[list[str]] = [
        ["active lanes", *(_amount(r.lanes) for r in results)],
        ["instructions", *(str(r.instructions) for r in results)],
        ["requests", *(_requests(r) for r in results)],
        ["lines", *(f"{_amount(r.lines)} of {r.line_bytes} B" for r in results)],
        ["sectors", *(f"{_amount(r.sectors)} of {r.sector_bytes} B" for r in results)],
        ["bytes requested", *(_amount(r.bytes_requested) for r in results)],
        ["  distinct", *(_amount(r.bytes_used) for r in results)],
        ["bytes moved", *(_amount(r.bytes_moved) for r in results)],
        ["efficiency", *(_efficiency(r) for r in results)],
        ["address path", *(_cycles(r.address_cycles) for r in results)],
        ["data path", *(_cycles(r.data_cycles) for r in results)],
    ]
    names, where = _columns(results)
    title = f"one warp's {first.operation} of {first.element_bytes} B a lane, at {first.level}"
    lines = [title + where, "", side_by_side(cells, names)]
    notes = _misaligned(results)
    return "\n".join([*lines, *(["", *map(wrapped, notes)] if notes else [])])


def _columns(
    results: Sequence[CoalescingResult] | Sequence[BankConflictResult],
) -> tuple[list[str], str]:
    """Names of the columns: the devices, or the accesses where all are of one device."""
    if len(results) > 1 and len({result.device for result in results}) == 1:
        return [f"access {n}" for n, _ in enumerate(results, 1)], f", on {results[0].device}"
    return [result.device for result in results], ""


def _misaligned(results: Sequence[CoalescingResult]) -> list[str]:
    """A note on accesses that many devices refuse."""
    if all(bool(_every(result.aligned)) for result in results):
        return []
    return [_NOT_ALIGNED]


def _every(value: Any) -> bool:
    return bool(value.all()) if hasattr(value, "all") else bool(value)


def _efficiency(result: CoalescingResult) -> str:
    least, most = result.efficiency_range
    stated = _share(result.efficiency)
    low, high = _extremes(least)[0], _extremes(most)[1]
    spread = f" ({percent(low)} .. {percent(high)})"
    return stated if _same(least, most) else stated + spread


def _cycles(value: Any) -> str:
    text = _amount(value)
    return f"{text} {'cycle' if text == '1' else 'cycles'}"


def bank_conflict_table(
    results: Sequence[BankConflictResult], layouts: Sequence[LayoutSuggestion] = ()
) -> str:
    """Results side by side, one device a column; below them the layouts that free them."""
    first = results[0]
    cells = [
        ["active lanes", *(_amount(r.lanes) for r in results)],
        ["passes", *(_amount(r.passes) for r in results)],
        ["ideal passes", *(_amount(r.ideal_passes) for r in results)],
        ["conflict-free", *(_verdict(r.conflict_free) for r in results)],
        ["worst bank", *(_worst(r) for r in results)],
        ["lanes a group", *(_group_sizes(r) for r in results)],
    ]
    names, where = _columns(results)
    way = "to" if first.operation == "store" else "from"
    title = f"{first.operation} of {first.element_bytes} B a lane {way} shared memory{where}"
    lines = [title, "", side_by_side(cells, names)]
    for layout in layouts:
        lines += ["", *([f"{layout.device}:"] if len(layouts) > 1 else []), *_layout(layout)]
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
        ["SIMD efficiency of the branch", percent(result.simd_efficiency)],
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


def _extremes(value: Any) -> tuple[float, float]:
    """The least and the greatest of a number or an array."""
    if hasattr(value, "min"):
        return float(value.min()), float(value.max())
    return float(value), float(value)


def _same(first: Any, second: Any) -> bool:
    """Whether two numbers or arrays are equal."""
    return _every(first == second)


def _amount(value: Any) -> str:
    """A number, or the span of an array of them."""
    low, high = _extremes(value)
    return f"{low:.6g}" if low == high else f"{low:.6g} .. {high:.6g}"


def _share(value: Any) -> str:
    low, high = _extremes(value)
    return percent(low) if low == high else f"{percent(low)} .. {percent(high)}"


def _requests(result: CoalescingResult) -> str:
    least, most = result.requests_range
    stated = _amount(result.requests)
    if _same(least, most):
        return stated
    return f"{stated} ({_extremes(least)[0]:g} .. {_extremes(most)[1]:g})"


def _verdict(free: Any) -> str:
    if not hasattr(free, "shape") or not free.shape:
        return "yes" if free else "no"
    return "yes" if free.all() else f"no, {int((~free).sum())} of {free.size} accesses conflict"


def _worst(result: BankConflictResult) -> str:
    if hasattr(result.worst_bank, "shape") and result.worst_bank.shape:
        return f"{_amount(result.worst_degree)} words"
    return f"bank {result.worst_bank}, {counted(result.worst_degree, 'word')}"


def _group_sizes(result: BankConflictResult) -> str:
    size = len(result.groups[0])
    first = result.groups[0]
    consecutive = list(first) == list(range(first[0], first[0] + size))
    return f"{size}" if consecutive else f"{size}, not consecutive"


def _layout(layout: LayoutSuggestion) -> list[str]:
    lines = []
    if layout.padding is None:
        lines.append("padding: none of up to as many elements as there are banks frees them all")
        if layout.least_padding is not None and layout.least_padding.pad_elements:
            lines.append(f"         the least conflicts: {_padding(layout.least_padding)}")
    elif layout.padding.pad_elements == 0:
        lines.append("padding: none needed")
    else:
        lines.append(f"padding: {_padding(layout.padding)}")
    if layout.swizzle is None:
        lines.append("swizzle: no mask and shift of this form frees all accesses")
    elif layout.swizzle.mask == 0:
        lines.append("swizzle: none needed")
    else:
        xor = layout.swizzle
        lines.append(
            f"swizzle: address ^ ((address & {xor.mask:#x}) >> {xor.shift}), in bytes, "
            f"within every {xor.piece_bytes} B; passes {_passes(xor.passes)}"
        )
    return [wrapped(line, indent="         ") for line in lines]


def _padding(pad: Padding) -> str:
    return (
        f"{pad.pad_elements} after every {pad.row_elements} elements, "
        f"{percent(pad.extra_share)} more space; passes {_passes(pad.passes)}"
    )


def _passes(passes: Sequence[int]) -> str:
    return ", ".join(map(str, sorted(set(passes))))
