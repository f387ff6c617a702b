"""NVIDIA's host-only occupancy calculator, asked through a small C program.

What the calculator is told of a device is written here, as device properties report it, and not
taken from the device files, so that an error in those shows.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np

import perfmodel
from perfmodel.device.loading import device_names, load_device

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

KIB = 1024

PROPERTIES = {
    # threads a block and an SM, registers a block and an SM,
    # shared memory: a block, an SM, a block that opts in, reserved for a block
    "sm_70": (1024, 2048, 65536, 65536, 48 * KIB, 96 * KIB, 96 * KIB, 0),
    "sm_75": (1024, 1024, 65536, 65536, 48 * KIB, 64 * KIB, 64 * KIB, 0),
    "sm_80": (1024, 2048, 65536, 65536, 48 * KIB, 164 * KIB, 163 * KIB, KIB),
    "sm_86": (1024, 1536, 65536, 65536, 48 * KIB, 100 * KIB, 99 * KIB, KIB),
    "sm_89": (1024, 1536, 65536, 65536, 48 * KIB, 100 * KIB, 99 * KIB, KIB),
    "sm_90": (1024, 2048, 65536, 65536, 48 * KIB, 228 * KIB, 227 * KIB, KIB),
    "sm_100": (1024, 2048, 65536, 65536, 48 * KIB, 228 * KIB, 227 * KIB, KIB),
    "sm_120": (1024, 1536, 65536, 65536, 48 * KIB, 100 * KIB, 99 * KIB, KIB),
}

NVIDIA = [name for name in device_names() if load_device(name).vendor == "NVIDIA"]

LIMITS = {"warps": 1, "blocks": 8, "registers": 2, "shared_memory": 4, "barriers": 16}
"""The resources in the program's order, each with the header's bit for it."""

Kernels = dict[str, "NDArray[np.int64]"]
"""Kernels by column, in the order of the program's input: threads_per_block,
registers_per_thread, static, dynamic, carveout_percent (-1: none), barriers_per_block."""


def expected(calculator: Path, architecture: str, asked: Kernels) -> NDArray[np.int64]:
    """What the header says of each kernel, in the order of the program's output."""
    number = int(architecture.removeprefix("sm_"))
    device = (number // 10, number % 10, *PROPERTIES[architecture])
    rows = [device, *np.stack(list(asked.values()), axis=1).tolist()]
    answer = subprocess.run(
        [str(calculator)],
        input="\n".join(" ".join(map(str, row)) for row in rows),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return np.array([line.split() for line in answer.stdout.splitlines()], dtype=np.int64)


def actual(device: perfmodel.Device, asked: Kernels) -> dict[str, Any]:
    """What perfmodel says of each kernel; a preference is one number a call."""
    size = len(asked["threads_per_block"])
    names = ("active", *LIMITS, "of_a_block", "allocated")
    found: dict[str, Any] = {name: np.full(size, -1) for name in names}
    found["limiters"] = np.empty(size, dtype=object)
    for percent in np.unique(asked["carveout_percent"]).tolist():
        chosen = asked["carveout_percent"] == percent
        result = perfmodel.occupancy(
            device,
            threads_per_block=asked["threads_per_block"][chosen],
            registers_per_thread=asked["registers_per_thread"][chosen],
            shared_bytes_per_block=(asked["static"] + asked["dynamic"])[chosen],
            barriers_per_block=asked["barriers_per_block"][chosen],
            carveout_percent=None if percent < 0 else percent,
        )
        for name in LIMITS:
            found[name][chosen] = result.blocks_by.get(name, 2**31 - 1)
        found["active"][chosen] = result.blocks_per_mp
        found["of_a_block"][chosen] = result.registers_per_warp * result.warps_per_block
        found["allocated"][chosen] = result.shared_allocated_bytes
        found["limiters"][chosen] = result.limiters
    return found


def differences(device: perfmodel.Device, calculator: Path, asked: Kernels) -> list[str]:
    """The kernels on which perfmodel and the header differ, with what each of them says.

    Compared are the blocks of an MP, the blocks each resource allows, the set of resources that
    limit, and the registers and shared memory of a block.
    """
    header = expected(calculator, device.architecture, asked)
    ours = actual(device, asked)
    active, *limits, bits, of_a_block, allocated = header.T
    differing = (ours["active"] != active) | (ours["of_a_block"] != of_a_block)
    differing |= ours["allocated"] != allocated
    for limit, resource in zip(limits, LIMITS, strict=True):
        differing |= ours[resource] != limit
        # Where barriers bind, the header leaves the bits of what would have bound without them.
        binds = (bits & LIMITS[resource] != 0) & (limit == active)
        differing |= binds != np.array([resource in found for found in ours["limiters"]])
    return [
        f"{ {name: column[place] for name, column in asked.items()} }: the header "
        f"{header[place].tolist()}, perfmodel {[each[place] for each in ours.values()]}"
        for place in np.flatnonzero(differing)
    ]
