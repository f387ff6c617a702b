"""Occupancy: how many blocks an MP holds at once, and what stops the next one.

A block is resident as a whole or not at all, so each resource of the MP allows a whole number of
blocks, and the smallest of these numbers decides:

    blocks = min(by warps, by blocks, by registers, by shared memory, by barriers)
    occupancy = blocks x warps per block / warps the MP can hold

What makes calculators wrong is the rounding. Registers are given to warps in units, and every
warp's registers lie in one of the equal parts of the file (NVIDIA: four sub-partitions; AMD: four
SIMDs), so the warps that fit are counted part by part. Shared memory is rounded up too, after
what the system reserves for every block is added. Worked by hand, 131072 registers in one part,
blocks of 8 warps with 128 registers a thread: a warp takes 128 x 32 = 4096, the file holds 32
warps, hence 4 blocks.
"""

from bisect import bisect_left
from collections.abc import Sequence

from perfmodel.engines.arithmetic import (
    Number,
    ceil_divide,
    is_array,
    maximum,
    require,
    round_up,
    where,
)

NO_LIMIT = 2**31 - 1
"""Blocks allowed by a resource that the kernel does not use."""


def warps_per_block(*, threads_per_block: Number, warp_width: Number) -> Number:
    """Warps that a block occupies, the last one perhaps partly filled.

    Equation: ``ceil(threads / warp width)``

    Args:
        threads_per_block: Threads of a block [threads], at least 1.
        warp_width: Lanes of a warp [lanes], at least 1.

    Returns:
        Warps of a block [warps].

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Source: document 000, section 2.1; CUDA header cuda_occupancy.h.

    Example:
        >>> warps_per_block(threads_per_block=100, warp_width=32)  # 3 full warps and 4 lanes
        4
    """
    require("threads_per_block", threads_per_block, low=1, whole=True)
    require("warp_width", warp_width, low=1, whole=True)
    return ceil_divide(threads_per_block, warp_width)


def blocks_by_warps(*, warps_per_block: Number, max_warps_per_mp: Number) -> Number:
    """Blocks that the warp slots of an MP hold.

    Equation: ``floor(warp slots / warps per block)``

    Args:
        warps_per_block: Warps of a block [warps], at least 1.
        max_warps_per_mp: Warp slots of an MP [warps], at least 1.

    Returns:
        Blocks [blocks].

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Source: document 000, section 2.1.

    Example:
        >>> blocks_by_warps(warps_per_block=8, max_warps_per_mp=96)
        12
    """
    require("warps_per_block", warps_per_block, low=1, whole=True)
    require("max_warps_per_mp", max_warps_per_mp, low=1, whole=True)
    return max_warps_per_mp // warps_per_block


def registers_per_warp(
    *, registers_per_thread: Number, warp_width: Number, register_allocation_unit: Number
) -> Number:
    """Registers that a warp takes of the file.

    Equation: ``round_up(registers per thread x warp width, unit)``

    Args:
        registers_per_thread: Registers of a thread [registers], at least 0.
        warp_width: Lanes of a warp [lanes], at least 1.
        register_allocation_unit: A warp takes a multiple of this [registers], at least 1.

    Returns:
        Registers of a warp [registers].

    Raises:
        ArgumentError: An argument is not a whole number in its range.

    Source: CUDA header cuda_occupancy.h (256 a warp); LLVM AMDGPUBaseInfo.cpp (granules of 4 or 8
    a lane, which is 256 or 512 a warp of 64).

    Example:
        >>> registers_per_warp(registers_per_thread=33, warp_width=32, register_allocation_unit=256)
        1280
    """
    require("registers_per_thread", registers_per_thread, low=0, whole=True)
    require("warp_width", warp_width, low=1, whole=True)
    require("register_allocation_unit", register_allocation_unit, low=1, whole=True)
    return round_up(registers_per_thread * warp_width, register_allocation_unit)


