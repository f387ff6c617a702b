"""The one table of prefixes and units.

Text is parsed once, where a file or an option is read, into a plain SI float; numbers get a unit
again only where they are printed. In between, the unit is in the name: `_bytes`, `_hz`, `_s`,
`_bytes_per_s`.

GB is 1e9 bytes and GiB is 2**30 bytes, always. KB is refused, since half of its users mean 1000
and half 1024: write kB or KiB. A prefix without a unit (`1600 G`) is refused as well.

    >>> parse_quantity("1.6 TB/s", "bytes/s")
    1600000000000.0
    >>> parse_quantity("192 KiB", "bytes")
    196608.0
    >>> format_quantity(1.6e12, "bytes/s")
    '1.6 TB/s'
"""

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from perfmodel.errors import DataError

DECIMAL_PREFIXES: Mapping[str, float] = MappingProxyType(
    {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
)
BINARY_PREFIXES: Mapping[str, float] = MappingProxyType(
    {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}
)
SMALL_PREFIXES: Mapping[str, float] = MappingProxyType(
    {"": 1.0, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "n": 1e-9, "p": 1e-12}
)
_BYTE_PREFIXES = {**DECIMAL_PREFIXES, **BINARY_PREFIXES}

# dimension: the symbols that carry it, each with its factor and the prefixes it takes.
# The first symbol, with its decimal prefixes, is the one that is printed.
_UNITS: Mapping[str, Mapping[str, tuple[float, Mapping[str, float]]]] = MappingProxyType(
    {
        "bytes": {"B": (1.0, _BYTE_PREFIXES), "bytes": (1.0, {"": 1.0})},
        "bits": {"bit": (1.0, {"": 1.0})},
        "bytes/s": {"B/s": (1.0, _BYTE_PREFIXES)},
        "bits/s": {"b/s": (1.0, DECIMAL_PREFIXES), "bit/s": (1.0, DECIMAL_PREFIXES)},
        "bytes/cycle": {"B/cycle": (1.0, {"": 1.0}), "B/clk": (1.0, {"": 1.0})},
        "hz": {"Hz": (1.0, DECIMAL_PREFIXES)},
        "s": {"s": (1.0, SMALL_PREFIXES)},
        "cycles": {"cycles": (1.0, {"": 1.0}), "cycle": (1.0, {"": 1.0})},
        "flop/s": {"FLOP/s": (1.0, DECIMAL_PREFIXES), "OP/s": (1.0, DECIMAL_PREFIXES)},
        "flop/cycle": {"FLOP/cycle": (1.0, {"": 1.0}), "OP/cycle": (1.0, {"": 1.0})},
        "flop/byte": {"FLOP/B": (1.0, {"": 1.0}), "FLOP/byte": (1.0, {"": 1.0})},
        "1/cycle": {"/cycle": (1.0, {"": 1.0})},
        "count": {"": (1.0, {"": 1.0})},
        "ratio": {"": (1.0, {"": 1.0}), "%": (0.01, {"": 1.0})},
    }
)

DIMENSIONS = frozenset(_UNITS)
"""The dimensions a quantity can have."""

_AMBIGUOUS = MappingProxyType(
    {
        "KB": "kB (1000 bytes) or KiB (1024 bytes)",
        "k": "a unit after the prefix, such as kB, KiB or kHz",
        "P": "a unit after the prefix, such as PB",
        "K": "a unit after the prefix, such as kB or KiB",
        "KB/s": "kB/s (1000) or KiB/s (1024)",
        **{
            prefix: f"a unit after the prefix, such as {prefix}B, {prefix}iB or {prefix}Hz"
            for prefix in ("M", "G", "T")
        },
    }
)
_QUANTITY = re.compile(
    r"\s*([+-]?(?:[0-9]+(?:_[0-9]+)*\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(\S.*?)?\s*"
)
_LONGEST = 64


@lru_cache
def _symbols(dimension: str) -> Mapping[str, float]:
    """Every way to write a unit of this dimension, with its factor."""
    return {
        prefix + symbol: factor * scale
        for symbol, (factor, prefixes) in _UNITS[dimension].items()
        for prefix, scale in prefixes.items()
    }


def _dimensions_of(symbol: str) -> list[str]:
    return [dimension for dimension in _UNITS if symbol in _symbols(dimension)]


def parse_quantity(text: str | float, dimension: str) -> float:
    """Read a number with its unit.

    Args:
        text: Such as `1600 GB/s`, `300 cycles` or, for a count or a ratio, a bare number.
        dimension: One of `DIMENSIONS`.

    Returns:
        The value in SI units (bytes, seconds, hertz) or in cycles.

    Raises:
        DataError: No number, no unit, an ambiguous unit or one of another dimension.

    Example:
        >>> parse_quantity("20 Gb/s", "bits/s")
        20000000000.0
        >>> parse_quantity("1600 G", "bytes/s")
        Traceback (most recent call last):
        perfmodel.errors.DataError: '1600 G': G is ambiguous: write a unit after the prefix, \
such as GB, GiB or GHz
    """
    if isinstance(text, int | float) and not isinstance(text, bool):
        try:
            number = float(text)
        except OverflowError:
            raise DataError("a whole number of hundreds of digits is no quantity") from None
        if "" not in _symbols(dimension):
            raise DataError(f"{text} has no unit: write it with one, such as {_example(dimension)}")
        return _finite(number, str(text))
    shown = str(text)[:_LONGEST]
    wanted = _example(dimension)
    match = _QUANTITY.fullmatch(text) if isinstance(text, str) and len(text) <= _LONGEST else None
    if match is None:
        raise DataError(f"{shown!r} is no quantity: write a number with its unit, {wanted}")
    symbol = (match[2] or "").replace(" / ", "/")
    factor = _symbols(dimension).get(symbol)
    if factor is None:
        raise DataError(_wrong_unit(shown, symbol, dimension))
    return _finite(float(match[1].replace("_", "")) * factor, shown)


def parse_range(text: str, dimension: str) -> tuple[float, float]:
    """Read a range, its unit given once at the end or on both ends.

    Args:
        text: Such as `200 .. 480 cycles`.
        dimension: One of `DIMENSIONS`.

    Returns:
        The lower and the upper end, in SI units.

    Raises:
        DataError: Not two quantities with ` .. ` between them, or the lower end above the upper.

    Example:
        >>> parse_range("200 .. 480 cycles", "cycles")
        (200.0, 480.0)
    """
    shown = str(text)[: 2 * _LONGEST]
    low_text, dots, high_text = shown.partition("..")
    if not dots or len(str(text)) > len(shown):
        raise DataError(f"{shown!r} is no range: write two numbers as '200 .. 480 cycles'")
    high_match = _QUANTITY.fullmatch(high_text)
    unit = (high_match[2] or "") if high_match else ""
    low_match = _QUANTITY.fullmatch(low_text)
    if low_match and not low_match[2]:
        low_text = f"{low_text.strip()} {unit}"
    low, high = parse_quantity(low_text, dimension), parse_quantity(high_text, dimension)
    if low > high:
        raise DataError(f"{shown!r} runs downwards: write the smaller number first")
    return low, high


def format_quantity(value: float, dimension: str, digits: int = 4, *, decimal: bool = False) -> str:
    """Write a number with a unit and the prefix that suits it.

    Bytes that come out even with a binary prefix are written with one, so that a shared memory of
    192 KiB reads as such, and 80 GB as 80 GB.

    Args:
        value: The value in SI units or in cycles.
        dimension: One of `DIMENSIONS`.
        digits: Significant digits.
        decimal: Whether bytes have decimal prefixes throughout, as in a column of several.

    Returns:
        Such as `1.6 TB/s`.

    Example:
        >>> format_quantity(196608, "bytes"), format_quantity(2.3e-6, "s")
        ('192 KiB', '2.3 us')
    """
    symbol, (_, prefixes) = next(iter(_UNITS[dimension].items()))
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {symbol}".strip()
    if dimension == "bytes" and not decimal and _is_round(value, digits):
        prefixes = BINARY_PREFIXES
    elif prefixes is _BYTE_PREFIXES:
        prefixes = DECIMAL_PREFIXES
    fitting = [(scale, prefix) for prefix, scale in prefixes.items() if scale <= abs(value)]
    scale, prefix = max(fitting, default=(min(prefixes.values()), ""))
    if dimension == "s":
        scale, prefix = _time_prefix(value)
    number = value / scale
    if len(prefixes) > 1 and not 1e-3 <= abs(number) < 1e6:  # beyond every prefix
        return f"{value:.{digits}g} {symbol}".strip()
    shown = f"{number:.{digits}g}" if abs(number) < 10**digits else f"{number:.0f}"
    return f"{shown} {prefix}{symbol}".strip()


def _is_round(value: float, digits: int) -> bool:
    """Whether a number of bytes is told exactly, in so many digits, with a binary prefix."""
    fitting = [scale for scale in BINARY_PREFIXES.values() if scale <= abs(value)]
    if not fitting:
        return False
    number = value / max(fitting)
    return number == float(f"{number:.{digits}g}")


def _time_prefix(value: float) -> tuple[float, str]:
    for prefix in ("", "m", "u"):
        if abs(value) >= SMALL_PREFIXES[prefix]:
            return SMALL_PREFIXES[prefix], prefix
    return SMALL_PREFIXES["n"], "n"


def _finite(value: float, shown: str) -> float:
    if not math.isfinite(value):
        raise DataError(f"{shown!r} is no finite number")
    return value


def _example(dimension: str) -> str:
    return {
        "bytes": "'192 KiB'",
        "bits": "'640 bit'",
        "bytes/s": "'1600 GB/s'",
        "bits/s": "'20 Gb/s'",
        "bytes/cycle": "'128 B/cycle'",
        "hz": "'1500 MHz'",
        "s": "'2.2 us'",
        "cycles": "'300 cycles'",
        "flop/s": "'21.5 TFLOP/s'",
        "flop/cycle": "'4096 FLOP/cycle'",
        "flop/byte": "'0.5 FLOP/byte'",
        "1/cycle": "'16 /cycle'",
        "count": "'32'",
        "ratio": "'0.8' or '80 %'",
    }[dimension]


def _wrong_unit(shown: str, symbol: str, dimension: str) -> str:
    if symbol in _AMBIGUOUS:
        return f"{shown!r}: {symbol} is ambiguous: write {_AMBIGUOUS[symbol]}"
    if not symbol:
        return f"{shown!r} has no unit: write it with one, such as {_example(dimension)}"
    others = _dimensions_of(symbol)
    if others:
        return f"{shown!r} is in {others[0]}: {dimension} are wanted, such as {_example(dimension)}"
    from difflib import get_close_matches

    near = get_close_matches(symbol, _symbols(dimension), n=1)
    hint = f"did you mean {near[0]}?" if near else f"write {_example(dimension)}"
    return f"{shown!r}: {symbol} is no unit known here: {hint}"
