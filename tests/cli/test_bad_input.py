"""Wrong input: one line with what, where and what would be right; no traceback; nothing written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from perfmodel.device.loading import specs_directory
from tests.cli.commands import Command

WRONG_USE = [
    ("crossover reduce:one_block reduce:vector_load --over n --from 16 --to 2^63", "upwards"),
    ("crossover attention:pipelined --best br=2^63", "br"),
    ("occupancy", "Missing option '--threads'"),
    ("occupancy --threads", "requires an argument"),
    ("occupancy --threads 0", "at least 1"),
    ("occupancy --threads -32", "at least 1"),
    ("occupancy --threads nan", "whole number"),
    ("occupancy --threads inf", "whole number"),
    ("occupancy --threads 1e3", "whole number"),
    ("occupancy --threads 12.5", "whole number"),
    ("occupancy --threads 2048", "at most 1024 threads per block"),
    ("occupancy --threads 64 -d dcu --warp-width 32", "has warps of 64 lanes, not of 32"),
    ("occupancy --threads 64 -d rx7900xtx --warp-width 16", "of 32 or 64 lanes, not of 16"),
    ("occupancy --threads 64 -d rx7900xtx --warp-width wide", "whole number"),
    ("occupancy --threads 64 -d rx7900xtx --scalar-registers 40", "no scalar registers that limit"),
    ("occupancy --threads 64 -d dcu --accumulation-registers 4", "has no accumulation registers"),
    ("occupancy --threads 64 -d mi300x --accumulation-registers 257", "at most 256"),
    ("occupancy --threads 99999999999999999999999", "whole number"),
    ("occupancy --threads 64x64x64x64", "one to three sizes"),
    ("occupancy --threads 256 --registers -1", "registers_per_thread is -1"),
    ("occupancy --threads 256 --shared -1", "from 0 on"),
    ("occupancy --threads 256 --shared 32K", "K is ambiguous"),
    ("occupancy --threads 256 --shared 32KB", "KB is ambiguous"),
    ("occupancy --threads 256 --shared 32GHz", "is in hz"),
    ("occupancy --threads 256 --shared 1.5", "whole number of bytes"),
    ("occupancy --threads 256 --shared 32k", "such as kB, KiB or kHz"),
    ("occupancy --threads 256 --shared 1_000", "no unit"),
    ("occupancy --threads 256 --registers 9999999999999999999", "exact"),
    ("coalescing -i tid --base 10000000000000000000", "base_bytes is"),
    ("coalescing -i tid --block 4294967296x4294967296", "allows at most"),
    ("banks -i tid --suggest --row 9999999999999999999", "row_elements is"),
    ("banks -i tid*32 --swizzle 0xf80:0", "shift is 0"),
    ("swizzle --grid 4x4 --resident 10000000000000000000", "exact"),
    ("coalescing -i tid --type ٤", "no type"),
    ("occupancy --threads 256 --shared nan", "no quantity"),
    ("occupancy --threads 256 --shared inf", "no quantity"),
    ("occupancy --threads 256 --carveout 50", "leave it out"),
    ("occupancy --threads 256 -d h200 --carveout 101", "at most 100"),
    ("occupancy --threads 256 -d h200 --scalar-registers 3", "no scalar registers"),
    ("occupancy --threads 256 --sweep colours", "threads, registers, shared"),
    ("occupancy --threads 256 --json --csv", "give one of the two"),
    ("occupancy --threads 256 --colour", "No such option"),
    ("occupancy 256", "Missing option"),
    ("occupanci", "No such command"),
    ("coalescing", "Missing option '--index'"),
    ("coalescing -i threadIdx.x --type flaot", "did you mean float?"),
    ("coalescing -i threadIdx.x --type 3", "1, 2, 4"),
    ("coalescing -i threadIdx.x --level l9", "l1 or l2"),
    ("coalescing -i (int)threadIdx.x-5", "below 0"),
    ("coalescing -i i", "-p i=1"),
    ("coalescing -i threadIdx.x --warp 1", "warps 0 to 0"),
    ("coalescing -i threadIdx.x --block 33x32", "at most 1024"),
    ("coalescing -i threadIdx.x --active 33", "there are 32 lanes"),
    ("coalescing -i i -p i", "write name=value"),
    ("coalescing -i i -p i=x", "whole number"),
    ("coalescing -i i -p i=1.5", "whole number"),
    ("coalescing -i i -p i=1<<", "whole number"),
    ("coalescing -i i -p i=1 -p i=2", "given twice"),
    ("coalescing -i i -p i=5..1", "upwards"),
    ("coalescing -i i -p i=0..99999999", "at most 4096"),
    ("coalescing -i a+b+c -p a=0..4095 -p b=0..4095 -p c=0..4095", "at most 262144"),
    ("swizzle --grid 1x1048577", "at most"),
    ("scaling --devices 65537", "65536"),
    ("occupancy --threads ٣٢", "whole number"),
    ("banks -i threadIdx.x --swizzle 5", "write mask:shift"),
    ("banks -i threadIdx.x --type 32", "up to 16"),
    ("banks -i 0 -i 1 -d s5000 -d h200", "repeat one of the two"),
    ("divergence --predicate tid -p tid=0..3", "one number"),
    ("roofline", "give --kernel"),
    ("roofline --kernel gemv --flop 1", "give --kernel"),
    ("roofline --flop 1e9", "both are needed"),
    ("roofline --flop nan --bytes 1", "must be a number"),
    ("roofline --flop 1e9 --bytes 0", "bytes is 0"),
    ("roofline --kernel gemv -p x=1", "known: k, m, n, type"),
    ("roofline --kernel gemv -p m=0", "from 1 to"),
    ("roofline --kernel gemv -p m=1.5", "whole number"),
    ("roofline --kernel gemv -p m=99999999999", "from 1 to"),
    ("roofline --kernel gemv --pipe fp33", "did you mean fp32?"),
    ("roofline --kernel gemv --time 30", "has no unit"),
    ("roofline --kernel gemv --time 0ms", "above 0"),
    ("roofline --kernel gemv -d s5000 -d h200 --time 1ms", "give one -d"),
    ("occupancy --threads 64 -d s5000 -d h200 --plot plot.png", "give one --device"),
    ("coalescing -i tid -i tid+1 --plot plot.png", "give one --device"),
    ("coalescing -i tid -i lane -d s5000 -d h200", "repeat one of the two"),
    ("coalescing -i tid*n -p n=1 -p m=2", "the expression has no m"),
    ("divergence --predicate tid<n -p n=1 -p m=2", "the expression has no m"),
    ("coalescing -i hipThreadidx_x", "did you mean hipThreadIdx_x?"),
    ("banks -i tid --suggest --swizzle 0xf80:5", "the one looks for"),
    ("roofline --kernel gemv --time -1ms", "above 0"),
    ("roofline --kernel gemv --plot plot.gif", ".png"),
    ("roofline --kernel gemv --plot no/such/folder/plot.png", "no/such/folder"),
    ("registers --tile 8", "rows and columns"),
    ("registers --tile 8x8 --shared-efficiency 2", "at most 1"),
    ("swizzle --grid 10", "rows and columns"),
    ("swizzle --grid 99999x99999", "at most"),
    ("swizzle --grid 10x10 --order zigzag", "row, serpentine, grouped"),
    ("swizzle --grid 10x10 --macro 0", "macro"),
    ("amdahl --parallel 1.2 --speedup 2", "at most 1"),
    ("amdahl --parallel x --speedup 2", "must be a number"),
    ("amdahl --parallel 0.5 --speedup 0", "above 0"),
    ("amdahl --parallel 0.5 --speedup 2 --parallel 0.1", "one --speedup for each"),
    ("scaling", "give --speeds"),
    ("scaling --devices 0", "devices"),
    ("scaling --speeds 1,x", "must be a number"),
    ("scaling --speeds 1,0", "above 0"),
    ("scaling --devices 4 --all-reduce 1GB --link tin-can", "no link"),
    ("explain amdal", "did you mean amdahl?"),
    ("explain -p parallel_fraction=1", "name one"),
    ("explain amdahl-limit -p parallel_fraction=1", "no finite result"),
    ("banks -i tid --row 32", "--row is for --suggest"),
    ("scaling --devices 8 --latency 5us", "for --all-reduce"),
    ("roofline --flop 1 --bytes 1 -p m=1", "-p is for --kernel"),
    ("explain amdahl -p parallel=1", "did you mean parallel_fraction?"),
    ("explain amdahl -p parallel_fraction=2", "at most 1"),
    ("occupancy --threads 256 -d s500", "did you mean s5000?"),
    ("occupancy --threads 256 -d nothing-like-it", "known: a10, a100"),
    ("roofline --kernel gemw", "did you mean gemv?"),
    ("device show nosuch", "no device"),
    ("device check nosuch", "no device"),
    ("kernel check nosuch", "no kernel"),
    ("kernel show gemm:nosuch", "no rung"),
    ("predict gemm:nosuch", "no rung"),
    ("predict gemm -p nosuch=1", "no parameter"),
    ("predict vecadd -p n=1..5", "whole number"),
    ("whatif -k vecadd --set clock=0GHz", "not above 0"),
    ("whatif -k vecadd --set clock=-1GHz", "not above 0"),
    ("whatif -k vecadd --set clock=1e-300GHz", "too little"),
    ("whatif -k vecadd --set clock=1e300Hz", "more than any device has"),
    ("whatif -k vecadd --set clock=nanGHz", "no quantity"),
    ("whatif -k vecadd --set clock=inf", "no quantity"),
    ("whatif -k vecadd --set clock=5B", "is in bytes"),
    ("whatif -k vecadd --set kernel_launch=1e20s", "more than any device has"),
    ("whatif -k vecadd --set line_rate=1e-300/cycle", "too little"),
    ("whatif -k vecadd --set mps=1.5", "not a whole number"),
    ("predict vecadd -p n=2^3+1", "a power stands alone"),
    ("predict vecadd -p n=1+2^3", "a power stands alone"),
    ("predict vecadd -p n=9999999^999", "a power stands alone"),
    ("predict vecadd -p n=2^62", "from 1 to"),
    ("divergence --predicate tid<n -p n=0..3", "one number"),
]

WRONG_DATA = [
    ("occupancy --threads 256 -d no/such/file.yaml", "No such file"),
    ("coalescing -i threadIdx.x*", "operand is missing"),
    ("coalescing -i threadIdx.w", "threadIdx.w"),
    ("coalescing -i threadIdx.x/0", "division by zero"),
    ("coalescing -i 2147483647+(int)threadIdx.x", "overflow"),
    ("coalescing -i __import__('os')", "a character"),
    ("divergence --predicate a=b", "="),
]


def assert_one_clear_line(text: str) -> None:
    assert text.startswith("perfmodel: ")
    assert "Traceback" not in text
    assert text.endswith("\n")
    assert text[:-1].isprintable(), text  # so that it is one line
    assert len(text) < 450


@pytest.mark.parametrize(("line", "said"), WRONG_USE)
def test_wrong_use_leaves_with_two(line: str, said: str, command: Command) -> None:
    answer = command(line)
    assert answer.code == 2, answer
    assert said in answer.err
    assert_one_clear_line(answer.err)
    assert answer.out == ""


@pytest.mark.parametrize(("line", "said"), WRONG_DATA)
def test_wrong_data_leaves_with_three(line: str, said: str, command: Command) -> None:
    answer = command(line)
    assert answer.code == 3, answer
    assert said in answer.err
    assert_one_clear_line(answer.err)
    assert answer.out == ""


def h200() -> str:
    return (specs_directory() / "h200.yaml").read_text("utf-8")


GROUPS = "{groups: 0-3, kind: measured, source: test}"
HOSTILE_FILES = {
    "empty": (b"", "mapping is wanted"),
    "binary": (bytes(range(256)), "UTF-8"),
    "utf16": ("format: 1".encode("utf-16"), "UTF-8"),
    "list": (b"- 1\n- 2\n", "mapping is wanted"),
    "tabs": (b"a:\n\t- 1\n", "not valid YAML"),
    "tag": (b"format: !!python/object/apply:os.system ['true']\n", "tag"),
    "bomb": (b"a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n", "aliases"),
    "twice": (b"format: 1\ndevice: x\ndevice: y\n", "stands twice"),
    "deep": (b"a: " + b"[" * 5000 + b"]" * 5000, ""),
    "number": (b"format: " + b"9" * 100000, "digits"),
    "unknown key": (h200().replace("dram_latency:", "dram_latenzy:").encode(), "dram_latency"),
    "no source": (
        h200()
        .replace(
            "mps: {value: 132, kind: measured, source:", "mps: {value: 132, kind: measured, sauce:"
        )
        .encode(),
        "source",
    ),
    "bare value": (h200().replace("mps: {value: 132", "mps: 132 #").encode(), "stands alone"),
    "bool": (b"format: !!bool maybe\n", "not a value of its kind"),
    "int": (b"format: !!int '-'\n", "not a value of its kind"),
    "control": (b'"\\e[31mred": 1\n', "plain text"),
    "escape in a name": (
        h200().replace("device: h200", 'device: "\\e[31mred"').encode(),
        "printed",
    ),
    "lane groups of another warp": (
        (h200() + "\nshared_lane_groups:\n  load:\n    4 B: " + GROUPS + "\n").encode(),
        "the groups hold 4 lanes, a warp has 32",
    ),
    "sector and line": (
        h200().replace("l1_sector: {value: 32 B", "l1_sector: {value: 48 B").encode(),
        "no part of the line",
    ),
    "version": (h200().replace("format: 1", "format: 2").encode(), "must be 1"),
}


@pytest.mark.parametrize("name", HOSTILE_FILES)
def test_a_hostile_file_is_one_line_and_exit_three(
    name: str, command: Command, tmp_path: Path
) -> None:
    content, said = HOSTILE_FILES[name]
    path = tmp_path / "hostile.yaml"
    path.write_bytes(content)
    answer = command("occupancy --threads 256 -d", str(path))
    assert answer.code == 3, answer
    assert said in answer.err
    assert str(path) in answer.err
    assert_one_clear_line(answer.err)


def test_a_huge_file_is_refused_without_reading_it(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    with path.open("wb") as stream:
        stream.truncate(100 << 20)
    answer = command("device check", str(path))
    assert answer.code == 3
    assert "larger than" in answer.err


@pytest.mark.parametrize("place", ["a folder", "not writable"])
def test_a_plot_that_cannot_be_written_leaves_nothing(
    place: str, command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "plot.png"
    if place == "a folder":
        path.mkdir()
    else:
        (tmp_path / "file").write_text("")
        path = tmp_path / "file" / "plot.png"
    answer = command("roofline --kernel gemv --plot", str(path))
    assert answer.code == 2
    assert_one_clear_line(answer.err)
    left = {each.name for each in tmp_path.iterdir()}
    assert left <= {"plot.png", "file"}
    assert not path.is_file()


@pytest.mark.parametrize("reader", ["head -1", "true"])
@pytest.mark.parametrize("line", ["device show h200", "--help", "kernel schema"])
def test_a_reader_that_leaves_early_is_no_error(line: str, reader: str) -> None:
    script = f"{sys.executable} -m perfmodel {line} | {reader}"
    result = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {script}"],
        capture_output=True,
        text=True,
        env=os.environ,
        check=False,
    )
    assert result.returncode == 0
    assert result.stderr == ""


def test_no_standard_output_is_one_line() -> None:
    result = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m perfmodel devices >&-"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert_one_clear_line(result.stderr)


_INTERRUPTED = """
import os, signal, sys
from perfmodel.__main__ import main
from perfmodel.{module} import {name} as target
import perfmodel.{module} as module

