"""Bank conflicts of a warp's shared-memory access on a device, and the layouts that free it."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, cast

from perfmodel.analyses.coalescing import require_operation, scalar
from perfmodel.analyses.warp_access import LARGEST_ADDRESS, WarpAccess, warp_access
from perfmodel.device.loading import as_device
from perfmodel.engines import bank_conflicts as law
from perfmodel.engines.arithmetic import require
from perfmodel.errors import ArgumentError
from perfmodel.results import BankConflictResult, LayoutSuggestion, Padding, Swizzle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from perfmodel.device.model import Device
    from perfmodel.device.schema import AccessWidth, Operation


def bank_conflicts(
    device: Device | str,
    *,
    index: str | Sequence[int] | NDArray[Any],
    element_bytes: int,
    operation: Operation = "load",
    block: tuple[int, ...] = (),
    warp: int = 0,
    base_bytes: int = 0,
    active: str | int | Sequence[bool] | NDArray[Any] | None = None,
    parameters: Mapping[str, int | Sequence[int]] | None = None,
    swizzle: tuple[int, int] | None = None,
) -> BankConflictResult:
    """Passes of one shared-memory access of a warp.

    Args:
        device: The device, or its name.
        index: Index expression in elements, or an integer for each lane (last axis).
        element_bytes: Bytes that each lane accesses [bytes], up to 16.
        operation: load or store.
        block: Shape of the block [threads]; by default one warp.
        warp: Which warp of the block.
        base_bytes: Address of element 0 [bytes].
        active: A predicate, the number of leading lanes that take part, or one flag a lane.
        parameters: Values of the named parameters; a sequence makes as many accesses.
        swizzle: mask and shift of ``a ^ ((a & mask) >> shift)``, applied to byte addresses.

    Returns:
        The result; its fields are arrays where there are several accesses.

    Raises:
        ArgumentError: A number is outside its range.
        ExpressionError: The expression is wrong or names what is not given.

    Source: `perfmodel.engines.bank_conflicts`; document 000, section 3.3.

    Example:
        >>> from perfmodel import load_device
        >>> result = bank_conflicts(load_device("s5000"), index="threadIdx.x * 32", element_bytes=4)
        >>> result.passes, result.ideal_passes, result.conflict_free
        (32, 1, False)
    """
    device = as_device(device)
    require_operation(operation)
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
    addresses = access.addresses
    if swizzle is not None:
        addresses = law.swizzled(addresses=addresses, mask=swizzle[0], shift=swizzle[1])
    groups = _groups(device, operation, element_bytes)
    passes = _passes(device, access, addresses, groups)
    lanes = access.active.sum(axis=-1)
    ideal = _ideal(device, access, groups)
    bank, degree = _worst(device, access, addresses, groups)
    return BankConflictResult(
        device=device.device,
        operation=operation,
        element_bytes=element_bytes,
        lanes=scalar(lanes),
        passes=scalar(passes),
        ideal_passes=scalar(ideal),
        conflict_free=scalar(passes <= ideal),
        worst_bank=scalar(bank),
        worst_degree=scalar(degree),
        banks=device.shared_banks.whole,
        bank_width_bytes=device.shared_bank_width.whole,
        groups=groups,
        addresses=addresses,
        active=access.active,
    )


def suggest_layout(
    device: Device | str,
    *,
    indices: Sequence[str | Sequence[int] | NDArray[Any]],
    element_bytes: int,
    row_elements: int | None = None,
    operation: Operation = "load",
    block: tuple[int, ...] = (),
    base_bytes: int = 0,
    active: str | int | Sequence[bool] | NDArray[Any] | None = None,
    parameters: Mapping[str, int | Sequence[int]] | None = None,
) -> LayoutSuggestion:
    """The smallest padding and XOR swizzle that free all the accesses given together.

    Both are proved by enumeration: every access of every warp of the block is counted again
    with the layout, and is free only if each takes its ideal passes.

    Args:
        device: The device, or its name.
        indices: Index expressions, or integers for each lane, of the accesses to one array.
        element_bytes: Bytes that each lane accesses [bytes], up to 16.
        row_elements: Elements of a row of the array; by default each step between neighbouring
            lanes is tried as one, and as many elements as fill all banks once.
        operation: load or store.
        block: Shape of the block [threads]; by default one warp.
        base_bytes: Address of element 0 [bytes].
        active: A predicate, the number of leading lanes that take part, or one flag a lane.
        parameters: Values of the named parameters; a sequence makes as many accesses.

    Returns:
        Padding and swizzle, each None where none frees all accesses; the padding of the fewest
        added elements a row, and of the longest row among equals.

    Raises:
        ArgumentError: A number is outside its range.
        ExpressionError: An expression is wrong or names what is not given.

    Source: document 000, section 3.3, which leaves the mask and the shift open.

    Example:
        >>> from perfmodel import load_device
        >>> found = suggest_layout(load_device("s5000"), element_bytes=4,
        ...     indices=["threadIdx.x * 32 + c", "c * 32 + threadIdx.x"],
        ...     parameters={"c": range(32)})
        >>> found.padding.pad_elements, hex(found.swizzle.mask), found.swizzle.shift
        (1, '0xf80', 5)
    """
    device = as_device(device)
    require_operation(operation)
    if isinstance(indices, str) or not indices:
        raise ArgumentError(f"indices is {indices!r:.60}: give a list of at least one access")
    if row_elements is not None:
        require("row_elements", row_elements, low=1, high=LARGEST_ADDRESS, whole=True)
    accesses = [
        access
        for index in indices
        for access in _every_warp(
            device,
            block,
            index=index,
            element_bytes=element_bytes,
            base_bytes=base_bytes,
            active=active,
            parameters=parameters,
        )
    ]
    groups = _groups(device, operation, element_bytes)
    rows = _rows(device, accesses) if row_elements is None else [row_elements]
    freeing, least = _paddings(device, accesses, groups, rows)
    return LayoutSuggestion(
        device=device.device,
        padding=freeing,
        least_padding=None if freeing is not None else least,
        swizzle=_smallest_swizzle(device, accesses, groups),
    )


_MOST_ROWS = 8


def _rows(device: Device, accesses: Sequence[WarpAccess]) -> list[int]:
    """Lengths a row may have, longest first: the steps between lanes, and one turn of banks."""
    import numpy as np

    size = accesses[0].element_bytes
    found = {max(device.shared_banks.whole * device.shared_bank_width.whole // size, 1)}
    for access in accesses:
        both = access.active[..., 1:] & access.active[..., :-1]
        steps = np.abs(np.diff(access.addresses, axis=-1)[both]) // size
        common, counts = np.unique(steps[steps > 1], return_counts=True)
        found |= set(common[np.argsort(-counts)][:_MOST_ROWS].tolist())
    return sorted(found, reverse=True)


def _every_warp(device: Device, block: tuple[int, ...], **access: Any) -> Iterator[WarpAccess]:
    threads = prod(block or (device.warp_width.whole,))
    require("threads of the block", threads, low=1, high=device.max_threads_per_block.value)
    for warp in range(-(-threads // device.warp_width.whole)):
        yield warp_access(device, block=block, warp=warp, **access)


def _groups(
    device: Device, operation: Operation, element_bytes: int
) -> tuple[tuple[int, ...], ...]:
    if element_bytes > 16:
        raise ArgumentError(f"element_bytes is {element_bytes}: shared memory takes up to 16")
    written = device.shared_lane_groups.get(operation, {})
    width = cast("AccessWidth", f"{element_bytes} B")
    if width in written:
        return written[width].groups
    return law.lane_groups(
        lanes=device.warp_width.whole,
        element_bytes=element_bytes,
        banks=device.shared_banks.whole,
        bank_width_bytes=device.shared_bank_width.whole,
    )


def _passes(
    device: Device,
    access: WarpAccess,
    addresses: NDArray[np.int64],
    groups: Sequence[Sequence[int]],
) -> NDArray[np.int64]:
    return law.passes(
        addresses=addresses,
        active=access.active,
        element_bytes=access.element_bytes,
        banks=device.shared_banks.whole,
        bank_width_bytes=device.shared_bank_width.whole,
        groups=groups,
    )


def _ideal(
    device: Device, access: WarpAccess, groups: Sequence[Sequence[int]]
) -> NDArray[np.int64]:
    """Passes that the active lanes would take without a conflict, group by group."""
    import numpy as np

    total = np.zeros(access.active.shape[:-1], dtype=np.int64)
    for group in groups:
        members = _present(group, access.active.shape[-1])
        total = total + law.ideal_passes(
            lanes=access.active[..., members].sum(axis=-1),
            element_bytes=access.element_bytes,
            banks=device.shared_banks.whole,
            bank_width_bytes=device.shared_bank_width.whole,
        )
    return total


def _worst(
    device: Device,
    access: WarpAccess,
    addresses: NDArray[np.int64],
    groups: Sequence[Sequence[int]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The bank with the most distinct words in one group of lanes, and how many they are."""
    import numpy as np

    words = np.stack(
        [
            law.words_by_bank(
                addresses=addresses[..., list(group)],
                active=access.active[..., list(group)],
                element_bytes=access.element_bytes,
                banks=device.shared_banks.whole,
                bank_width_bytes=device.shared_bank_width.whole,
            )
            for group in (_present(group, addresses.shape[-1]) for group in groups)
            if group
        ]
    ).max(axis=0)
    return words.argmax(axis=-1), words.max(axis=-1)