def blocks_by_registers(
    *,
    registers_per_thread: Number,
    warps_per_block: Number,
    warp_width: Number,
    registers_per_mp: Number,
    register_partitions: Number,
    register_allocation_unit: Number,
    registers_per_block: Number,
    max_registers_per_thread: Number,
) -> Number:
    """Blocks that the register file of an MP holds.

    Equation: ``floor(parts x floor(file / parts / registers per warp) / warps per block)``, and 0
    where a thread has more registers than it can address or where the block, its warps rounded up
    to a multiple of the parts, has more than a block may.

    Args:
        registers_per_thread: Registers of a thread [registers], at least 0.
        warps_per_block: Warps of a block [warps], at least 1.
        warp_width: Lanes of a warp [lanes], at least 1.
        registers_per_mp: Registers of an MP [registers], at least 1.
        register_partitions: Equal parts of the file [-], at least 1.
        register_allocation_unit: A warp takes a multiple of this [registers], at least 1.
        registers_per_block: Registers a block may have [registers], at least 1.
        max_registers_per_thread: Registers a thread can address [registers], at least 1.

    Returns:
        Blocks [blocks]; `NO_LIMIT` where no register is used.

    Raises:
        ArgumentError: An argument is not a whole number in its range.

    Source: CUDA header cuda_occupancy.h; with one part and a unit of 1, document 000, section 2.1.

    Example:
        >>> blocks_by_registers(
        ...     registers_per_thread=128, warps_per_block=8, warp_width=32,
        ...     registers_per_mp=131072, register_partitions=1, register_allocation_unit=1,
        ...     registers_per_block=131072, max_registers_per_thread=256)  # 131072 / 32768
        4
    """
    require("warps_per_block", warps_per_block, low=1, whole=True)
    require("registers_per_mp", registers_per_mp, low=1, whole=True)
    require("register_partitions", register_partitions, low=1, whole=True)
    require("registers_per_block", registers_per_block, low=1, whole=True)
    require("max_registers_per_thread", max_registers_per_thread, low=1, whole=True)
    per_warp = registers_per_warp(
        registers_per_thread=registers_per_thread,
        warp_width=warp_width,
        register_allocation_unit=register_allocation_unit,
    )
    warps_in_a_part = registers_per_mp // register_partitions // maximum(per_warp, 1)
    blocks = where(per_warp > 0, warps_in_a_part * register_partitions // warps_per_block, NO_LIMIT)
    of_block = per_warp * round_up(warps_per_block, register_partitions)
    fits = (of_block <= registers_per_block) & (registers_per_thread <= max_registers_per_thread)
    return where(fits, blocks, 0)


def registers_with_accumulators(
    *,
    registers_per_thread: Number,
    accumulation_registers_per_thread: Number,
    accumulation_register_alignment: int | None,
) -> Number:
    """Vector registers that a thread takes with its accumulation registers (AMD).

    Equation: ``round_up(v, alignment) + a`` where both lie in one file and any a is used;
    ``max(v, a)`` where each has a file of its own, allocated along with the other.

    Args:
        registers_per_thread: v, vector registers of a thread [registers], at least 0.
        accumulation_registers_per_thread: a, its accumulation registers [registers], at least 0.
        accumulation_register_alignment: In one file, where the accumulation registers begin is a
            multiple of this [registers]; None for two files.

    Returns:
        Registers [registers].

    Raises:
        ArgumentError: An argument is not a whole number in its range.

    Source: LLVM AMDGPUBaseInfo.cpp (getTotalNumVGPRs): gfx90a and gfx942 one file, gfx908 two.

    Example:
        >>> registers_with_accumulators(
        ...     registers_per_thread=33, accumulation_registers_per_thread=20,
        ...     accumulation_register_alignment=4)  # 36 + 20
        56
    """
    require("registers_per_thread", registers_per_thread, low=0, whole=True)
    require(
        "accumulation_registers_per_thread", accumulation_registers_per_thread, low=0, whole=True
    )
    if accumulation_register_alignment is None:
        return maximum(registers_per_thread, accumulation_registers_per_thread)
    begin = round_up(registers_per_thread, accumulation_register_alignment)
    together = begin + accumulation_registers_per_thread
    return where(accumulation_registers_per_thread > 0, together, registers_per_thread)


def scalar_registers_taken(
    *,
    scalar_registers_per_warp: Number,
    scalar_register_allocation_unit: Number,
    scalar_registers_reserved_per_warp: Number,
) -> Number:
    """Scalar registers that a warp takes, the system's share included (AMD).

    Equation: ``round_up(s, unit) + reserved``, and 0 where s is 0

    Args:
        scalar_registers_per_warp: s, scalar registers of a warp [registers], at least 0.
        scalar_register_allocation_unit: A warp takes a multiple of this [registers], at least 1.
        scalar_registers_reserved_per_warp: What the system takes for each [registers], at least 0.

    Returns:
        Scalar registers [registers].

    Raises:
        ArgumentError: An argument is not a whole number in its range.

    Source: LLVM AMDGPUBaseInfo.cpp from version 24 on (gfx9: units of 16, and 16 of the trap
    handler); docs/occupancy.md.

    Example:
        >>> scalar_registers_taken(
        ...     scalar_registers_per_warp=70, scalar_register_allocation_unit=16,
        ...     scalar_registers_reserved_per_warp=16)  # 80 + 16
        96
    """
    require("scalar_registers_per_warp", scalar_registers_per_warp, low=0, whole=True)
    require("scalar_register_allocation_unit", scalar_register_allocation_unit, low=1, whole=True)
    require(
        "scalar_registers_reserved_per_warp", scalar_registers_reserved_per_warp, low=0, whole=True
    )
    rounded = round_up(scalar_registers_per_warp, scalar_register_allocation_unit)
    return where(rounded > 0, rounded + scalar_registers_reserved_per_warp, 0)


def blocks_by_scalar_registers(
    *,
    scalar_registers_per_warp: Number,
    warps_per_block: Number,
    scalar_registers_per_partition: Number,
    register_partitions: Number,
    scalar_register_allocation_unit: Number,
    scalar_registers_reserved_per_warp: Number,
    max_scalar_registers_per_warp: Number,
) -> Number:
    """Blocks that the scalar registers of an MP hold (AMD).

    Equation: ``floor(parts x floor(scalar registers of a part / taken by a warp) / warps)``, and
    0 where a warp has more than it may.

    Args:
        scalar_registers_per_warp: Scalar registers of a warp [registers], at least 0.
        warps_per_block: Warps of a block [warps], at least 1.
        scalar_registers_per_partition: Scalar registers of a part [registers], at least 1.
        register_partitions: Parts, the SIMDs of an MP [-], at least 1.
        scalar_register_allocation_unit: A warp takes a multiple of this [registers], at least 1.
        scalar_registers_reserved_per_warp: What the system takes for each [registers], at least 0.
        max_scalar_registers_per_warp: Scalar registers a warp may have [registers].

    Returns:
        Blocks [blocks]; `NO_LIMIT` where no scalar register is used.

    Raises:
        ArgumentError: An argument is not a whole number in its range.

    Source: LLVM AMDGPUBaseInfo.cpp (gfx9: 800 a SIMD); `scalar_registers_taken`.

    Example:
        >>> blocks_by_scalar_registers(
        ...     scalar_registers_per_warp=96, warps_per_block=4,
        ...     scalar_registers_per_partition=800, register_partitions=4,
        ...     scalar_register_allocation_unit=16, scalar_registers_reserved_per_warp=16,
        ...     max_scalar_registers_per_warp=106)  # 800 / 112
        7
    """
    require("warps_per_block", warps_per_block, low=1, whole=True)
    per_warp = scalar_registers_taken(
        scalar_registers_per_warp=scalar_registers_per_warp,
        scalar_register_allocation_unit=scalar_register_allocation_unit,
        scalar_registers_reserved_per_warp=scalar_registers_reserved_per_warp,
    )
    warps = register_partitions * (scalar_registers_per_partition // maximum(per_warp, 1))
    blocks = where(per_warp > 0, warps // warps_per_block, NO_LIMIT)
    return where(scalar_registers_per_warp <= max_scalar_registers_per_warp, blocks, 0)


def warps_of_a_part(*, registers_of_a_part: Number, registers_per_warp: Number) -> Number:
    """Warps whose registers one part of a file holds, blocks left out of account.

    Equation: ``floor(registers of a part / registers of a warp)``

    Args:
        registers_of_a_part: Vector or scalar registers of a part [registers], at least 1.
        registers_per_warp: What a warp takes of them, rounded up [registers], at least 0.

    Returns:
        Warps [warps]; `NO_LIMIT` where a warp takes none.

    Raises:
        ArgumentError: An argument is not a whole number in its range.

    Source: LLVM AMDGPUBaseInfo.cpp (getNumWavesPerEUWithNumVGPRs).

    Example:
        >>> warps_of_a_part(registers_of_a_part=16384, registers_per_warp=1792)  # 28 x 64
        9
    """
    require("registers_of_a_part", registers_of_a_part, low=1, whole=True)
    require("registers_per_warp", registers_per_warp, low=0, whole=True)
    held = registers_of_a_part // maximum(registers_per_warp, 1)
    return where(registers_per_warp > 0, held, NO_LIMIT)


def warps_on_the_fullest_part(
    *, blocks_per_mp: Number, warps_per_block: Number, register_partitions: Number
) -> Number:
    """Warps on the part that has most of them, the warps of all blocks being spread evenly.

    Equation: ``ceil(blocks x warps of a block / parts)``

    Args:
        blocks_per_mp: Blocks resident on an MP [blocks], at least 0.
        warps_per_block: Warps of a block [warps], at least 1.
        register_partitions: Parts, the SIMDs of an MP [-], at least 1.

    Returns:
        Warps [warps].

    Raises:
        ArgumentError: An argument is not a whole number in its range.

    Source: LLVM AMDGPUSubtarget.cpp (getOccupancyWithWorkGroupSizes).

    Example:
        >>> warps_on_the_fullest_part(blocks_per_mp=5, warps_per_block=7, register_partitions=4)
        9
    """
    require("blocks_per_mp", blocks_per_mp, low=0, whole=True)
    require("warps_per_block", warps_per_block, low=1, whole=True)
    require("register_partitions", register_partitions, low=1, whole=True)
    return ceil_divide(blocks_per_mp * warps_per_block, register_partitions)


def shared_allocated(
    *,
    shared_bytes_per_block: Number,
    shared_reserved_bytes_per_block: Number,
    shared_allocation_unit_bytes: Number,
) -> Number:
    """Shared memory that a block takes, the system's share included.

    Equation: ``round_up(shared + reserved, unit)``

    Args:
        shared_bytes_per_block: Static and dynamic shared memory of a block [bytes], at least 0.
        shared_reserved_bytes_per_block: What the system takes for each block [bytes], at least 0.
        shared_allocation_unit_bytes: Rounded up to a multiple of this [bytes], at least 1.

    Returns:
        Shared memory taken [bytes].

    Raises:
        ArgumentError: An argument is not a whole number in its range.

    Source: CUDA header cuda_occupancy.h.

    Example:
        >>> shared_allocated(
        ...     shared_bytes_per_block=1000, shared_reserved_bytes_per_block=1024,
        ...     shared_allocation_unit_bytes=128)  # 2024 -> 16 x 128
        2048
    """
    require("shared_bytes_per_block", shared_bytes_per_block, low=0, whole=True)
    require("shared_reserved_bytes_per_block", shared_reserved_bytes_per_block, low=0, whole=True)
    require("shared_allocation_unit_bytes", shared_allocation_unit_bytes, low=1, whole=True)
    return round_up(
        shared_bytes_per_block + shared_reserved_bytes_per_block, shared_allocation_unit_bytes
    )


def shared_setting(
    *,
    shared_allocated_bytes: Number,
    shared_bytes_per_mp: int,
    carveout_bytes: Sequence[int] = (),
    carveout_percent: int | None = None,
) -> Number:
    """Size that an MP's shared memory is set to where it shares its body with the L1.

    Equation: the least step not below ``percent x shared memory / 100``, or, where that does not
    hold one block, the least step that does.

    Args:
        shared_allocated_bytes: Shared memory that one block takes [bytes], at least 0.
        shared_bytes_per_mp: Shared memory at its largest setting [bytes], at least 1.
        carveout_bytes: The sizes it can be set to [bytes], ascending; none where it is fixed.
        carveout_percent: Preferred share of the largest setting [%], 0 to 100; None for all of it.

    Returns:
        The setting [bytes].

    Raises:
        ArgumentError: An argument is outside its range.

    Source: CUDA header cuda_occupancy.h (preferred carve-out, Volta and later).

    Example:
        >>> shared_setting(
        ...     shared_allocated_bytes=2048, shared_bytes_per_mp=98304,
        ...     carveout_bytes=(0, 8192, 16384, 32768, 65536, 98304), carveout_percent=30)  # 29491
        32768
    """
    require("shared_bytes_per_mp", shared_bytes_per_mp, low=1, whole=True)
    if carveout_percent is None or not carveout_bytes:
        return shared_bytes_per_mp
    require("carveout_percent", carveout_percent, low=0, high=100, whole=True)
    preferred = _least_step(carveout_percent * shared_bytes_per_mp // 100, carveout_bytes)
    needed = _least_step(shared_allocated_bytes, carveout_bytes)
    return where(shared_allocated_bytes <= preferred, preferred, needed)


def _least_step(size: Number, steps: Sequence[int]) -> Number:
    """The least step not below a size; the largest step where none is."""
    if is_array(size):
        import numpy as np

        ascending = np.asarray(steps)
        return ascending[np.minimum(np.searchsorted(ascending, size), len(steps) - 1)]
    return steps[min(bisect_left(steps, size), len(steps) - 1)]


def blocks_by_shared(
    *,
    shared_allocated_bytes: Number,
    shared_setting_bytes: Number,
    shared_limit_bytes_per_block: Number,
) -> Number:
    """Blocks that the shared memory of an MP holds.

    Equation: ``floor(setting / allocated)``, and 0 where the block takes more than it may.

    Args:
        shared_allocated_bytes: Shared memory that a block takes [bytes], at least 0.
        shared_setting_bytes: Shared memory of the MP as it is set [bytes], at least 0.
        shared_limit_bytes_per_block: What a block may take, the reserve included [bytes].

    Returns:
        Blocks [blocks]; `NO_LIMIT` where none is taken.

    Raises:
        ArgumentError: An argument is not a whole number in its range.

    Source: document 000, section 2.1; CUDA header cuda_occupancy.h.

    Example:
        >>> blocks_by_shared(
        ...     shared_allocated_bytes=32768, shared_setting_bytes=196608,
        ...     shared_limit_bytes_per_block=196608)
        6
    """
    require("shared_allocated_bytes", shared_allocated_bytes, low=0, whole=True)
    require("shared_setting_bytes", shared_setting_bytes, low=0, whole=True)
    fitting = shared_setting_bytes // maximum(shared_allocated_bytes, 1)
    blocks = where(shared_allocated_bytes > 0, fitting, NO_LIMIT)
    return where(shared_allocated_bytes <= shared_limit_bytes_per_block, blocks, 0)


def blocks_by_barriers(
    *,
    barriers_per_block: Number,
    warps_per_block: Number,
    barriers_per_mp: Number,
    barrier_free_warps: Number,
) -> Number:
    """Blocks that the block barriers of an MP serve.

    Equation: ``floor(barriers of the MP / barriers of a block)``

    Args:
        barriers_per_block: Barriers that a block uses [barriers], at least 0.
        warps_per_block: Warps of a block [warps], at least 1.
        barriers_per_mp: Barriers of an MP [barriers], at least 1.
        barrier_free_warps: A block of so many warps or fewer takes none [warps], at least 0.

    Returns:
        Blocks [blocks]; `NO_LIMIT` where no barrier is taken.

    Raises:
        ArgumentError: An argument is not a whole number in its range.

    Source: CUDA header cuda_occupancy.h (Hopper and later); LLVM AMDGPUBaseInfo.cpp (16 an MP,
    none for a block of one warp).

    Example:
        >>> blocks_by_barriers(
        ...     barriers_per_block=1, warps_per_block=2, barriers_per_mp=16, barrier_free_warps=1)
        16
    """
    require("barriers_per_block", barriers_per_block, low=0, whole=True)
    require("warps_per_block", warps_per_block, low=1, whole=True)
    require("barriers_per_mp", barriers_per_mp, low=1, whole=True)
    require("barrier_free_warps", barrier_free_warps, low=0, whole=True)
    taken = where(warps_per_block > barrier_free_warps, barriers_per_block, 0)
    return where(taken > 0, barriers_per_mp // maximum(taken, 1), NO_LIMIT)


def occupancy(*, active_warps: Number, max_warps_per_mp: Number) -> Number:
    """Share of an MP's warp slots that are filled.

    Equation: ``active warps / warp slots``

    Args:
        active_warps: Warps resident on an MP [warps], at least 0.
        max_warps_per_mp: Warp slots of an MP [warps], at least 1.

    Returns:
        Occupancy [-], 0 to 1.

    Raises:
        ArgumentError: An argument is outside its range.

    Source: document 000, section 2.1.

    Example:
        >>> occupancy(active_warps=24, max_warps_per_mp=96)
        0.25
    """
    require("active_warps", active_warps, low=0)
    require("max_warps_per_mp", max_warps_per_mp, low=1, whole=True)
    return active_warps / max_warps_per_mp
