"""Occupancy of kernels as nvcc compiles them (validation/occupancy)."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from perfmodel.device.loading import load_device
from tests.exact.header import KIB, NVIDIA, PROPERTIES, actual, differences

if TYPE_CHECKING:
    from tests.exact.header import Kernels

FOLDER = Path(__file__).parents[2] / "validation" / "occupancy"
MEASURED = FOLDER / "nvcc_kernels.csv"

BLOCKS = (1, 32, 64, 100, 128, 192, 256, 416, 512, 768, 1024)
CARVEOUTS = (-1, 0, 10, 50, 100)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def launches(architecture: str) -> Kernels:
    """Every kernel compiled for an architecture, with blocks and shared memory of all sizes."""
    most = PROPERTIES[architecture][6]
    columns: list[tuple[int, ...]] = []
    for row in rows_of(FOLDER / "ptxas_kernels.csv"):
        if row["arch"] != architecture:
            continue
        registers, static, barriers = (
            int(row[name]) for name in ("registers", "static_shared", "barriers")
        )
        dynamic = {0, 1000, 12 * KIB, 48 * KIB - static, 70_000, most - static}
        columns += [
            (block, registers, static, each, carveout, barriers)
            for block, each, carveout in product(BLOCKS, sorted(dynamic), CARVEOUTS)
            if each + static <= most
        ]
    names = ("threads_per_block", "registers_per_thread", "static", "dynamic",
             "carveout_percent", "barriers_per_block")  # fmt: skip
    return dict(zip(names, np.array(columns).T, strict=True))


@pytest.mark.parametrize("name", [name for name in NVIDIA if name != "v100"])  # nvcc 13 dropped it
def test_compiled_kernels_are_placed_as_the_header_places_them(name: str, calculator: Path) -> None:
    device = load_device(name)
    asked = launches(device.architecture)
    assert len(asked["static"]) > 5000
    found = differences(device, calculator, asked)
    assert not found, f"{len(found)} of {len(asked['static'])} differ; the first: {found[0]}"


def test_blocks_are_those_the_runtime_reported() -> None:
    """measure.cu asked cudaOccupancyMaxActiveBlocksPerMultiprocessor on the device itself."""
    if not MEASURED.exists():
        pytest.skip(f"{MEASURED.name} has not been measured")
    rows = rows_of(MEASURED)
    (architecture,) = {row["arch"] for row in rows}
    device = next(each for each in map(load_device, NVIDIA) if each.architecture == architecture)
    columns = {
        "threads_per_block": "block",
        "registers_per_thread": "registers",
        "static": "static_shared",
        "dynamic": "dynamic_shared",
        "carveout_percent": "carveout",
        "barriers_per_block": "barriers",
    }
    asked = {name: np.array([int(row[column]) for row in rows]) for name, column in columns.items()}
    reported = np.array([int(row["blocks_per_mp"]) for row in rows])
    ours = actual(device, asked)["active"]
    wrong = np.flatnonzero(ours != reported).tolist()
    first = [(rows[place], int(ours[place])) for place in wrong[:1]]
    assert not wrong, f"{len(wrong)} of {len(rows)} differ; the first, with ours: {first}"
