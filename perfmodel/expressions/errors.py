"""The one error of the expression language: what is wrong, where, and a caret under the place."""

from __future__ import annotations

from perfmodel.errors import DataError

_WINDOW = 72
_ELLIPSIS = "..."


class ExpressionError(DataError):
    """An expression that cannot be read, or has no value for the given inputs.

    Attributes:
        message: What is wrong and what would be right, one line.
        text: The whole expression.
        offset: Characters of ``text`` before the place.
        line: Line of the place, from 1.
        column: Column of the place within its line, from 1.
    """

    def __init__(self, message: str, text: str, offset: int = 0) -> None:
        """Keep the parts; ``str()`` puts them together.

        Args:
            message: What is wrong and what would be right, one line.
            text: The whole expression.
            offset: Characters of ``text`` before the place; beyond the end means the end.
        """
        super().__init__(message, text, offset)
        self.message = message
        self.text = text
        self.offset = min(offset, len(text))
        before = text[: self.offset]
        self.line = before.count("\n") + 1
        self.column = self.offset - (before.rfind("\n") + 1) + 1

    def __str__(self) -> str:
        """Return the message, the line of the expression it is about, and a caret.

        >>> print(ExpressionError("integer division by zero for i=0", "threadIdx.x / i", 12))
        integer division by zero for i=0 at column 13
          threadIdx.x / i
                      ^
        """
        lines = self.text.split("\n")
        place = f"column {self.column}"
        if len(lines) > 1:
            place = f"line {self.line}, {place}"
        shown, caret = _window(lines[self.line - 1], self.column - 1)
        return f"{self.message} at {place}\n  {shown}\n  {' ' * caret}^"


def _window(line: str, caret: int) -> tuple[str, int]:
    """Cut a long line to a window around the caret; unprintable characters become blanks."""
    line = "".join(character if character.isprintable() else " " for character in line)
    if len(line) <= _WINDOW:
        return line.rstrip(), caret
    start = max(0, min(caret - _WINDOW // 2, len(line) - _WINDOW))
    end = start + _WINDOW
    head = _ELLIPSIS if start > 0 else ""
    tail = _ELLIPSIS if end < len(line) else ""
    return head + line[start:end] + tail, caret - start + len(head)
