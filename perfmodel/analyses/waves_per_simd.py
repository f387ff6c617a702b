"""Waves a SIMD holds, as AMD's compiler states a kernel's occupancy."""

from perfmodel.analyses.occupancy import Kernel, blocks_by, with_accumulators
from perfmodel.device.loading import as_device
from perfmodel.device.model import Device
from perfmodel.engines import occupancy as law
from perfmodel.engines.arithmetic import Number, as_number, maximum, minimum
from perfmodel.errors import ArgumentError
from perfmodel.results import WavesPerSimdResult

_OF_BLOCKS = ("warps", "blocks", "shared_memory", "barriers")
"""The resources that the compiler counts in whole blocks."""


def waves_per_simd(
    device: Device | str,
    *,
    threads_per_block: Number,
    registers_per_thread: Number = 0,
    accumulation_registers_per_thread: Number = 0,
    shared_bytes_per_block: Number = 0,
    scalar_registers_per_warp: Number = 0,
) -> WavesPerSimdResult:
    """Waves (warps) that a SIMD (a part of the register file) holds, as AMD's compiler counts.

    The compiler prints this number as ``Occupancy``. It takes registers wave by wave, without
    asking whether whole blocks fit, and lets a kernel that fits nowhere hold one wave. So it is
    never below what `perfmodel.analyses.occupancy.occupancy` says, which counts whole blocks.

    Args:
        device: The device, or its name; one of AMD's or Hygon's.
        threads_per_block: Threads of a block [threads]; a number or an array.
        registers_per_thread: Vector registers of a thread [registers].
        accumulation_registers_per_thread: Accumulation registers of a thread [registers].
        shared_bytes_per_block: Shared memory of a block [bytes].
        scalar_registers_per_warp: Scalar registers of a warp [registers]; no limit where the
            device has none that limit it.

    Returns:
        The result; its fields are arrays where an argument is one.

    Raises:
        ArgumentError: A number is outside its range, or the device is no AMD architecture.

    Source: LLVM AMDGPUSubtarget.cpp and AMDGPUBaseInfo.cpp; docs/occupancy.md.

    Example:
        >>> result = waves_per_simd("mi50", threads_per_block=256, registers_per_thread=33)
        >>> result.waves_per_simd, result.waves_by["blocks"]  # 256 / 36 by registers
        (7, 10)
    """
    device = as_device(device)
    if not device.architecture.startswith("gfx"):
        raise ArgumentError(
            f"{device.device} has architecture {device.architecture}: waves per SIMD are of gfx "
            "architectures"
        )
    kernel = Kernel(
        threads_per_block=as_number(threads_per_block),
        registers_per_thread=with_accumulators(
            device,
            registers_per_thread=as_number(registers_per_thread),
            accumulation_registers_per_thread=as_number(accumulation_registers_per_thread),
        ),
        shared_bytes_per_block=as_number(shared_bytes_per_block),
    )
    parts = device.register_partitions.whole
    slots = device.max_warps_per_mp.whole // parts
    width = device.warp_width.whole
    blocks = blocks_by(device, kernel, "stated")
    warps = law.warps_per_block(threads_per_block=kernel.threads_per_block, warp_width=width)
    of_blocks: Number = law.NO_LIMIT
    for resource in _OF_BLOCKS:
        of_blocks = minimum(of_blocks, blocks.get(resource, law.NO_LIMIT))
    limits = {
        "blocks": law.warps_on_the_fullest_part(
            blocks_per_mp=of_blocks, warps_per_block=warps, register_partitions=parts
        ),
        "registers": law.warps_of_a_part(
            registers_of_a_part=device.registers_per_mp.whole // parts,
            registers_per_warp=law.registers_per_warp(
                registers_per_thread=kernel.registers_per_thread,
                warp_width=width,
                register_allocation_unit=device.register_allocation_unit.whole,
            ),
        ),
        "scalar_registers": _by_scalar_registers(device, as_number(scalar_registers_per_warp)),
    }
    waves: Number = slots
    for name, limit in limits.items():
        limits[name] = maximum(minimum(limit, slots), 1)
        waves = minimum(waves, limits[name])
    return WavesPerSimdResult(
        device=device.device,
        waves_per_simd=waves,
        max_waves_per_simd=slots,
        waves_by=limits,
    )


def _by_scalar_registers(device: Device, scalar_registers_per_warp: Number) -> Number:
    of_a_part = device.scalar_registers_per_partition
    unit = device.scalar_register_allocation_unit
    reserved = device.scalar_registers_reserved_per_warp
    if of_a_part is None or unit is None or reserved is None:
        return law.NO_LIMIT
    return law.warps_of_a_part(
        registers_of_a_part=of_a_part.whole,
        registers_per_warp=law.scalar_registers_taken(
            scalar_registers_per_warp=scalar_registers_per_warp,
            scalar_register_allocation_unit=unit.whole,
            scalar_registers_reserved_per_warp=reserved.whole,
        ),
    )
