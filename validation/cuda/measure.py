"""Time our kernels of every rung on a GPU, each checked against a reference in double precision.

Needs nvcc 13 and an NVIDIA GPU; all of it takes a few minutes. Cases that the file already has are
not measured again, so that a run cut short can go on.

    python3 validation/cuda/measure.py validation/cuda/h200_times.csv
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
FAMILIES = ("vecadd", "transpose", "reduce", "gemv", "softmax", "gemm", "gemm_tensor", "attention")
ARCHITECTURE = "arch=compute_90a,code=sm_90a"  # has wgmma, unlike plain sm_90


def building(families: list[str], folder: Path) -> dict[str, subprocess.Popen[bytes]]:
    """The compilers at work, side by side, by the program that each makes in a folder."""
    compiler = ["nvcc", "-O3", "-std=c++17", f"-gencode={ARCHITECTURE}"]
    return {
        family: subprocess.Popen(
            [*compiler, "-o", str(folder / family), str(HERE / f"{family}.cu")]
        )
        for family in families
    }


def main() -> int:
    """Build all families side by side, run one after the other, keep what each prints."""
    path = Path(sys.argv[1])
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        for family, build in building(list(FAMILIES), Path(folder)).items():
            if build.wait():
                failed.append(f"{family} does not build")
                continue
            ran = subprocess.run(
                [f"{folder}/{family}", str(path)], check=False, stdout=subprocess.PIPE, text=True
            )
            if ran.returncode:
                failed.append(f"{family}: a case is wrong")
            head, *rows = ran.stdout.splitlines() or [""]
            lines = [*(lines or [head]), *(row for row in rows if ",,," not in row)]
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for each in failed:
        print(each, file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
