"""Number literals: their value, and their type by the rules of C++."""

from __future__ import annotations

import math
import re
from typing import Final

from perfmodel.expressions.c_types import DOUBLE, INT, LONG, UNSIGNED, UNSIGNED_LONG, CType

_INTEGER: Final = re.compile(
    r"""(?P<digits> 0[xX][0-9a-fA-F](?:'?[0-9a-fA-F])*
                  | 0[bB][01](?:'?[01])*
                  | 0(?:'?[0-7])*
                  | [1-9](?:'?[0-9])* )
        (?P<suffix> [uU]?(?:ll|LL|[lL])? | (?:ll|LL|[lL])[uU] )""",
    re.VERBOSE,
)
_FLOAT: Final = re.compile(
    r"""(?P<digits> (?: [0-9](?:'?[0-9])*\.? | (?:[0-9](?:'?[0-9])*)?\.[0-9](?:'?[0-9])* )
                    (?:[eE][+-]?[0-9](?:'?[0-9])*)? )
        [fF]?""",
    re.VERBOSE,
)
_BASES: Final = {"0x": 16, "0b": 2}


def number(literal: str) -> tuple[int | float, CType]:
    """Value and type of a number literal.

    An integer has the first type of its row that holds it: int, long long for a decimal one
    (C++ never makes it unsigned), the unsigned types in between for the other bases; ``u`` leaves
    only the unsigned ones and ``l`` only those of 64 bits.

    Args:
        literal: The literal without a sign.

    Raises:
        ValueError: It is not a literal of the language, or has no type of 64 bits or less.

    >>> value, kind = number("0xFFFF'FFFF")
    >>> value, kind.name
    (4294967295, 'unsigned int')
    """
    match = _INTEGER.fullmatch(literal)
    if match is not None:
        return _integer(match["digits"].replace("'", "").lower(), match["suffix"].lower())
    match = _FLOAT.fullmatch(literal)
    if match is None:
        raise ValueError(
            f"'{literal}' is not a number of this language: decimal, 0x, 0b or octal with a "
            "suffix of u, l, ll, or a decimal fraction with f"
        )
    value = float(match["digits"].replace("'", ""))
    if math.isinf(value):
        raise ValueError(f"'{literal}' is beyond the range of double")
    return value, DOUBLE


def _integer(digits: str, suffix: str) -> tuple[int, CType]:
    base = _BASES.get(digits[:2], 8 if digits[0] == "0" else 10)
    value = int(digits, base)
    row = [INT, UNSIGNED, LONG, UNSIGNED_LONG]
    if "u" in suffix:
        row = [kind for kind in row if not kind.signed]
    elif base == 10:
        row = [kind for kind in row if kind.signed]
    if "l" in suffix:
        row = [kind for kind in row if kind.bits == LONG.bits]
    for kind in row:
        if value <= kind.maximum:
            return value, kind
    if value <= UNSIGNED_LONG.maximum:
        raise ValueError(f"{digits} is beyond long long; write {digits}u for an unsigned value")
    raise ValueError("an integer literal beyond 64 bits has no type in C")
