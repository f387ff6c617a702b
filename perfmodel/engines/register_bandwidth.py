"""Register bandwidth: what feeds the multiply-adds, and how much of it a tile keeps at hand.

A fused multiply-add (FMA) reads three registers. Where the register file delivers fewer a cycle,
the arithmetic waits:

    share of peak = min(1, reads a cycle / reads of an FMA)

and with one read a cycle a matrix product stays at a third of the peak, whatever its algorithm.

One level further out, shared memory refills the registers. A thread that owns TM x TN results
takes TM + TN operands for TM TN FMAs, so the bytes asked for a cycle fall as the tile grows. With
8 x 8 values of 4 bytes that is 64 bytes in 64 cycles: 1 byte a cycle for a lane, 128 for a
multiprocessor with 128 active lanes. If bank conflicts halve what arrives, the peak is halved too.

The tile is paid for in registers, TM TN + TM TK + TN TK, and so the depth TK that is held should
be 1: every further step costs TM + TN registers, which a larger tile would use better. Buffers
that hide latency (a second fragment, values under way from global memory, one more P of an
attention pipeline) are paid from the same budget.

Registers are banked as shared memory is: operands of one instruction that lie in the same bank
are read one after the other.
"""

import math
from collections.abc import Sequence

from perfmodel.engines.arithmetic import (
    Number,
    ceil_divide,
    floor_divide,
    is_array,
    is_symbolic,
    maximum,
    minimum,
    require,
    square_root,
)
from perfmodel.errors import ArgumentError


def fma_peak_share(*, reads_per_cycle: Number, reads_per_fma: Number) -> Number:
    """Share of the arithmetic peak that the register read ports allow.

    Equation: ``min(1, reads_per_cycle / reads_per_fma)``

    Args:
        reads_per_cycle: Registers a lane can read in the time of one FMA [registers/cycle],
            above 0.
        reads_per_fma: Registers an FMA reads [registers], above 0; 3 where no operand is reused.

    Returns:
        The share of peak [-], at most 1.

    Raises:
        ArgumentError: An argument is not above 0.

    Validity: an operand that a reuse cache or a bypass supplies is not a read; count it out of
    `reads_per_fma`.

    Source: document 000, section 5 GEMM 2 (register bandwidth).

    Example:
        >>> fma_peak_share(reads_per_cycle=1.5, reads_per_fma=3)  # half of what is needed
        0.5
    """
    require("reads_per_cycle", reads_per_cycle, low=0, above_low=True)
    require("reads_per_fma", reads_per_fma, low=0, above_low=True)
    return minimum(1, reads_per_cycle / reads_per_fma)


def tile_fma(*, tile_m: Number, tile_n: Number, tile_k: Number) -> Number:
    """Multiply-adds of a tile.

    Equation: ``TM TN TK``

    Args:
        tile_m: TM, rows of the tile [-], at least 1.
        tile_n: TN, columns of the tile [-], at least 1.
        tile_k: TK, steps along the summed index [-], at least 1.

    Returns:
        FMA instructions of one lane [instructions].

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Source: document 000, section 5 GEMM 2.

    Example:
        >>> tile_fma(tile_m=8, tile_n=8, tile_k=1)  # 8 x 8
        64
    """
    _require_tile(tile_m=tile_m, tile_n=tile_n, tile_k=tile_k)
    return tile_m * tile_n * tile_k


