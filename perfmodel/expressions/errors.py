"""The one error of the expression language: what is wrong, and at which place of which text."""

from __future__ import annotations

from perfmodel.errors import DataError, printable

_WINDOW = 72
_ELLIPSIS = "..."


class ExpressionError(DataError):
    """An expression that cannot be read, or has no value for the given inputs.

    Attributes:
        message: What is wrong and what would be right, one line.
        text: The whole expression.
        offset: Characters of ``text`` before the place.
        where: What the expression is, such as file, line and field; empty where it stands alone.
        line: Line of the place, from 1.
        column: Column of the place within its line, from 1.
    """

    def __init__(self, message: str, text: str, offset: int = 0, where: str = "") -> None:
        """Keep the parts; ``str()`` puts them together.

        Args:
            message: What is wrong and what would be right, one line.
            text: The whole expression.
            offset: Characters of ``text`` before the place; beyond the end means the end.
            where: What the expression is, to begin the line with.
        """
        super().__init__(message, text, offset, where)
        self.message = message
        self.text = text
        self.offset = min(offset, len(text))
        self.where = where
        before = text[: self.offset]
        self.line = before.count("\n") + 1
        self.column = self.offset - (before.rfind("\n") + 1) + 1

    def __str__(self) -> str:
        """Return one line: where, the place in the expression, and what is wrong.

        >>> print(ExpressionError("integer division by zero for i=0", "threadIdx.x / i", 12))
        column 13 of "threadIdx.x / i": integer division by zero for i=0
        """
        lines = self.text.split("\n")
        place = f"column {self.column}"
        if len(lines) > 1:
            place = f"line {self.line}, {place}"
        shown = printable(_window(lines[self.line - 1], self.column - 1))
        where = f"{self.where}: " if self.where else ""
        return f'{where}{place} of "{shown}": {self.message}'


def _window(line: str, place: int) -> str:
    """Cut a long line to a window around a place."""
    if len(line) <= _WINDOW:
        return line
    start = max(0, min(place - _WINDOW // 2, len(line) - _WINDOW))
    end = start + _WINDOW
    head = _ELLIPSIS if start > 0 else ""
    tail = _ELLIPSIS if end < len(line) else ""
    return f"{head}{line[start:end]}{tail}"
