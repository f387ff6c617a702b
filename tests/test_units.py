"""Quantities: the table of prefixes and units, what is refused, and the way back to text."""

import contextlib
import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfmodel import units
from perfmodel.errors import DataError
from perfmodel.units import DIMENSIONS, format_quantity, parse_quantity, parse_range

dimensions = sorted(DIMENSIONS)
SYMBOLS = [(symbol, dimension) for dimension in dimensions for symbol in units._symbols(dimension)]


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("1 kB", "bytes", 1000),
        ("1 KiB", "bytes", 1024),
        ("1 MB", "bytes", 10**6),
        ("1 MiB", "bytes", 1024**2),
        ("1 GB", "bytes", 10**9),
        ("1 GiB", "bytes", 1024**3),
        ("1 TB/s", "bytes/s", 10**12),
        ("1 TiB/s", "bytes/s", 1024**4),
        ("1 PB", "bytes", 10**15),
        ("2 EB", "bytes", 2 * 10**18),
        ("7 bytes", "bytes", 7),
        ("640 bit", "bits", 640),
        ("20 Gb/s", "bits/s", 20 * 10**9),
        ("20 Gbit/s", "bits/s", 20 * 10**9),
        ("128 B/cycle", "bytes/cycle", 128),
        ("128 B/clk", "bytes/cycle", 128),
        ("1500 MHz", "hz", 1.5e9),
        ("1.5 GHz", "hz", 1.5e9),
        ("2 s", "s", 2),
        ("2 ms", "s", 2e-3),
        ("2 us", "s", 2e-6),
        ("2 µs", "s", 2e-6),  # the micro sign
        ("2 μs", "s", 2e-6),  # the Greek letter
        ("2 ns", "s", 2e-9),
        ("2 ps", "s", 2e-12),
        ("300 cycles", "cycles", 300),
        ("1 cycle", "cycles", 1),
        ("21.5 TFLOP/s", "flop/s", 21.5e12),
        ("1000 TOP/s", "flop/s", 1e15),
        ("4096 FLOP/cycle", "flop/cycle", 4096),
        ("4096 OP/cycle", "flop/cycle", 4096),
        ("0.5 FLOP/byte", "flop/byte", 0.5),
        ("0.5 FLOP/B", "flop/byte", 0.5),
        ("16 /cycle", "1/cycle", 16),
        ("32", "count", 32),
        (32, "count", 32),
        (0.5, "ratio", 0.5),
        ("0.8", "ratio", 0.8),
        ("80 %", "ratio", 0.8),
        ("80%", "ratio", 0.8),
    ],
)
def test_the_table(text: str, dimension: str, value: float) -> None:
    assert parse_quantity(text, dimension) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1_000 B", 1000),
        ("  3   B ", 3),
        ("3B", 3),
        ("+3 B", 3),
        ("-3 B", -3),
        (".5 kB", 500),
        ("5. B", 5),
        ("5.e3 B", 5000),
        ("1E3 B", 1000),
        ("1e-3 kB", 1),
    ],
)
def test_ways_to_write_a_number(text: str, value: float) -> None:
    assert parse_quantity(text, "bytes") == value
    assert parse_quantity("1 GB / s", "bytes/s") == 1e9


def test_a_prefix_has_one_factor() -> None:
    assert {
        prefix: 1000.0**power for power, prefix in enumerate(["", "k", "M", "G", "T", "P", "E"])
    } == units.DECIMAL_PREFIXES
    assert {
        prefix: 1024.0**power for power, prefix in enumerate(["Ki", "Mi", "Gi", "Ti"], start=1)
    } == units.BINARY_PREFIXES
    for prefix, power in {"": 0, "m": -3, "u": -6, "µ": -6, "n": -9, "p": -12}.items():
        assert units.SMALL_PREFIXES[prefix] == pytest.approx(10.0**power, rel=1e-15)


@pytest.mark.parametrize(("symbol", "dimension"), SYMBOLS)
def test_every_symbol_comes_back_from_text(symbol: str, dimension: str) -> None:
    value = parse_quantity(f"3 {symbol}", dimension)
    assert value == pytest.approx(3 * units._symbols(dimension)[symbol], rel=1e-15)
    again = parse_quantity(format_quantity(value, dimension), dimension)
    assert again == pytest.approx(value, rel=1e-3)
    for other in dimensions:
        if symbol not in units._symbols(other):
            with pytest.raises(DataError):
                parse_quantity(f"3 {symbol}", other)


def test_a_symbol_belongs_to_one_dimension() -> None:
    owners: dict[str, set[str]] = {}
    for symbol, dimension in SYMBOLS:
        owners.setdefault(symbol, set()).add(dimension)
    shared = {symbol: found for symbol, found in owners.items() if len(found) > 1}
    assert shared == {"": {"count", "ratio"}}


@given(
    st.sampled_from(dimensions),
    st.floats(1e-9, 1e18, allow_nan=False).map(lambda number: float(f"{number:.4g}")),
)
def test_what_is_printed_reads_back(dimension: str, value: float) -> None:
    again = parse_quantity(format_quantity(value, dimension), dimension)
    assert again == pytest.approx(value, rel=1.0001e-4 * 5)


