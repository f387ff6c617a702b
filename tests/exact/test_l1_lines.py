"""The rate of lines and bytes of an H200's L1, against the loads timed on one."""

import csv
from pathlib import Path

import pytest

from perfmodel import load_device

TIMES = Path(__file__).parents[2] / "validation" / "microbenchmarks" / "h200_l1_lines.csv"
ROWS = list(csv.DictReader(TIMES.read_text("utf-8").splitlines()))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(row.values()))
def test_a_load_takes_its_lines_or_its_bytes(row: dict[str, str]) -> None:
    device = load_device("h200")
    lines, measured = int(row["lines"]), float(row["cycles_per_load"])
    by_bytes = 32 * int(row["bytes_per_lane"]) / device.l1_bandwidth.value
    expected = max(lines / device.line_rate.value, by_bytes)
    if expected > 1.5:
        assert measured == pytest.approx(expected, rel=0.02)
    else:  # one line of 4-byte loads: the arithmetic of addresses takes longer
        assert expected <= measured < 1.5
