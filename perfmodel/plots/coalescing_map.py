"""A map of the lines: which bytes a warp's global access uses of what it moves.

A row is a line of memory that the access touches, a column a place in the line. Sectors that are
touched are moved whole, so that a cell is used, moved for nothing, or not moved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfmodel.plots import style
from perfmodel.plots.lanes import access_title, cell_text, first_access, first_of
from perfmodel.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from perfmodel.results import CoalescingResult

NOT_MOVED, UNUSED, USED = 0, 1, 2
"""What a cell can be."""

MOST_LINES = 40
"""Lines that are drawn; the rest is counted."""


@dataclass(frozen=True, kw_only=True)
class CoalescedElement:
    """What lanes use of one line: from one byte to another, in one row."""

    row: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, kw_only=True)
class CoalescingMap:
    """The cells of the map: a row for each line, cells of equal width in it."""

    title: str
    subtitle: str
    line_bytes: int
    sector_bytes: int
    cell_bytes: int
    aligned: bool
    """Whether every element is one cell."""
    line_addresses: tuple[int, ...]
    """Address of the first byte of each line drawn."""
    more_lines: int
    """Lines touched beyond those drawn."""
    states: NDArray[np.int8]
    """For each line and cell NOT_MOVED, UNUSED or USED."""
    elements: tuple[CoalescedElement, ...]


def prepare_coalescing_map(result: CoalescingResult) -> CoalescingMap:
    """Lay the lanes of an access, the first if there are several, out over the lines.

    Args:
        result: What an access becomes.

    Returns:
        What `draw_coalescing_map` draws.

    Example:
        >>> from perfmodel import coalescing, load_device
        >>> plot = prepare_coalescing_map(coalescing(
        ...     load_device("h200"), index="threadIdx.x * 2", element_bytes=4))
        >>> plot.line_addresses, plot.states[0, :4].tolist(), plot.elements[1].text
        ((0, 128), [2, 1, 2, 1], '1')
    """
    import numpy as np

    addresses, active, accesses = first_access(result)
    starts = [int(address) for address in addresses[active]]
    line, sector = result.line_bytes, result.sector_bytes
    parts = _parts_by_line(addresses, active, result)
    touched = sorted(parts)
    drawn = touched[:MOST_LINES]
    cell = math.gcd(result.element_bytes, line, sector, *starts)
    states = np.zeros((len(drawn), line // cell), dtype=np.int8)
    elements: list[CoalescedElement] = []
    for row, number in enumerate(drawn):
        for start, end in parts[number]:
            first, last = start // sector * sector, -(-end // sector) * sector
            moved = states[row, first // cell : min(last, line) // cell]
            moved[moved == NOT_MOVED] = UNUSED
        for start, end in parts[number]:
            states[row, start // cell : end // cell] = USED
        elements += _named(row, parts[number])
    return CoalescingMap(
        title=_title(result, accesses),
        subtitle=_subtitle(result),
        line_bytes=line,
        sector_bytes=sector,
        cell_bytes=cell,
        aligned=cell == result.element_bytes,
        line_addresses=tuple(number * line for number in drawn),
        more_lines=len(touched) - len(drawn),
        states=states,
        elements=tuple(elements),
    )


_Parts = dict[tuple[int, int], list[int]]


def _parts_by_line(
    addresses: NDArray[np.int64], active: NDArray[np.bool_], result: CoalescingResult
) -> dict[int, _Parts]:
    """For each line, the lanes that use it from one byte to another."""
    line = result.line_bytes
    found: dict[int, _Parts] = {}
    for lane in range(len(addresses)):
        if not active[lane]:
            continue
        start = int(addresses[lane])
        end = start + result.element_bytes
        for number in range(start // line, (end - 1) // line + 1):
            part = (max(start - number * line, 0), min(end - number * line, line))
            found.setdefault(number, {}).setdefault(part, []).append(lane)
    return found


def _named(row: int, parts: _Parts) -> list[CoalescedElement]:
    """The parts of a row that do not overlap, each with its lanes."""
    named: list[CoalescedElement] = []
    for (start, end), lanes in sorted(parts.items()):
        if not named or named[-1].end <= start:
            text = cell_text(lanes)
            named.append(CoalescedElement(row=row, start=start, end=end, text=text))
    return named


def _title(result: CoalescingResult, accesses: int) -> str:
    lines, sectors, requests = (
        int(first_of(field)) for field in (result.lines, result.sectors, result.requests)
    )
    used = format(100 * first_of(result.efficiency), ".3g")
    return (
        f"{access_title(result, accesses)}: {counted(lines, 'line')}, "
        f"{counted(sectors, 'sector')}, {counted(requests, 'request')}, {used} % used"
    )


def _subtitle(result: CoalescingResult) -> str:
    asked, used, moved = (
        int(first_of(field))
        for field in (result.bytes_requested, result.bytes_used, result.bytes_moved)
    )
    return (
        f"{counted(int(first_of(result.lanes)), 'lane')}; {result.level} lines of "
        f"{result.line_bytes} bytes in sectors of {result.sector_bytes}; {asked} bytes requested, "
        f"{used} of them distinct, {moved} moved"
    )


# Places on the page, in inches.
_LEFT, _ACROSS, _RIGHT = 1.25, 10.0, 0.3
_ABOVE, _BELOW = 0.92, 0.88

_COLOURS = ("#F1F1F1", "#F3B27A", style.BLUE)
_MEANINGS = ("not moved", "moved, not used", "used (a number: by this lane)")


def draw_coalescing_map(plot: CoalescingMap) -> Figure:
    """Draw the map.

    Args:
        plot: What `prepare_coalescing_map` made.

    Returns:
        The figure.
    """
    with style.look():
        rows = len(plot.line_addresses)
        row_height = 0.34 if rows <= 8 else 0.24
        height = max(rows, 1) * row_height
        note = 0.22 if plot.more_lines else 0.0
        figure = style.new_figure(_LEFT + _ACROSS + _RIGHT, _ABOVE + height + note + _BELOW)
        style.add_titles(figure, left=0.3, title=plot.title, subtitle=plot.subtitle)
        axes = style.add_axes(
            figure, left=_LEFT, bottom=_BELOW + note, width=_ACROSS, height=height
        )
        _set_axes(axes, plot, height)
        _fill_cells(axes, plot)
        _write_lanes(axes, plot, row_height)
        if plot.more_lines:
            axes.text(
                0,
                -0.34 / height,
                f"and {counted(plot.more_lines, 'more line')}",
                transform=axes.transAxes,
                ha="left",
                va="top",
                fontsize=style.NOTE_SIZE,
                color=style.INK,
            )
        _add_legend(figure)
    return figure


def _set_axes(axes: Axes, plot: CoalescingMap, height: float) -> None:
    rows = len(plot.line_addresses)
    axes.set_xlim(0, plot.line_bytes)
    axes.set_ylim(max(rows, 1), 0)
    axes.set_xlabel("byte offset in the line", fontsize=style.LABEL_SIZE)
    step = plot.sector_bytes if plot.sector_bytes < plot.line_bytes else plot.line_bytes // 4
    axes.set_xticks(range(0, plot.line_bytes + 1, max(step, 1)))
    axes.set_yticks([row + 0.5 for row in range(rows)], [_address(a) for a in plot.line_addresses])
    axes.tick_params(length=0, labelsize=style.NOTE_SIZE)
    axes.text(
        -0.06 / _ACROSS,
        1 + 0.05 / height,
        "line address",
        transform=axes.transAxes,
        ha="right",
        va="bottom",
        fontsize=style.LABEL_SIZE,
    )
    for spine in axes.spines.values():
        spine.set_visible(False)


def _address(address: int) -> str:
    return f"{address}" if address < 100_000 else f"{address:#x}"


def _fill_cells(axes: Axes, plot: CoalescingMap) -> None:
    from matplotlib.colors import ListedColormap

    rows, cells = plot.states.shape
    edges = [cell * plot.cell_bytes for cell in range(cells + 1)]
    if rows:
        axes.pcolormesh(
            edges,
            range(rows + 1),
            plot.states,
            cmap=ListedColormap(_COLOURS),
            vmin=-0.5,
            vmax=2.5,
            edgecolors="white" if plot.aligned else "none",
            linewidth=0.6 if cells <= 64 else 0.2,
        )
    if not plot.aligned:
        for element in plot.elements:
            axes.vlines(
                [element.start, element.end],
                element.row,
                element.row + 1,
                color="white",
                linewidth=0.6,
            )
    for row in range(1, rows):
        axes.axhline(row, color="white", linewidth=1.6)
    for border in range(0, plot.line_bytes + 1, plot.sector_bytes):
        axes.axvline(border, color=style.INK, linewidth=1.1, clip_on=False)


def _write_lanes(axes: Axes, plot: CoalescingMap, row_height: float) -> None:
    if not plot.elements:
        return
    narrowest = min(element.end - element.start for element in plot.elements)
    size = style.fitting_size(
        longest=_longest(plot.elements),
        cell_width=_ACROSS * narrowest / plot.line_bytes,
        cell_height=row_height,
    )
    if not size:
        return
    for element in plot.elements:
        axes.text(
            (element.start + element.end) / 2,
            element.row + 0.5,
            element.text,
            ha="center",
            va="center_baseline",
            fontsize=size,
            color=style.ink_on(_COLOURS[USED]),
            bbox={"facecolor": _COLOURS[USED], "edgecolor": "none", "pad": 0.5},
        )


def _longest(elements: Sequence[CoalescedElement]) -> int:
    return max(len(element.text) for element in elements)


def _add_legend(figure: Figure) -> None:
    from matplotlib.patches import Patch

    across, up = figure.get_size_inches()
    figure.legend(
        handles=[
            Patch(facecolor=colour, edgecolor=style.GREY, linewidth=0.4, label=meaning)
            for colour, meaning in reversed(list(zip(_COLOURS, _MEANINGS, strict=True)))
        ],
        loc="lower left",
        bbox_to_anchor=(_LEFT / across, 0.14 / up),
        ncols=3,
        frameon=False,
        fontsize=style.NOTE_SIZE,
        borderaxespad=0,
        borderpad=0,
    )
