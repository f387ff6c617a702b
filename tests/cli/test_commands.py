"""Every command: its table fits a terminal, its JSON carries the keys others rely on."""

import csv
import io
import json
import math
from pathlib import Path

import pytest

from perfmodel import device_names, load_device, occupancy
from perfmodel.cli import COMMANDS
from perfmodel.laws import LAWS
from tests.cli.commands import Command

EVERY_DEVICE = [argument for name in device_names() for argument in ("-d", name)]

EXAMPLES = [
    "occupancy -d s5000 --threads 256 --registers 128 --shared 32KiB",
    "occupancy --threads 16x16 --registers 40 -d h200 -d s5000 -d dcu",
    "occupancy --threads 256 -d dcu --scalar-registers 90 --registers 30",
    "occupancy --threads 256 -d h200 --barriers 9 --carveout 50 --shared 20000",
    "occupancy --threads 1024 --registers 255 -d h200",
    "occupancy -d h200 -d dcu --threads 256 --registers 64 --sweep registers",
    "occupancy --threads 256 --registers 64 --sweep shared",
    "occupancy --threads 96 --registers 64 --sweep threads",
    "coalescing -d s5000 --index threadIdx.x*32 --type float",
    "coalescing -d s5000 -d h200 -d dcu -i threadIdx.x*4+i -p i=0..3",
    "coalescing -d h200 -i threadIdx.x --type half --active 7 --base 30 --store --level l2",
    "coalescing -d mi300x -i threadIdx.y*k+threadIdx.x --block 16x16 -p k=4096 --warp 1",
    "banks -d s5000 --index threadIdx.x*32 --type float --suggest",
    "banks -d mi300x -d h200 -d dcu -i threadIdx.x --type float4",
    "banks -i threadIdx.x*32+c -i c*32+threadIdx.x -p c=0..31 --suggest --row 32",
    "banks -d h200 -i threadIdx.x*32 --swizzle 0xf80:5",
    "divergence --predicate threadIdx.x%2==0 --block 256",
    "divergence -d dcu -d h200 --predicate tid<stride -p stride=17 --block 512",
    "roofline --kernel gemv",
    "roofline --kernel gemm -d s5000 -d mi300x -p m=8192 --pipe tensor_fp16",
    "roofline --kernel softmax -d dcu --time 0.62ms",
    "roofline --flop 2e9 --bytes 1e9 -d a100",
    "registers --tile 8x8 -d s5000 -d h200 -d dcu",
    "swizzle --grid 10x10 --macro 8",
    "swizzle --grid 300x200 --macro 8 --resident 112 --order grouped",
    "amdahl --parallel 0.8 --speedup inf",
    "amdahl --parallel 0.5 --speedup 2 --parallel 0.3 --speedup 10 --target 3",
    "scaling --speeds 1,1,2,2",
    "scaling -d h200 --devices 8 --all-reduce 1GB --latency 5us",
    "scaling --devices 96 --communication 0.0005",
    "explain",
    "devices",
    "device show dcu",
    "device check",
    *(f"explain {law}" for law in LAWS),
]
WITH_CSV = ("occupancy", "coalescing", "banks", "roofline", "registers", "swizzle", "devices")


@pytest.mark.parametrize("line", EXAMPLES)
def test_a_table_fits_eighty_columns(line: str, command: Command) -> None:
    answer = command(line)
    assert answer.code == 0, answer.err
    assert answer.out.strip()
    assert max(map(len, answer.out.splitlines())) <= 80
    assert "None" not in answer.out
    assert "nan" not in answer.out.lower().split()


@pytest.mark.parametrize("line", EXAMPLES)
def test_json_is_valid_and_without_infinities(line: str, command: Command) -> None:
    answer = command(line, "--json")
    assert answer.code == 0, answer.err
    json.loads(answer.out, parse_constant=lambda constant: pytest.fail(f"JSON holds {constant}"))


@pytest.mark.parametrize("line", [line for line in EXAMPLES if line.split()[0] in WITH_CSV])
def test_csv_has_a_header_and_rows_of_its_length(line: str, command: Command) -> None:
    answer = command(line, "--csv")
    assert answer.code == 0, answer.err
    rows = list(csv.reader(io.StringIO(answer.out)))
    assert len(rows) >= 2
    assert {len(row) for row in rows} == {len(rows[0])}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_tells_what_the_command_does(name: str, command: Command) -> None:
    answer = command(f"{name} --help")
    assert answer.code == 0
    assert answer.out.startswith(f"Usage: perfmodel {name}")
    assert max(map(len, answer.out.splitlines())) <= 80


def test_the_list_of_commands_is_shown_without_arguments(command: Command) -> None:
    answer = command()
    assert answer.code == 0
    assert all(name in answer.out for name in COMMANDS)


def test_the_version(command: Command) -> None:
    from perfmodel import __version__

    assert command("--version").out == f"perfmodel {__version__}\n"


def test_occupancy_json_has_the_keys_that_others_rely_on(command: Command) -> None:
    found = command("occupancy -d s5000 --threads 256 --registers 128 --shared 32KiB --json").json
    assert found["blocks_per_mp"] == 4
    assert found["active_warps"] == 32
    assert found["max_warps"] == 96
    assert math.isclose(found["occupancy"], 1 / 3)
    assert found["limiters"] == ["registers"]


