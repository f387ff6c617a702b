"""A map of the banks: which lane's word each bank serves in each pass.

A column is a bank and a row is a pass. Lanes that are served together have their rows together.
Which of a bank's words comes first is not known and makes no difference to the number of passes;
here it is the word of the lowest lane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perfmodel.plots import style
from perfmodel.plots.lanes import (
    access_title,
    cell_text,
    first_access,
    first_of,
    ranges_text,
)
from perfmodel.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from perfmodel.results import BankConflictResult


@dataclass(frozen=True, kw_only=True)
class BankMap:
    """The cells of the map: a row for each pass, a column for each bank."""

    title: str
    subtitle: str
    degree: NDArray[np.int64]
    """Distinct words that the group wants of the cell's bank; 0 where the bank idles."""
    texts: tuple[tuple[str, ...], ...]
    """The lanes served, cell by cell; empty where the bank idles."""
    groups: tuple[str, ...]
    """The lanes of each group that takes a pass."""
    group_rows: tuple[int, ...]
    """Passes of each group."""


def prepare_bank_map(result: BankConflictResult) -> BankMap:
    """Lay the lanes of an access, the first if there are several, out over banks and passes.

    Args:
        result: The passes of an access.

    Returns:
        What `draw_bank_map` draws.

    Example:
        >>> from perfmodel import bank_conflicts, load_device
        >>> plot = prepare_bank_map(bank_conflicts(
        ...     load_device("s5000"), index="threadIdx.x * 16", element_bytes=4))
        >>> plot.degree.shape, int(plot.degree[0, 0]), plot.texts[0][16], plot.texts[1][0]
        ((16, 32), 16, '1', '2')
    """
    import numpy as np

    addresses, active, accesses = first_access(result)
    rows: list[list[str]] = []
    degrees: list[list[int]] = []
    groups, group_rows = [], []
    for group in result.groups:
        lanes = [lane for lane in group if lane < len(active) and active[lane]]
        wanted = _words_by_bank(result, addresses, lanes)
        depth = max(map(len, wanted))
        if not depth:
            continue
        groups.append(ranges_text(group))
        group_rows.append(depth)
        for turn in range(depth):
            rows.append([cell_text(w[turn]) if turn < len(w) else "" for w in wanted])
            degrees.append([len(w) if turn < len(w) else 0 for w in wanted])
    passes, ideal = int(first_of(result.passes)), int(first_of(result.ideal_passes))
    verdict = "no conflict" if first_of(result.conflict_free) else f"ideal {ideal}"
    return BankMap(
        title=f"{access_title(result, accesses)}: {counted(passes, 'pass', 'passes')}, {verdict}",
        subtitle=_subtitle(result),
        degree=np.array(degrees, dtype=np.int64).reshape(-1, result.banks),
        texts=tuple(tuple(row) for row in rows),
        groups=tuple(groups),
        group_rows=tuple(group_rows),
    )


