"""LLVM's AMDGPU back end: kernels made to use given registers and LDS, and what it says of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import perfmodel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

TRIPLE = "amdgcn-amd-amdhsa"
LDS = 64 * 1024
"""What a block may have of it on every target here."""


@dataclass(frozen=True)
class Target:
    """A compiler target, and the device that stands for it."""

    processor: str
    device: str
    features: str = ""
    warp_width: int | None = None
    accumulators: bool = False
    changes: tuple[tuple[str, str], ...] = ()

    def model(self) -> perfmodel.Device:
        """The device as this target compiles for it."""
        device = perfmodel.load_device(self.device)
        if self.warp_width is not None:
            device = device.with_warp_width(self.warp_width)
        return device.what_if(**dict(self.changes))


CU_MODE = (
    ("mps", "80"),
    ("max_warps_per_mp", "32"),
    ("max_blocks_per_mp", "32"),
    ("barriers_per_mp", "16"),
    ("registers_per_mp", "65536"),
    ("register_partitions", "2"),
    ("shared_per_mp", "64 KiB"),
)
"""What an MP of the RX 6900 XT is where a block stays on one CU of a WGP."""

TARGETS = {
    "gfx906": Target("gfx906", "mi50"),
    "gfx908": Target("gfx908", "mi100", accumulators=True),
    "gfx90a": Target("gfx90a", "mi250x", accumulators=True),
    "gfx942": Target("gfx942", "mi300x", accumulators=True),
    "gfx1030": Target("gfx1030", "rx6900xt"),
    "gfx1030-wave64": Target("gfx1030", "rx6900xt", "+wavefrontsize64", 64),
    "gfx1030-cu": Target("gfx1030", "rx6900xt", "+cumode", changes=CU_MODE),
    "gfx1100": Target("gfx1100", "rx7900xtx"),
    "gfx1100-wave64": Target("gfx1100", "rx7900xtx", "+wavefrontsize64", 64),
}

OF_22 = {
    "gfx9": {
        "shared_allocation_unit": "1 B",
        # The table 80, 88, 100 is 800 in units of 4, without the trap handler's 16.
        "scalar_register_allocation_unit": "4",
        "scalar_registers_reserved_per_warp": "0",
    },
    "gfx1": {"shared_allocation_unit": "1 B"},
}
OF_24 = {"gfx9": {}, "gfx1": {"shared_allocation_unit": "512 B"}}


def as_version_counts(device: perfmodel.Device, version: int) -> perfmodel.Device:
    """What a version of the back end takes the device for, where it is known to err.

    `docs/occupancy.md` has the evidence.
    """
    changed: dict[str, dict[str, str]] = OF_22 if version <= 22 else OF_24
    return device.what_if(**changed[device.architecture[:4]])


@dataclass(frozen=True)
class Case:
    """Registers, LDS and block size that a kernel is made to have."""

    vector: int = 0
    accumulation: int = 0
    scalar: int = 0
    shared_bytes: int = 0
    threads: int = 256


def cases(target: Target, count: int, seed: int) -> list[Case]:
    """Every vector and scalar count, block size in waves, the LDS at its edges, random mixtures."""
    rng = np.random.default_rng(seed)

    def one_of(*choices: int) -> int:
        return choices[int(rng.integers(len(choices)))]

    found = [Case(vector=each) for each in range(1, 257)]
    found += [Case(scalar=each) for each in range(1, 103)]
    if target.accumulators:
        found += [Case(vector=7 * each % 256 + 1, accumulation=each) for each in range(1, 257)]
    for blocks in range(1, 65):
        most = min(LDS, 2 * LDS // blocks)
        found += [Case(shared_bytes=most - less, threads=64) for less in (0, 1, 130, 600)]
    found += [Case(threads=32 * warps) for warps in range(1, 33)]
    for _ in range(count):
        warps = int(rng.integers(1, 33))
        found.append(
            Case(
                vector=one_of(0, int(rng.integers(65)), int(rng.integers(257))),
                accumulation=one_of(0, int(rng.integers(257))) if target.accumulators else 0,
                scalar=int(rng.integers(103)),
                shared_bytes=one_of(0, 0, int(rng.integers(8193)), int(rng.integers(LDS + 1))),
                threads=one_of(
                    32 * warps, 32 * warps - int(rng.integers(32)), int(rng.integers(1, 1025))
                ),
            )
        )
    return found


def module(asked: Iterable[Case]) -> str:
    """A kernel for each case: assembly that writes the last register, a store into the LDS."""
    lines = [f'target triple = "{TRIPLE}"']
    attributes: dict[int, int] = {}
    for place, case in enumerate(asked):
        counts = (("v", case.vector), ("a", case.accumulation), ("s", case.scalar))
        written = ",".join(f"~{{{file}{count - 1}}}" for file, count in counts if count)
        group = attributes.setdefault(case.threads, len(attributes))
        if case.shared_bytes:
            lines.append(
                f"@lds{place} = internal addrspace(3) global [{case.shared_bytes} x i8] poison, "
                "align 1"
            )
        lines.append(f"define amdgpu_kernel void @k{place}() #{group} {{")
        if written:
            lines.append(f'  call void asm sideeffect "", "{written}"()')
        if case.shared_bytes:
            lines.append(f"  store volatile i8 0, ptr addrspace(3) @lds{place}")
        lines.append("  ret void\n}")
    lines += [
        f'attributes #{group} = {{ "amdgpu-flat-work-group-size"="{threads},{threads}" }}'
        for threads, group in attributes.items()
    ]
    return "\n".join(lines)


COLUMNS = {
    "vector": "NumVgprs",
    "accumulation": "NumAgprs",
    "vector_total": "TotalNumVgprs",
    "scalar": "TotalNumSgprs",
    "vector_allocated": "NumVGPRsForWavesPerEU",
    "scalar_allocated": "NumSGPRsForWavesPerEU",
    "shared_bytes": "LDSByteSize",
    "scratch_bytes": "ScratchSize",
    "occupancy": "Occupancy",
}
"""Our names for what the back end writes below each kernel."""

Said = dict[str, "NDArray[np.int64]"]


def said(assembly: str) -> Said:
    """What the comments in the assembly say of its kernels, by column, in their order."""
    blocks = assembly.split("; Kernel info:")[1:]
    return {
        name: np.array(
            [
                int(match[1]) if (match := re.search(rf"^; {word}: (\d+)", block, re.M)) else 0
                for block in blocks
            ]
        )
        for name, word in COLUMNS.items()
    }


def llvmlite_version() -> int:
    """The LLVM that llvmlite carries."""
    import llvmlite.binding as llvm

    return int(llvm.llvm_version_info[0])


def compiled_by_llvmlite(source: str, target: Target, *, optimize: int = 0) -> str:
    """The assembly of a module, by the back end that llvmlite carries."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(
        cpu=target.processor, features=target.features, opt=optimize
    )
    machine.set_asm_verbosity(True)
    return str(machine.emit_assembly(llvm.parse_assembly(source)))


def waves(
    device: perfmodel.Device, found: Said, threads: NDArray[np.int64], *, allocated: bool
) -> NDArray[np.int64]:
    """Waves per SIMD that perfmodel gives kernels of the back end's counts.

    Args:
        device: The device.
        found: What the back end said of the kernels.
        threads: Threads of a block, kernel by kernel.
        allocated: Take the registers it asks the hardware for, and not those the kernel uses. It
            raises them to what its own occupancy leaves room for, so they carry its answer: with
            them a rule of ours that is too generous is not noticed.
    """
    accumulators = device.max_accumulation_registers_per_thread is not None and not allocated
    result = perfmodel.waves_per_simd(
        device,
        threads_per_block=threads,
        registers_per_thread=found["vector_allocated" if allocated else "vector"],
        accumulation_registers_per_thread=found["accumulation"] if accumulators else 0,
        scalar_registers_per_warp=found["scalar_allocated" if allocated else "scalar"],
        shared_bytes_per_block=found["shared_bytes"],
    )
    return np.asarray(result.waves_per_simd)