def shared_bytes_per_cycle(
    *, tile_m: Number, tile_n: Number, element_bytes: Number, active_lanes: Number
) -> Number:
    """Bytes that shared memory must deliver each cycle to keep the FMAs of a thread tile going.

    Equation: ``active_lanes (TM + TN) element_bytes / (TM TN)``

    Args:
        tile_m: TM, rows of the tile of a thread [-], at least 1.
        tile_n: TN, columns of the tile of a thread [-], at least 1.
        element_bytes: Size of an operand [bytes], above 0.
        active_lanes: Lanes that finish one FMA each cycle [-], at least 1: 1 for the demand of
            a thread, all the lanes of a multiprocessor for that of the multiprocessor.

    Returns:
        The demand [bytes/cycle], as the lanes ask for it.

    Raises:
        ArgumentError: A tile or `active_lanes` is not a whole number of at least 1, or
            `element_bytes` is not above 0.

    Validity: one FMA a lane a cycle. A value that several lanes read at one address is counted
    once for each lane; where broadcast serves them together the traffic is lower.

    Source: document 000, section 5 GEMM 2 (register bandwidth).

    Example:
        >>> shared_bytes_per_cycle(  # (8 + 8) 4-byte values in 64 cycles, for each lane of 128
        ...     tile_m=8, tile_n=8, element_bytes=4, active_lanes=128
        ... )
        128.0
    """
    _require_tile(tile_m=tile_m, tile_n=tile_n)
    require("element_bytes", element_bytes, low=0, above_low=True)
    require("active_lanes", active_lanes, low=1, whole=True)
    return active_lanes * (tile_m + tile_n) * element_bytes / (tile_m * tile_n)


def shared_peak_share(
    *,
    needed_bytes_per_cycle: Number,
    available_bytes_per_cycle: Number,
    shared_efficiency: Number,
) -> Number:
    """Share of the arithmetic peak that shared-memory bandwidth allows.

    Equation: ``min(1, shared_efficiency available_bytes_per_cycle / needed_bytes_per_cycle)``

    Args:
        needed_bytes_per_cycle: What the FMAs ask for at peak [bytes/cycle], above 0.
        available_bytes_per_cycle: What shared memory delivers without conflicts [bytes/cycle],
            above 0.
        shared_efficiency: Share of it that arrives [-], above 0 and at most 1: ideal passes over
            passes.

    Returns:
        The share of peak [-], at most 1.

    Raises:
        ArgumentError: A bandwidth is not above 0, or the efficiency is outside 0 to 1.

    Source: document 000, section 5 GEMM 2 (register bandwidth).

    Example:
        >>> shared_peak_share(  # two passes where one would do
        ...     needed_bytes_per_cycle=128, available_bytes_per_cycle=128, shared_efficiency=0.5
        ... )
        0.5
    """
    require("needed_bytes_per_cycle", needed_bytes_per_cycle, low=0, above_low=True)
    require("available_bytes_per_cycle", available_bytes_per_cycle, low=0, above_low=True)
    require("shared_efficiency", shared_efficiency, low=0, high=1, above_low=True)
    return minimum(1, shared_efficiency * available_bytes_per_cycle / needed_bytes_per_cycle)


def shared_loads(
    *, tile_m: Number, tile_n: Number, element_bytes: Number, access_bytes: Number
) -> Number:
    """Load instructions that bring one step of the operands of a thread tile from shared memory.

    Equation: ``ceil(TM element_bytes / access_bytes) + ceil(TN element_bytes / access_bytes)``

    Args:
        tile_m: TM, rows of the tile of a thread [-], at least 1.
        tile_n: TN, columns of the tile of a thread [-], at least 1.
        element_bytes: Size of an operand [bytes], a whole number of at least 1.
        access_bytes: What one load moves for a lane [bytes], a whole number of at least 1.

    Returns:
        Load instructions of one lane for one step along the summed index [instructions].

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Validity: the operands of a step lie side by side, as they do once A is stored transposed.

    Source: document 000, section 5 GEMM 3 (shared memory to registers).

    Example:
        >>> shared_loads(tile_m=8, tile_n=8, element_bytes=4, access_bytes=16)  # 2 + 2
        4
    """
    _require_tile(tile_m=tile_m, tile_n=tile_n)
    require("element_bytes", element_bytes, low=1, whole=True)
    require("access_bytes", access_bytes, low=1, whole=True)
    return ceil_divide(tile_m * element_bytes, access_bytes) + ceil_divide(
        tile_n * element_bytes, access_bytes
    )


