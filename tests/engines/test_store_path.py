"""The way of stores to the L2, against bytes looked at one by one and against an H200."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfmodel import load_device
from perfmodel.engines.store_path import store_path_bytes
from perfmodel.errors import ArgumentError

SECTOR, LINE, OVERHEAD = 32, 128, 32
MEASURED = Path(__file__).parents[2] / "validation" / "microbenchmarks" / "h200_sectors.csv"
ROWS = [
    row
    for row in csv.DictReader(
        line for line in MEASURED.read_text("utf-8").splitlines() if not line.startswith("#")
    )
    if row["operation"] == "store" and row["where"] == "l2"
]


def looked_at(starts: list[int], access: int) -> tuple[dict[str, int], int]:
    """Sectors, lines and bytes of a warp's store, and its bytes on the way by enumeration."""
    written = {byte for start in starts for byte in range(start, start + access)}
    sectors = {byte // SECTOR for byte in written}
    partly = {
        sector * SECTOR // LINE
        for sector in sectors
        if any(byte not in written for byte in range(sector * SECTOR, (sector + 1) * SECTOR))
    }
    counts = {
        "sectors": len(sectors),
        "lines": len({byte // LINE for byte in written}),
        "written_bytes": len(written),
    }
    return counts, len(sectors) * SECTOR + len(partly) * OVERHEAD


def law(counts: dict[str, int], access: int) -> float:
    return float(
        store_path_bytes(
            **counts, access_bytes=access, sector_bytes=SECTOR, overhead_bytes=OVERHEAD
        )
    )


@given(
    access=st.sampled_from([2, 4, 8, 16]),
    apart=st.integers(1, 16),
    offset=st.integers(0, 64),
    lanes=st.integers(1, 32),
)
def test_never_more_than_byte_by_byte(access: int, apart: int, offset: int, lanes: int) -> None:
    """Lines with some sector in part are counted at least; the rest is exact."""
    starts = [(offset + lane * apart) * access for lane in range(lanes)]
    counts, enumerated = looked_at(starts, access)
    assert counts["sectors"] * SECTOR <= law(counts, access) <= enumerated + 1e-9


@pytest.mark.parametrize("access", [2, 4, 8, 16])
@pytest.mark.parametrize("stride", [1, 2, 4, 8, 16, 32])
def test_aligned_strides_are_exact(access: int, stride: int) -> None:
    counts, enumerated = looked_at([lane * stride * access for lane in range(32)], access)
    assert law(counts, access) == pytest.approx(enumerated, rel=1e-12)


def test_it_takes_arrays_and_refuses_what_cannot_be() -> None:
    one = {"lines": 32, "written_bytes": 128, "access_bytes": 4}
    found = store_path_bytes(
        sectors=np.array([4, 32]), sector_bytes=SECTOR, overhead_bytes=OVERHEAD, **one
    )
    assert found.tolist() == [128.0, 2048.0]
    with pytest.raises(ArgumentError, match="access_bytes"):
        store_path_bytes(
            sectors=4, sector_bytes=SECTOR, overhead_bytes=OVERHEAD, **{**one, "access_bytes": 0}
        )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(list(row.values())[2:5]))
def test_an_h200_takes_so_long(row: dict[str, str]) -> None:
    """Cycles a request from one multiprocessor, and from all the share of the L2's rate."""
    device = load_device("h200")
    width, stride, mps = (int(row[name]) for name in ("width_bytes", "stride_bytes", "mps"))
    counts, _ = looked_at([lane * stride for lane in range(32)], width)
    sent = law(counts, width)
    assert device.store_bandwidth_per_mp is not None
    assert device.l2_store_bandwidth is not None
    rate = device.store_bandwidth_per_mp.value
    if mps > 1:
        rate = device.l2_store_bandwidth.value / device.clock.value / mps
    expected = counts["sectors"] / (sent / rate)
    measured = float(row["sectors_per_cycle_and_mp"])
    if width == stride <= 4 and mps == 1:  # few sectors a store: issuing them takes part of it
        assert 0.4 * expected < measured < expected
    else:
        assert measured == pytest.approx(expected, rel=0.03 if mps == 1 else 0.12)
