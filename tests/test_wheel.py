"""The wheel as a user gets it: built, installed in a clean environment, run from elsewhere."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT],
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_data_and_no_top_level_module_but_the_package(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"perfmodel"}
    shipped = {path.name for path in (ROOT / "hardware_specs").glob("*.yaml")}
    packed = {Path(name).name for name in names if name.startswith("perfmodel/hardware_specs/")}
    assert shipped <= packed
    measured = {
        path.relative_to(ROOT / "validation").as_posix()
        for folder, pattern in (("cuda", "*.csv"), ("public", "*.csv"), ("errors", "*.json"))
        for path in (ROOT / "validation" / folder).glob(pattern)
    }
    prefix = "perfmodel/measurements/"
    assert {n.removeprefix(prefix) for n in names if n.startswith(prefix)} == measured
    for needed in ("py.typed", "documents/claims.yaml", "kernels/library/gemm.yaml"):
        assert f"perfmodel/{needed}" in names


def test_the_installed_wheel_answers_from_another_folder(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run([programs / "python", "-m", "pip", "install", "--quiet", wheel], check=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def answer(*arguments: str) -> str:
        return subprocess.run(
            [programs / "perfmodel", *arguments],
            cwd=elsewhere,
            env=clean,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    devices = answer("devices")
    for path in (ROOT / "hardware_specs").glob("*.yaml"):
        assert path.stem in devices
    assert "occupancy      33.3 %" in answer(
        "occupancy", "-d", "s5000", "--threads", "256", "--registers", "128"
    )
    assert "limited by dram" in answer("roofline", "--kernel", "gemv", "--plot", "gemv.png")
    assert (elsewhere / "gemv.png").read_bytes().startswith(b"\x89PNG")
    assert "pass" in answer("verify")
