"""What nvcc makes of the kernels of measure.cu: registers, static shared memory and barriers.

Run beside measure.cu, with nvcc on PATH; no device is needed:

    python compile.py > ptxas_kernels.csv
"""

import re
import subprocess
from pathlib import Path

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
"""Those of the shipped devices that nvcc 13 still compiles for."""

SOURCE = Path(__file__).with_name("measure.cu")


def name_of(symbol: str) -> str:
    """The name of a kernel and its template arguments, out of its mangled name."""
    length = re.match(r"_Z(\d+)", symbol)
    if length is None:
        raise SystemExit(f"{symbol} is no mangled name")
    start, letters = length.end(), int(length.group(1))
    arguments = re.findall(r"Li(\d+)E", symbol[start + letters :])
    return "_".join([symbol[start : start + letters], *arguments])


def main() -> None:
    """Print a line for each kernel and architecture."""
    print("kernel,arch,registers,static_shared,barriers")
    for architecture in ARCHITECTURES:
        command = ["nvcc", "-std=c++17", f"-arch={architecture}", "-cubin", "-o", "/dev/null"]
        report = subprocess.run(
            [*command, "-Xptxas", "-v", str(SOURCE)], check=True, capture_output=True, text=True
        ).stderr
        found = re.findall(r"function '(\w+)' for '\w+'[^']*?(Used .*)", report)
        for symbol, used in sorted(found, key=lambda pair: name_of(pair[0])):
            amounts = [
                match.group(1) if (match := re.search(pattern, used)) else "0"
                for pattern in (r"(\d+) registers", r"(\d+) bytes smem", r"(\d+) barriers")
            ]
            print(",".join([name_of(symbol), architecture, *amounts]))


if __name__ == "__main__":
    main()
