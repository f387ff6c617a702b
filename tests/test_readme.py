"""The README is true: its commands print what it shows, its Python runs, its table is current."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from perfmodel import device_names, load_device
from perfmodel.cli import COMMANDS, run
from perfmodel.units import format_quantity

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
CHINESE = (ROOT / "README.zh-CN.md").read_text("utf-8")

SHOWN = re.findall(r"```console\n\$ perfmodel (.*?)\n(.*?)\n```", README, flags=re.DOTALL)
MENTIONED = re.findall(r"^\| `perfmodel ([^`]*)`", README + CHINESE, flags=re.MULTILINE)


@pytest.fixture(autouse=True)
def default_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PERFMODEL_DEVICE", raising=False)


@pytest.mark.parametrize(("line", "shown"), SHOWN, ids=[line for line, _ in SHOWN])
def test_a_command_prints_what_is_shown(
    line: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(shlex.split(line)) == 0
    assert capsys.readouterr().out.rstrip() == shown


@pytest.mark.parametrize("line", MENTIONED)
def test_a_command_mentioned_works(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(shlex.split(line)) == 0


def test_the_python_runs() -> None:
    for block in re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL):
        test = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
        assert doctest.DocTestRunner().run(test).failed == 0


def test_every_command_is_mentioned() -> None:
    assert all(f"perfmodel {name}" in README for name in COMMANDS)


@pytest.mark.parametrize("name", device_names())
def test_the_device_table_is_current(name: str) -> None:
    device = load_device(name)
    kinds = [value.kind for value in device.quantities().values()]
    counts = [str(kinds.count(kind)) for kind in ("published", "measured", "inferred", "assumed")]
    row = (
        f"| `{name}` | {device.name} | {device.mps.whole} | {device.warp_width.whole} | "
        f"{format_quantity(device.shared_per_mp.value, 'bytes')} | "
        f"{format_quantity(device.dram_bandwidth.value, 'bytes/s')} | "
        f"{format_quantity(device.peaks['fp32'].value, 'flop/s', digits=3)} | "
        f"{', '.join(counts)} |"
    )
    assert row in README


def test_both_languages_give_the_same_two_commands() -> None:
    assert re.findall(r"^python3 -m venv.*$", README, flags=re.MULTILINE) == re.findall(
        r"^python3 -m venv.*$", CHINESE, flags=re.MULTILINE
    )


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README + CHINESE):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target


def test_the_picture_shown_is_the_one_drawn(tmp_path: Path) -> None:
    path = tmp_path / "roofline.png"
    assert run(["roofline", "--kernel", "gemv", "--plot", str(path)]) == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    assert (ROOT / "docs/images/roofline_gemv_s5000.png").read_bytes().startswith(b"\x89PNG")
