"""What the tests of plots share: looking at what a figure holds."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.typing import NDArray

Corners = NDArray[np.float64]


def visible_texts(figure: Figure) -> list[Text]:
    """The texts a reader sees; the figure is drawn first, since tick labels appear then."""
    figure.canvas.draw()
    hidden = {
        id(label)
        for axis in figure.findobj(Axis)
        for tick in {*axis.majorTicks, *axis.minorTicks} - {*axis._update_ticks()}  # type: ignore[attr-defined]
        for label in (tick.label1, tick.label2)
    }
    return [
        text
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden
    ]


def corners(text: Text) -> Corners:
    """The rectangle a text covers, turned as the text is [pixels]."""
    rotation = text.get_rotation()
    if rotation % 90 == 0:
        turn, extent = 0.0, text.get_window_extent()
    else:
        assert text.get_rotation_mode() == "anchor"
        turn = math.radians(rotation)
        text.set_rotation(0)
        extent = text.get_window_extent()
        text.set_rotation(rotation)
    box = np.array(
        [
            [extent.x0, extent.y0],
            [extent.x1, extent.y0],
            [extent.x1, extent.y1],
            [extent.x0, extent.y1],
        ]
    )
    anchor = np.asarray(text.get_transform().transform(text.get_position()))
    matrix = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    return np.asarray((box - anchor) @ matrix + anchor) if turn else box


def meet(first: Corners, second: Corners) -> bool:
    """Whether two rectangles overlap: no side of either separates them."""
    for rectangle in (first, second):
        for side in (rectangle[1] - rectangle[0], rectangle[2] - rectangle[1]):
            a, b = first @ side, second @ side
            slack = 0.5 * float(np.linalg.norm(side))  # half a pixel
            if a.max() <= b.min() + slack or b.max() <= a.min() + slack:
                return False
    return True


def overlapping(figure: Figure) -> Iterator[tuple[str, str]]:
    texts = visible_texts(figure)
    placed = np.array([corners(text) for text in texts])
    low, high = placed.min(axis=1), placed.max(axis=1)
    near = (low[:, None] < high).all(axis=2) & (low < high[:, None]).all(axis=2)
    for one, other in np.argwhere(np.triu(near, k=1)).tolist():
        if meet(placed[one], placed[other]):
            yield texts[one].get_text(), texts[other].get_text()


def outside(figure: Figure) -> list[str]:
    width, height = figure.bbox.width, figure.bbox.height
    return [
        text.get_text()
        for text in visible_texts(figure)
        if (corners(text) < -0.5).any() or (corners(text) > [width + 0.5, height + 0.5]).any()
    ]


@pytest.fixture
def assert_readable() -> Callable[[Figure], None]:
    """No text lies on another or reaches over the edge."""

    def check(figure: Figure) -> None:
        assert list(overlapping(figure)) == []
        assert outside(figure) == []

    return check


@pytest.fixture
def texts_of() -> Callable[[Any], list[str]]:
    """The texts of a figure or of axes."""

    def texts(artist: Any) -> list[str]:
        return [text.get_text() for text in artist.findobj(Text) if text.get_text().strip()]

    return texts
