"""Bank conflicts of a warp's shared-memory access on a device, and the layouts that free it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, cast

from perfmodel.analyses.coalescing import require_operation, scalar
from perfmodel.analyses.warp_access import LARGEST_ADDRESS, WarpAccess, warp_access
from perfmodel.device.loading import as_device
from perfmodel.engines import bank_conflicts as law
from perfmodel.engines.arithmetic import require
from perfmodel.errors import ArgumentError
from perfmodel.kernels.geometry import WIDEST_SHARED_ACCESS_BYTES, merge_distances
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
    matrices: int | None = None,
) -> BankConflictResult:
    """Passes of one shared-memory access of a warp.

    A matrix load or store (ldmatrix, stmatrix) moves 1, 2 or 4 matrices of 8 rows of 16 bytes;
    lanes 0 to 7 give the addresses of the rows of the first, 8 to 15 those of the second, and each
    matrix is served for itself.

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
        matrices: Matrices of a matrix load or store: 1, 2 or 4; `index` then gives rows, in units
            of 16 bytes, and element_bytes is 16.

    Returns:
        The result; its fields are arrays where there are several accesses.

    Raises:
        ArgumentError: A number is outside its range, or the device has no matrix loads.
        ExpressionError: The expression is wrong or names what is not given.

    Source: `perfmodel.engines.bank_conflicts`; document 000, section 3.3.

    Example:
        >>> from perfmodel import load_device
        >>> result = bank_conflicts(load_device("s5000"), index="threadIdx.x * 32", element_bytes=4)
        >>> result.passes, result.ideal_passes, result.conflict_free
        (32, 1, False)
        >>> bank_conflicts(load_device("h200"), index="threadIdx.x % 8 * 8 + threadIdx.x / 8",
        ...                element_bytes=16, matrices=4).passes  # rows of 128 bytes: 8 a matrix
        32
    """
    import numpy as np

    device = as_device(device)
    require_operation(operation)
    active = _matrix_lanes(device, matrices, element_bytes, active)
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
    served = _served(device, operation, element_bytes, matrices)
    passes = _passes(device, access, addresses, served)
    alike = law.read_alike(
        addresses=addresses, active=access.active, distances=served.merge_distances
    )
    merged = law.paired_groups(groups=served.groups)
    lanes = access.active.sum(axis=-1)
    ideal = _ideal(device, access, served.groups)
    words = np.where(
        alike[..., None],
        _words(device, access, addresses, merged),
        _words(device, access, addresses, served.groups),
    )
    return BankConflictResult(
        device=device.device,
        operation=operation,
        element_bytes=element_bytes,
        lanes=scalar(lanes),
        passes=scalar(passes),
        ideal_passes=scalar(ideal),
        conflict_free=scalar(passes <= ideal),
        worst_bank=scalar(words.argmax(axis=-1)),
        worst_degree=scalar(words.max(axis=-1)),
        banks=device.shared_banks.whole,
        bank_width_bytes=device.shared_bank_width.whole,
        groups=merged if alike.all() else served.groups,
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
    matrices: int | None = None,
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
        matrices: Matrices of a matrix load or store, as in `bank_conflicts`.

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
    active = _matrix_lanes(device, matrices, element_bytes, active)
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
    served = _served(device, operation, element_bytes, matrices)
    rows = _rows(device, accesses) if row_elements is None else [row_elements]
    freeing, least = _paddings(device, accesses, served, rows)
    return LayoutSuggestion(
        device=device.device,
        padding=freeing,
        least_padding=None if freeing is not None else least,
        swizzle=_smallest_swizzle(device, accesses, served),
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


@dataclass(frozen=True, kw_only=True)
class _Served:
    """How a device serves an access."""

    groups: tuple[tuple[int, ...], ...]
    """Lanes that are served together."""
    merge_distances: tuple[int, ...]
    """Of lanes that read alike, where two groups are then served at once."""


def _served(
    device: Device, operation: Operation, element_bytes: int, matrices: int | None
) -> _Served:
    if element_bytes > WIDEST_SHARED_ACCESS_BYTES:
        raise ArgumentError(
            f"element_bytes is {element_bytes}: shared memory takes up to "
            f"{WIDEST_SHARED_ACCESS_BYTES}"
        )
    written = device.shared_lane_groups.get(operation, {})
    width = cast("AccessWidth", f"{element_bytes} B")
    merged = merge_distances(device) if operation == "load" and matrices is None else ()
    if width in written:
        return _Served(groups=written[width].groups, merge_distances=merged)
    groups = law.lane_groups(
        lanes=device.warp_width.whole,
        element_bytes=element_bytes,
        banks=device.shared_banks.whole,
        bank_width_bytes=device.shared_bank_width.whole,
    )
    return _Served(groups=groups, merge_distances=merged)


def _matrix_lanes(
    device: Device,
    matrices: int | None,
    element_bytes: int,
    active: str | int | Sequence[bool] | NDArray[Any] | None,
) -> str | int | Sequence[bool] | NDArray[Any] | None:
    """The lanes that take part: those that give rows, where matrices are moved."""
    if matrices is None:
        return active
    if device.matrix_load_rows is None:
        raise ArgumentError(f"matrices is {matrices}: {device.device} has no matrix loads")
    if matrices not in (1, 2, 4):
        raise ArgumentError(f"matrices is {matrices}: 1, 2 or 4 are moved at once")
    if element_bytes != WIDEST_SHARED_ACCESS_BYTES:
        raise ArgumentError(f"element_bytes is {element_bytes}: a row of a matrix has 16 bytes")
    if active is not None:
        raise ArgumentError("active: all lanes take part in a matrix load; leave it out")
    return device.matrix_load_rows.whole * matrices


def _passes(
    device: Device, access: WarpAccess, addresses: NDArray[np.int64], served: _Served
) -> NDArray[np.int64]:
    return law.passes(
        addresses=addresses,
        active=access.active,
        element_bytes=access.element_bytes,
        banks=device.shared_banks.whole,
        bank_width_bytes=device.shared_bank_width.whole,
        groups=served.groups,
        merge_distances=served.merge_distances,
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


def _words(
    device: Device,
    access: WarpAccess,
    addresses: NDArray[np.int64],
    groups: Sequence[Sequence[int]],
) -> NDArray[np.int64]:
    """The distinct words wanted of each bank, in the group of lanes that wants most of it."""
    import numpy as np

    words: NDArray[np.int64] = np.stack(
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
    return words


def _present(group: Sequence[int], lanes: int) -> list[int]:
    return [lane for lane in group if lane < lanes]


def _most_passes(
    device: Device,
    accesses: Sequence[WarpAccess],
    addresses: Sequence[NDArray[np.int64]],
    served: _Served,
) -> tuple[tuple[int, ...], bool]:
    """The most passes each access takes with new addresses, and whether all are conflict-free."""
    found = []
    free = True
    for access, moved in zip(accesses, addresses, strict=True):
        passes = _passes(device, access, moved, served)
        free = free and not (passes > _ideal(device, access, served.groups)).any()
        found.append(int(passes.max()))
    return tuple(found), bool(free)


def _paddings(
    device: Device,
    accesses: Sequence[WarpAccess],
    served: _Served,
    rows: Sequence[int],
) -> tuple[Padding | None, Padding | None]:
    """The smallest padding that frees all accesses, and the one with the fewest passes."""
    least: Padding | None = None
    for pad in range(device.shared_banks.whole + 1):
        for row in rows:
            moved = [_padded(access, row, pad) for access in accesses]
            passes, free = _most_passes(device, accesses, moved, served)
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
    device: Device, accesses: Sequence[WarpAccess], served: _Served
) -> Swizzle | None:
    """The first mask and shift that free all accesses, fewest folded bits first.

    The folded bits land above the bits within an element, so that wide accesses stay whole, and
    below the mask, so that the map undoes itself and no two addresses meet.
    """
    unchanged = _swizzle(device, accesses, served, 0, 0)
    if unchanged is not None:
        return unchanged
    lowest = accesses[0].element_bytes.bit_length() - 1
    turn_bits = (device.shared_banks.whole * device.shared_bank_width.whole).bit_length() - 1
    highest = max(int(access.addresses.max()) for access in accesses).bit_length()
    for bits in range(1, turn_bits - lowest + 1):
        for target in range(lowest, turn_bits - bits + 1):
            for source in range(target + bits, highest):
                mask, shift = ((1 << bits) - 1) << source, source - target
                found = _swizzle(device, accesses, served, mask, shift)
                if found is not None:
                    return found
    return None


def _swizzle(
    device: Device,
    accesses: Sequence[WarpAccess],
    served: _Served,
    mask: int,
    shift: int,
) -> Swizzle | None:
    moved = [law.swizzled(addresses=a.addresses, mask=mask, shift=shift) for a in accesses]
    passes, free = _most_passes(device, accesses, moved, served)
    if not free:
        return None
    piece = 1 << (mask >> shift).bit_length() if mask else 1
    return Swizzle(mask=mask, shift=shift, passes=passes, piece_bytes=piece)