def _present(group: Sequence[int], lanes: int) -> list[int]:
    return [lane for lane in group if lane < lanes]


def _most_passes(
    device: Device,
    accesses: Sequence[WarpAccess],
    addresses: Sequence[NDArray[np.int64]],
    groups: Sequence[Sequence[int]],
) -> tuple[tuple[int, ...], bool]:
    """The most passes each access takes with new addresses, and whether all are conflict-free."""
    found = []
    free = True
    for access, moved in zip(accesses, addresses, strict=True):
        passes = _passes(device, access, moved, groups)
        free = free and not (passes > _ideal(device, access, groups)).any()
        found.append(int(passes.max()))
    return tuple(found), bool(free)


def _paddings(
    device: Device,
    accesses: Sequence[WarpAccess],
    groups: Sequence[Sequence[int]],
    rows: Sequence[int],
) -> tuple[Padding | None, Padding | None]:
    """The smallest padding that frees all accesses, and the one with the fewest passes."""
    least: Padding | None = None
    for pad in range(device.shared_banks.whole + 1):
        for row in rows:
            moved = [_padded(access, row, pad) for access in accesses]
            passes, free = _most_passes(device, accesses, moved, groups)
            found = Padding(
                row_elements=row, pad_elements=pad, extra_share=pad / row, passes=passes
            )
            if free:
                return found, found
            if least is None or sum(passes) < sum(least.passes):
                least = found
    return None, least


