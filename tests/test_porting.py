"""The times in docs/porting.md are those that are predicted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from perfmodel import load_device, predict

TEXT = (Path(__file__).parents[1] / "docs" / "porting.md").read_text("utf-8")
ROWS = re.findall(r"^\| (\w+:\w+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", TEXT, re.MULTILINE)
DEVICES = ("h200", "s5000", "bw1000")


def test_the_table_is_there() -> None:
    assert len(ROWS) == 23


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_is_predicted_so(row: tuple[str, ...]) -> None:
    for device, written_us in zip(DEVICES, row[1:], strict=True):
        time_us = predict(row[0], load_device(device), ranges=False).time_s * 1e6
        assert time_us == pytest.approx(float(written_us), rel=0.05)


@pytest.mark.parametrize(
    ("kernel", "device", "given", "written_us"),
    [
        ("gemm:warp_specialized", "s5000", "bm=256 bn=256 bk=64 groups=4 stages=2", 452),
        ("gemm:warp_specialized", "bw1000", "bm=128 bn=256 bk=32 groups=2 stages=2", 356),
        ("gemm:warp_specialized", "h200", "bm=128 bn=256 bk=32 groups=2 stages=3", 212),
        ("attention:warp_specialized", "s5000", "br=128 bc=128 stages=2", 1070),
    ],
)
def test_a_tile_is_predicted_so(kernel: str, device: str, given: str, written_us: float) -> None:
    assert f"{written_us} us" in TEXT
    pairs = (each.split("=") for each in given.split())
    parameters = {name: int(value) for name, value in pairs}
    result = predict(kernel, load_device(device), parameters=parameters, ranges=False)
    assert result.time_s * 1e6 == pytest.approx(written_us, rel=0.05)
