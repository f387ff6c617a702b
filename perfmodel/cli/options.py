"""Options that several commands share, and how their text becomes numbers."""

import math
import re
from pathlib import Path
from typing import Annotated

import typer

from perfmodel.errors import DataError, UsageError
from perfmodel.units import parse_quantity

Devices = Annotated[
    list[str] | None,
    typer.Option(
        "--device",
        "-d",
        metavar="NAME|FILE",
        help="Device name, alias or file; repeat to compare. Default: PERFMODEL_DEVICE or s5000.",
        show_default=False,
    ),
]
OneDevice = Annotated[
    str | None,
    typer.Option(
        "--device",
        "-d",
        metavar="NAME|FILE",
        help="Device name, alias or file. Default: PERFMODEL_DEVICE or s5000.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, in SI units.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print rows as CSV, in SI units.")]
PlotFile = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw to a .png, .svg or .pdf file."),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="NAME=VALUE",
        help="Value of a parameter; a range as first..last where several are meant.",
    ),
]
Index = Annotated[
    str,
    typer.Option(
        "--index",
        "-i",
        metavar="EXPRESSION",
        help="Index in elements, as in the source: 'threadIdx.x * 32 + i'.",
    ),
]
ElementType = Annotated[
    str,
    typer.Option("--type", "-t", help="Element type (float, half, float4, ...) or bytes (4)."),
]
Block = Annotated[
    str | None,
    typer.Option("--block", metavar="X[xY[xZ]]", help="Shape of the block; default one warp."),
]
WarpNumber = Annotated[int, typer.Option("--warp", help="Which warp of the block.", min=0)]
Base = Annotated[
    str, typer.Option("--base", metavar="BYTES", help="Address of element 0 within its line.")
]
Active = Annotated[
    str | None,
    typer.Option(
        "--active", metavar="N|PREDICATE", help="Lanes taking part: a count or a predicate."
    ),
]
Store = Annotated[bool, typer.Option("--store", help="A store rather than a load.")]

_WHOLE = re.compile(r"[+-]?\d{1,19}")
_LONGEST_RANGE = 4096


def device_names(given: list[str] | None) -> list[str]:
    """The devices named, or the default one."""
    from perfmodel.device.loading import default_device_name

    return given or [default_device_name()]


def whole_number(text: str, name: str) -> int:
    """A whole number from an option's text.

    Raises:
        UsageError: The text is no whole number.
    """
    if not _WHOLE.fullmatch(text.strip()):
        raise UsageError(f"{name} is {text[:40]!r}: it must be a whole number")
    return int(text)


def number(text: str, name: str) -> float:
    """A number, possibly infinite, from an option's text.

    Raises:
        UsageError: The text is no number.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise UsageError(f"{name} is {text[:40]!r}: it must be a number")
    return value


def byte_size(text: str, name: str) -> int:
    """Bytes from an option's text: a bare number of bytes, or with a unit such as 32KiB.

    Raises:
        UsageError: The text is no size, its unit is ambiguous, or it is no whole number of bytes.
    """
    size = quantity(text, name, "bytes")
    if size < 0 or not size.is_integer():
        raise UsageError(f"{name} is {text[:40]!r}: it must be a whole number of bytes from 0 on")
    return int(size)


def quantity(text: str, name: str, dimension: str) -> float:
    """A quantity from an option's text; a bare number is in the SI unit.

    Raises:
        UsageError: The text is no quantity, or its unit is ambiguous or of another dimension.
    """
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return parse_quantity(text, dimension)
    except DataError as error:
        raise UsageError(f"{name}: {error}") from None


def shape(text: str | None, name: str) -> tuple[int, ...]:
    """One to three sizes from text such as 256 or 16x16.

    Raises:
        UsageError: The text is no shape.
    """
    if text is None:
        return ()
    sizes = re.split(r"[x,]", text.strip().lower())
    if not 1 <= len(sizes) <= 3:
        raise UsageError(f"{name} is {text[:40]!r}: give one to three sizes, such as 16x16")
    found = tuple(whole_number(size, name) for size in sizes)
    if min(found) < 1:
        raise UsageError(f"{name} is {text[:40]!r}: every size must be at least 1")
    return found


def element_bytes(text: str) -> int:
    """Bytes of an element type, given by name or as a number.

    Raises:
        UsageError: No such type.
    """
    from perfmodel.analyses.warp_access import ELEMENT_BYTES
    from perfmodel.suggestions import did_you_mean

    if text.isdecimal():
        return whole_number(text, "--type")
    if text not in ELEMENT_BYTES:
        raise UsageError(f"no type {text[:40]!r}: {did_you_mean(text, ELEMENT_BYTES, most=40)}")
    return ELEMENT_BYTES[text]


def active_lanes(text: str | None) -> str | int | None:
    """A count of lanes or a predicate."""
    return int(text) if text is not None and _WHOLE.fullmatch(text.strip()) else text


def parameters(pairs: list[str] | None) -> dict[str, int | range]:
    """Parameters from texts such as m=4096 and c=0..31.

    Raises:
        UsageError: No name, no number, a name given twice, or a range that is empty or too long.
    """
    found: dict[str, int | range] = {}
    for pair in pairs or ():
        name, equals, text = pair.partition("=")
        name = name.strip()
        if not equals or not name:
            raise UsageError(f"-p {pair[:60]!r}: write name=value, such as m=4096")
        if name in found:
            raise UsageError(f"-p {name} is given twice: give it once")
        first, dots, last = text.partition("..")
        if not dots:
            found[name] = whole_number(text, f"-p {name}")
            continue
        low, high = whole_number(first, f"-p {name}"), whole_number(last, f"-p {name}")
        if not 0 <= high - low < _LONGEST_RANGE:
            raise UsageError(
                f"-p {name} is {text[:40]!r}: a range runs upwards over at most "
                f"{_LONGEST_RANGE} values"
            )
        found[name] = range(low, high + 1)
    return found


def numbers(pairs: list[str] | None) -> dict[str, float]:
    """Numbers from texts such as parallel_fraction=0.9.

    Raises:
        UsageError: No name, no number, or a name given twice.
    """
    found: dict[str, float] = {}
    for pair in pairs or ():
        name, equals, text = pair.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"-p {pair[:60]!r}: write name=number")
        if name.strip() in found:
            raise UsageError(f"-p {name.strip()} is given twice: give it once")
        value = number(text, f"-p {name.strip()}")
        found[name.strip()] = int(text) if _WHOLE.fullmatch(text.strip()) else value
    return found


def single_parameters(pairs: list[str] | None) -> dict[str, int]:
    """Parameters, none of them a range.

    Raises:
        UsageError: As `parameters`, or a range was given.
    """
    found: dict[str, int] = {}
    for name, value in parameters(pairs).items():
        if isinstance(value, range):
            raise UsageError(f"-p {name} is a range: one number is wanted here")
        found[name] = value
    return found
