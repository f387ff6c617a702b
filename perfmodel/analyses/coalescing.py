"""Coalescing of a warp's global access on a device."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from perfmodel.analyses.warp_access import warp_access
from perfmodel.device.loading import as_device
from perfmodel.engines import coalescing as law
from perfmodel.errors import ArgumentError
from perfmodel.results import CoalescingResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from perfmodel.analyses.warp_access import WarpAccess
    from perfmodel.device.model import Device
    from perfmodel.device.schema import Operation

Level = Literal["l1", "l2"]


def coalescing(
    device: Device | str,
    *,
    index: str | Sequence[int] | NDArray[Any],
    element_bytes: int,
    operation: Operation = "load",
    level: Level = "l1",
    block: tuple[int, ...] = (),
    warp: int = 0,
    base_bytes: int = 0,
    active: str | int | Sequence[bool] | NDArray[Any] | None = None,
    parameters: Mapping[str, int | Sequence[int]] | None = None,
) -> CoalescingResult:
    """Requests, lines, sectors and bytes of one global access of a warp.

    Args:
        device: The device, or its name.
        index: Index expression in elements, or an integer for each lane (last axis).
        element_bytes: Bytes that each lane accesses [bytes]: 4 for float, 16 for float4.
        operation: load or store.
        level: The memory level whose lines and sectors are counted.
        block: Shape of the block [threads]; by default one warp.
        warp: Which warp of the block.
        base_bytes: Address of element 0 [bytes].
        active: A predicate, the number of leading lanes that take part, or one flag a lane.
        parameters: Values of the named parameters; a sequence makes as many accesses.

    Returns:
        The result; its fields are arrays where there are several accesses.

    Raises:
        ArgumentError: A number is outside its range.
        ExpressionError: The expression is wrong or names what is not given.

    Source: `perfmodel.engines.coalescing`; document 000, section 3.1.

    Example:
        >>> from perfmodel import load_device
        >>> result = coalescing(load_device("s5000"), index="threadIdx.x * 32", element_bytes=4)
        >>> result.lines, result.bytes_moved, result.efficiency
        (32, 4096, 0.03125)
    """
    device = as_device(device)
    import numpy as np

    require_operation(operation)
    if level not in ("l1", "l2"):
        raise ArgumentError(f"level is {level!r}: it must be l1 or l2")
    access = warp_access(
        device,
        index=index,
        element_bytes=element_bytes,
        block=block,
        warp=warp,
        base_bytes=base_bytes,
        active=active,
        parameters=parameters,
    )
    line, sector = (
        (device.l1_line, device.l1_sector) if level == "l1" else (device.l2_line, device.l2_sector)
    )
    pieces = _instructions(access, device.max_access.whole)
    lines = _distinct(pieces, line.whole)
    sectors = _distinct(pieces, sector.whole)
    used = sum(
        law.bytes_used(
            addresses=piece.addresses, active=piece.active, element_bytes=piece.element_bytes
        )
        for piece in pieces
    )
    shares = [
        _efficiency(used, _distinct(pieces, size) * size)
        for size in (int(sector.low), sector.whole, int(sector.high))
    ]
    group = device.coalescing_group
    requests, most, least = (
        sum(_requests(device, piece, int(lanes)) for piece in pieces)
        for lanes in (group.value, group.low, group.high)
    )
    lanes = access.active.sum(axis=-1)
    moved = sectors * sector.whole
    return CoalescingResult(
        device=device.device,
        operation=operation,
        level=level,
        element_bytes=element_bytes,
        lanes=scalar(lanes),
        instructions=len(pieces),
        requests=scalar(requests),
        requests_range=(scalar(least), scalar(most)),
        lines=scalar(lines),
        sectors=scalar(sectors),
        bytes_requested=scalar(lanes * element_bytes),
        bytes_used=scalar(used),
        bytes_moved=scalar(moved),
        efficiency=scalar(shares[1]),
        efficiency_range=(scalar(np.minimum.reduce(shares)), scalar(np.maximum.reduce(shares))),
        aligned=scalar(_aligned(pieces)),
        address_cycles=scalar(_address_cycles(device, pieces, line.whole, requests)),
        data_cycles=scalar(moved / device.l1_bandwidth.value),
        line_bytes=line.whole,
        sector_bytes=sector.whole,
        addresses=access.addresses,
        active=access.active,
    )


def require_operation(operation: str) -> None:
    """Refuse an operation that is neither load nor store."""
    if operation not in ("load", "store"):
        raise ArgumentError(f"operation is {operation!r}: it must be load or store")


def scalar(values: Any) -> Any:
    """A plain number where there is a single access, the array where there are several."""
    return values.item() if values.ndim == 0 else values


def _instructions(access: WarpAccess, max_access_bytes: int) -> list[WarpAccess]:
    """The access as the device issues it: one instruction for each piece of the widest access."""
    width = min(access.element_bytes, max_access_bytes)
    return [
        replace(access, addresses=access.addresses + offset, element_bytes=width)
        for offset in range(0, access.element_bytes, width)
    ]


def _distinct(pieces: Sequence[WarpAccess], block_bytes: int) -> Any:
    """Distinct blocks of every instruction, added up."""
    return sum(
        law.distinct_blocks(
            addresses=piece.addresses,
            active=piece.active,
            element_bytes=piece.element_bytes,
            block_bytes=block_bytes,
        )
        for piece in pieces
    )


def _aligned(pieces: Sequence[WarpAccess]) -> Any:
    """Whether every active lane's address is a multiple of what an instruction accesses."""
    first = pieces[0]
    return ((first.addresses % first.element_bytes == 0) | ~first.active).all(axis=-1)


def _requests(device: Device, access: WarpAccess, group_lanes: int) -> Any:
    """Requests of one instruction that leave the coalescing unit.

    A device that merges the whole warp sends one request an instruction; one that merges groups
    of lanes sends each group's transactions.
    """
    if group_lanes >= device.warp_width.whole:
        return access.active.any(axis=-1).astype(int)
    return law.requests(
        addresses=access.addresses,
        active=access.active,
        element_bytes=access.element_bytes,
        group_lanes=group_lanes,
        transaction_bytes=device.transaction.whole,
    )


def _address_cycles(
    device: Device, pieces: Sequence[WarpAccess], line_bytes: int, requests: Any
) -> Any:
    """Cycles of the address path: taking addresses, looking up lines, sending requests."""
    import numpy as np

    lanes = pieces[0].active.any(axis=-1) * device.warp_width.value * len(pieces)
    taking = lanes / device.address_rate.value
    looking_up = _distinct(pieces, line_bytes) / device.line_rate.value
    return np.maximum(np.maximum(taking, looking_up), requests)


def _efficiency(used: Any, moved: Any) -> Any:
    """Share of the moved bytes that is used; 1 where no lane takes part and nothing moves."""
    import numpy as np

    return np.where(moved > 0, used / np.maximum(moved, 1), 1.0)
