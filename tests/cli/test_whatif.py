"""perfmodel compare, whatif, sensitivity, crossover and explain KERNEL:RUNG."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commands import Command

LINES = (
    "compare gemm -d s5000 -d dcu -d h200",
    "compare attention:fused -d s5000 -d h200 -p causal=1",
    "whatif -d s5000 --set dram_bandwidth=3.2TB/s --kernel gemv",
    "whatif --set clock=2GHz --set l1_size=64KiB -k softmax:packed -d dcu",
    "sensitivity gemv:vector_loads",
    "sensitivity gemv:vector_loads --over fields",
    "sensitivity gemm:register_tile --over parameters",
    "crossover reduce:one_block reduce:vector_load --over n --from 4096 --to 2^24",
    "crossover transpose:shared_tile transpose:padded_tile --over m --from 1024 --to 8192",
    "crossover gemm:register_tile gemm:shared_double_buffer --over bk --from 8 --to 64",
    "crossover gemv:cached_vector --best tile_v",
    "crossover attention:fused --best br --best bc=32,64,128 -d dcu",
    "compare gemm:register_tile -p bk=64 -d dcu -d h200",
    "whatif --set shared_per_block=16KiB -k attention",
    "explain gemm:naive -d s5000 -p m=512",
    "explain gemm",
    "explain reduce:single_kernel -d h200",
)


@pytest.mark.parametrize("line", LINES)
def test_it_fits_eighty_columns(command: Command, line: str) -> None:
    answer = command(line)
    assert answer.code == 0, answer.err
    assert answer.out.strip()
    assert max(map(len, answer.out.splitlines())) <= 80


@pytest.mark.parametrize("line", LINES)
def test_it_gives_json(command: Command, line: str) -> None:
    answer = command(f"{line} --json")
    assert answer.code == 0
    assert answer.json


@pytest.mark.parametrize("line", [each for each in LINES if not each.startswith("explain")])
def test_it_gives_rows(command: Command, line: str) -> None:
    answer = command(f"{line} --csv")
    assert answer.code == 0


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("whatif --set dram=1 -k gemv", 2, "did you mean dram_"),
        ("whatif --set clock -k gemv", 2, "write field=value"),
        ("whatif --set clock=1GHz --set clock=2GHz -k gemv", 2, "given twice"),
        ("whatif --set clock=fast -k gemv", 2, "clock"),
        ("sensitivity gemv --over all", 2, "unknowns, fields, parameters"),
        ("crossover gemm:naive gemm:tiled --over q --from 1 --to 9", 2, "no parameter 'q'"),
        ("crossover gemm:naive gemm:tiled --over m --from 9 --to 1", 2, "upwards"),
        ("crossover gemm:naive gemm:tiled --over m --from x --to 1", 2, "whole number"),
        ("explain gemm:nope", 2, "no rung 'nope'"),
        ("explain gemn", 2, "no law 'gemn'"),
        ("compare gemv -p mm=1", 2, "did you mean m?"),
        ("whatif --set clock=1GHz -k gemv -p mm=1", 2, "did you mean m?"),
        ("crossover gemm:naive gemm:tiled --over m --from 16 --to 64 -p kk=1", 2, "'kk'"),
        ("crossover gemm:naive gemm:tiled --over type --from 1 --to 9", 2, "is a word"),
        ("crossover gemm:register_tile gemm:tensor --over m --from 17 --to 31", 2, "further apart"),
        ("crossover gemm:naive gemm:tiled --from 17 --to 31", 2, "give two rungs with --over"),
        ("crossover gemm:naive", 2, "or one rung with --best"),
        ("crossover gemm:naive gemm:tiled --best tile", 2, "--best is for one rung"),
        ("crossover gemm:tiled --best tile --best tile=8", 2, "given twice"),
        ("crossover gemm:tiled --best tile -p tile=8", 2, "leave it out"),
        ("crossover gemm:tiled --best tile=a", 2, "whole number"),
        ("crossover gemm:tiled --best a --best b --best c", 2, "at most two"),
        ("compare gemm:register_tile -p bk=64 -d dcu", 3, "cannot run a single block"),
    ],
)
def test_what_is_wrong_is_one_line(command: Command, line: str, code: int, said: str) -> None:
    answer = command(line)
    assert (answer.code, answer.out) == (code, "")
    assert said in answer.err
    assert len(answer.err.strip().splitlines()) == 1


def test_the_best_values_are_marked_and_what_does_not_fit_is_named(command: Command) -> None:
    line = "crossover attention:fused --best br=64,128,256 --best bc=32,64 -d dcu"
    shown, found = command(line).out, command(f"{line} --json").json
    best = found["values"]
    row = next(each for each in shown.splitlines() if each.startswith(f"{best['br']} "))
    assert " *" in row
    assert "no block fits into shared_memory: br x bc = 256 x 32" in shown
    unfit = [each for each in found["trials"] if each["cannot"]]
    assert all(each["time_s"] is None for each in unfit)
    assert len(unfit) == found["tried"] - found["possible"]


def test_a_size_may_be_a_power_of_two(command: Command) -> None:
    line = "crossover gemm:naive gemm:tiled --over m --from 2^4 --json --to"
    assert command(f"{line} 2^6").json["high"] == 64
    assert command(f"{line} 1<<6").json["high"] == 64


def test_headings_show_what_all_rungs_share(command: Command) -> None:
    compared = command("compare gemm -d s5000 -d h200").out
    assert compared.splitlines()[0] == "gemm: m=4096, n=4096, k=4096"
    assert "tensor: type=fp16; the other rungs: type=fp32" in compared
    changed = command("whatif -d s5000 --set clock=2GHz -k gemm -p tile=32").out
    assert changed.splitlines()[0] == "gemm on s5000 with clock = 2GHz: m=4096, n=4096, k=4096"
    assert "tiled: tile=32" in changed


def test_an_end_that_could_not_be_moved_is_a_dash(command: Command) -> None:
    shown = command("sensitivity gemm:register_tile --over parameters").out
    rows = {line.split()[0]: line for line in shown.splitlines()[4:]}
    assert rows["tm"].split()[1:4] == ["8", "16", "-"]
    assert rows["bm"].split()[-1] == "-"
    assert "+0.0 %" not in shown


def test_a_range_that_is_narrowed_says_why(command: Command) -> None:
    line = "crossover gemm:register_tile gemm:tensor --over m --from 17 --to 4095"
    assert "asked for 17 to 4095: below 128 no value is allowed by both rungs" in command(line).out
    line = "crossover gemm:register_tile gemm:shared_double_buffer --over bk --from 8 --to 4000"
    answer = command(line)
    assert "asked for 8 to 4000: above 128 neither rung can run on s5000" in answer.out
    found = command(f"{line} --json").json
    assert (found["asked_low"], found["asked_high"], found["low"]) == (8, 4000, 8)
    assert len(found["narrowed"]) == 1
    line = "crossover gemm:naive gemm:tiled --over m --from 16 --to 64"
    assert "asked for" not in command(line).out


def test_a_rung_that_wins_by_leaving_work_out_is_named(command: Command) -> None:
    line = "crossover softmax:packed softmax:packed_as_printed --over n --from 512 --to 4096"
    (said,) = command(f"{line} --json").json["missing_work"]
    assert said.startswith("softmax:packed_as_printed does not do the whole work: moves ")
    shown = " ".join(command(line).out.split())
    assert f"note: {said}" in shown


def test_the_tornado_is_drawn(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "tornado.svg"
    answer = command("sensitivity softmax:thread_per_row -d dcu --plot", str(file))
    assert answer.code == 0
    assert "line_rate" in file.read_text("utf-8")
