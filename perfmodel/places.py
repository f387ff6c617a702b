"""Where a file can be written: asked before the work that fills it is done."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from perfmodel.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

PLOT_FORMS = ("png", "svg", "pdf")


def require_plot_place(path: Path) -> None:
    """Refuse a place at which no plot can be written.

    Args:
        path: Where to; ends in .png, .svg or .pdf.

    Raises:
        UsageError: Another suffix, or as `require_place`.
    """
    if path.suffix.lower().removeprefix(".") not in PLOT_FORMS:
        shown = "a file without a name" if not path.name else path
        raise UsageError(f"cannot write {shown}: a plot ends in .png, .svg or .pdf")
    require_place(path)


def require_place(path: Path) -> None:
    """Refuse a place at which no file can be written.

    Args:
        path: Where to.

    Raises:
        UsageError: It is a folder, or it has none that can be written in.
    """
    try:
        if not path.name:
            raise UsageError("cannot write a file without a name: give one")
        if path.is_dir():
            raise UsageError(f"cannot write {path}: it is a folder")
        if not path.parent.is_dir():
            raise UsageError(f"cannot write {path}: there is no folder {path.parent}")
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise UsageError(f"cannot write {path}: the folder {path.parent} is closed to you")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot write {path}: {reason}") from None
