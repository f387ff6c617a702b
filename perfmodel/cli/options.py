"""Options that several commands share, and how their text becomes numbers."""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from perfmodel.errors import DataError, UsageError, quoted
from perfmodel.places import require_plot_place
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


def _plot_place(path: Path | None) -> Path | None:
    """The place of a plot, asked for before anything is computed."""
    if path is not None:
        require_plot_place(path)
    return path


PlotFile = Annotated[
    Path | None,
    typer.Option(
        "--plot", metavar="FILE", help="Draw to a .png, .svg or .pdf file.", callback=_plot_place
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="NAME=VALUE",
        help="Value of a parameter of the kernel: n=4096, n=2^28 (a power), type=fp16.",
    ),
]
Values = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="NAME=N",
        help="Value of a name of the expression: m=4096, m=2^12 (a power).",
    ),
]
ValuesOrRanges = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="NAME=N[..N]",
        help="Value of a name of the index: m=4096, m=2^12 (a power); each of a range: i=0..31.",
    ),
]
Indices = Annotated[
    list[str],
    typer.Option(
        "--index",
        "-i",
        metavar="EXPRESSION",
        help="Index in elements, as in the source: 'threadIdx.x * 32 + i'; repeat for several.",
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

_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
_PLAIN = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]{1,16}")
_POWER = re.compile(r"([0-9]{1,19})\^([0-9]{1,3})(?=\s*(?:$|[A-Za-z]|/[A-Za-z]))")
_MOST_BITS = 128
_LONGEST_RANGE = 4096


def device_names(given: list[str] | None) -> list[str]:
    """The devices named, or the default one."""
    from perfmodel.device.loading import default_device_name

    return given or [default_device_name()]


def written_out(text: str) -> str:
    """Text of a number with the power that it may begin with written out.

    Where a number is wanted `^` is a power, as on paper; in an expression of C it is xor.

    Example:
        >>> written_out("2^10 B"), written_out("1024")
        ('1024 B', '1024')
    """
    stripped = text.strip()
    power = _POWER.match(stripped)
    if power is None or int(power[1]).bit_length() * int(power[2]) > _MOST_BITS:
        return stripped
    return f"{int(power[1]) ** int(power[2])}{stripped[power.end() :]}"


def whole_number(text: str, name: str) -> int:
    """A whole number from an option's text: digits, a power as 2^28, or hexadecimal after 0x.

    Raises:
        UsageError: The text is no whole number.
    """
    stripped = written_out(text)
    if _HEXADECIMAL.fullmatch(stripped):
        return int(stripped, 16)
    if not _WHOLE.fullmatch(stripped):
        raise UsageError(f"{name} is {quoted(text)}: it must be a whole number")
    return int(stripped)


def parameter_value(text: str, name: str) -> int:
    """A parameter's value: a whole number, a power as 2^28, or numbers joined as in 1<<20.

    Raises:
        UsageError: The text is none of these.
    """
    stripped = written_out(text)
    if "^" in stripped:
        raise UsageError(f"{name} is {quoted(text)}: a power stands alone, such as 2^28")
    if _WHOLE.fullmatch(stripped) or _HEXADECIMAL.fullmatch(stripped):
        return whole_number(stripped, name)
    from perfmodel.expressions import ExpressionError, parse

    try:
        expression = parse(stripped)
        value = None if expression.names else expression.evaluate({})
    except ExpressionError:
        value = None
    if value is None or value.dtype.kind not in "iu":
        raise UsageError(f"{name} is {quoted(text)}: it must be a whole number")
    return int(value)


def require_used(values: Mapping[str, object], expressions: list[str]) -> None:
    """Refuse a parameter that none of the expressions names.

    Raises:
        UsageError: There is one; a misspelt parameter would otherwise change nothing, silently.
    """
    from perfmodel.expressions import parse

    named = {name for text in expressions if text for name in parse(text).names}
    for name in values:
        if name not in named:
            known = ", ".join(sorted(named)) or "no name"
            raise UsageError(f"-p {name}: the expression has no {name}; it has {known}")


def number(text: str, name: str) -> float:
    """A number, possibly infinite, from an option's text.

    Raises:
        UsageError: The text is no number.
    """
    try:
        value = float(written_out(text)) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise UsageError(f"{name} is {quoted(text)}: it must be a number")
    return value


def byte_size(text: str, name: str) -> int:
    """Bytes from an option's text: a bare number of bytes, or with a unit such as 32KiB.

    Raises:
        UsageError: The text is no size, its unit is ambiguous, or it is no whole number of bytes.
    """
    if _HEXADECIMAL.fullmatch(text.strip()):
        return whole_number(text, name)
    size = quantity(text, name, "bytes")
    if size < 0 or not size.is_integer():
        raise UsageError(f"{name} is {quoted(text)}: it must be a whole number of bytes from 0 on")
    return int(size)


def quantity(text: str, name: str, dimension: str) -> float:
    """A quantity from an option's text; a bare number is in the SI unit.

    Raises:
        UsageError: The text is no quantity, or its unit is ambiguous or of another dimension.
    """
    written = written_out(text)
    if _PLAIN.fullmatch(written):
        return float(written)
    try:
        return parse_quantity(written, dimension)
    except DataError as error:
        raise UsageError(f"{name}: {error}") from None


def duration(text: str, name: str) -> float:
    """A time above 0 from an option's text, its unit written out.

    Raises:
        UsageError: The text is no time, has no unit, or is not above 0.
    """
    try:
        seconds = parse_quantity(text, "s")
    except DataError as error:
        raise UsageError(f"{name}: {error}") from None
    if not seconds > 0:
        raise UsageError(f"{name} is {text}: it must be above 0")
    return seconds


def shape(text: str | None, name: str) -> tuple[int, ...]:
    """One to three sizes from text such as 256 or 16x16.

    Raises:
        UsageError: The text is no shape.
    """
    if text is None:
        return ()
    sizes = re.split(r"[x,]", text.strip().lower())
    if not 1 <= len(sizes) <= 3:
        raise UsageError(f"{name} is {quoted(text)}: give one to three sizes, such as 16x16")
    found = tuple(whole_number(size, name) for size in sizes)
    if min(found) < 1:
        raise UsageError(f"{name} is {quoted(text)}: every size must be at least 1")
    return found


def element_bytes(text: str) -> int:
    """Bytes of an element type, given by name or as a number.

    Raises:
        UsageError: No such type.
    """
    from perfmodel.analyses.warp_access import ELEMENT_BYTES
    from perfmodel.suggestions import did_you_mean

    if _WHOLE.fullmatch(text):
        return whole_number(text, "--type")
    if text not in ELEMENT_BYTES:
        raise UsageError(f"no type {quoted(text)}: {did_you_mean(text, ELEMENT_BYTES, most=40)}")
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
            raise UsageError(f"-p {quoted(pair)}: write name=value, such as m=4096")
        if name in found:
            raise UsageError(f"-p {name} is given twice: give it once")
        first, dots, last = text.partition("..")
        if not dots:
            found[name] = parameter_value(text, f"-p {name}")
            continue
        low, high = (parameter_value(end, f"-p {name}") for end in (first, last))
        if not 0 <= high - low < _LONGEST_RANGE:
            raise UsageError(
                f"-p {name} is {quoted(text)}: a range runs upwards over at most "
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
            raise UsageError(f"-p {quoted(pair)}: write name=number")
        if name.strip() in found:
            raise UsageError(f"-p {name.strip()} is given twice: give it once")
        value = number(text, f"-p {name.strip()}")
        written = written_out(text)
        found[name.strip()] = int(written) if _WHOLE.fullmatch(written) else value
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


Warm = Annotated[bool, typer.Option("--warm", help="The L2 holds what fits of the data.")]


def kernel_parameters(pairs: list[str] | None) -> dict[str, int | str]:
    """Parameters of a kernel: whole numbers, or words such as a type.

    Raises:
        UsageError: Something is not of the form name=value, or a name is given twice.
    """
    found: dict[str, int | str] = {}
    for pair in pairs or []:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not name.isidentifier() or not value:
            raise UsageError(f"-p {quoted(pair)}: name=value is wanted, such as n=4096")
        if name in found:
            raise UsageError(f"-p {name} is given twice")
        found[name] = value if value.isidentifier() else parameter_value(value, f"-p {name}")
    return found
