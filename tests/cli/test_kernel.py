"""perfmodel kernel: what is shown, what is refused, what is written."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
from typing import TYPE_CHECKING

import pytest

from perfmodel.kernels.json_schema import json_schema
from perfmodel.kernels.loading import kernel_names, load_description
from tests.kernels.sample import SAMPLE, changed, line_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commands import Command

RUNGS = [f"{name}:{rung}" for name in kernel_names() for rung in load_description(name).rungs]


def test_the_list_has_every_kernel_and_rung_within_80_columns(command: Command) -> None:
    answer = command("kernel list")
    assert answer.code == 0, answer.err
    assert max(map(len, answer.out.splitlines())) <= 80
    words = answer.out.split()
    for each in RUNGS:
        name, _, rung = each.partition(":")
        assert f"{name}:" in words
        assert rung in words


def test_the_list_as_csv_and_json_has_one_row_a_rung(command: Command) -> None:
    rows = list(csv.DictReader(io.StringIO(command("kernel list --csv").out)))
    assert [f"{row['kernel']}:{row['rung']}" for row in rows] == RUNGS
    assert command("kernel list --json").json == rows


@pytest.mark.parametrize("name", RUNGS)
def test_a_rung_is_written_out_within_80_columns(name: str, command: Command) -> None:
    answer = command(f"kernel show {name}")
    assert answer.code == 0, answer.err
    assert max(map(len, answer.out.splitlines())) <= 80
    assert "None" not in answer.out
    json.loads(command(f"kernel show {name} --json").out)


def test_a_rung_reads_like_its_source(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(SAMPLE, encoding="utf-8")
    lines = command("kernel show", f"{path}:tree").out.splitlines()
    start = lines.index("launch sum")
    assert lines[start:] == [
        "launch sum",
        "  block (n), grid (m)",
        "  registers 16, shared what its arrays take, barriers 1",
        "  x = input[blockIdx.x * n + threadIdx.x]",
        "  part[threadIdx.x] = x",
        "  barrier block",
        "  for s from n / 2 while s > 0, next s / 2:",
        "    if threadIdx.x < s:",
        "      p = part[threadIdx.x]",
        "      q = part[threadIdx.x + s]",
        "      r = add.fp32(p, q)",
        "      part[threadIdx.x] = r",
        "    barrier block",
        "  if threadIdx.x == 0:",
        "    t = part[0]",
        "    output[blockIdx.x] = t",
    ]
    lines = command("kernel show", f"{path}:roles").out.splitlines()
    assert lines[lines.index("launch sample") + 3 :] == [
        "  channel full of 2 stages",
        "  role producer: 1 warp, registers 24",
        "    for t from 0 below n / 64:",
        "      acquire full",
        "      tile = copy 1 x 64 from input[t * 64], on full",
        "      commit full",
        "  role consumer: 4 warps, registers 128",
        "    for t from 0 below n / 64:",
        "      wait full",
        "      acc = mma 64 x 64 x 16 fp16(acc, tile), 4 warps, a and b from shared",
        "          memory",
        "      release full",
    ]


def test_branches_and_amounts_are_shown(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    branch = """\
              - share: "0.25"
                then: [{op: fma.fp32, to: sum, uses: [sum], count: n / 2, chain: 2, packed: 2}]
                else:
                  - {shuffle: sum, uses: [sum], count: 5}
                  - {atomic: sum, on: output, index: row, to: before}
