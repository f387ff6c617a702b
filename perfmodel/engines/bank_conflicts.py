"""Bank conflicts: how many trips a warp's shared-memory access takes.

Shared memory is divided into banks (32 of 4 bytes on every device here). In one *pass* each bank
serves one of its words. Lanes that want the same word are served together (broadcast); lanes that
want different words of one bank wait for each other. A wide access, or a warp of 64 lanes, asks
for more than the banks can give in one pass even without a conflict, so the hardware serves the
lanes in groups, and

    passes = sum over groups of max over banks of |distinct words wanted of the bank|

Worked by hand, float tile[32][32] read by column: lane t wants word 32 t, all of bank 0, hence 32
passes. With rows padded to 33 words lane t wants word 33 t, bank t, hence 1 pass.

An access is conflict-free when its passes equal ideal_passes = ceil(lanes x bytes / bytes a pass
moves): 1 for 32 lanes of 4 bytes, 4 for 32 lanes of 16, 2 for 64 lanes of 4. An element narrower
than a bank occupies the bank all the same and counts as one bank wide. Where lanes are masked out,
the ideal is taken group by group, since lanes of different groups are never served together.

Which lanes form a group is a property of the device and of the access's width: consecutive lanes
on NVIDIA (32 of 4 bytes, 16 of 8, 8 of 16), not consecutive for 16-byte loads on CDNA.

NVIDIA's devices merge more than that. A load of 8 or 16 bytes whose lanes all read what their
neighbour reads, the neighbour being lane ^ 1 for all of them or lane ^ 2 for all of them, returns
two groups in one pass (`read_alike`, `paired_groups`); lanes that take no part do not stand in the
way. Stores are never merged.

The rules were compared with an H200's counters on 2349 accesses, in
validation/access_patterns: strides, offsets, equal and random addresses, XOR swizzles, 1 to 16
bytes a lane, loads and stores, masked lanes. Every one agrees.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from perfmodel.engines.arithmetic import Number, ceil_divide, maximum, require
from perfmodel.engines.distinct import ordered_distinct, require_addresses, spanned_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from perfmodel.engines.distinct import Integers, Mask


def lane_groups(
    *, lanes: int, element_bytes: int, banks: int, bank_width_bytes: int
) -> tuple[tuple[int, ...], ...]:
    """Groups of consecutive lanes that ask for no more than one pass can give.

    Equation: ``lanes a group = floor(banks x width / max(element, width))``, at least 1.

    Args:
        lanes: Lanes of a warp [lanes], at least 1.
        element_bytes: Bytes that a lane accesses [bytes], at least 1.
        banks: Banks of shared memory [-], at least 1.
        bank_width_bytes: Width of a bank [bytes], at least 1.

    Returns:
        The lanes of each group, in order.

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Source: the CUDA C++ programming guide, shared memory (64-bit and 128-bit accesses by half and
    quarter warps).

    Example:
        >>> [len(group) for group in lane_groups(
        ...     lanes=32, element_bytes=16, banks=32, bank_width_bytes=4)]
        [8, 8, 8, 8]
    """
    require("lanes", lanes, low=1, whole=True)
    size = max(_bytes_per_pass(element_bytes, banks, bank_width_bytes), 1)
    return tuple(tuple(range(first, min(first + size, lanes))) for first in range(0, lanes, size))


def passes(
    *,
    addresses: Integers,
    active: Mask,
    element_bytes: int,
    banks: int,
    bank_width_bytes: int,
    groups: Sequence[Sequence[int]],
    merge_distances: Sequence[int] = (),
) -> Integers:
    """Trips through the banks that a warp's access takes.

    Equation: ``sum over groups of max over banks of |distinct words of the bank|``, over pairs of
    groups where all lanes read alike

    Args:
        addresses: Byte address of each lane's element [bytes]; shape (..., lanes).
        active: Whether a lane takes part [-]; shape (..., lanes).
        element_bytes: Bytes that a lane accesses [bytes], at least 1.
        banks: Banks of shared memory [-], at least 1.
        bank_width_bytes: Width of a bank [bytes], at least 1.
        groups: Lanes that are served together [lanes], such as `lane_groups` gives.
        merge_distances: Distances of `read_alike` at which a device serves two groups of a load at
            once [lanes]; none for a store.

    Returns:
        Passes [passes]; shape (...). A group without an active lane takes none.

    Raises:
        ArgumentError: A size is not a whole number of at least 1, or an address is negative.

    Validity: loads, and stores in which no two lanes write the same word (those that do are
    counted as one word).

    Source: document 000, section 3.3; the CUDA C++ programming guide, shared memory.

    Example:
        >>> import numpy as np
        >>> lanes = np.arange(32)
        >>> int(passes(addresses=lanes * 2 * 4, active=lanes >= 0, element_bytes=4, banks=32,
        ...            bank_width_bytes=4, groups=[range(32)]))  # lanes t and t + 16 share a bank
        2
    """
    import numpy as np

    def served(by: Sequence[Sequence[int]]) -> Integers:
        total: Integers = np.zeros(addresses.shape[:-1], dtype=np.int64)
        for group in by:
            members = [lane for lane in group if lane < addresses.shape[-1]]
            if members:
                total = total + words_by_bank(
                    addresses=addresses[..., members],
                    active=active[..., members],
                    element_bytes=element_bytes,
                    banks=banks,
                    bank_width_bytes=bank_width_bytes,
                ).max(axis=-1)
        return total

    if not merge_distances or len(groups) < 2:
        return served(groups)
    alike = read_alike(addresses=addresses, active=active, distances=merge_distances)
    merged: Integers = np.where(alike, served(paired_groups(groups=groups)), served(groups))
    return merged


def read_alike(
    *, addresses: Integers, active: Mask, distances: Sequence[int]
) -> npt.NDArray[np.bool_]:
    """Whether every lane of a warp reads what its neighbour at one of some distances reads.

    Equation: ``exists d: for all active lanes l with l ^ d active: a(l) = a(l ^ d)``

    Args:
        addresses: Byte address of each lane's element [bytes]; shape (..., lanes).
        active: Whether a lane takes part [-]; shape (..., lanes).
        distances: d, each a power of two and less than the lanes [lanes].

    Returns:
        Whether it holds [-]; shape (...).

    Raises:
        ArgumentError: A distance is not a whole number of at least 1.

    Source: NVIDIA developer forum, "Unexpected shared memory bank conflict" (77228), for compute
    capability 7.0 to 7.5 and distances 1 and 2; measured on an H200, validation/access_patterns.

    Example:
        >>> import numpy as np
        >>> lanes = np.arange(32)
        >>> [bool(read_alike(addresses=16 * each, active=lanes >= 0, distances=(1, 2)))
        ...  for each in (lanes // 2, lanes % 2, lanes % 4, lanes)]
        [True, True, False, False]
    """
    import numpy as np

    for distance in distances:
        require("distances", distance, low=1, whole=True)
    lanes = np.arange(addresses.shape[-1])
    found = np.zeros(addresses.shape[:-1], dtype=np.bool_)
    for distance in distances:
        other = lanes ^ distance
        other = np.where(other < len(lanes), other, lanes)  # a lane that is not there agrees
        alike = (addresses == addresses[..., other]) | ~active | ~active[..., other]
        found |= alike.all(axis=-1)
    return found


def paired_groups(*, groups: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Each group of lanes together with the one after it.

    Equation: ``group k = groups 2 k and 2 k + 1``

    Args:
        groups: Lanes that are served together [lanes].

    Returns:
        Half as many groups, twice as large; a last one without another stays as it is.

    Raises:
        ArgumentError: There is no group.

    Source: NVIDIA developer forum, "Unexpected shared memory bank conflict" (77228): the return
    registers of two requests are packed; measured on an H200, validation/access_patterns.

    Example:
        >>> paired_groups(groups=[(0, 1), (2, 3), (4, 5), (6, 7)])
        ((0, 1, 2, 3), (4, 5, 6, 7))
    """
    require("number of groups", len(groups), low=1, whole=True)
    return tuple(
        tuple(lane for group in groups[first : first + 2] for lane in group)
        for first in range(0, len(groups), 2)
    )


def strided_passes(*, stride_words: int, banks: int) -> int:
    """Passes of lanes that each want one word, a constant stride apart, as many as banks.

    Equation: ``gcd(stride, banks)``

    Args:
        stride_words: From one lane's word to the next [words], at least 1.
        banks: Banks of shared memory, and lanes served together [-], at least 1.

    Returns:
        Passes [passes]: 1 for any odd stride where the banks are a power of two.

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Source: lanes t and t + banks / gcd share a bank; document 000, section 3.3 (strides 1, 2, 32).

    Example:
        >>> [strided_passes(stride_words=stride, banks=32) for stride in (1, 2, 32, 33)]
        [1, 2, 32, 1]
    """
    require("stride_words", stride_words, low=1, whole=True)
    require("banks", banks, low=1, whole=True)
    return gcd(stride_words, banks)


def words_by_bank(
    *,
    addresses: Integers,
    active: Mask,
    element_bytes: int,
    banks: int,
    bank_width_bytes: int,
) -> Integers:
    """Distinct words that a group of lanes wants of each bank.

    Equation: ``|{w : w mod banks = bank}|`` over the distinct words w the lanes touch.

    Args:
        addresses: Byte address of each lane's element [bytes]; shape (..., lanes of the group).
        active: Whether a lane takes part [-]; shape (..., lanes of the group).
        element_bytes: Bytes that a lane accesses [bytes], at least 1.
        banks: Banks of shared memory [-], at least 1.
        bank_width_bytes: Width of a bank [bytes], at least 1.

    Returns:
        Words [-]; shape (..., banks).

    Raises:
        ArgumentError: A size is not a whole number of at least 1, or an address is negative.

    Source: document 000, section 3.3.

    Example:
        >>> import numpy as np
        >>> words_by_bank(addresses=np.array([0, 128, 128, 4]), active=np.ones(4, bool),
        ...               element_bytes=4, banks=32, bank_width_bytes=4)[:3].tolist()
        [2, 1, 0]
    """
    import numpy as np

    require("banks", banks, low=1, whole=True)
    require("bank_width_bytes", bank_width_bytes, low=1, whole=True)
    require("element_bytes", element_bytes, low=1, whole=True)
    require_addresses(addresses, active)
    ordered, first = ordered_distinct(
        *spanned_blocks(addresses, active, element_bytes, bank_width_bytes)
    )
    accesses = addresses.shape[:-1]
    row = np.arange(ordered.size // max(ordered.shape[-1], 1)).reshape(*accesses, 1)
    counted: Integers = np.bincount(
        (row * banks + ordered % banks)[first], minlength=row.size * banks
    )
    return counted.reshape(*accesses, banks)


def ideal_passes(
    *, lanes: Number, element_bytes: Number, banks: Number, bank_width_bytes: Number
) -> Number:
    """Passes of a conflict-free access of so many lanes.

    Equation: ``ceil(lanes x max(element, width) / (banks x width))``

    Args:
        lanes: Active lanes [lanes], at least 0.
        element_bytes: Bytes that a lane accesses [bytes], at least 1.
        banks: Banks of shared memory [-], at least 1.
        bank_width_bytes: Width of a bank [bytes], at least 1.

    Returns:
        Passes [passes].

    Raises:
        ArgumentError: An argument is not a whole number in its range.

    Source: bytes over bytes per pass; document 000, section 3.3 (32 lanes on 32 banks: one).

    Example:
        >>> ideal_passes(lanes=32, element_bytes=16, banks=32, bank_width_bytes=4)  # 512 / 128
        4
    """
    require("lanes", lanes, low=0, whole=True)
    require("element_bytes", element_bytes, low=1, whole=True)
    require("banks", banks, low=1, whole=True)
    require("bank_width_bytes", bank_width_bytes, low=1, whole=True)
    return ceil_divide(lanes * maximum(element_bytes, bank_width_bytes), banks * bank_width_bytes)


def swizzled(*, addresses: Integers, mask: int, shift: int) -> Integers:
    """Addresses with some of their bits folded onto lower ones.

    Equation: ``a ^ ((a & mask) >> shift)``

    Args:
        addresses: Byte addresses [bytes], at least 0.
        mask: The bits that are folded [-], at least 0.
        shift: How far down they are folded [bits], at least 0.

    Returns:
        Byte addresses [bytes]; a rearrangement that never maps two addresses to one where the
        folded bits do not overlap the mask.

    Raises:
        ArgumentError: mask or shift is negative, or a mask is not shifted, which would map many
            addresses to one.

    Source: document 000, section 3.3 (which leaves mask and shift open).

    Example:
        >>> import numpy as np
        >>> swizzled(addresses=np.array([0, 128, 256]), mask=0xF80, shift=5).tolist()
        [0, 132, 264]
    """
    require("mask", mask, low=0, whole=True)
    require("shift", shift, low=0 if mask == 0 else 1, whole=True)
    folded: Integers = addresses ^ ((addresses & mask) >> shift)
    return folded


def padded(*, elements: Integers, row_elements: int, pad_elements: int) -> Integers:
    """Element indices once every row is followed by padding.

    Equation: ``i + floor(i / row) x pad``

    Args:
        elements: i, indices without padding [elements], at least 0.
        row_elements: Elements of a row [elements], at least 1.
        pad_elements: Elements added after each row [elements], at least 0.

    Returns:
        Indices [elements].

    Raises:
        ArgumentError: A size is not a whole number in its range.

    Source: document 000, section 3.3.

    Example:
        >>> import numpy as np
        >>> padded(elements=np.array([31, 32, 64]), row_elements=32, pad_elements=1).tolist()
        [31, 33, 66]
    """
    require("row_elements", row_elements, low=1, whole=True)
    require("pad_elements", pad_elements, low=0, whole=True)
    moved: Integers = elements + elements // row_elements * pad_elements
    return moved


def _bytes_per_pass(element_bytes: int, banks: int, bank_width_bytes: int) -> int:
    require("element_bytes", element_bytes, low=1, whole=True)
    require("banks", banks, low=1, whole=True)
    require("bank_width_bytes", bank_width_bytes, low=1, whole=True)
    return banks * bank_width_bytes // max(element_bytes, bank_width_bytes)
