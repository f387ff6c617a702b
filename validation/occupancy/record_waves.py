"""What LLVM's AMDGPU back end, as triton carries it, says of kernels of given registers and LDS.

Run in the project's folder with triton 3.9 installed, whose back end is LLVM 24 of main (b010a18d):

    python validation/occupancy/record_waves.py > validation/occupancy/llvm24_waves.csv
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.exact import amdgpu


def compiled_by_triton(source: str, target: amdgpu.Target) -> str:
    """The assembly of a module, by the back end that triton carries."""
    from triton._C.libtriton import llvm

    llvm.init_targets()
    # Neither flags, fused multiply-adds, an object file nor debugging.
    rest = ([], False, False, False)
    return str(
        llvm.translate_to_asm(source, amdgpu.TRIPLE, target.processor, target.features, *rest)
    )


def main() -> None:
    """Print a line for each target and kernel."""
    columns = [name for name in amdgpu.COLUMNS if name != "scratch_bytes"]
    print(",".join(["target", "threads", *columns]))
    for name, target in amdgpu.TARGETS.items():
        asked = amdgpu.cases(target, 200, seed=24)
        found = amdgpu.said(compiled_by_triton(amdgpu.module(asked), target))
        for place, case in enumerate(asked):
            counts = (found[column][place] for column in columns)
            print(",".join(map(str, [name, case.threads, *counts])))


if __name__ == "__main__":
    main()