@pytest.mark.parametrize(
    ("value", "dimension", "text"),
    [
        (1.6e12, "bytes/s", "1.6 TB/s"),
        (196608, "bytes", "192 KiB"),
        (1000, "bytes", "1 kB"),
        (0.5, "bytes", "0.5 B"),
        (0, "bytes", "0 B"),
        (0, "count", "0"),
        (-5e9, "hz", "-5 GHz"),
        (3600, "s", "3600 s"),
        (2.3e-3, "s", "2.3 ms"),
        (2.3e-6, "s", "2.3 us"),
        (2.3e-9, "s", "2.3 ns"),
        (2.3e-13, "s", "2.3e-13 s"),
        (123456789, "count", "123456789"),
        (math.inf, "s", "inf s"),
        (math.nan, "hz", "nan Hz"),
        (300, "cycles", "300 cycles"),
        (0.25, "1/cycle", "0.25 /cycle"),
    ],
)
def test_how_a_quantity_is_printed(value: float, dimension: str, text: str) -> None:
    assert format_quantity(value, dimension) == text


def test_digits_can_be_chosen() -> None:
    assert format_quantity(1234567, "hz", digits=2) == "1.2 MHz"
    assert format_quantity(1234567, "hz", digits=6) == "1.23457 MHz"


@pytest.mark.parametrize(
    ("text", "dimension", "message"),
    [
        ("48 KB", "bytes", r"KB is ambiguous: write kB \(1000 bytes\) or KiB \(1024 bytes\)"),
        ("48 KB/s", "bytes/s", "KB/s is ambiguous"),
        ("48 K", "bytes", "K is ambiguous"),
        ("1600 G", "bytes/s", "G is ambiguous"),
        ("1 k", "hz", "k is ambiguous"),
        ("1600 GB", "bytes/s", "is in bytes: bytes/s are wanted, such as '1600 GB/s'"),
        ("20 GB/s", "bits/s", "is in bytes/s: bits/s are wanted"),
        ("20 Gb/s", "bytes/s", "is in bits/s: bytes/s are wanted"),
        ("32 B", "count", "is in bytes: count are wanted, such as '32'"),
        ("300", "cycles", "has no unit: write it with one, such as '300 cycles'"),
        (300, "cycles", "300 has no unit"),
        ("3 GIB", "bytes", "GIB is no unit known here: did you mean GB"),
        ("3 TFLOPS", "flop/s", "did you mean TFLOP/s"),
        ("3 furlongs", "bytes", "write '192 KiB'"),
        ("1,000 B", "bytes", "is no unit known here"),
        ("0x10", "count", "is no unit known here"),
        ("1 B B", "bytes", "is no unit known here"),
        ("", "count", "is no quantity"),
        ("   ", "count", "is no quantity"),
        ("GB", "bytes", "is no quantity"),
        ("nan", "count", "is no quantity"),
        ("inf", "count", "is no quantity"),
        ("--3", "count", "is no quantity"),
        ("٣", "count", "is no quantity"),  # an Arabic three
        ("１", "count", "is no quantity"),  # a full-width one
        (math.nan, "count", "is no finite number"),
        (math.inf, "ratio", "is no finite number"),
        ("1e400 B", "bytes", "is no finite number"),
        ("1e308 EB", "bytes", "is no finite number"),
        (10**400, "count", "is no quantity"),
        pytest.param(10**5000, "bytes", "is no quantity", id="5001 digits"),
        (True, "count", "is no quantity"),
        (None, "count", "is no quantity"),
        ([32], "count", "is no quantity"),
        ("1" * 65, "count", "is no quantity"),
    ],
)
def test_what_is_refused(text: Any, dimension: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        parse_quantity(text, dimension)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("text", "dimension", "ends"),
    [
        ("200 .. 480 cycles", "cycles", (200, 480)),
        ("200..480 cycles", "cycles", (200, 480)),
        ("1 kB .. 2 MB", "bytes", (1e3, 2e6)),
        ("1. .. 2. B", "bytes", (1, 2)),
        (".5 .. .7", "ratio", (0.5, 0.7)),
        ("50 .. 60 %", "ratio", (0.5, 0.6)),
        ("1 .. 1 B", "bytes", (1, 1)),
        ("16 .. 96", "count", (16, 96)),
    ],
)
def test_ranges(text: str, dimension: str, ends: tuple[float, float]) -> None:
    assert parse_range(text, dimension) == pytest.approx(ends, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5 B", "is no range"),
        ("1 - 2 B", "is no range"),
        (5, "is no range"),
        (None, "is no range"),
        ([1, 2], "is no range"),
        ("2 .. 1 B", "runs downwards: write the smaller number first"),
        ("1 B .. 2", "has no unit"),
        ("1 .. 2", "has no unit"),
        ("1 .. 2 .. 3 B", "is no unit known here"),
        ("1 ... 2 B", "has no unit"),
        ("..", "is no quantity"),
        ("1 ..", "has no unit"),
        (".. 2 B", "is no quantity"),
        ("1 s .. 2 B", "is in s: bytes are wanted"),
        pytest.param("1" * 100_000 + " .. 2 B", "is no range", id="long"),
    ],
)
def test_what_is_no_range(text: Any, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        parse_range(text, "bytes")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "text",
    [
        " " * 1_000_000,
        "1" + " " * 1_000_000 + "x",
        "1" * 1_000_000,
        "1_" * 500_000,
        "1 " + "x " * 500_000,
        "1e" + "9" * 1_000_000,
        "." * 1_000_000,
    ],
    ids=["spaces", "spaces within", "digits", "underlines", "words", "exponent", "dots"],
)
def test_hostile_text_is_refused_at_once(text: str) -> None:
    started = time.perf_counter()
    with pytest.raises(DataError):
        parse_quantity(text, "bytes")
    with pytest.raises(DataError):
        parse_range(f"1 .. {text}", "bytes")
    assert time.perf_counter() - started < 1


@given(st.text(max_size=80), st.sampled_from(dimensions))
def test_any_text_is_read_or_refused(text: str, dimension: str) -> None:
    for parse in (parse_quantity, parse_range):
        with contextlib.suppress(DataError):
            assert parse(text, dimension) is not None
