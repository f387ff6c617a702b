"""perfmodel predict and ladder."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.commands import Command

LADDERS = ("reduce", "gemv", "gemm", "attention", "softmax")


@pytest.mark.parametrize("kernel", LADDERS)
@pytest.mark.parametrize("device", ["s5000", "dcu", "h200"])
def test_a_ladder_fits_eighty_columns(command: Command, kernel: str, device: str) -> None:
    answer = command("ladder", kernel, "-d", device, "--alternatives")
    assert answer.code == 0
    assert max(map(len, answer.out.splitlines())) <= 80


def test_a_prediction_fits_eighty_columns_and_names_what_limits(command: Command) -> None:
    answer = command("predict", "softmax:thread_per_row", "-d", "dcu")
    assert answer.code == 0
    assert max(map(len, answer.out.splitlines())) <= 80
    assert "limited by l2" in answer.out


def test_json_has_the_bounds_in_seconds(command: Command) -> None:
    answer = command("predict", "gemm:naive", "--json", "-p", "m=512", "-p", "n=512", "-p", "k=512")
    result = json.loads(answer.out)
    assert result["bounds"][0]["time_s"] <= result["time_s"]
    assert result["parameters"]["m"] == 512


def test_csv_has_a_row_for_each_rung(command: Command) -> None:
    answer = command("ladder", "reduce", "--csv", "-d", "s5000", "-d", "h200")
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert len(rows) == 10
    assert all(float(row["time_low_s"]) <= float(row["time_s"]) for row in rows)


def test_a_word_is_a_parameter_too(command: Command) -> None:
    answer = command("predict", "gemm:tensor", "-p", "type=bf16", "--json")
    assert json.loads(answer.out)["parameters"]["type"] == "bf16"


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        (("predict", "gemmm:naive"), 2, "did you mean gemm"),
        (("predict", "gemm:naiv"), 2, "did you mean naive"),
        (("predict", "gemm:naive", "-p", "q=1"), 2, "no parameter 'q'"),
        (("predict", "gemm:naive", "-p", "m=0"), 2, "it must be from 1"),
        (("predict", "gemm:naive", "-p", "m"), 2, "name=value is wanted"),
        (("predict", "gemm:naive", "-p", "type=fp7"), 2, "one of fp32, fp16, bf16"),
        (("predict", "gemm:register_tile", "-p", "bk=512"), 3, "cannot run a single block"),
        (("ladder", "transpose", "-p", "m=33"), 3, "must be multiples of 32"),
        (("ladder", "nope.yaml"), 3, "cannot be read"),
    ],
)
def test_what_is_wrong_is_one_line(
    command: Command, line: tuple[str, ...], code: int, said: str
) -> None:
    answer = command(*line)
    assert answer.code == code
    assert said in answer.err
    assert len(answer.err.strip().splitlines()) == 1
    assert answer.out == ""


def test_the_plot_is_written(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "ladder.png"
    answer = command("ladder", "transpose", "--plot", str(file))
    assert answer.code == 0
    assert file.read_bytes().startswith(b"\x89PNG")


def test_a_ladder_of_a_device_file_is_drawn(command: Command, tmp_path: Path) -> None:
    device, file = tmp_path / "mine.yaml", tmp_path / "ladder.png"
    text = (Path(__file__).parents[2] / "hardware_specs" / "s5000.yaml").read_text("utf-8")
    device.write_text(text.replace("device: s5000", "device: mine"), "utf-8")
    answer = command("ladder", "vecadd", "-d", str(device), "--plot", str(file))
    assert answer.code == 0, answer.err
    assert "vecadd on mine" in answer.out
    assert file.read_bytes().startswith(b"\x89PNG")


def test_a_rung_that_cannot_run_does_not_end_the_ladder(command: Command) -> None:
    answer = command("ladder", "softmax", "-p", "n=100")
    assert answer.code == 0
    assert "note: warp_per_row: cannot run: softmax:warp_per_row with n = 100" in answer.out
    rows = list(csv.DictReader(io.StringIO(command("ladder softmax -p n=100 --csv").out)))
    assert [row["time_s"] != "" for row in rows] == [True, False, False, False, False]


def test_a_table_that_is_too_wide_has_its_last_column_below(
    command: Command, tmp_path: Path
) -> None:
    source = Path(__file__).parents[2] / "perfmodel/kernels/library/vecadd.yaml"
    file = tmp_path / "wide.yaml"
    text = source.read_text("utf-8")
    file.write_text(text.replace("vector_loads", "vector_loads_" + "and_more_" * 3 + "so"), "utf-8")
    answer = command("ladder", str(file), "-d", "dcu")
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "what it did" not in answer.out
    assert any(line.startswith("vector_loads_and_more_") and "so: " in line for line in lines)
