"""A map of the grid: in which order the blocks of a matrix product are visited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perfmodel.engines.arithmetic import require
from perfmodel.errors import ArgumentError
from perfmodel.plots import style
from perfmodel.wording import counted

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

MOST_NUMBERED = 24
"""Cells a side up to which the visiting numbers are written."""

Edge = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class BlockOrderPlot:
    """The grid, ready to be drawn; cell (row, column) lies at x = column, y = row."""

    title: str
    subtitle: str
    numbers: NDArray[np.int64]
    """When each block is visited, from 0; -1 where it is not."""
    path: NDArray[np.float64]
    """The centres of the blocks in visiting order, x and y."""
    resident: NDArray[np.bool_]
    """Which blocks are among the first that are in flight together."""
    outline: tuple[Edge, ...]
    """The borders between those and the others, as pairs of (x, y)."""
    numbered: bool


def prepare_block_order(
    order: NDArray[Any], rows: int, columns: int, title: str, resident_blocks: int
) -> BlockOrderPlot:
    """Number the blocks of a grid in visiting order.

    Args:
        order: (block row, block column) in visiting order, as `perfmodel.engines.block_order`
            gives it.
        rows: Rows of the grid [blocks].
        columns: Columns of the grid [blocks].
        title: What the order is called.
        resident_blocks: Blocks in flight together [blocks]; the first so many are outlined.

    Returns:
        What `draw_block_order` draws.

    Raises:
        ArgumentError: The order leaves the grid or visits a block twice, or a size is below 1.

    Example:
        >>> from perfmodel.engines.block_order import serpentine_order
        >>> order = serpentine_order(grid_rows=4, grid_columns=4, strip_width=2)
        >>> plot = prepare_block_order(order, 4, 4, "serpentine, 2 wide", 4)
        >>> plot.title
        'serpentine, 2 wide: the first 4 blocks touch 2 rows and 2 columns'
        >>> plot.numbers[1].tolist()
        [3, 2, 12, 13]
    """
    import numpy as np

    for name, value in (("rows", rows), ("columns", columns), ("resident_blocks", resident_blocks)):
        require(name, value, low=1, whole=True)
    pairs = np.asarray(order)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs) or pairs.dtype.kind not in "iu":
        raise ArgumentError(
            f"order is {pairs.dtype} of shape {pairs.shape}: give (block row, block column) of "
            "at least one block"
        )
    if (pairs < 0).any() or (pairs >= [rows, columns]).any():
        raise ArgumentError(f"order leaves the grid of {rows} x {columns} blocks")
    numbers = np.full((rows, columns), -1, dtype=np.int64)
    numbers[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
    if (numbers >= 0).sum() != len(pairs):
        raise ArgumentError("order visits a block twice: each block must be there once")
    resident = (numbers >= 0) & (numbers < resident_blocks)
    first = min(resident_blocks, len(pairs))
    touched = [int(resident.any(axis=axis).sum()) for axis in (1, 0)]
    blocks = f"the first {first} blocks touch" if first > 1 else "the first block touches"
    return BlockOrderPlot(
        title=f"{title}: {blocks} {counted(touched[0], 'row')} and {counted(touched[1], 'column')}",
        subtitle=(
            f"{rows} x {columns} blocks; outlined: {counted(first, 'block')} resident together, "
            f"which share {counted(sum(touched), 'operand strip')}"
        ),
        numbers=numbers,
        path=pairs[:, ::-1].astype(np.float64),
        resident=resident,
        outline=_outline(resident),
        numbered=max(rows, columns) <= MOST_NUMBERED,
    )


def _outline(inside: NDArray[np.bool_]) -> tuple[Edge, ...]:
    """The borders of the cells that are inside against those that are not."""
    import numpy as np

    padded = np.pad(inside, 1)
    edges: list[Edge] = []
    for row, column in np.argwhere(padded[:, 1:] != padded[:, :-1]).tolist():
        edges.append(((column - 0.5, row - 1.5), (column - 0.5, row - 0.5)))
    for row, column in np.argwhere(padded[1:] != padded[:-1]).tolist():
        edges.append(((column - 1.5, row - 0.5), (column - 0.5, row - 0.5)))
    return tuple(edges)


# Places on the page, in inches.
_LEFT, _RIGHT, _ABOVE, _BELOW = 0.85, 1.05, 1.12, 0.3
_LONGEST_SIDE = 7.2
_NARROWEST = 6.2
_LEAST_BAR = 1.4


def draw_block_order(plot: BlockOrderPlot) -> Figure:
    """Draw the grid.

    Args:
        plot: What `prepare_block_order` made.

    Returns:
        The figure.
    """
    with style.look():
        rows, columns = plot.numbers.shape
        cell = min(0.5, _LONGEST_SIDE / max(rows, columns))
        width, height = max(columns * cell, 0.3), max(rows * cell, 0.3)
        figure = style.new_figure(
            max(_LEFT + width + _RIGHT, _width_of(plot)), _ABOVE + height + _BELOW
        )
        style.add_titles(figure, left=0.3, title=plot.title, subtitle=plot.subtitle)
        axes = style.add_axes(figure, left=_LEFT, bottom=_BELOW, width=width, height=height)
        colours = _colours()
        last = max(int(plot.numbers.max()), 1)
        image = axes.imshow(
            _visited(plot),
            cmap=colours,
            vmin=0,
            vmax=last,
            interpolation="nearest",
            aspect="auto",
        )
        _set_axes(axes, plot)
        _draw_path(axes, plot, cell)
        if plot.numbered:
            _write_numbers(axes, plot, cell, lambda number: colours(number / last))
        if height >= _LEAST_BAR:
            tall = min(height, 3.0)
            place = style.add_axes(
                figure,
                left=_LEFT + width + 0.25,
                bottom=_BELOW + height - tall,
                width=0.14,
                height=tall,
            )
            bar = figure.colorbar(image, cax=place)
            bar.outline.set_visible(False)
            place.tick_params(labelsize=style.NOTE_SIZE, length=2)
            place.set_ylabel("visited as number", fontsize=style.NOTE_SIZE)
    return figure


def _width_of(plot: BlockOrderPlot) -> float:
    """Room for the longer of the titles [inches]."""
    return max(_NARROWEST, 0.104 * len(plot.title) + 0.6, 0.068 * len(plot.subtitle) + 0.6)


def _visited(plot: BlockOrderPlot) -> Any:
    import numpy as np

    return np.ma.masked_less(plot.numbers, 0)


def _colours() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("visits", ["#EEF4F9", "#9CC6E2", "#3C86BC", "#0B3C66"])


def _set_axes(axes: Axes, plot: BlockOrderPlot) -> None:
    rows, columns = plot.numbers.shape
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel("block column", fontsize=style.LABEL_SIZE)
    axes.set_ylabel("block row", fontsize=style.LABEL_SIZE)
    for set_ticks, count in ((axes.set_xticks, columns), (axes.set_yticks, rows)):
        step = 1 if count <= MOST_NUMBERED else 8 if count <= 96 else 16 * -(-count // 256)
        set_ticks(range(0, count, step))
    axes.tick_params(length=0, labelsize=style.NOTE_SIZE)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if plot.numbered:
        for row in range(1, rows):
            axes.axhline(row - 0.5, color="white", linewidth=0.8)
        for column in range(1, columns):
            axes.axvline(column - 0.5, color="white", linewidth=0.8)


def _draw_path(axes: Axes, plot: BlockOrderPlot, cell: float) -> None:
    from matplotlib.collections import LineCollection

    width = min(1.2, 7 * cell)
    for jumps, dashes, thinner in ((False, "-", 1.0), (True, (0, (1.5, 1.5)), 0.7)):
        x, y = _steps(plot.path, jumps=jumps)
        axes.plot(
            x,
            y,
            color=style.ORANGE,
            linewidth=thinner * width,
            linestyle=dashes,
            label="jumps" if jumps else "path",
            zorder=2,
        )
    axes.add_collection(
        LineCollection(
            list(plot.outline),
            colors=style.VERMILLION,
            linewidths=2.4 if plot.numbered else 1.6,
            capstyle="projecting",
            label="resident",
            zorder=4,
            clip_on=False,
        ),
        autolim=False,
    )


def _steps(
    path: NDArray[np.float64], *, jumps: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The steps to a neighbour, or those that are not, as lines with gaps (NaN) between them."""
    import numpy as np

    far = np.abs(np.diff(path, axis=0)).sum(axis=1) > 1
    chosen = np.flatnonzero(far == jumps)
    gap = np.full_like(path[chosen], np.nan)
    lines = np.stack([path[chosen], path[chosen + 1], gap], axis=1).reshape(-1, 2)
    return lines[:, 0], lines[:, 1]


def _write_numbers(axes: Axes, plot: BlockOrderPlot, cell: float, colour_of: Any) -> None:
    size = style.fitting_size(
        longest=len(str(int(plot.numbers.max()))), cell_width=cell * 0.85, cell_height=cell * 0.85
    )
    if not size:
        return
    for row, numbers in enumerate(plot.numbers.tolist()):
        for column, number in enumerate(numbers):
            if number < 0:
                continue
            colour = colour_of(number)
            axes.text(
                column,
                row,
                str(number),
                ha="center",
                va="center",
                fontsize=size,
                color=style.ink_on(colour),
                bbox={"facecolor": colour, "edgecolor": "none", "pad": 0.6},
                zorder=3,
            )
