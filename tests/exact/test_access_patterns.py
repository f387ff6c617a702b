"""Sectors, requests, lines and passes, against an H200's counters for every measured pattern."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from perfmodel import bank_conflicts, coalescing, load_device, suggest_layout

if TYPE_CHECKING:
    from perfmodel.device.model import Device

COUNTERS = Path(__file__).parents[2] / "validation" / "access_patterns" / "counters.csv"
ROWS = list(csv.DictReader(COUNTERS.read_text("utf-8").splitlines()))
H200 = load_device("h200")


def of(space: str, operation: str) -> list[dict[str, str]]:
    return [row for row in ROWS if row["space"] == space and row["operation"].startswith(operation)]


def access(row: dict[str, str]) -> dict[str, Any]:
    return {
        "index": row["index"],
        "element_bytes": int(row["element_bytes"]),
        "active": row["active"] or None,
    }


def global_differences(device: Device, operation: Any) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for row in of("global", operation):
        result = coalescing(device, operation=operation, **access(row))
        modelled = [result.requests, result.sectors]
        measured = [float(row[f"global_{operation}_{name}"]) for name in ("requests", "sectors")]
        if operation == "load":
            modelled.append(result.lines)
            measured.append(float(row["global_load_tags"]))
        if modelled != measured:
            found.append((row["index"], row["active"], row["element_bytes"], modelled, measured))
    return found


def shared_differences(device: Device, operation: Any) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for row in of("shared", operation):
        passes = bank_conflicts(device, operation=operation, **access(row)).passes
        measured = float(row[f"shared_{operation}_passes"])
        if passes != measured:
            found.append((row["index"], row["active"], row["element_bytes"], passes, measured))
    return found


def matrix_differences(kind: str) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for row in of("shared", kind):
        count = int(row["operation"][-1])
        passes = bank_conflicts(H200, index=row["index"], element_bytes=16, matrices=count).passes
        counter = "shared_store_passes" if kind.startswith("st") else "shared_load_passes"
        if passes != float(row[counter]):
            found.append((row["operation"], row["index"], passes, row[counter]))
    return found


def test_every_access_was_made_and_counted() -> None:
    assert len(ROWS) > 2000
    for row in ROWS:
        name = "sectors" if row["space"] == "global" else "passes"
        kind = "store" if row["operation"].startswith("st") else "load"
        assert float(row[f"{row['space']}_{kind}_{name}"]) >= 1, row


def test_the_patterns_are_those_the_program_lists(tmp_path: Path) -> None:
    listed = tmp_path / "patterns.csv"
    program = COUNTERS.with_name("patterns.py")
    subprocess.run([sys.executable, str(program), str(listed)], check=True)
    assert listed.read_bytes() == COUNTERS.with_name("patterns.csv").read_bytes()
    rows = list(csv.DictReader(listed.read_text("utf-8").splitlines()))
    assert [{name: row[name] for name in rows[0]} for row in ROWS] == rows


@pytest.mark.parametrize("operation", ["load", "store"])
def test_global_requests_sectors_and_lines_are_those_counted(operation: str) -> None:
    assert len(of("global", operation)) > 300
    assert global_differences(H200, operation) == []


@pytest.mark.parametrize("operation", ["load", "store"])
def test_shared_passes_are_those_counted(operation: str) -> None:
    assert len(of("shared", operation)) > 300
    assert shared_differences(H200, operation) == []


@pytest.mark.parametrize("kind", ["ldmatrix_x", "ldmatrix_trans_x", "stmatrix_x"])
def test_matrix_passes_are_those_counted(kind: str) -> None:
    assert len(of("shared", kind)) > 60
    assert matrix_differences(kind) == []


@pytest.mark.parametrize(
    ("changes", "operation", "least"),
    [
        ({"shared_banks": 16}, "load", 300),
        ({"shared_bank_width": "8 B"}, "store", 100),
        ({"shared_merge_distance": 1}, "load", 10),
        ({"shared_merge_distance": 4}, "load", 10),
    ],
)
def test_a_wrong_rule_of_shared_memory_would_show(
    changes: dict[str, str | float], operation: str, least: int
) -> None:
    assert len(shared_differences(H200.what_if(**changes), operation)) >= least


@pytest.mark.parametrize(
    ("changes", "least"), [({"l1_sector": "64 B"}, 200), ({"l1_line": "256 B"}, 100)]
)
def test_a_wrong_size_of_the_l1_would_show(changes: dict[str, str | float], least: int) -> None:
    assert len(global_differences(H200.what_if(**changes), "load")) >= least


def test_without_merging_what_reads_alike_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perfmodel.analyses.bank_conflicts.merge_distances", lambda device: ())
    assert len(shared_differences(H200, "load")) == 115


@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_padding_suggested_for_matrices_is_the_one_that_frees_them(count: int) -> None:
    """Rows of 128 bytes: 8 passes a matrix; one more column of 16 bytes: 1."""
    lane = "(int)threadIdx.x"
    found = suggest_layout(
        H200, indices=[f"{lane} % 8 * 8 + {lane} / 8"], element_bytes=16, matrices=count
    )
    assert found.padding is not None
    row = found.padding.row_elements + found.padding.pad_elements
    measured = {
        each["index"]: float(each["shared_load_passes"])
        for each in of("shared", f"ldmatrix_x{count}")
    }
    assert measured[f"{lane} % 8 * 8 + {lane} / 8"] == 8 * count
    assert measured[f"{lane} % 8 * {row} + {lane} / 8"] == count
    assert measured[f"{lane} % 8 * 8 + ({lane} / 8 ^ {lane} % 8)"] == count
