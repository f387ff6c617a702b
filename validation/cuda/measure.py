"""Time our kernels of every rung on a GPU, each checked against a reference in double precision.

Needs nvcc 13 and an NVIDIA GPU; a family takes well under a minute. A family that the file already
has is not measured again, so that a run cut short can go on.

    python3 validation/cuda/measure.py validation/cuda/h200_times.csv
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
FAMILIES = ("vecadd", "transpose", "reduce", "gemv", "softmax", "gemm")
ARCHITECTURE = "sm_90"


def main() -> int:
    """Build all families side by side, run one after the other, keep what each prints."""
    path = Path(sys.argv[1])
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    known = {line.partition(",")[0] for line in lines}
    wanted = [family for family in FAMILIES if family not in known]
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        compiler = ["nvcc", "-O3", "-std=c++17", f"-arch={ARCHITECTURE}"]
        building = {
            family: subprocess.Popen(
                [*compiler, "-o", f"{folder}/{family}", str(HERE / f"{family}.cu")]
            )
            for family in wanted
        }
        for family, build in building.items():
            if build.wait():
                failed.append(f"{family} does not build")
                continue
            ran = subprocess.run(
                [f"{folder}/{family}"], check=False, capture_output=True, text=True
            )
            if ran.returncode:
                failed.append(f"{family}: a rung is wrong, or {ran.stderr.strip()}")
                print(ran.stdout)
                continue
            head, *rows = ran.stdout.splitlines()
            lines = [*(lines or [head]), *rows]
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for each in failed:
        print(each, file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
