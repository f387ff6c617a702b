"""Occupancy of a kernel on a device."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from perfmodel.device.loading import as_device
from perfmodel.device.model import Device
from perfmodel.device.values import Value
from perfmodel.engines import occupancy as law
from perfmodel.engines.arithmetic import Number, as_number, is_array, maximum, minimum, require
from perfmodel.errors import ArgumentError
from perfmodel.results import OccupancyResult, OneBlockMore

End = Literal["stated", "worst", "best"]
ENDS: tuple[End, ...] = get_args(End)
"""Where device values that are ranges are taken: as stated, or all at one end."""


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """What a kernel asks of an MP."""

    threads_per_block: Number
    registers_per_thread: Number = 0
    """Accumulation registers counted in, as they take room beside the others or follow them."""
    shared_bytes_per_block: Number = 0
    scalar_registers_per_warp: Number = 0
    barriers_per_block: Number = 1
    carveout_percent: int | None = None


def occupancy(
    device: Device | str,
    *,
    threads_per_block: Number,
    registers_per_thread: Number = 0,
    accumulation_registers_per_thread: Number = 0,
    shared_bytes_per_block: Number = 0,
    scalar_registers_per_warp: Number = 0,
    barriers_per_block: Number = 1,
    carveout_percent: int | None = None,
) -> OccupancyResult:
    """Blocks and warps resident on an MP, and what limits them.

    Args:
        device: The device, or its name.
        threads_per_block: Threads of a block [threads]; a number or an array.
        registers_per_thread: Registers of a thread [registers]; on AMD the vector registers.
        accumulation_registers_per_thread: Accumulation registers of a thread [registers]; AMD's
            matrix units alone have them. The result's registers_per_thread counts them in.
        shared_bytes_per_block: Static and dynamic shared memory of a block together [bytes],
            opted in to what the device allows a block.
        scalar_registers_per_warp: Scalar registers of a warp [registers]; AMD alone has them.
        barriers_per_block: Block barriers the kernel uses [barriers]: 1 for __syncthreads alone,
            more with named barriers.
        carveout_percent: Preferred share of shared memory [%] where it shares its body with the
            L1, as cudaFuncAttributePreferredSharedMemoryCarveout takes it; None, its -1, for the
            largest setting. A block that needs more gets the least setting that holds it.

    Returns:
        The result; its fields are arrays where an argument is one.

    Raises:
        ArgumentError: A number is outside its range, or the block has more threads than the
            device allows.

    Source: `perfmodel.engines.occupancy`; the S5000 by document 000, section 2.1.

    Example:
        >>> from perfmodel import load_device
        >>> result = occupancy(load_device("s5000"), threads_per_block=256,
        ...                    registers_per_thread=128, shared_bytes_per_block=32768)
        >>> result.blocks_per_mp, result.active_warps, result.limiters
        (4, 32, ('registers',))
    """
    device = as_device(device)
    kernel = Kernel(
        threads_per_block=as_number(threads_per_block),
        registers_per_thread=with_accumulators(
            device,
            registers_per_thread=as_number(registers_per_thread),
            accumulation_registers_per_thread=as_number(accumulation_registers_per_thread),
        ),
        shared_bytes_per_block=as_number(shared_bytes_per_block),
        scalar_registers_per_warp=as_number(scalar_registers_per_warp),
        barriers_per_block=as_number(barriers_per_block),
        carveout_percent=carveout_percent,
    )
    _require_possible(device, kernel)
    max_warps = device.max_warps_per_mp.whole
    warps = law.warps_per_block(
        threads_per_block=kernel.threads_per_block, warp_width=device.warp_width.whole
    )
    limits = blocks_by(device, kernel, "stated")
    blocks = _least(limits)
    several = any(is_array(getattr(kernel, name)) for name in _GIVE_UP.values())
    more, surely = (
        None if several else _one_block_more(device, kernel, limits, end)
        for end in ("stated", "worst")
    )
    # More warp slots may mean a smaller share of them, so the ends are ordered by the share.
    shares = [_occupancy_at(device, kernel, warps, end) for end in ENDS]
    least, greatest = shares[0], shares[0]
    for share in shares[1:]:
        least, greatest = minimum(least, share), maximum(greatest, share)
    return OccupancyResult(
        device=device.device,
        threads_per_block=kernel.threads_per_block,
        registers_per_thread=kernel.registers_per_thread,
        shared_bytes_per_block=kernel.shared_bytes_per_block,
        scalar_registers_per_warp=kernel.scalar_registers_per_warp,
        barriers_per_block=kernel.barriers_per_block,
        carveout_percent=carveout_percent,
        warps_per_block=warps,
        blocks_per_mp=blocks,
        active_warps=blocks * warps,
        max_warps=max_warps,
        occupancy=law.occupancy(active_warps=blocks * warps, max_warps_per_mp=max_warps),
        limiters=_limiters(limits, blocks),
        blocks_by=_without_unlimited(limits),
        registers_per_warp=law.registers_per_warp(
            registers_per_thread=kernel.registers_per_thread,
            warp_width=device.warp_width.whole,
            register_allocation_unit=device.register_allocation_unit.whole,
        ),
        shared_allocated_bytes=_shared_allocated(device, kernel, "stated"),
        shared_setting_bytes=_shared_setting(device, kernel, "stated"),
        occupancy_range=(least, greatest),
        one_block_more=more,
        one_block_more_surely=None if surely == more else surely,
        impossible_because=None if several or blocks > 0 else _why_impossible(device, kernel),
    )


Swept = Literal["threads_per_block", "registers_per_thread", "shared_bytes_per_block"]

_MOST_STEPS = 512


def sweep(device: Device, result: OccupancyResult, over: Swept) -> OccupancyResult:
    """Occupancy over all values of one quantity, the others as they are in a result.

    Args:
        device: The device of the result.
        result: The occupancy of one kernel.
        over: What changes: threads by warps up to the block's limit, registers one by one up to a
            thread's limit, or shared memory by allocation units up to the block's limit.

    Returns:
        A result whose fields are arrays; the present value is among those swept.

    Raises:
        ArgumentError: The result is of another device, or holds arrays itself.

    Source: `occupancy`.

    Example:
        >>> from perfmodel import load_device
        >>> s5000 = load_device("s5000")
        >>> result = occupancy(s5000, threads_per_block=256, registers_per_thread=128)
        >>> swept = sweep(s5000, result, "registers_per_thread")
        >>> swept.blocks_per_mp[[63, 127, 255]].tolist()  # 64, 128 and 256 registers
        [8, 4, 2]
    """
    import numpy as np

    if result.device != device.device:
        raise ArgumentError(f"the result is of {result.device}, the device is {device.device}")
    if is_array(result.blocks_per_mp):
        raise ArgumentError("the result holds arrays: give the occupancy of one kernel")
    width = device.warp_width.whole
    shared = device.shared_per_block.whole
    unit = device.shared_allocation_unit.whole
    step = unit * max(-(-shared // (unit * _MOST_STEPS)), 1)
    values = {
        "threads_per_block": np.arange(width, device.max_threads_per_block.whole + 1, width),
        "registers_per_thread": np.arange(1, device.max_registers_per_thread.whole + 1),
        "shared_bytes_per_block": np.append(np.arange(0, shared, step), shared),
    }[over]
    present = {
        name: getattr(result, name)
        for name in (*get_args(Swept), "scalar_registers_per_warp", "barriers_per_block")
    }
    present[over] = np.union1d(values, [present[over]])
    return occupancy(device, carveout_percent=result.carveout_percent, **present)


def _occupancy_at(device: Device, kernel: Kernel, warps: Number, end: End) -> Number:
    """The occupancy at one end of the values that are ranges, the warp slots among them."""
    capacity, _ = _readers(end)
    return law.occupancy(
        active_warps=_least(blocks_by(device, kernel, end)) * warps,
        max_warps_per_mp=capacity(device.max_warps_per_mp),
    )


def with_accumulators(
    device: Device, *, registers_per_thread: Number, accumulation_registers_per_thread: Number
) -> Number:
    """The registers that a thread takes, its accumulation registers counted in.

    Args:
        device: The device.
        registers_per_thread: Vector registers of a thread [registers].
        accumulation_registers_per_thread: Accumulation registers of a thread [registers].

    Returns:
        Registers [registers].

    Raises:
        ArgumentError: There are no accumulation registers, or fewer of them.
    """
    asked = accumulation_registers_per_thread
    if not is_array(asked) and asked == 0:
        return registers_per_thread
    most = device.max_accumulation_registers_per_thread
    if most is None:
        raise ArgumentError(
            f"accumulation_registers_per_thread is given, but {device.device} has no accumulation "
            "registers: leave it out"
        )
    require(
        "accumulation_registers_per_thread",
        accumulation_registers_per_thread,
        low=0,
        high=most.whole,
        whole=True,
    )
    alignment = device.accumulation_register_alignment
    return law.registers_with_accumulators(
        registers_per_thread=registers_per_thread,
        accumulation_registers_per_thread=accumulation_registers_per_thread,
        accumulation_register_alignment=None if alignment is None else alignment.whole,
    )


def _require_possible(device: Device, kernel: Kernel) -> None:
    require("threads_per_block", kernel.threads_per_block, low=1, whole=True)
    most = kernel.threads_per_block
    most = most.max() if is_array(most) else most
    if most > device.max_threads_per_block.value:
        raise ArgumentError(
            f"threads_per_block is {most}: {device.device} allows at most "
            f"{device.max_threads_per_block.whole} threads per block"
        )
    asked = kernel.scalar_registers_per_warp
    if device.scalar_registers_per_partition is None and (is_array(asked) or asked != 0):
        raise ArgumentError(
            f"scalar_registers_per_warp is given, but {device.device} has no scalar registers "
            "that limit occupancy: leave it out"
        )
    require("scalar_registers_per_warp", asked, low=0, whole=True)
    require("barriers_per_block", kernel.barriers_per_block, low=0, whole=True)
    if kernel.carveout_percent is not None:
        require("carveout_percent", kernel.carveout_percent, low=0, high=100, whole=True)
        if device.shared_carveouts is None:
            raise ArgumentError(
                f"carveout_percent is given, but the shared memory of {device.device} "
                "does not share its body with the L1: leave it out"
            )


def _readers(end: End) -> tuple[Callable[[Value], int], Callable[[Value], int]]:
    """How to read capacities (more is better) and costs (less is better) at one end."""
    capacity = {"stated": "value", "worst": "low", "best": "high"}[end]
    cost = {"stated": "value", "worst": "high", "best": "low"}[end]
    return (
        lambda value: int(getattr(value, capacity)),
        lambda value: int(getattr(value, cost)),
    )


def _shared_allocated(device: Device, kernel: Kernel, end: End) -> Number:
    _, cost = _readers(end)
    return law.shared_allocated(
        shared_bytes_per_block=kernel.shared_bytes_per_block,
        shared_reserved_bytes_per_block=cost(device.shared_reserved_per_block),
        shared_allocation_unit_bytes=cost(device.shared_allocation_unit),
    )


def _shared_setting(device: Device, kernel: Kernel, end: End) -> Number:
    capacity, _ = _readers(end)
    steps = device.shared_carveouts.values if device.shared_carveouts else ()
    return law.shared_setting(
        shared_allocated_bytes=_shared_allocated(device, kernel, end),
        shared_bytes_per_mp=capacity(device.shared_per_mp),
        carveout_bytes=tuple(int(step) for step in steps),
        carveout_percent=kernel.carveout_percent,
    )


def blocks_by(device: Device, kernel: Kernel, end: End) -> dict[str, Number]:
    """Blocks that each resource of an MP allows, at one end of the values that are ranges."""
    capacity, cost = _readers(end)
    width = device.warp_width.whole
    warps = law.warps_per_block(threads_per_block=kernel.threads_per_block, warp_width=width)
    limits: dict[str, Number] = {
        "warps": law.blocks_by_warps(
            warps_per_block=warps, max_warps_per_mp=capacity(device.max_warps_per_mp)
        ),
        "blocks": capacity(device.max_blocks_per_mp),
        "registers": law.blocks_by_registers(
            registers_per_thread=kernel.registers_per_thread,
            warps_per_block=warps,
            warp_width=width,
            registers_per_mp=capacity(device.registers_per_mp),
            register_partitions=cost(device.register_partitions),
            register_allocation_unit=cost(device.register_allocation_unit),
            registers_per_block=capacity(device.registers_per_block or device.registers_per_mp),
            max_registers_per_thread=capacity(device.max_registers_per_thread),
        ),
        "shared_memory": _by_shared(device, kernel, end),
    }
    if device.max_threads_per_mp.value != device.max_warps_per_mp.value * width:
        limits["threads"] = capacity(device.max_threads_per_mp) // kernel.threads_per_block
    if device.scalar_registers_per_partition is not None:
        limits["scalar_registers"] = _by_scalar_registers(device, kernel, warps, end)
    if device.barriers_per_mp is not None:
        free = device.barrier_free_warps
        limits["barriers"] = law.blocks_by_barriers(
            barriers_per_block=kernel.barriers_per_block,
            warps_per_block=warps,
            barriers_per_mp=capacity(device.barriers_per_mp),
            barrier_free_warps=free.whole if free else 0,
        )
    return limits


def _by_shared(device: Device, kernel: Kernel, end: End) -> Number:
    capacity, cost = _readers(end)
    return law.blocks_by_shared(
        shared_allocated_bytes=_shared_allocated(device, kernel, end),
        shared_setting_bytes=_shared_setting(device, kernel, end),
        shared_limit_bytes_per_block=capacity(device.shared_per_block)
        + cost(device.shared_reserved_per_block),
    )


def _by_scalar_registers(device: Device, kernel: Kernel, warps: Number, end: End) -> Number:
    total = device.scalar_registers_per_partition
    unit = device.scalar_register_allocation_unit
    reserved = device.scalar_registers_reserved_per_warp
    most = device.max_scalar_registers_per_warp
    if total is None or unit is None or reserved is None or most is None:
        return law.NO_LIMIT
    capacity, cost = _readers(end)
    return law.blocks_by_scalar_registers(
        scalar_registers_per_warp=kernel.scalar_registers_per_warp,
        warps_per_block=warps,
        scalar_registers_per_partition=capacity(total),
        register_partitions=cost(device.register_partitions),
        scalar_register_allocation_unit=cost(unit),
        scalar_registers_reserved_per_warp=cost(reserved),
        max_scalar_registers_per_warp=capacity(most),
    )


def _least(limits: dict[str, Number]) -> Number:
    blocks: Number = law.NO_LIMIT
    for limit in limits.values():
        blocks = minimum(blocks, limit)
    return blocks


def _limiters(limits: dict[str, Number], blocks: Number) -> Any:
    """The resources whose limit is the answer."""
    if not is_array(blocks):
        return tuple(name for name, limit in limits.items() if limit == blocks)
    import numpy as np

    binding = {
        name: np.broadcast_to(limit == blocks, blocks.shape) for name, limit in limits.items()
    }
    found = np.empty(blocks.shape, dtype=object)
    for place in np.ndindex(blocks.shape):
        found[place] = tuple(name for name, binds in binding.items() if binds[place])
    return found


def _without_unlimited(limits: dict[str, Number]) -> dict[str, Any]:
    return {
        name: None if not is_array(limit) and limit == law.NO_LIMIT else limit
        for name, limit in limits.items()
    }


_GIVE_UP = {
    "registers": "registers_per_thread",
    "shared_memory": "shared_bytes_per_block",
    "warps": "threads_per_block",
    "threads": "threads_per_block",
    "scalar_registers": "scalar_registers_per_warp",
    "barriers": "barriers_per_block",
}


def _one_block_more(
    device: Device, kernel: Kernel, limits: dict[str, Number], end: End
) -> OneBlockMore | None:
    """The least to give up so that one block more than now is resident at an end of the ranges."""
    wanted = _least(limits) + 1
    changed = kernel
    # Threads first: with fewer of them the other resources may suffice as they are.
    for resource in sorted(limits, key=lambda each: _GIVE_UP.get(each) != "threads_per_block"):
        if blocks_by(device, changed, end)[resource] >= wanted:
            continue
        name = _GIVE_UP.get(resource)
        if name is None:
            return None  # the block slots are the device's own
        fewer = _most_that_fits(
            device, changed, resource=resource, name=name, wanted=wanted, end=end
        )
        if fewer is None:
            return None
        changed = replace(changed, **{name: fewer})
    if _least(blocks_by(device, changed, end)) < wanted:
        return None
    given_up = {
        name: getattr(changed, name)
        for name in sorted(set(_GIVE_UP.values()))
        if getattr(changed, name) != getattr(kernel, name)
    }
    warps = law.warps_per_block(
        threads_per_block=changed.threads_per_block, warp_width=device.warp_width.whole
    )
    return OneBlockMore(blocks_per_mp=wanted, active_warps=wanted * warps, **given_up)


def _most_that_fits(
    device: Device, kernel: Kernel, *, resource: str, name: str, wanted: int, end: End
) -> int | None:
    """The largest amount of one resource, below the present, that allows `wanted` blocks.

    Fewer of a resource never allow fewer blocks, so the place is found by bisection.
    """

    def fits(amount: int) -> bool:
        trial = replace(kernel, **{name: amount})
        return bool(blocks_by(device, trial, end)[resource] >= wanted)

    least = 1 if name in ("threads_per_block", "registers_per_thread") else 0
    low, high = least, int(getattr(kernel, name))
    if not fits(low):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _why_impossible(device: Device, kernel: Kernel) -> str:
    """What a single block, or a single thread of it, asks for beyond what the device allows."""
    registers, shared = kernel.registers_per_thread, kernel.shared_bytes_per_block
    if registers > device.max_registers_per_thread.value:
        return (
            f"a thread has {registers} registers and can address "
            f"{device.max_registers_per_thread.whole}"
        )
    if shared > device.shared_per_block.value:
        return (
            f"a block asks for {shared} B of shared memory and may have "
            f"{device.shared_per_block.whole} B"
        )
    scalar = device.max_scalar_registers_per_warp
    if scalar is not None and kernel.scalar_registers_per_warp > scalar.value:
        return (
            f"a warp has {kernel.scalar_registers_per_warp} scalar registers and can address "
            f"{scalar.whole}"
        )
    names = [name for name, limit in blocks_by(device, kernel, "stated").items() if limit == 0]
    return f"one block needs more than an MP has of its {' and '.join(names).replace('_', ' ')}"