def interrupt(*given, **named):
    os.kill(os.getpid(), signal.{signal})
    signal.sigtimedwait([], 5)  # the handler runs before this returns
    sys.exit("nobody stopped it")

module.{name} = interrupt
main()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize(
    ("module", "function"),
    [("cli", "_let_any_name_be_printed"), ("scheduler.prediction", "predict")],
)
def test_a_signal_ends_it_on_one_line(name: str, code: int, module: str, function: str) -> None:
    program = _INTERRUPTED.format(module=module, name=function, signal=name)
    result = run_python("-c", program, "predict", "vecadd")
    assert result.returncode == code, result
    assert result.stderr == "perfmodel: interrupted\n"


_INTERRUPTED_WRITE = """
import os, signal
from matplotlib.figure import Figure
from perfmodel.__main__ import main

def write_half(self, file, **given):
    file.write(b"half")
    os.kill(os.getpid(), signal.SIGTERM)
    signal.sigtimedwait([], 5)

Figure.savefig = write_half
main()
"""


def test_a_signal_during_a_write_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "plot.png"
    arguments = ("roofline", "--kernel", "vecadd", "--plot", str(path))
    result = run_python("-c", _INTERRUPTED_WRITE, *arguments)
    assert result.returncode == 143, result
    assert list(tmp_path.iterdir()) == []


