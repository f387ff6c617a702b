"""A warp's access counted lane by lane and byte by byte, with Python's sets and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Access:
    """The address of each lane, None where it takes no part."""

    addresses: tuple[int | None, ...]
    element_bytes: int

    def bytes_of(self, lane: int) -> set[int]:
        address = self.addresses[lane]
        return set() if address is None else set(range(address, address + self.element_bytes))

    def bytes_used(self, lanes: Sequence[int] | None = None) -> set[int]:
        chosen = range(len(self.addresses)) if lanes is None else lanes
        return {byte for lane in chosen for byte in self.bytes_of(lane)}

    def blocks(self, size: int, lanes: Sequence[int] | None = None) -> int:
        """Aligned blocks of a size that hold at least one of the bytes."""
        return len({byte // size for byte in self.bytes_used(lanes)})

    def requests(self, group: int, transaction: int) -> int:
        """Transactions when every group of neighbouring lanes is merged for itself."""
        found = 0
        for first in range(0, len(self.addresses), group):
            neighbours = range(first, min(first + group, len(self.addresses)))
            found += self.blocks(transaction, neighbours)
        return found

    def words_of_banks(self, lanes: Sequence[int], banks: int, width: int) -> dict[int, set[int]]:
        """The words that some lanes want of each bank."""
        found: dict[int, set[int]] = {}
        for byte in self.bytes_used(lanes):
            word = byte // width
            found.setdefault(word % banks, set()).add(word)
        return found

    def passes(self, groups: Sequence[Sequence[int]], banks: int, width: int) -> int:
        """One group of lanes after the other; in each pass a bank gives one of its words."""
        trips = 0
        for group in groups:
            waiting = self.words_of_banks(group, banks, width)
            while any(waiting.values()):
                trips += 1
                for words in waiting.values():
                    if words:
                        words.pop()
        return trips

    @property
    def lanes(self) -> int:
        return sum(address is not None for address in self.addresses)


def accesses(
    indices: NDArray[np.int64], active: NDArray[np.bool_], element_bytes: int, base: int = 0
) -> Iterator[Access]:
    """One access for each row of indices in elements."""
    for row, taking_part in zip(indices.tolist(), active.tolist(), strict=True):
        yield Access(
            tuple(
                index * element_bytes + base if here else None
                for index, here in zip(row, taking_part, strict=True)
            ),
            element_bytes,
        )


def random_indices(
    rng: np.random.Generator, count: int, lanes: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Patterns that kernels have: strides, rows, scatter, lanes on one element, masks."""
    lane = np.arange(lanes)
    rows, masks = [], []
    for _ in range(count):
        start = int(rng.choice([0, 1, 2, 3, 7, 31, 32, int(rng.integers(0, 5000))]))
        row = rng.choice(
            np.stack(
                [
                    lane * int(rng.choice([0, 1, 2, 3, 4, 8, 16, 17, 31, 32, 33, 64, 512])),
                    lane[::-1] * int(rng.choice([1, 2, 5])),
                    lane % 16 * int(rng.choice([1, 16, 17, 32])) + lane // 16,
                    lane // int(rng.choice([2, 4, 8, 16, 32])) * int(rng.choice([1, 16, 33])),
                    lane ^ int(rng.integers(0, 64)),
                    rng.permutation(lanes),
                    rng.integers(0, 40, lanes),
                    rng.integers(0, 4000, lanes),
                    np.where(rng.random(lanes) < 0.5, 8, rng.integers(0, 500, lanes)),
                    rng.choice(np.array([0, 32, 64, 1024]), lanes),
                ]
            )
        )
        rows.append(row + start)
        masks.append(
            {
                0: np.ones(lanes, bool),
                1: np.ones(lanes, bool),
                2: lane < int(rng.integers(0, lanes + 1)),
                3: rng.random(lanes) < 0.5,
                4: lane % 2 == 0,
                5: lane == int(rng.integers(0, lanes)),
            }[int(rng.integers(0, 6))]
        )
    return np.array(rows, dtype=np.int64), np.array(masks)