def _padded(access: WarpAccess, row: int, pad: int) -> NDArray[np.int64]:
    """The addresses once rows are padded; what lies before the first element stays where it is."""
    offset = access.addresses % access.element_bytes
    elements = access.addresses // access.element_bytes
    moved = law.padded(elements=elements, row_elements=row, pad_elements=pad)
    return moved * access.element_bytes + offset


def _smallest_swizzle(
    device: Device, accesses: Sequence[WarpAccess], groups: Sequence[Sequence[int]]
) -> Swizzle | None:
    """The first mask and shift that free all accesses, fewest folded bits first.

    The folded bits land above the bits within an element, so that wide accesses stay whole, and
    below the mask, so that the map undoes itself and no two addresses meet.
    """
    unchanged = _swizzle(device, accesses, groups, 0, 0)
    if unchanged is not None:
        return unchanged
    lowest = accesses[0].element_bytes.bit_length() - 1
    turn_bits = (device.shared_banks.whole * device.shared_bank_width.whole).bit_length() - 1
    highest = max(int(access.addresses.max()) for access in accesses).bit_length()
    for bits in range(1, turn_bits - lowest + 1):
        for target in range(lowest, turn_bits - bits + 1):
            for source in range(target + bits, highest):
                mask, shift = ((1 << bits) - 1) << source, source - target
                found = _swizzle(device, accesses, groups, mask, shift)
                if found is not None:
                    return found
    return None


def _swizzle(
    device: Device,
    accesses: Sequence[WarpAccess],
    groups: Sequence[Sequence[int]],
    mask: int,
    shift: int,
) -> Swizzle | None:
    moved = [law.swizzled(addresses=a.addresses, mask=mask, shift=shift) for a in accesses]
    passes, free = _most_passes(device, accesses, moved, groups)
    if not free:
        return None
    piece = 1 << (mask >> shift).bit_length() if mask else 1
    return Swizzle(mask=mask, shift=shift, passes=passes, piece_bytes=piece)
