"""Results of the analyses of one access or branch of a warp."""

from dataclasses import dataclass, field
from typing import Any

from perfmodel.results.base import Result


@dataclass(frozen=True, kw_only=True)
class CoalescingResult(Result):
    """What a warp's global access becomes; sums over the accesses where there are several."""

    device: str
    operation: str
    level: str
    """The memory level whose lines and sectors are counted: l1 or l2."""
    element_bytes: int
    lanes: Any
    """Active lanes."""
    instructions: int
    """Instructions that one access of the warp takes: more than one beyond the widest access."""
    requests: Any
    """Requests that leave the coalescing unit."""
    requests_range: tuple[Any, Any]
    """The requests where the device merges groups of a size known as a range."""
    lines: Any
    """Distinct lines touched."""
    sectors: Any
    """Distinct sectors touched, instruction by instruction."""
    bytes_requested: Any
    """Bytes the lanes ask for, a byte asked for twice counted twice."""
    bytes_used: Any
    """Distinct bytes the lanes ask for."""
    bytes_moved: Any
    """Bytes of the sectors touched, or of the lines where the device moves whole lines."""
    efficiency: Any
    """bytes_used / bytes_moved."""
    efficiency_range: tuple[Any, Any]
    """The efficiency where the device's line and sector are known as ranges."""
    aligned: Any
    """Whether every active lane's address is a multiple of the element, or of the widest access."""
    address_cycles: Any
    """Cycles the address path of an MP is busy: taking addresses, looking up lines, sending
    requests."""
    data_cycles: Any
    """Cycles the L1 of an MP is busy delivering the bytes moved, were they all hits."""
    line_bytes: int
    sector_bytes: int
    addresses: Any = field(repr=False)
    """Byte address of each lane, the warp's first."""
    active: Any = field(repr=False)
    """Which lanes take part."""


@dataclass(frozen=True, kw_only=True)
class BankConflictResult(Result):
    """Passes of a warp's shared-memory access."""

    device: str
    operation: str
    element_bytes: int
    lanes: Any
    """Active lanes."""
    passes: Any
    """Trips through the banks."""
    ideal_passes: Any
    """Trips that the same lanes would take without a conflict."""
    conflict_free: Any
    """Whether passes are no more than ideal_passes; lanes that read alike can take fewer."""
    worst_bank: Any
    """The bank that is asked for the most distinct words in one group of lanes."""
    worst_degree: Any
    """How many distinct words that is."""
    banks: int
    bank_width_bytes: int
    groups: tuple[tuple[int, ...], ...]
    """Lanes served together."""
    addresses: Any = field(repr=False)
    """Byte address of each lane."""
    active: Any = field(repr=False)
    """Which lanes take part."""


@dataclass(frozen=True, kw_only=True)
class Padding(Result):
    """Elements added after every row."""

    row_elements: int
    pad_elements: int
    extra_share: float
    """Space added, as a share of the space without padding."""
    passes: tuple[int, ...]
    """Passes of each access with the padding."""


@dataclass(frozen=True, kw_only=True)
class Swizzle(Result):
    """address ^ ((address & mask) >> shift), on byte addresses, that frees all the accesses."""

    mask: int
    shift: int
    passes: tuple[int, ...]
    """Passes of each access with the swizzle."""
    piece_bytes: int
    """The swizzle rearranges every aligned piece of this size within itself, so an array that is a
    multiple of it needs no more space."""


@dataclass(frozen=True, kw_only=True)
class LayoutSuggestion(Result):
    """The smallest padding and XOR swizzle that free all the accesses given together."""

    device: str
    padding: Padding | None
    """The padding that frees all accesses; None where none does."""
    least_padding: Padding | None
    """Where none frees all accesses, the padding with the fewest passes over all of them."""
    swizzle: Swizzle | None
    """The swizzle that frees all accesses; None where none of this form does."""


@dataclass(frozen=True, kw_only=True)
class DivergenceResult(Result):
    """How a branch splits the warps of a block."""

    device: str
    warps: int
    active_warps: int
    """Warps in which at least one lane takes the branch."""
    divergent_warps: int
    """Warps whose lanes disagree."""
    serial_paths: list[int]
    """Paths that each warp runs one after the other."""
    active_lanes: list[list[int]]
    """Lanes on each path of each warp: taken first, then not taken."""
    simd_efficiency: float
    """Lanes that take the branch / lane slots of the warps that run it."""
    taken: Any = field(repr=False)
    """The predicate, thread by thread."""