_INTERRUPTED_IMPORT = """
import os, signal, sys
from perfmodel.__main__ import main

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)
            signal.sigtimedwait([], 5)

sys.meta_path.insert(0, Interrupting())
main()
"""


def test_a_signal_during_the_imports_is_one_line() -> None:
    result = run_python("-c", _INTERRUPTED_IMPORT, "devices")
    assert (result.returncode, result.stderr) == (130, "perfmodel: interrupted\n")


DIGITS = "9" * 5000


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "occupancy --threads {}",
        "coalescing -i {}",
        "coalescing -i tid --active {}",
        "coalescing -i tid*n -p n={}",
        "coalescing -i tid --warp {}",
        "predict vecadd -p n={}",
        "predict vecadd -p {}=1",
        "predict vecadd -d {}",
        "predict {}",
        "predict vecadd:{}",
        "scaling --devices {}",
        "whatif -k vecadd --set clock={}",
        "whatif -k vecadd --set {}=1",
        "crossover vecadd --best n={}",
        "roofline --flop {} --bytes 1",
        "roofline --kernel vecadd --plot {}.gif",
        "roofline --kernel vecadd --plot {}.png",
        "explain amdahl -p parallel_fraction={}",
    ],
)
def test_thousands_of_digits_are_not_repeated(line: str, command: Command) -> None:
    answer = command(line.format(DIGITS))
    assert answer.code in (2, 3), answer
    assert_one_clear_line(answer.err)
    assert "9" * 161 not in answer.err


