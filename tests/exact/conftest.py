from __future__ import annotations

import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def calculator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that asks cuda_occupancy.h, which the CUDA runtime of the test extra brings."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler: cc is not on PATH")
    try:
        installed = files("nvidia-cuda-runtime") or []
    except PackageNotFoundError:
        pytest.skip("nvidia-cuda-runtime of the test extra is not installed")
    header = next(each for each in installed if each.name == "cuda_occupancy.h")
    include = f"-I{Path(str(header.locate())).parent}"
    source = Path(__file__).with_name("occupancy_by_header.c")
    program = tmp_path_factory.mktemp("occupancy") / "calculator"
    command = [compiler, "-std=gnu11", "-O1", "-w", include, "-o", str(program), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return program