def covered_elements(*, threads: Number, tile_m: Number, tile_n: Number) -> Number:
    """Results that the threads of a block own together.

    Equation: ``threads TM TN``

    Args:
        threads: Threads of the block [-], at least 1.
        tile_m: TM, rows of the tile of a thread [-], at least 1.
        tile_n: TN, columns of the tile of a thread [-], at least 1.

    Returns:
        Elements of the block's tile [elements].

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Source: document 000, section 5 GEMM 3 (blocks and threads).

    Example:
        >>> covered_elements(threads=256, tile_m=8, tile_n=8)  # a tile of 128 x 128
        16384
    """
    require("threads", threads, low=1, whole=True)
    _require_tile(tile_m=tile_m, tile_n=tile_n)
    return threads * tile_m * tile_n


def tile_registers(
    *,
    tile_m: Number,
    tile_n: Number,
    tile_k: Number,
    fragment_buffers: Number = 1,
    staging_registers: Number = 0,
) -> Number:
    """Registers that a thread's tile of C and its operands take.

    Equation: ``TM TN + fragment_buffers (TM TK + TN TK) + staging_registers``

    Args:
        tile_m: TM, rows of the tile [-], at least 1.
        tile_n: TN, columns of the tile [-], at least 1.
        tile_k: TK, steps along the summed index that are held at once [-], at least 1.
        fragment_buffers: Copies of the A and B operands [-], at least 1: 2 where the next ones
            are loaded while the present ones are used.
        staging_registers: Registers for values on their way from global to shared memory
            [registers], at least 0.

    Returns:
        Registers of a thread [registers], before any address or counter.

    Raises:
        ArgumentError: A count is not whole or below its least value.

    Validity: one element a register, as 4-byte types have it.

    Source: document 000, section 5 GEMM 1 (the budget of a tile) and GEMM 3 (its buffers).

    Example:
        >>> tile_registers(tile_m=8, tile_n=8, tile_k=1)  # 64 + 8 + 8
        80
        >>> tile_registers(  # 64 + 2 * 16 + 16
        ...     tile_m=8, tile_n=8, tile_k=1, fragment_buffers=2, staging_registers=16
        ... )
        112
    """
    _require_tile(tile_m=tile_m, tile_n=tile_n, tile_k=tile_k)
    require("fragment_buffers", fragment_buffers, low=1, whole=True)
    require("staging_registers", staging_registers, low=0, whole=True)
    return tile_m * tile_n + fragment_buffers * (tile_m + tile_n) * tile_k + staging_registers


def largest_square_tile(*, registers: Number, tile_k: Number) -> Number:
    """Side of the largest square tile of C that a register budget holds with its operands.

    Equation: ``floor(sqrt(TK^2 + registers) - TK)``, the root of ``T^2 + 2 T TK = registers``

    Args:
        registers: The budget of a thread [registers], at least 1.
        tile_k: TK, steps along the summed index that are held at once [-], at least 1.

    Returns:
        The side [-]; 0 where not even 1 x 1 fits.

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Source: document 000, section 5 GEMM 1, solved for the side.

    Example:
        >>> largest_square_tile(registers=80, tile_k=1)  # 64 + 8 + 8 are 80
        8
    """
    require("registers", registers, low=1, whole=True)
    require("tile_k", tile_k, low=1, whole=True)
    squared = tile_k * tile_k + registers
    if is_symbolic(squared) or is_array(squared):
        return floor_divide(square_root(squared) - tile_k, 1)
    return math.isqrt(int(squared)) - int(tile_k)