def run_python(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *options], capture_output=True, text=True, check=False, timeout=60
    )


def test_an_explanation_without_docstrings_says_what_is_missing() -> None:
    for arguments in (["explain"], ["explain", "amdahl"]):
        result = run_python("-OO", "-m", "perfmodel", *arguments)
        assert result.returncode == 2
        assert "-OO" in result.stderr
        assert_one_clear_line(result.stderr)


def test_a_mistake_of_ours_is_one_line_too(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("perfmodel.analyses.occupancy.occupancy", fail)
    answer = command("occupancy --threads 64")
    assert answer.code == 70
    assert "please report it" in answer.err
    assert_one_clear_line(answer.err)


@pytest.mark.parametrize(
    "arguments",
    [
        ("predict",),
        ("predict", "vecadd", "-d"),
        ("predict", "vecadd", "-p"),
        ("coalescing", "-i"),
        ("coalescing", "-i", "tid +\n+", "-p"),
        ("kernel", "check"),
        ("kernel", "new"),
        ("device", "check"),
        ("whatif", "-k", "vecadd", "--set"),
        ("explain",),
        ("verify",),
    ],
)
@pytest.mark.parametrize("text", ["a\nb", "a\nb.yaml", "\x1b[31m=\r1", "a\u2028b=1"])
def test_a_line_in_quoted_input_is_no_line_of_the_message(
    arguments: tuple[str, ...], text: str, command: Command
) -> None:
    answer = command("", *arguments, text)
    assert answer.code in (2, 3), answer
    assert_one_clear_line(answer.err)


def test_control_characters_are_not_passed_on(command: Command) -> None:
    answer = command("roofline --kernel gemv --plot", "a\nb\x1b[31m.gif")
    assert answer.code == 2
    assert_one_clear_line(answer.err)
    assert "\x1b" not in answer.err


def test_nothing_is_drawn_by_a_command_that_fails(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "plot.png"
    for line in ("--json --csv", "--sweep colours"):
        assert command(f"occupancy --threads 64 {line} --plot", str(path)).code == 2
        assert not path.exists()


def test_a_pipe_is_no_device_file(command: Command, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    answer = command("occupancy --threads 64 -d", str(pipe))
    assert answer.code == 3
    assert "no regular file" in answer.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_one_line() -> None:
    result = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m perfmodel devices > /dev/full"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert_one_clear_line(result.stderr)


def test_numbers_beyond_every_prefix_are_told_shortly(command: Command) -> None:
    for line in ("roofline --flop 1e308 --bytes 1e-308", "roofline --flop 0 --bytes 1"):
        answer = command(line)
        assert answer.code == 0
        assert max(map(len, answer.out.splitlines())) <= 80


def test_a_power_is_one_wherever_an_option_takes_a_number(command: Command) -> None:
    for power, plain in (
        ("predict vecadd -p n=2^20", "predict vecadd -p n=1048576"),
        ("occupancy --threads 2^8 --shared 2^14", "occupancy --threads 256 --shared 16384"),
        ("coalescing -i tid+n -p n=0..2^3", "coalescing -i tid+n -p n=0..8"),
        ("whatif -k vecadd --set mps=2^6", "whatif -k vecadd --set mps=64"),
        ("crossover vecadd --best block=2^7,2^8", "crossover vecadd --best block=128,256"),
        ("roofline --flop 2^30 --bytes 2^20", "roofline --flop 1073741824 --bytes 1048576"),
    ):
        assert command(power).out == command(plain).out != ""
    assert command("coalescing -i tid^3").out == command("coalescing -i (tid^3)").out


def test_the_help_of_parameters_promises_ranges_only_where_they_are_taken(command: Command) -> None:
    for line in ("predict", "ladder", "crossover", "divergence", "kernel check"):
        assert ".." not in command(f"{line} --help").out.partition("--param")[2].splitlines()[0]
    for line in ("coalescing", "banks"):
        assert "N[..N]" in command(f"{line} --help").out


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("", "without a name"),
        (".", "without a name"),
        ("plot.gif", "ends in .png"),
        ("no/such/folder/plot.png", "no folder no/such/folder"),
        ("x" * 300 + ".png", "name too long"),
    ],
)
@pytest.mark.parametrize("line", ["ladder gemm", "sensitivity gemm", "swizzle --grid 4x4"])
def test_where_a_plot_goes_is_asked_before_anything_is_computed(
    line: str, path: str, said: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compute(*_: object, **__: object) -> None:
        raise AssertionError("computed before the place was asked for")

    monkeypatch.setattr("perfmodel.scheduler.ladder.ladder", compute)
    monkeypatch.setattr("perfmodel.scheduler.prediction.predict", compute)
    monkeypatch.setattr("perfmodel.analyses.tiling.block_orders", compute)
    answer = command(line, f"--plot={path}")
    assert answer.code == 2, answer
    assert said in answer.err
    assert_one_clear_line(answer.err)


@pytest.mark.parametrize("path", ["", "no/such/folder/mine.yaml", "."])
def test_a_new_description_needs_a_place(path: str, command: Command) -> None:
    answer = command("kernel new --out", path)
    assert answer.code == 2
    assert_one_clear_line(answer.err)