def test_occupancy_shows_the_carveout_that_was_chosen(command: Command) -> None:
    """50 % of 228 KiB is 114 KiB, for which 132 KiB serves; six blocks of 21 KiB fit, not ten."""
    line = "occupancy -d h200 --threads 128 --shared 20KiB"
    preferred = command(f"{line} --carveout 50").out
    assert "shared memory  132 KiB an MP, preferred 50 %" in preferred
    assert "blocks per MP  6" in preferred
    assert "blocks per MP  10" in command(line).out
    assert "limited by     barriers" in command(f"{line} --barriers 16").out


def test_coalescing_json_has_the_keys_that_others_rely_on(command: Command) -> None:
    found = command("coalescing -d s5000 --index threadIdx.x*32 --json").json
    expected = {
        "requests": 32,
        "lines": 32,
        "sectors": 32,
        "bytes_requested": 128,
        "bytes_moved": 4096,
        "efficiency": 0.03125,
    }
    assert {key: found[key] for key in expected} == expected


def test_banks_json_has_the_keys_that_others_rely_on(command: Command) -> None:
    found = command("banks -d s5000 --index threadIdx.x*32 --json --suggest").json
    assert (found["passes"], found["ideal_passes"], found["conflict_free"]) == (32, 1, False)
    assert found["suggestion"]["padding"]["pad_elements"] == 1
    assert found["suggestion"]["swizzle"]["passes"] == [1]


def test_several_devices_are_a_list(command: Command) -> None:
    found = command("occupancy --threads 256", *EVERY_DEVICE, "--json").json
    assert [each["device"] for each in found] == device_names()
    for each in found:
        result = occupancy(load_device(each["device"]), threads_per_block=256)
        assert each["blocks_per_mp"] == result.blocks_per_mp


def test_perfmodel_device_sets_the_default(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("occupancy --threads 64 --json").json["device"] == "s5000"
    monkeypatch.setenv("PERFMODEL_DEVICE", "h200")
    assert command("occupancy --threads 64 --json").json["device"] == "h200"


def test_a_device_file_of_the_users_own(command: Command, tmp_path: Path) -> None:
    from perfmodel.device.loading import specs_directory

    text = (specs_directory() / "h200.yaml").read_text("utf-8")
    own = tmp_path / "mine.yaml"
    own.write_text(text.replace("device: h200", "device: mine"), "utf-8")
    assert command("occupancy --threads 64 --json -d", str(own)).json["device"] == "mine"
    assert command("device check", str(own)).code == 0


def test_a_check_that_disagrees_leaves_with_one(command: Command, tmp_path: Path) -> None:
    from perfmodel.device.loading import specs_directory

    text = (specs_directory() / "v100.yaml").read_text("utf-8")
    own = tmp_path / "odd.yaml"
    own.write_text(text.replace("mps: {value: 80", "mps: {value: 40"), "utf-8")
    answer = command("device check", str(own))
    assert answer.code == 1
    assert "peaks.fp32: the file states" in answer.out


def test_the_schema_is_printed(command: Command) -> None:
    found = command("device schema").json
    assert found["title"] == "perfmodel device"
    assert "dram_bandwidth" in found["properties"]


@pytest.mark.parametrize(
    "line",
    [
        "occupancy -d s5000 --threads 256 --registers 64",
        "coalescing -d h200 --index threadIdx.x*4",
        "banks -d s5000 --index threadIdx.x*32",
        "roofline --kernel gemv",
        "roofline --kernel gemm -d s5000 -d h200",
        "swizzle --grid 10x10 --macro 8",
    ],
)
@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_plots_are_written(line: str, suffix: str, command: Command, tmp_path: Path) -> None:
    path = tmp_path / f"plot.{suffix}"
    answer = command(line, "--plot", str(path))
    assert answer.code == 0, answer.err
    assert path.stat().st_size > 2000
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert answer.err == f"wrote {path}\n"


def test_a_parameter_may_be_an_expression_of_numbers(command: Command) -> None:
    found = command("coalescing -i tid*n --json -p n=1<<5").json
    assert found["lines"] == 32
    assert command("coalescing -i tid --base 0x40 --json").json["lines"] == 2


def test_a_measured_time_above_the_roof_is_called_impossible(command: Command) -> None:
    assert "no kernel passes its roof" in command("roofline --kernel gemv --time 30us").out
    assert "no kernel passes" not in command("roofline --kernel gemv --time 60us").out


def test_a_kernel_shorter_than_its_launch_is_said_to_be(command: Command) -> None:
    assert "starting the kernel alone" in command("roofline --kernel gemv -p m=1 -p k=1").out


def test_advice_can_be_typed_back_in(command: Command) -> None:
    line = "occupancy -d h100 --threads 256 --registers 48"
    more = command(f"{line} --shared 49152 --json").json["one_block_more"]
    again = command(f"{line} --shared {more['shared_bytes_per_block']} --json").json
    assert again["blocks_per_mp"] == more["blocks_per_mp"]
    shown = command(f"{line} --shared 49152").out
    assert f"{more['shared_bytes_per_block']} B of shared memory" in shown


def test_a_misaligned_access_is_flagged(command: Command) -> None:
    assert "Not aligned" in command("coalescing -d h200 -i tid --type float4 --base 4").out
    assert "Not aligned" not in command("coalescing -d h200 -i tid --type float4").out


def test_why_no_block_fits_is_told(command: Command) -> None:
    line = "occupancy -d h100 --threads 256"
    assert "can address 255" in command(f"{line} --registers 300").out
    assert "233000 B of shared memory" in command(f"{line} --shared 233000").out
    assert "its registers" in command("occupancy -d h100 --threads 1024 --registers 128").out
