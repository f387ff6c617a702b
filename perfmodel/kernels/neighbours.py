"""What accesses of one array touch that lie a distance apart, in blocks that follow one another.

The loads of a stencil read nearly the same bytes, and so do blocks whose borders fall into a
sector. What each adds to the others is counted by putting their runs of bytes together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from perfmodel.kernels.affine import reads
from perfmodel.kernels.fast import compiled
from perfmodel.kernels.footprints import touched_runs
from perfmodel.kernels.patterns import Case, thread_names
from perfmodel.kernels.sites import BLOCK_NAMES, Site

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Added:
    """What accesses add to those before them, as shares of what the first touches by itself.

    By itself means block by block, where no block finds what another brought.
    """

    shares: tuple[tuple[float, ...], ...]
    """For each access, at each size of a block of memory."""


def added_bytes(site: Site, case: Case, wanted: tuple[Sequence[int], tuple[Site, ...]]) -> Added:
    """What several accesses touch that differ by a distance.

    A distance is the one that most threads have, so that what is done at the border of an array
    does not count; an access whose distance changes is taken to touch bytes of its own. Predicates
    over a block's number are taken to hold.

    Args:
        site: The first of them, whose index adds multiples of the variables.
        case: Its numbers; among `values` may be numbers of blocks by the name of their index.
        wanted: Block sizes to count at [bytes], and the other accesses, whose indices read the
            same variables.

    Returns:
        The shares of the first access and of the others, which all add the same.
    """
    sizes, others = wanted
    distances = [_distance(site, other, case) for other in others]
    known = sorted({0, *(each for each in distances if each is not None)})
    guards = [guard for guard in site.guards if not reads(guard) & frozenset(BLOCK_NAMES)]
    single = touched_runs(site, _of_one_block(case), guards)
    first = touched_runs(site, case, guards)
    every = touched_runs(site, case, guards, np.array(known, dtype=np.int64) - known[0])
    if single is None or first is None or every is None:
        return Added(shares=((1.0,) * len(sizes),) * (1 + len(others)))
    blocks = _blocks(site, case)
    of_first, of_others = [], []
    for size in sizes:
        alone = single.blocks(size) * blocks
        one = min(first.blocks(size) / alone, 1.0)
        new = min(max(every.blocks(size) / alone - one, 0.0), len(known) - 1.0)
        of_first.append(one)
        of_others.append(new / max(len(known) - 1, 1))
    shares = [tuple(of_first)]
    seen = {0}
    for distance in distances:
        if distance is None:
            shares.append((1.0,) * len(sizes))
        else:
            shares.append((0.0,) * len(sizes) if distance in seen else tuple(of_others))
            seen.add(distance)
    return Added(shares=tuple(shares))


def _distance(site: Site, other: Site, case: Case) -> int | None:
    """Elements from one access to another, where most threads have the same and go on having it."""
    assert site.compiled_index is not None
    assert other.compiled_index is not None
    found: set[int] = set()
    start: dict[str, Any] = {**case.env, **dict.fromkeys(case.values, 0), **thread_names(case)}
    for moved in (None, *(name for name in site.variables if name in site.read)):
        names = start if moved is None else {**start, moved: 1}
        apart = np.asarray(other.compiled_index(names)) - np.asarray(site.compiled_index(names))
        values, counts = np.unique(np.atleast_1d(apart), return_counts=True)
        place = int(np.argmax(counts))
        if 2 * counts[place] < counts.sum():
            return None
        found.add(int(values[place]))
    return found.pop() if len(found) == 1 else None


def _of_one_block(case: Case) -> Case:
    """The case of a block by itself."""
    values = {name: each for name, each in case.values.items() if name not in BLOCK_NAMES}
    return Case(
        **{**vars(case), "values": values, "env": {**dict.fromkeys(BLOCK_NAMES, 0), **case.env}}
    )


def _blocks(site: Site, case: Case) -> int:
    """Blocks that touch parts of their own."""
    several = 1
    for name in BLOCK_NAMES:
        moves = name in site.parts.linear and compiled(site.parts.linear[name])(case.env) != 0
        several *= int(case.values[name]) if moves and name in case.values else 1
    return several