def largest_tile(*, registers: int, tile_k: int) -> tuple[int, int]:
    """Largest tile of C, square or not, that a register budget holds with its operands.

    Equation: the greatest ``TM TN`` with ``TM TN + TM TK + TN TK <= registers``; among equals the
    one nearest to a square, which asks least of the level below.

    Args:
        registers: The budget of a thread [registers], at least 1.
        tile_k: TK, steps along the summed index that are held at once [-], at least 1.

    Returns:
        TM and TN [-], TM the smaller; (0, 0) where not even 1 x 1 fits.

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Source: document 000, section 5 GEMM 1, by enumeration of TM.

    Example:
        >>> largest_tile(registers=90, tile_k=1)  # 8 x 9: 72 + 8 + 9 = 89
        (8, 9)
    """
    require("registers", registers, low=1, whole=True)
    require("tile_k", tile_k, low=1, whole=True)
    side = int(largest_square_tile(registers=registers, tile_k=tile_k))
    shapes = ((m, int((registers - m * tile_k) // (m + tile_k))) for m in range(1, side + 1))
    return max(shapes, key=lambda shape: (shape[0] * shape[1], shape[0]), default=(0, 0))


def array_registers(
    *,
    elements: Number,
    element_bytes: Number,
    threads: Number = 1,
    buffers: Number = 1,
    register_bytes: Number = 4,
) -> Number:
    """Registers a thread needs for its part of an array that threads hold together.

    Equation: ``buffers ceil(ceil(elements / threads) element_bytes / register_bytes)``

    Args:
        elements: Elements of the whole array [elements], at least 1.
        element_bytes: Size of an element [bytes], a whole number of at least 1.
        threads: Threads that share the array evenly [-], at least 1; 1 for an array of a thread.
        buffers: Copies of it, stages of a pipeline [-], at least 1.
        register_bytes: Size of a register [bytes], a whole number of at least 1.

    Returns:
        Registers of a thread [registers].

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Validity: small elements are packed; where a compiler gives each its own register, state
    the size of a register as `element_bytes`.

    Source: document 000, sections 5 FlashAttention and 5 GEMM 3 (the arrays declared there).

    Example:
        >>> array_registers(elements=256 * 128, element_bytes=2, threads=512)  # 64 halves a thread
        32
    """
    require("elements", elements, low=1, whole=True)
    require("element_bytes", element_bytes, low=1, whole=True)
    require("threads", threads, low=1, whole=True)
    require("buffers", buffers, low=1, whole=True)
    require("register_bytes", register_bytes, low=1, whole=True)
    bytes_per_thread = ceil_divide(elements, threads) * element_bytes
    return buffers * ceil_divide(bytes_per_thread, register_bytes)


def attention_accumulator_registers(
    *, rows_q: Number, rows_kv: Number, head_dim: Number, threads: Number
) -> Number:
    """Registers a thread needs for the fp32 results of both products of fused attention.

    Equation: ``ceil(Br Bc / threads) + ceil(Br d / threads)``

    Args:
        rows_q: Br, rows of Q in a block [-], at least 1.
        rows_kv: Bc, rows of K and V in a step [-], at least 1.
        head_dim: d, the length of a head [-], at least 1.
        threads: Threads of the block [-], at least 1.

    Returns:
        Registers of a thread [registers]: those of S and those of O.

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Validity: both accumulators live at once in registers of 4 bytes, spread evenly.

    Source: document 000, section 5 FlashAttention (block sizes).

    Example:
        >>> attention_accumulator_registers(  # 64 for S and 64 for O
        ...     rows_q=256, rows_kv=128, head_dim=128, threads=512
        ... )
        128
    """
    require("rows_q", rows_q, low=1, whole=True)
    require("rows_kv", rows_kv, low=1, whole=True)
    require("head_dim", head_dim, low=1, whole=True)
    require("threads", threads, low=1, whole=True)
    return ceil_divide(rows_q * rows_kv, threads) + ceil_divide(rows_q * head_dim, threads)


def block_registers(*, threads: Number, registers_per_thread: Number) -> Number:
    """Registers of a block, before the device rounds them to its allocation unit.

    Equation: ``threads registers_per_thread``

    Args:
        threads: Threads of the block [-], at least 1.
        registers_per_thread: Registers of each [registers], at least 1.

    Returns:
        Registers of the block [registers].

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Source: document 000, section 2.1.

    Example:
        >>> block_registers(threads=512, registers_per_thread=128)
        65536
    """
    require("threads", threads, low=1, whole=True)
    require("registers_per_thread", registers_per_thread, low=1, whole=True)
    return threads * registers_per_thread


def registers_available_per_thread(*, registers_per_mp: Number, threads: Number) -> Number:
    """Registers each thread can have when these threads share a multiprocessor's registers.

    Equation: ``floor(registers_per_mp / threads)``

    Args:
        registers_per_mp: Registers of a multiprocessor [registers], at least 1.
        threads: Threads resident on it [-], at least 1.

    Returns:
        Registers of a thread [registers].

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Validity: the least of several limits; the device also has a limit for a single thread and
    an allocation unit.

    Source: document 000, section 5 FlashAttention (the second limit of block sizes).

    Example:
        >>> registers_available_per_thread(registers_per_mp=131072, threads=512)
        256
    """
    require("registers_per_mp", registers_per_mp, low=1, whole=True)
    require("threads", threads, low=1, whole=True)
    return floor_divide(registers_per_mp, threads)


def operand_read_cycles(*, register_numbers: Number, banks: int, reads_per_bank: int = 1) -> Number:
    """Cycles to read the operands of an instruction from a banked register file.

    Equation: the greatest over the banks of ``ceil(distinct registers in it / reads_per_bank)``,
    where register r lies in bank ``r mod banks``

    Args:
        register_numbers: The registers that one instruction reads [-], each at least 0; or an
            array of several instructions, the operands of each along the last axis.
        banks: Banks of the register file [-], at least 1.
        reads_per_bank: Registers a bank delivers in a cycle [registers/cycle], at least 1.

    Returns:
        Cycles [cycles], one number for each instruction; 1 where nothing conflicts.

    Raises:
        ArgumentError: There is no operand, or a number is not whole or too small.

    Validity: a register named twice is read once. The map from number to bank is the plain one;
    some devices have others, and a reuse cache takes reads away.

    Source: document 000, section 5 GEMM 3 (register bank conflicts); the cycles by counting.

    Example:
        >>> operand_read_cycles(register_numbers=[0, 4, 5], banks=4)  # 0 and 4 share bank 0
        2
        >>> operand_read_cycles(register_numbers=[0, 1, 6], banks=4)  # banks 0, 1 and 2
        1
    """
    require("banks", banks, low=1, whole=True)
    require("reads_per_bank", reads_per_bank, low=1, whole=True)
    operands = _operands(register_numbers)
    cycles: Number = 1
    for index, number in enumerate(operands):
        in_its_bank: Number = 1
        for earlier, other in enumerate(operands[:index]):
            repeated = sum(other == before for before in operands[:earlier])
            new = (other % banks == number % banks) & (other != number) & (repeated == 0)
            in_its_bank = in_its_bank + new
        cycles = maximum(cycles, ceil_divide(in_its_bank, reads_per_bank))
    return cycles


def _operands(register_numbers: Number) -> list[Number]:
    """The operands one by one; each a number, or an array with one for each instruction."""
    if is_array(register_numbers) and register_numbers.ndim:
        operands = [register_numbers[..., i] for i in range(register_numbers.shape[-1])]
    elif isinstance(register_numbers, Sequence) and not isinstance(register_numbers, str):
        operands = list(register_numbers)
    else:
        raise ArgumentError(
            f"register_numbers is {register_numbers!r}: give the registers of an instruction"
        )
    if not operands:
        raise ArgumentError("register_numbers is empty: an instruction reads at least one register")
    for number in operands:
        require("register_numbers", number, low=0, whole=True)
    return operands


def _require_tile(**sides: Number) -> None:
    for name, side in sides.items():
        require(name, side, low=1, whole=True)
