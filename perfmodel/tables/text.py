"""Plain text tables."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 80


def table(rows: Sequence[Sequence[str]], *, header: Sequence[str] = (), align: str = "") -> str:
    """Columns parted by two spaces.

    Args:
        rows: Cells, row by row.
        header: Names of the columns; with a rule below them.
        align: One letter a column, l or r; columns beyond are left-aligned.

    Returns:
        The lines.

    Example:
        >>> print(table([["a", "1"], ["bcd", "22"]], header=["name", "n"], align="lr"))
        name   n
        ----  --
        a      1
        bcd   22
    """
    every = [list(header), *map(list, rows)] if header else [list(row) for row in rows]
    if not every:
        return ""
    columns = max(map(len, every))
    every = [row + [""] * (columns - len(row)) for row in every]
    widths = [max(len(row[column]) for row in every) for column in range(columns)]
    if header:
        every.insert(1, ["-" * width for width in widths])
    sides = align.ljust(columns, "l")
    return "\n".join(
        "  ".join(
            cell.rjust(width) if side == "r" else cell.ljust(width)
            for cell, width, side in zip(row, widths, sides, strict=True)
        ).rstrip()
        for row in every
    )


def side_by_side(rows: Sequence[Sequence[str]], names: Sequence[str]) -> str:
    """Named columns beside a column of labels, in as many tables as the width asks for.

    Args:
        rows: A label and one cell for each name, row by row.
        names: Names of the columns.

    Returns:
        The lines; a blank one between tables.

    Example:
        >>> print(side_by_side([["warps", "64", "96"]], ["h200", "s5000"]))
               h200  s5000
        -----  ----  -----
        warps  64    96
    """
    tables = []
    first = 0
    while first < len(names):
        last = len(names)
        while True:
            chosen = [[row[0], *row[1 + first : 1 + last]] for row in rows]
            text = table(chosen, header=["", *names[first:last]])
            if last == first + 1 or max(map(len, text.splitlines())) <= WIDTH:
                break
            last -= 1
        tables.append(text)
        first = last
    return "\n\n".join(tables)


def wrapped(text: str, *, indent: str = "") -> str:
    """Prose wrapped to the terminal, later lines indented.

    Args:
        text: One paragraph.
        indent: What later lines begin with.

    Returns:
        The lines.
    """
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def percent(share: float) -> str:
    """A share as a percentage with three digits.

    Args:
        share: 1 is 100 %.

    Returns:
        Such as `33.3 %`.

    Example:
        >>> percent(1 / 3), percent(1.0), percent(0.03125)
        ('33.3 %', '100 %', '3.12 %')
    """
    return f"{100 * share:.3g} %" if share < 0.9995 else f"{100 * share:.0f} %"
