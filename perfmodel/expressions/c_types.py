"""The arithmetic types of C++ as a GPU compiler on 64-bit Linux lays them out.

``long`` and ``long long`` are the same 64-bit type here, and ``float`` is ``double``: the
language has one floating type, so no value is ever rounded to 24 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class CType:
    """One arithmetic type.

    Attributes:
        name: How error messages call it.
        bits: Its width; 1 for bool.
        signed: Whether it holds negative values.
        floating: Whether it is a floating type.
    """

    name: str
    bits: int
    signed: bool
    floating: bool = False

    @property
    def minimum(self) -> int:
        """Smallest value of an integer type.

        >>> INT.minimum
        -2147483648
        """
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def maximum(self) -> int:
        """Largest value of an integer type.

        >>> UNSIGNED.maximum
        4294967295
        """
        return (1 << (self.bits - self.signed)) - 1

    def holds(self, other: CType) -> bool:
        """Whether each value of another integer type is also a value of this one.

        >>> LONG.holds(UNSIGNED), INT.holds(UNSIGNED)
        (True, False)
        """
        return self.minimum <= other.minimum and other.maximum <= self.maximum


BOOL: Final = CType("bool", 1, signed=False)
CHAR: Final = CType("char", 8, signed=True)
UNSIGNED_CHAR: Final = CType("unsigned char", 8, signed=False)
SHORT: Final = CType("short", 16, signed=True)
UNSIGNED_SHORT: Final = CType("unsigned short", 16, signed=False)
INT: Final = CType("int", 32, signed=True)
UNSIGNED: Final = CType("unsigned int", 32, signed=False)
LONG: Final = CType("long long", 64, signed=True)
UNSIGNED_LONG: Final = CType("unsigned long long", 64, signed=False)
DOUBLE: Final = CType("double", 64, signed=True, floating=True)

_FIXED_NAMES: Final = {
    "bool": BOOL,
    "char": CHAR,
    "signed char": CHAR,
    "unsigned char": UNSIGNED_CHAR,
    "int8_t": CHAR,
    "uint8_t": UNSIGNED_CHAR,
    "int16_t": SHORT,
    "uint16_t": UNSIGNED_SHORT,
    "int": INT,
    "signed": INT,
    "signed int": INT,
    "unsigned": UNSIGNED,
    "unsigned int": UNSIGNED,
    "uint": UNSIGNED,
    "int32_t": INT,
    "uint32_t": UNSIGNED,
    "int64_t": LONG,
    "uint64_t": UNSIGNED_LONG,
    "size_t": UNSIGNED_LONG,
    "ptrdiff_t": LONG,
    "float": DOUBLE,
    "double": DOUBLE,
}
_SIZED: Final = {
    "short": (SHORT, UNSIGNED_SHORT),
    "long": (LONG, UNSIGNED_LONG),
    "long long": (LONG, UNSIGNED_LONG),
}


def _key(name: str) -> tuple[str, ...]:
    """Words of a type name in one order: ``long unsigned int`` is ``unsigned long int``."""
    return tuple(sorted(name.split()))


_TYPES: Final = {_key(name): kind for name, kind in _FIXED_NAMES.items()} | {
    _key(f"{sign} {size} {tail}"): pair[sign == "unsigned"]
    for size, pair in _SIZED.items()
    for sign in ("", "signed", "unsigned")
    for tail in ("", "int")
}

TYPE_WORDS: Final = frozenset(word for key in _TYPES for word in key)
"""The words that type names are made of."""

USUAL_TYPES: Final = (
    *("bool", "char", "short", "int", "unsigned", "long", "size_t", "double"),
    *("int32_t", "uint32_t", "int64_t", "uint64_t"),
)
"""The spellings that error messages suggest; :func:`type_named` knows more."""


def type_named(name: str) -> CType | None:
    """The type that a C type name means, or None for a name that is not known.

    Args:
        name: The words of the type, in any order that C allows; ``std::`` may precede it.

    >>> type_named("long unsigned int").name
    'unsigned long long'
    >>> type_named("half") is None
    True
    """
    return _TYPES.get(_key(name.removeprefix("std::")))


def promote(kind: CType) -> CType:
    """The integral promotions: what is narrower than int becomes int.

    >>> promote(UNSIGNED_CHAR).name
    'int'
    """
    return INT if kind.bits < INT.bits else kind


def common(left: CType, right: CType) -> CType:
    """The usual arithmetic conversions: the type both operands are brought to.

    >>> common(INT, UNSIGNED).name, common(UNSIGNED, LONG).name
    ('unsigned int', 'long long')
    """
    if left.floating or right.floating:
        return DOUBLE
    left, right = promote(left), promote(right)
    if left.bits != right.bits:
        return left if left.bits > right.bits else right
    return right if left.signed else left


def conditional(left: CType, right: CType) -> CType:
    """The type of ``c ? left : right``: alike stays as it is, otherwise the common type.

    >>> conditional(BOOL, BOOL).name, conditional(BOOL, CHAR).name
    ('bool', 'int')
    """
    return left if left == right else common(left, right)