def _words_by_bank(
    result: BankConflictResult, addresses: NDArray[np.int64], lanes: Sequence[int]
) -> list[list[list[int]]]:
    """For each bank, the lanes of each word wanted of it, in the order of the first lane."""
    width = result.bank_width_bytes
    words: dict[int, list[int]] = {}
    for lane in sorted(lanes):
        start = int(addresses[lane])
        for word in range(start // width, (start + result.element_bytes - 1) // width + 1):
            words.setdefault(word, []).append(lane)
    wanted: list[list[list[int]]] = [[] for _ in range(result.banks)]
    for word, wanting in words.items():
        wanted[word % result.banks].append(wanting)
    return wanted


def _subtitle(result: BankConflictResult) -> str:
    lanes, degree = int(first_of(result.lanes)), int(first_of(result.worst_degree))
    if not lanes:
        return "no lane takes part"
    where = f" (bank {first_of(result.worst_bank)})" if degree > 1 else ""
    return (
        f"{counted(lanes, 'lane')}; {result.banks} banks of {result.bank_width_bytes} bytes; lanes "
        f"served together want at most {counted(degree, 'word')} of a bank{where}; "
        "a cell names the lanes it serves"
    )


# Places on the page, in inches.
_LEFT, _ACROSS, _RIGHT = 1.75, 10.0, 0.3
_ABOVE, _BELOW = 0.92, 0.98
_TALLEST = 12.5


def _row_height(rows: int) -> float:
    if rows <= 8:
        return 0.34
    if rows <= 32:
        return 0.25
    return min(0.19, _TALLEST / rows)


def draw_bank_map(plot: BankMap) -> Figure:
    """Draw the map.

    Args:
        plot: What `prepare_bank_map` made.

    Returns:
        The figure.
    """
    with style.look():
        rows, banks = plot.degree.shape
        row_height = _row_height(rows)
        height = max(rows, 1) * row_height
        figure = style.new_figure(_LEFT + _ACROSS + _RIGHT, _ABOVE + height + _BELOW)
        style.add_titles(figure, left=0.3, title=plot.title, subtitle=plot.subtitle)
        axes = style.add_axes(figure, left=_LEFT, bottom=_BELOW, width=_ACROSS, height=height)
        _set_axes(axes, plot, height)
        colours, norm = _colours()
        if rows:
            axes.pcolormesh(
                range(banks + 1),
                range(rows + 1),
                _masked(plot.degree),
                cmap=colours,
                norm=norm,
                edgecolors="white",
                linewidth=0.6,
            )
        _write_cells(axes, plot, row_height, lambda degree: colours(norm(degree)))
        _add_bar(figure, colours, norm)
    return figure


def _masked(degree: NDArray[np.int64]) -> Any:
    import numpy as np

    return np.ma.masked_equal(degree, 0)


def _colours() -> tuple[Any, Any]:
    """Calm for one word a bank, then ever stronger; the same in every map."""
    from matplotlib.colors import LinearSegmentedColormap, LogNorm

    colours = LinearSegmentedColormap.from_list(
        "conflict", ["#CFE3F1", "#F6C667", "#E07B39", "#A8322D", "#4A0F24"]
    )
    return colours, LogNorm(1, 32, clip=True)


def _set_axes(axes: Axes, plot: BankMap, height: float) -> None:
    rows, banks = plot.degree.shape
    axes.set_facecolor("#F4F4F4")
    axes.set_xlim(0, banks)
    axes.set_ylim(max(rows, 1), 0)
    axes.set_xlabel("bank", fontsize=style.LABEL_SIZE)
    every = 1 if banks <= 32 else 2
    shown = range(0, banks, every)
    axes.set_xticks([bank + 0.5 for bank in shown], [str(bank) for bank in shown])
    step = 1 if rows <= 64 else -(-rows // 32)
    axes.set_yticks(
        [row + 0.5 for row in range(0, rows, step)], [str(row) for row in range(1, rows + 1, step)]
    )
    axes.tick_params(length=0, labelsize=style.NOTE_SIZE if rows <= 32 else 7)
    axes.text(
        -0.06 / _ACROSS,
        1 + 0.05 / height,
        "pass",
        transform=axes.transAxes,
        ha="right",
        va="bottom",
        fontsize=style.LABEL_SIZE,
    )
    for spine in axes.spines.values():
        spine.set_visible(False)
    top = 0
    for name, count in zip(plot.groups, plot.group_rows, strict=True):
        if top:
            axes.axhline(top, color=style.INK, linewidth=1.2)
        axes.text(
            -0.36 / _ACROSS,
            1 - (top + count / 2) / rows,
            f"lanes {name}",
            transform=axes.transAxes,
            ha="right",
            va="center_baseline",
            fontsize=style.NOTE_SIZE if len(plot.groups) <= 32 else 7,
            color=style.INK,
        )
        top += count


def _write_cells(axes: Axes, plot: BankMap, row_height: float, colour_of: Any) -> None:
    banks = plot.degree.shape[1]
    longest = max((len(text) for row in plot.texts for text in row), default=1)
    size = style.fitting_size(longest=longest, cell_width=_ACROSS / banks, cell_height=row_height)
    if not size:
        return
    for row, texts in enumerate(plot.texts):
        for bank, text in enumerate(texts):
            if text:
                axes.text(
                    bank + 0.5,
                    row + 0.5,
                    text,
                    ha="center",
                    va="center_baseline",
                    fontsize=size,
                    color=style.ink_on(colour_of(plot.degree[row, bank])),
                )


def _add_bar(figure: Figure, colours: Any, norm: Any) -> None:
    from matplotlib.cm import ScalarMappable

    place = style.add_axes(figure, left=_LEFT, bottom=0.3, width=2.6, height=0.12)
    bar = figure.colorbar(
        ScalarMappable(norm=norm, cmap=colours), cax=place, orientation="horizontal"
    )
    bar.set_ticks([1, 2, 4, 8, 16, 32], labels=["1", "2", "4", "8", "16", "32+"])
    bar.minorticks_off()
    bar.outline.set_visible(False)
    place.tick_params(labelsize=style.NOTE_SIZE, length=2)
    place.text(
        1.04,
        0.5,
        "words the group wants of the bank",
        transform=place.transAxes,
        ha="left",
        va="center_baseline",
        fontsize=style.NOTE_SIZE,
    )
