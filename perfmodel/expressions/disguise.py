"""Makes an expression unambiguous for a grammar that does not know which names are types.

Where C++ looks a name up to decide, tree-sitter guesses: ``(a) + (b) * c`` can be a cast of
``+(b)`` to a type a, ``a < b && c > (d)`` a call of the template a, and in parentheses
``(unsigned(x) + 1)`` starts like the declaration of a function. Here the types and functions are
few and known, so the guess can be taken away: each construct is replaced by another one of the
same length and the same precedence that has one reading only. The tree then fits the original
text character by character, and every name and operator is read from the original.

| written | parsed as | why |
|---|---|---|
| a comment, ``std::`` before a known name | blanks | nothing to decide |
| ``<`` | ``>`` | binds alike, and opens no template |
| ``(n`` | ``(1`` | a number is no type |
| ``min(``, ``unsigned(`` | ``m.n(``, ``u.nsigned(`` | a member call declares nothing |
| ``(uint)`` | ``(bool)`` | a type that the grammar knows |
"""

from __future__ import annotations

import re
from typing import Final

from perfmodel.expressions.c_types import TYPE_WORDS
from perfmodel.expressions.nodes import BUILTIN_MEMBERS, FUNCTION_ARITY

_CALLABLE: Final = "|".join(sorted(TYPE_WORDS | FUNCTION_ARITY.keys(), key=len, reverse=True))
_NOT_A_NAME: Final = (
    TYPE_WORDS | BUILTIN_MEMBERS.keys() | {"static_cast", "true", "false", "not", "compl"}
)

_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_STD: Final = re.compile(rf"(?<![\w.:])std::(?=(?:{_CALLABLE})\b)")
_LESS: Final = re.compile(r"(?P<cast>\w_cast\s*<)|(?<!<)<(?![<=])")
_CALLED: Final = re.compile(rf"\b(?:{_CALLABLE})\b(?=\s*\()")
_UINT: Final = re.compile(r"(?<=\()(\s*)uint(?=\s*\))")
_OPENING: Final = re.compile(r"(?<=\()(\s*)([A-Za-z_]\w*)\b(?!\s*\.\s*[A-Za-z_])(?!\s*(?:\(|::))")


def blank_comments(text: str) -> str:
    """Replace comments by blanks, keeping every other character in its place.

    >>> blank_comments("i /* row */ + j // column")
    'i           + j          '
    """
    return _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def disguise(text: str) -> str:
    """The same expression, character for character, with one reading only.

    Args:
        text: An expression without comments.

    >>> disguise("(a) + std::min(b, c) * (n < 4)")
    '(1) +      m.n(1, c) * (1 > 4)'
    """
    text = _STD.sub(lambda match: " " * len(match[0]), text)
    text = _LESS.sub(lambda match: match["cast"] or ">", text)
    text = _CALLED.sub(lambda match: f"{match[0][0]}.{match[0][2:]}", text)
    text = _UINT.sub(lambda match: f"{match[1]}bool", text)
    return _OPENING.sub(_number_for_name, text)


def _number_for_name(match: re.Match[str]) -> str:
    space, name = match.groups()
    return match[0] if name in _NOT_A_NAME else space + "1" * len(name)
