"""A figure that a notebook shows without a backend of its own."""

from io import BytesIO

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from perfmodel.plots.style import look

SCREEN_DPI = 100


class ShownFigure(Figure):
    """A figure of no window, with a canvas that can measure text."""

    def __init__(self, width: float, height: float) -> None:
        """A figure of a width and a height [inches]."""
        super().__init__(figsize=(width, height), facecolor="white")
        FigureCanvasAgg(self)

    def _repr_png_(self) -> bytes:
        """How a notebook shows it."""
        written = BytesIO()
        with look():
            self.savefig(written, format="png", dpi=SCREEN_DPI)
        return written.getvalue()
