"""Reads and writes of the DRAM together, by hand and against an H200."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfmodel import load_device
from perfmodel.engines.dram_streams import streaming_time
from perfmodel.errors import ArgumentError

MEASURED = Path(__file__).parents[2] / "validation" / "microbenchmarks" / "h200_streams.csv"
ROWS = list(csv.DictReader(MEASURED.read_text("utf-8").splitlines()))
BYTES = st.floats(0, 1e15)
RATES = st.floats(1e9, 1e13)


def time(read: float, written: float, copy: float, reading: float, writing: float) -> float:
    return float(
        streaming_time(
            read_bytes=read,
            written_bytes=written,
            copy_bandwidth_bytes_per_s=copy,
            read_bandwidth_bytes_per_s=reading,
            write_bandwidth_bytes_per_s=writing,
        )
    )


@given(read=BYTES, written=BYTES, rate=RATES)
def test_with_one_rate_it_is_bytes_over_it(read: float, written: float, rate: float) -> None:
    expected = (read + written) / rate
    assert time(read, written, rate, rate, rate) == pytest.approx(expected, rel=1e-12, abs=1e-300)


@given(read=BYTES, written=BYTES, copy=RATES, reading=RATES, writing=RATES)
def test_more_bytes_take_no_less(
    read: float, written: float, copy: float, reading: float, writing: float
) -> None:
    """Where copying is no faster than either direction."""
    copy = min(copy, reading, writing)
    before = time(read, written, copy, reading, writing)
    assert time(read * 1.5, written, copy, reading, writing) >= before * (1 - 1e-12)
    assert time(read, written * 1.5, copy, reading, writing) >= before * (1 - 1e-12)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["what"])
def test_an_h200_streams_so_fast(row: dict[str, str]) -> None:
    device = load_device("h200")
    assert device.dram_read_bandwidth is not None
    assert device.dram_write_bandwidth is not None
    read, written = int(row["arrays_read"]), int(row["arrays_written"])
    found = (read + written) / time(
        read,
        written,
        device.dram_bandwidth_achievable.value,
        device.dram_read_bandwidth.value,
        device.dram_write_bandwidth.value,
    )
    low = 0.10 if row["what"] == "read of two" else 0.03  # two streams of reads hinder one another
    assert found * 1e-9 == pytest.approx(float(row["gbytes_per_s"]), rel=low)


def test_a_rate_of_nothing_is_refused() -> None:
    with pytest.raises(ArgumentError, match="write_bandwidth"):
        time(1.0, 1.0, 1e12, 1e12, 0.0)
