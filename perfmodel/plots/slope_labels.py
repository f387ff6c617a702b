"""Labels that lie along the slopes of a roofline.

With both axes logarithmic every bandwidth is a line of the same slope. In a frame turned by that
slope the lines are level, each at a depth of its own, and so are their labels: whether a label
meets another, a point or another line is then a question about rectangles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfmodel.plots import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.text import Text

Pair = tuple[float, float]

_PAD = 2.6  # between a line and its label [points]
_DESCENT = 2.0  # how far letters reach below the baseline [points]
_STEP = 4.0  # between places that are tried [points]
_ROOM = 8.0  # between labels one behind the other [points]

# What makes a place worse, in points further up the line.
_CROSSES_A_SLOPE = 400.0
_AMONG_PEAKS = 60.0
_BELOW_THE_LINE = 15.0


@dataclass(frozen=True, kw_only=True)
class SlopeLabel:
    """A slope from one end to the other, in data, and what is to be written along it."""

    start: Pair
    end: Pair
    text: str
    colour: str
    bold: bool = False


@dataclass(frozen=True, kw_only=True)
class Box:
    """A rectangle in the turned frame: along the slopes and across them [points]."""

    along: Pair
    across: Pair

    def meets(self, other: Box, room: float = 0.0) -> bool:
        """Whether the two overlap, or come nearer than `room` along the slopes.

        Example:
            >>> first = Box(along=(0, 10), across=(0, 5))
            >>> first.meets(Box(along=(12, 20), across=(0, 5)))
            False
            >>> first.meets(Box(along=(12, 20), across=(0, 5)), room=4)
            True
        """
        return (
            self.along[0] < other.along[1] + room
            and other.along[0] < self.along[1] + room
            and self.across[0] < other.across[1]
            and other.across[0] < self.across[1]
        )


class Frame:
    """The turned frame of axes whose limits are set: points from their lower left corner."""

    def __init__(self, axes: Axes) -> None:
        """Take the frame from the axes' scales and size."""
        self._axes = axes
        self._scale = 72 / axes.get_figure(root=True).dpi  # type: ignore[union-attr]  # has one
        (x0, y0), (x1, y1) = axes.transData.transform([(1, 1), (10, 10)])
        self.angle = math.atan2(y1 - y0, x1 - x0)

    def turned(self, x: float, y: float) -> Pair:
        """From pixels on the page to along and across."""
        corner_x, corner_y = self._axes.transAxes.transform((0, 0))
        x, y = (x - corner_x) * self._scale, (y - corner_y) * self._scale
        cosine, sine = math.cos(self.angle), math.sin(self.angle)
        return x * cosine + y * sine, y * cosine - x * sine

    def of_data(self, point: Pair) -> Pair:
        """From data to along and across."""
        x, y = self._axes.transData.transform(point)
        return self.turned(float(x), float(y))

    def of_text(self, text: Text) -> Box:
        """What a level text covers, as a rectangle that lies along the slopes."""
        extent = text.get_window_extent()
        corners = [
            self.turned(x, y) for x in (extent.x0, extent.x1) for y in (extent.y0, extent.y1)
        ]
        along, across = zip(*corners, strict=True)
        return Box(along=(min(along), max(along)), across=(min(across), max(across)))

    def around(self, point: Pair, half: float) -> Box:
        """A square around a place in data, `half` points to each side."""
        along, across = self.of_data(point)
        return Box(along=(along - half, along + half), across=(across - half, across + half))

    def in_axes(self, along: float, across: float) -> Pair:
        """From along and across to fractions of the axes."""
        cosine, sine = math.cos(self.angle), math.sin(self.angle)
        extent = self._axes.get_window_extent()
        return (
            (along * cosine - across * sine) / self._scale / extent.width,
            (along * sine + across * cosine) / self._scale / extent.height,
        )

    def size(self, text: Text) -> Pair:
        """Length and height of a level text [points]."""
        extent = text.get_window_extent()
        return extent.width * self._scale, extent.height * self._scale


def label_slopes(
    axes: Axes,
    labels: Sequence[SlopeLabel],
    *,
    taken: Sequence[Box],
    lowest_peak: float,
) -> None:
    """Write along slopes where there is room: above the line or below it, far down if possible.

    A label covers what runs below it, such as another slope that is too near to leave room.

    Args:
        axes: The axes, with logarithmic scales and their limits set.
        labels: What to write along which slope, none of them level.
        taken: Places that stay free of labels.
        lowest_peak: Performance of the lowest level line, which labels avoid [FLOP/s].
    """
    frame = Frame(axes)
    depths = [frame.of_data(label.start)[1] for label in labels]
    filled = list(taken)
    for label, depth in zip(labels, depths, strict=True):
        text = axes.text(
            0,
            0,
            label.text,
            transform=axes.transAxes,
            fontsize=style.NOTE_SIZE,
            color=style.text_colour(label.colour),
            fontweight="bold" if label.bold else "normal",
            ha="left",
            va="baseline",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.2},
            zorder=3.5,
        )
        bandwidth = label.start[1] / label.start[0]
        seen = max(label.start[0], axes.get_ylim()[0] / bandwidth)
        first, last = (frame.of_data(end)[0] for end in ((seen, seen * bandwidth), label.end))
        size = frame.size(text)
        lean = (_PAD + size[1]) * max(math.tan(frame.angle), 1 / math.tan(frame.angle))
        peaks_begin = frame.of_data((lowest_peak / bandwidth, lowest_peak))[0]
        box = place(
            size=size,
            line=(first + lean + _PAD, last),
            depth=depth,
            other_depths=[other for other in depths if other != depth],
            peaks_begin=peaks_begin,
            taken=filled,
        )
        filled.append(box)
        text.set_position(frame.in_axes(box.along[0], box.across[0] + _DESCENT))
        text.set_rotation(math.degrees(frame.angle))
        text.set_rotation_mode("anchor")


def place(
    *,
    size: Pair,
    line: Pair,
    depth: float,
    other_depths: Sequence[float],
    peaks_begin: float,
    taken: Sequence[Box],
) -> Box:
    """The best place for a label along a line; all lengths in points of the turned frame.

    Args:
        size: Length and height of the label.
        line: Where the line begins and ends.
        depth: Where the line lies across.
        other_depths: Where the other slopes lie.
        peaks_begin: From where on level lines cross the slope.
        taken: Places that stay free.

    Returns:
        The place; at the beginning of the line, whatever is there, where none is free.

    Example:
        >>> place(size=(50, 8), line=(0, 300), depth=20, other_depths=[], peaks_begin=300,
        ...       taken=[Box(along=(0, 30), across=(0, 40))])
        Box(along=(40.0, 90.0), across=(22.6, 30.6))
    """
    length, height = size
    best = Box(along=(line[0], line[0] + length), across=(depth + _PAD, depth + _PAD + height))
    least = math.inf
    for near in (depth + _PAD, depth - _PAD - height):
        reach = (min(depth, near), max(depth, near + height))
        crossed = sum(reach[0] < other < reach[1] for other in other_depths)
        for step in range(max(int((line[1] - line[0] - length) / _STEP) + 1, 0)):
            start = line[0] + step * _STEP
            box = Box(along=(start, start + length), across=(near, near + height))
            if any(box.meets(other, room=_ROOM) for other in taken):
                continue
            cost = step * _STEP + crossed * _CROSSES_A_SLOPE
            cost += _AMONG_PEAKS * (box.along[1] > peaks_begin)
            cost += _BELOW_THE_LINE * (near < depth)
            if cost < least:
                best, least = box, cost
            break
    return best
