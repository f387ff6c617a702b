"""Writing a figure to a file, wholly or not at all."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from perfmodel.errors import UsageError
from perfmodel.places import require_plot_place
from perfmodel.plots.style import look

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 150
"""Resolution of pixel formats [dots per inch]."""

# What would differ from run to run is left out.
_METADATA: dict[str, dict[str, str | None]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}


def save(figure: Figure, path: Path) -> None:
    """Write a figure to a file, in the format that its suffix names.

    The same figure gives the same bytes. A file that is there already is replaced in one step
    once the new one is complete; after an error it is as it was.

    Args:
        figure: The figure.
        path: Where to; ends in .png, .svg or .pdf.

    Raises:
        UsageError: Another suffix, or the file cannot be written.

    Example:
        >>> from pathlib import Path
        >>> from perfmodel.plots.style import new_figure
        >>> save(new_figure(4, 3), Path("roofline.jpg"))
        Traceback (most recent call last):
        perfmodel.errors.UsageError: cannot write roofline.jpg: a plot ends in .png, .svg or .pdf
    """
    path = Path(path)
    require_plot_place(path)
    form = path.suffix.lower().removeprefix(".")
    partial = path.with_name(f".perfmodel-{secrets.token_hex(6)}.tmp")
    try:
        with partial.open("xb") as file, look():
            figure.savefig(file, format=form, dpi=DPI, metadata=_METADATA[form])
        partial.replace(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot write {path}: {reason}") from error
    finally:
        _remove(partial)


def _remove(partial: Path) -> None:
    """Remove what an interrupted write left; nothing where it was complete."""
    try:
        partial.unlink(missing_ok=True)
    except OSError:  # the folder itself is gone or closed to us: the first error says so
        return
