"""The look that all plots share: colours, sizes, and a few helpers of layout.

The colours are those of Okabe and Ito, which stay apart for colour-blind readers; where colours
tell things apart, a line style, a marker or the place does so too, so that a grey print is as
good. Positions are given in inches, since what must not collide is text of a fixed size.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE = "#0072B2"
VERMILLION = "#D55E00"
GREEN = "#009E73"
PURPLE = "#CC79A7"
ORANGE = "#E69F00"
SKY = "#56B4E9"
INK = "#1A1A1A"
GREY = "#6E6E6E"
PALE = "#D9D9D9"

PALETTE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, INK)
"""Colours of series, in order."""
LINE_STYLES: tuple[Any, ...] = ("-", (0, (7, 2)), (0, (4, 1.5, 1, 1.5)), (0, (1.5, 1.5)))
"""Line styles of series, in order; of another length than the colours."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""Markers of series, in order."""

TITLE_SIZE = 11.5
LABEL_SIZE = 9.5
TICK_SIZE = 8.5
NOTE_SIZE = 8.0

LOOK: Mapping[str, Any] = MappingProxyType(
    {
        "axes.linewidth": 0.8,
        "figure.facecolor": "white",
        "axes.facecolor": "white",
        "font.family": ["DejaVu Sans"],
        "font.size": TICK_SIZE,
        "hatch.linewidth": 0.6,
        "pdf.fonttype": 42,
        "savefig.facecolor": "white",
        "svg.hashsalt": "perfmodel",
        "text.parse_math": False,  # a device's name is text, whatever its signs
        "text.usetex": False,
    }
)
"""Settings of matplotlib that a user's own configuration must not change."""


def look() -> AbstractContextManager[None]:
    """A context in which matplotlib has the settings of `LOOK`."""
    from matplotlib import rc_context

    settings: dict[Any, Any] = dict(LOOK)
    return rc_context(settings)


def new_figure(width: float, height: float) -> Figure:
    """A figure that belongs to no window.

    Args:
        width: Width [inches].
        height: Height [inches].

    Returns:
        The figure, with a canvas that can measure text.

    Example:
        >>> new_figure(4, 3).get_size_inches().tolist()
        [4.0, 3.0]
    """
    from perfmodel.plots.figure import ShownFigure

    return ShownFigure(width, height)


def add_axes(figure: Figure, *, left: float, bottom: float, width: float, height: float) -> Axes:
    """Axes at a place given in inches from the lower left corner of the figure."""
    across, up = figure.get_size_inches()
    axes = figure.add_axes((left / across, bottom / up, width / across, height / up))
    axes.tick_params(labelsize=TICK_SIZE, colors=INK, width=0.8)
    for spine in axes.spines.values():
        spine.set_color(GREY)
    return axes


def add_titles(figure: Figure, *, left: float, title: str, subtitle: str) -> None:
    """A title and, smaller, a line below it, both starting `left` inches from the left edge."""
    across, up = figure.get_size_inches()
    figure.text(
        left / across,
        1 - 0.16 / up,
        title,
        fontsize=TITLE_SIZE,
        fontweight="bold",
        color=INK,
        ha="left",
        va="top",
    )
    figure.text(
        left / across, 1 - 0.42 / up, subtitle, fontsize=NOTE_SIZE, color=GREY, ha="left", va="top"
    )


def spread(wanted: Sequence[float], *, gap: float, low: float, high: float) -> list[float]:
    """Positions as near to the wanted ones as can be, at least `gap` apart.

    Args:
        wanted: Where labels would like to be, in any order and any unit of length.
        gap: The least distance between two of them.
        low: No position lies below this.
        high: No position lies above this, unless there are too many to fit.

    Returns:
        A position for each, in the order given; neighbours keep their order.

    Example:
        >>> spread([0, 10, 11], gap=4, low=0, high=100)
        [0.0, 8.5, 12.5]
        >>> spread([1, 1], gap=4, low=0.0, high=100)
        [0.0, 4.0]
    """
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    clusters: list[tuple[float, int]] = []  # the first position of a cluster, and its size
    for place in order:
        first, size = min(max(float(wanted[place]), low), high), 1
        while clusters and clusters[-1][0] + clusters[-1][1] * gap > first:
            before, count = clusters.pop()
            # the mean of where the members would put the cluster's first position
            first = (before * count + (first - count * gap) * size) / (count + size)
            size += count
            first = max(min(first, high - (size - 1) * gap), low)
        clusters.append((first, size))
    positions = [first + step * gap for first, size in clusters for step in range(size)]
    found = [0.0] * len(wanted)
    for place, position in zip(order, positions, strict=True):
        found[place] = position
    return found


def ink_on(colour: Any) -> str:
    """Black or white, whichever is read better on a colour.

    Example:
        >>> ink_on("white"), ink_on("#003366")
        ('#1A1A1A', 'white')
    """
    return INK if _luminance(colour) > 0.25 else "white"


def text_colour(colour: Any) -> tuple[float, float, float]:
    """A colour, darkened as far as text on white needs.

    Example:
        >>> text_colour("#0072B2") == text_colour("#E69F00")
        False
        >>> text_colour("black")
        (0.0, 0.0, 0.0)
    """
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(colour)
    while _luminance((red, green, blue)) > 0.18:
        red, green, blue = (0.95 * part for part in (red, green, blue))
    return red, green, blue


def _luminance(colour: Any) -> float:
    """Relative luminance, 0 (black) to 1 (white), as the web's contrast rules define it."""
    from matplotlib.colors import to_rgb

    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in to_rgb(colour)
    ]
    weights = (0.2126, 0.7152, 0.0722)
    return sum(weight * part for weight, part in zip(weights, linear, strict=True))


def fitting_size(*, longest: int, cell_width: float, cell_height: float) -> float:
    """The font size at which text fits a cell; 0 where it would be too small to read.

    Args:
        longest: Characters of the longest text.
        cell_width: Width of a cell [inches].
        cell_height: Height of a cell [inches].

    Returns:
        Font size [points].

    Example:
        >>> fitting_size(longest=2, cell_width=0.3, cell_height=0.3)
        8.0
        >>> fitting_size(longest=5, cell_width=0.1, cell_height=0.3)
        0.0
    """
    by_width = 0.92 * cell_width * 72 / (0.62 * max(longest, 1))
    size = min(NOTE_SIZE, by_width, 0.72 * cell_height * 72)
    return size if size >= 4.5 else 0.0
