"""The sizes of a device that decide which accesses fall together."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from perfmodel.engines.bank_conflicts import lane_groups

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perfmodel.device.model import Device

WIDEST_SHARED_ACCESS_BYTES = 16
"""One shared-memory instruction moves at most so much for a lane; wider ones are several."""


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """Warp width, lines, sectors and banks; all sizes in bytes."""

    warp_width: int
    line: int
    sector: int
    l2_line: int
    l2_sector: int
    transaction: int
    coalescing_group: int
    max_access: int
    shared_banks: int
    shared_bank_width: int
    lane_groups: Mapping[tuple[str, int], tuple[tuple[int, ...], ...]] = field(
        default_factory=dict, hash=False
    )
    """Lanes served together, by operation and bytes a lane, where they are not consecutive."""
    merge_distances: tuple[int, ...] = ()
    """Of lanes that read alike, where two groups of a wide load are then served at once."""

    def resized(self, sizes: Mapping[str, int]) -> Geometry:
        """The geometry with other sizes."""
        return Geometry(**sizes, lane_groups=self.lane_groups, merge_distances=self.merge_distances)

    @cached_property
    def period(self) -> int:
        """An access moved by this many bytes is the same access."""
        return math.lcm(self.line, self.sector, self.l2_line, self.l2_sector, self.transaction)

    @cached_property
    def shared_period(self) -> int:
        """The same for shared memory."""
        return self.shared_banks * self.shared_bank_width

    def shared_groups(self, operation: str, access_bytes: int) -> Sequence[Sequence[int]]:
        """The lanes that shared memory serves together."""
        written = self.lane_groups.get((operation, access_bytes))
        if written is not None:
            return written
        return lane_groups(
            lanes=self.warp_width,
            element_bytes=access_bytes,
            banks=self.shared_banks,
            bank_width_bytes=self.shared_bank_width,
        )


FIELDS: Mapping[str, str] = {
    "warp_width": "warp_width",
    "l1_line": "line",
    "l1_sector": "sector",
    "l2_line": "l2_line",
    "l2_sector": "l2_sector",
    "transaction": "transaction",
    "coalescing_group": "coalescing_group",
    "max_access": "max_access",
    "shared_banks": "shared_banks",
    "shared_bank_width": "shared_bank_width",
}
"""The device fields that a geometry is made of."""


def merge_distances(device: Device) -> tuple[int, ...]:
    """The distances between lanes that read alike at which a device merges groups of a load.

    Example:
        >>> from perfmodel import load_device
        >>> merge_distances(load_device("h200")), merge_distances(load_device("mi300x"))
        ((1, 2), ())
    """
    most = device.shared_merge_distance
    return () if most is None else tuple(1 << power for power in range(most.whole.bit_length()))


def device_geometry(device: Device) -> Geometry:
    """The geometry of a device.

    Example:
        >>> from perfmodel import load_device
        >>> device_geometry(load_device("s5000")).line
        128
    """
    groups: dict[tuple[str, int], tuple[tuple[int, ...], ...]] = {
        (operation, int(width.removesuffix(" B"))): written.groups
        for operation, by_width in device.shared_lane_groups.items()
        for width, written in by_width.items()
    }
    sizes = {ours: getattr(device, name).whole for name, ours in FIELDS.items()}
    return Geometry(**sizes, lane_groups=groups, merge_distances=merge_distances(device))
