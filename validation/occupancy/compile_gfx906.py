"""What LLVM makes of the kernels of gfx906_kernels.cl for gfx906, the DCU's stand-in.

clang 19 makes the intermediate form, which the back ends of llvmlite 0.50 (LLVM 22) and triton 3.9
(LLVM 24 of main, b010a18d) compile further. Run in the project's folder with all three installed:

    python validation/occupancy/compile_gfx906.py > validation/occupancy/gfx906_kernels.csv
"""

import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.exact import amdgpu
from validation.occupancy.record_waves import compiled_by_triton

CLANG = ("clang-19", "-target", amdgpu.TRIPLE, "-mcpu=gfx906", "-x", "cl", "-cl-std=CL2.0")
SOURCE = Path(__file__).with_name("gfx906_kernels.cl")


def main() -> None:
    """Print a line for each kernel and version."""
    command = [*CLANG, "-nogpulib", "-O3", "-S", "-emit-llvm", "-o", "-", str(SOURCE)]
    source = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    target = amdgpu.TARGETS["gfx906"]
    columns = list(amdgpu.COLUMNS)
    print(",".join(["kernel", "llvm", "threads", *columns]))
    for version, assembly in (
        (22, amdgpu.compiled_by_llvmlite(source, target, optimize=3)),
        (24, compiled_by_triton(source, target)),
    ):
        kernels = re.findall(r"^\s+\.amdhsa_kernel (\w+)", assembly, re.M)
        threads = re.findall(r"\.max_flat_workgroup_size: (\d+)", assembly)
        found = amdgpu.said(assembly)
        for place, kernel in enumerate(kernels):
            counts = (found[column][place] for column in columns)
            print(",".join(map(str, [kernel, version, threads[place], *counts])))


if __name__ == "__main__":
    main()