"""
    at = "              - store: sum\n"
    path.write_text(SAMPLE.replace(at, branch + at), encoding="utf-8")
    lines = command("kernel show", f"{path}:walk").out.splitlines()
    assert lines[lines.index("    if data says so, for a share of 0.25:") :] == [
        "    if data says so, for a share of 0.25:",
        "      sum = fma.fp32(sum) x (n / 2), chain 2, packed 2",
        "    else:",
        "      sum = shuffle(sum) x 5",
        "      before = atomic output[row] += sum",
        "    output[row] = sum",
    ]


def test_what_is_shown_without_a_rung_is_the_last_step(command: Command) -> None:
    assert command("kernel show gemm").out == command("kernel show gemm:tensor").out
    assert command("kernel show gemm --json").json["rung"] == "tensor"


def test_what_extends_is_shown_written_out(command: Command) -> None:
    shown = command("kernel show gemm:global_double_buffer --json").json
    assert shown["extends"] == load_description("gemm").rungs["global_double_buffer"].extends
    assert shown["launches"][0]["roles"][0]["body"]


# checking


def test_every_shipped_kernel_agrees(command: Command) -> None:
    answer = command("kernel check -d dcu")
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    assert [line.partition(" ")[0] for line in lines] == kernel_names()
    assert all(line.endswith("with warps of 64 lanes") for line in lines)


def test_a_file_that_is_right_agrees(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(SAMPLE, encoding="utf-8")
    answer = command("kernel check", str(path), "-p", "m=1000", "-p", "type=fp16")
    assert answer.out == f"{path} agrees: 3 rungs with warps of 32 lanes\n"


def test_a_file_that_is_wrong_is_told_with_its_line(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    text = changed("row * n + i", "row * n + i + 1")
    path.write_text(text, encoding="utf-8")
    answer = command("kernel check vecadd", str(path))
    assert answer.code == 3
    assert answer.out == "vecadd agrees: 2 rungs with warps of 32 lanes\n"
    line = line_of(text, "- load: x")
    assert answer.err == (
        f"perfmodel: {path}:{line}: load of input: threadIdx (3, 0, 0) of block (3, 0, 0), i = 63: "
        "element 6400 of 6400 (rung walk)\n"
    )
    path.write_text(changed("row * n + i", "row * n + j"), encoding="utf-8")
    answer = command("kernel check", str(path))
    assert answer.code == 3
    assert 'index of load x from input: column 11 of "row * n + j": no j' in answer.err
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("kernel show gemn", 2, "no kernel 'gemn': did you mean gem"),
        ("kernel show gemm:naiv", 2, "gemm has no rung 'naiv': did you mean naive?"),
        ("kernel check gemm -p q=1", 2, "gemm has no parameter 'q'"),
        ("kernel check gemm -p m=0", 2, "m is 0: it must be from 1"),
        ("kernel check softmax -p n=7", 3, "softmax:"),
        ("kernel check nothing.yaml", 3, "nothing.yaml: cannot be read: No such file"),
        ("kernel new a-b", 2, "the kernel's name is 'a-b': letters, digits and underscores"),
        (
            "kernel new a -o nowhere/a.yaml",
            2,
            "cannot write nowhere/a.yaml: there is no folder nowhere",
        ),
    ],
)
def test_wrong_input_is_one_line(line: str, code: int, message: str, command: Command) -> None:
    answer = command(line)
    assert answer.code == code
    assert answer.err.startswith(f"perfmodel: {message}")
    assert answer.err.count("\n") == 1


# starting


def test_the_starting_file_agrees_on_every_width_and_can_be_predicted(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "mine.yaml"
    answer = command("kernel new row_sums -o", str(path))
    assert (answer.code, answer.out, answer.err) == (0, "", f"wrote {path}\n")
    assert path.read_text(encoding="utf-8") == command("kernel new row_sums").out
    assert max(map(len, path.read_text(encoding="utf-8").splitlines())) <= 100
    for device in ("s5000", "dcu"):
        assert command("kernel check", str(path), "-d", device).code == 0
        assert command("kernel check", str(path), "-d", device, "-p", "type=fp16").code == 0
        assert command("predict", f"{path}:vector_loads", "-d", device).code == 0


def test_the_starting_file_is_written_whole_or_not_at_all(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("mine\n", encoding="utf-8")
    answer = command("kernel new -o", str(path))
    assert answer.code == 2
    assert answer.err == f"perfmodel: cannot write {path}: it is there already; give another name\n"
    assert path.read_text(encoding="utf-8") == "mine\n"

    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    answer = command("kernel new -o", str(tmp_path / "other.yaml"))
    assert answer.code == 2
    assert "no space left on device" in answer.err
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_rights_of_any_new_file(command: Command, tmp_path: Path) -> None:
    command("kernel new -o", str(tmp_path / "mine.yaml"))
    (tmp_path / "other").touch()
    rights = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("mine.yaml", "other")]
    assert rights[0] == rights[1]


def test_the_schema_is_printed(command: Command) -> None:
    assert command("kernel schema").json == json_schema()
