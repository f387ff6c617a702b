"""Values as they are written in a file, each with its place, and how the plain ones are read.

A rung that extends another is put together from several parts of a file before it is read. So
that a message still names the line on which a value stands, every value carries its place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from perfmodel.errors import DataError, quoted
from perfmodel.expressions import Expression, ExpressionError, parse
from perfmodel.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from perfmodel.located_yaml import Document, Location

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Written:
    """A value with its place.

    Attributes:
        value: A mapping of text to such values, a tuple of them, or plain text, number, boolean
            or None.
        place: `file:line`.
    """

    value: Any
    place: str

    def refuse(self, reason: str) -> DataError:
        """The error that says what is wrong here."""
        return DataError(f"{self.place}: {reason}")


def written(document: Document) -> Written:
    """The data of a document, with the places."""
    return _written(document, document.data, ())


def _written(document: Document, data: Any, location: Location) -> Written:
    place = document.place(location)
    if isinstance(data, dict):
        fields = {key: _written(document, each, (*location, key)) for key, each in data.items()}
        return Written(fields, place)
    if isinstance(data, list):
        items = (_written(document, each, (*location, at)) for at, each in enumerate(data))
        return Written(tuple(items), place)
    return Written(data, place)


def mapping(node: Written, what: str) -> Mapping[str, Written]:
    """The fields of a mapping.

    Args:
        node: The value.
        what: What it is, to begin a message with.

    Raises:
        DataError: It is no mapping.
    """
    if not isinstance(node.value, dict):
        raise node.refuse(
            f"{what} is {shown(node)}: a mapping is wanted, lines of the form key: value"
        )
    return node.value


def record(
    node: Written, what: str, *, required: Collection[str], optional: Collection[str] = ()
) -> Mapping[str, Written]:
    """The fields of a mapping that may have certain keys only.

    Raises:
        DataError: It is no mapping, has a key that is not known, or lacks one.
    """
    fields = mapping(node, what)
    known = (*required, *optional)
    for key, value in fields.items():
        if key not in known:
            raise value.refuse(f"{what} has no {key[:_LONGEST_SHOWN]}; {did_you_mean(key, known)}")
    for key in required:
        if key not in fields:
            raise node.refuse(f"{what} lacks {key}: it needs {', '.join(required)}")
    return fields


def sequence(node: Written, what: str) -> tuple[Written, ...]:
    """The items of a list.

    Raises:
        DataError: It is no list.
    """
    if not isinstance(node.value, tuple):
        raise node.refuse(f"{what} is {shown(node)}: a list is wanted")
    return node.value


def text(node: Written, what: str) -> str:
    """Text that is not empty, on one line.

    Raises:
        DataError: It is something else.
    """
    if not isinstance(node.value, str) or not node.value.strip():
        quote = ": quote it" if isinstance(node.value, bool) else ""
        raise node.refuse(f"{what} is {shown(node)}: text is wanted{quote}")
    return " ".join(node.value.split())


def name(node: Written, what: str) -> str:
    """A name as C has them: letters, digits and underscores.

    Raises:
        DataError: It is none.
    """
    found = text(node, what)
    if not is_plain_name(found):
        raise node.refuse(
            f"{what} is {shown(node)}: a name of letters, digits and underscores is wanted"
        )
    return found


def whole(node: Written, what: str, *, minimum: int) -> int:
    """A whole number, written as one.

    Raises:
        DataError: It is none, or too small.
    """
    if isinstance(node.value, bool) or not isinstance(node.value, int) or node.value < minimum:
        raise node.refuse(f"{what} is {shown(node)}: a whole number from {minimum} on is wanted")
    return node.value


def expression(node: Written, what: str) -> Expression:
    """An expression of C; a number stands for itself.

    Raises:
        DataError: It is none; the message names the place in it.
    """
    raw = node.value
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        quote = ", in quotes" if isinstance(raw, bool | dict | tuple) else ""
        raise node.refuse(f"{what} is {shown(node)}: an expression is wanted{quote}")
    try:
        return parse(raw if isinstance(raw, str) else str(raw))
    except ExpressionError as error:
        raise placed(error, f"{node.place}: {what}") from None


def placed(error: ExpressionError, where: str) -> ExpressionError:
    """The same error, with the place of the expression before it."""
    return ExpressionError(error.message, error.text, error.offset, where)


def is_plain_name(word: str) -> bool:
    """Whether a word is made of letters, digits and underscores, as names of C are."""
    return _NAME.fullmatch(word) is not None


@lru_cache(maxsize=4096)
def is_variable(word: str) -> bool:
    """Whether an expression can read a word as a name: `int` and `threadIdx` it cannot."""
    try:
        return word != "warpSize" and parse(word).names == {word}
    except ExpressionError:
        return False


def variable(node: Written, what: str) -> str:
    """A name that expressions can read.

    Raises:
        DataError: It is none, or has a meaning in C already.
    """
    found = name(node, what)
    require_variable(node, found, what)
    return found


def require_variable(node: Written, word: str, what: str) -> None:
    """Refuse a name that expressions cannot read.

    Raises:
        DataError: It is no name, or has a meaning in C already.
    """
    if not is_plain_name(word):
        raise node.refuse(
            f"{what} is {quoted(word)}: a name of letters, digits and underscores is wanted"
        )
    if not is_variable(word):
        raise node.refuse(f"{what} is {word}, which means something in C: choose another name")


def shown(node: Written) -> str:
    """A value as a message shows it."""
    match node.value:
        case None:
            return "empty"
        case dict():
            return "a mapping"
        case tuple():
            return "a list"
        case bool(value):
            return "true" if value else "false"
        case str(value):
            return repr(value[:_LONGEST_SHOWN])
        case value:
            return str(value)[:_LONGEST_SHOWN]
