"""Occupancy of NVIDIA devices against NVIDIA's own host-only calculator, cuda_occupancy.h.

The header comes with the CUDA runtime of the test extra; a small C program of ours compiles it and
answers many kernels at once. What it is told of a device is written here, as device properties
report it, and not taken from the device files, so that an error in those shows.
"""

from __future__ import annotations

import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import perfmodel
from perfmodel.device.loading import device_names, load_device

if TYPE_CHECKING:
    from numpy.typing import NDArray

KERNELS = 20_000
"""Kernels a device, random ones and such that lie at the edge of a limit."""

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


@pytest.fixture(scope="module")
def calculator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler: cc is not on PATH")
    try:
        header = next(
            each for each in files("nvidia-cuda-runtime") or () if each.name == "cuda_occupancy.h"
        )
    except PackageNotFoundError:
        pytest.skip("nvidia-cuda-runtime of the test extra is not installed")
    source = Path(__file__).with_name("occupancy_by_header.c")
    program = tmp_path_factory.mktemp("occupancy") / "calculator"
    include = f"-I{Path(str(header.locate())).parent}"
    command = [compiler, "-std=gnu11", "-O1", "-w", include, "-o", str(program), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return program


def properties_of(architecture: str) -> str:
    """The first line of the program's input."""
    number = int(architecture.removeprefix("sm_"))
    return " ".join(map(str, (number // 10, number % 10, *PROPERTIES[architecture])))


def kernels(random: np.random.Generator, architecture: str) -> dict[str, NDArray[np.int64]]:
    """Kernels of all kinds, in the order of the program's input."""
    most, of_sm, reserved = PROPERTIES[architecture][6], PROPERTIES[architecture][5], KIB

    def either(*choices: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.choose(random.integers(0, len(choices), KERNELS), choices)

    def whole(low: int, high: int) -> NDArray[np.int64]:
        return random.integers(low, high + 1, KERNELS)

    near = whole(-1, 1)
    threads = either(whole(1, 1024), 32 * whole(1, 32), 32 * whole(1, 31) + near, whole(1, 96))
    registers = either(whole(1, 255), 8 * whole(1, 31) + near, whole(1, 40))
    # What lets a whole number of blocks just fit, or just not, in some setting of the device.
    setting = either(*(np.full(KERNELS, size * KIB) for size in (8, 16, 32, 64, 100)), of_sm - near)
    just = setting // whole(1, 32) - either(0 * near, reserved + 0 * near) + near
    shared = either(
        0 * near,
        whole(0, most),
        whole(0, 4096),
        128 * whole(0, most // 128) + near,
        just,
        most + whole(-200, 200),
    ).clip(0)
    static = np.minimum(shared, 48 * KIB) * whole(0, 4) // 4
    return {
        "threads_per_block": threads.clip(1, 1024),
        "registers_per_thread": registers,
        "static": static,
        "dynamic": shared - static,
        "carveout_percent": whole(-1, 100),
        "barriers_per_block": either(0 * near, 0 * near + 1, whole(1, 16)),
    }


def expected(calculator: Path, architecture: str, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """What the header says of each kernel, in the order of the program's output."""
    lines = [properties_of(architecture), *(" ".join(map(str, row)) for row in rows.tolist())]
    answer = subprocess.run(
        [str(calculator)], input="\n".join(lines), capture_output=True, text=True, check=True,
        timeout=60,
    )  # fmt: skip
    return np.array([line.split() for line in answer.stdout.splitlines()], dtype=np.int64)


def actual(device: perfmodel.Device, asked: dict[str, NDArray[np.int64]]) -> dict[str, Any]:
    """What perfmodel says of each kernel; a preference is one number a call."""
    found: dict[str, Any] = {
        name: np.full(KERNELS, -1) for name in (*LIMITS, "active", "of_a_block", "allocated")
    }
    found["limiters"] = np.empty(KERNELS, dtype=object)
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


def differences(device: perfmodel.Device, calculator: Path, seed: int) -> list[str]:
    """The kernels on which perfmodel and the header differ, with what each of them says."""
    asked = kernels(np.random.default_rng(seed), device.architecture)
    rows = np.stack(list(asked.values()), axis=1)
    header = expected(calculator, device.architecture, rows)
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
        f"{dict(zip(asked, rows[place].tolist(), strict=True))}: the header "
        f"{header[place].tolist()}, perfmodel {[each[place] for each in ours.values()]}"
        for place in np.flatnonzero(differing)
    ]


@pytest.mark.parametrize("name", NVIDIA)
def test_blocks_and_limits_are_those_of_the_header(name: str, calculator: Path) -> None:
    found = differences(load_device(name), calculator, seed=NVIDIA.index(name))
    assert not found, f"{len(found)} of {KERNELS} kernels differ; the first: {found[0]}"


@pytest.mark.parametrize(
    "wrong",
    [
        {"register_allocation_unit": 128},
        {"register_partitions": 1},
        {"registers_per_block": 32768},
        {"shared_reserved_per_block": "0 B"},
        {"shared_allocation_unit": "256 B"},
        {"shared_per_block": "226 KiB"},
        {"barriers_per_mp": 32},
        {"max_blocks_per_mp": 24},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_wrong_rounding_or_limit_shows(wrong: dict[str, Any], calculator: Path) -> None:
    assert len(differences(load_device("h200").what_if(**wrong), calculator, seed=1)) > 100


def test_every_architecture_of_the_table_has_a_device() -> None:
    assert {load_device(name).architecture for name in NVIDIA} == set(PROPERTIES)


def test_the_kernels_reach_every_limit_alone_and_together(calculator: Path) -> None:
    """What is compared would be worth little if one resource decided everywhere."""
    asked = kernels(np.random.default_rng(0), "sm_90")
    header = expected(calculator, "sm_90", np.stack(list(asked.values()), axis=1))
    binds = header[:, 1:6] == header[:, :1]
    alone = binds.sum(axis=1) == 1
    for column, resource in enumerate(LIMITS):
        assert (binds[:, column] & alone).sum() > 100, resource
    assert (~alone).sum() > 1000
    assert (header[:, 0] == 0).sum() > 100
    assert len(np.unique(header[:, 0])) == 33  # every number of blocks from 0 to 32
