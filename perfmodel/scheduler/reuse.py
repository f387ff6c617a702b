"""The bytes that move at L2 and DRAM, from what is touched again while it is still cached.

A body is a tree of loops. While a loop runs once, it touches a footprint; what it asks for beyond
that is asked for again. If the footprints of all that runs at the same time fit a cache, asking
again costs nothing below it; if they do not fit, the share that does is still found
(`capacity / footprint`, as where lines are replaced at random). Going from the innermost loop
outwards, each level can only take away from what the level inside it misses.

For the L1 the blocks resident on one multiprocessor run at the same time, for the L2 those of the
whole device. Blocks that read the same part of an array share it. A loop that moves by less than
a line is cut into the few iterations that stay on one line and the rest.

Loads of global memory may stay in the L1; stores and atomics go through to the L2, and are merged
there. Bulk copies pass the L1 by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from perfmodel.kernels.affine import MEMBERS, reads
from perfmodel.kernels.counting import LaunchCounts, RoleCounts, element_bytes
from perfmodel.kernels.fast import compiled
from perfmodel.kernels.schema import Atomic, Copy, Load, Store
from perfmodel.kernels.setting import Amount, Setting, at, distinct, gathered
from perfmodel.kernels.sites import BLOCK_NAMES, Scope, Site

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Key = tuple[str, str]
"""An array and load, copy or store."""


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """Bytes of one array in one direction over a launch."""

    asked: Amount
    """In the sectors that the warps' requests touch, each request for itself."""
    l2: Amount
    """What reaches the L2."""
    dram: Amount
    """What reaches the DRAM."""


@dataclass(frozen=True, kw_only=True)
class LaunchTraffic:
    """The traffic of a launch, and what it leaves in the L2."""

    by_array: Mapping[Key, Traffic]
    kept_in_l2: Mapping[str, Amount]
    """Share of each array it touched that is still in the L2 when it ends."""

    def total(self, level: str) -> Amount:
        """The bytes of all arrays at a level: asked, l2 or dram."""
        return sum((getattr(each, level) for each in self.by_array.values()), 0.0)


@dataclass(frozen=True, kw_only=True)
class _Level:
    """One cache, and what runs above it at the same time."""

    block_bytes: Amount
    """What it is filled by: a sector."""
    line_bytes: Amount
    capacity: Amount
    resident_blocks: Amount
    """Blocks that run above it at the same time."""
    stride: Amount
    """From one of them to the next in launch order."""
    kinds: tuple[str, ...]
    """What can be found again in it."""


def launch_traffic(
    counts: LaunchCounts,
    setting: Setting,
    *,
    blocks_per_mp: Amount,
    mps: Amount,
    l1_bytes: Amount,
    l2_bytes: Amount,
    found_in_l2: Mapping[str, Amount],
) -> LaunchTraffic:
    """The bytes of a launch at each level.

    Args:
        counts: The launch.
        setting: What it was counted for.
        blocks_per_mp: Blocks resident on a multiprocessor.
        mps: Multiprocessors.
        l1_bytes: L1 of a multiprocessor that is left for global memory [bytes].
        l2_bytes: L2 [bytes].
        found_in_l2: Share of an array that is in the L2 before the launch starts.

    Returns:
        The traffic by array and direction.
    """
    resident = np.maximum(np.minimum(blocks_per_mp, counts.blocks / mps), 1.0)
    wave = np.minimum(np.maximum(blocks_per_mp * mps, 1), counts.blocks)
    geometry = setting.of_geometry
    l1 = _Level(
        block_bytes=geometry("sector"),
        line_bytes=geometry("line"),
        capacity=l1_bytes,
        resident_blocks=resident,
        stride=mps,
        kinds=("load",),
    )
    l2 = _Level(
        block_bytes=geometry("l2_sector"),
        line_bytes=geometry("l2_sector"),
        capacity=l2_bytes,
        resident_blocks=wave,
        stride=1,
        kinds=("load", "copy", "store"),
    )
    above, _ = _misses(counts, setting, l1)
    below, kept = _misses(counts, setting, l2)
    asked = _asked(counts, setting)
    found: dict[Key, Traffic] = {}
    for key, bytes_asked in asked.items():
        l2_traffic: Amount = above.get(key, bytes_asked)
        dram: Amount = below[key]
        if key[1] == "load":
            dram = np.minimum(dram, l2_traffic)
        if key[1] != "store" and key[0] in found_in_l2:
            dram = dram * (1 - found_in_l2[key[0]])
        found[key] = Traffic(asked=bytes_asked, l2=l2_traffic, dram=dram)
    return LaunchTraffic(by_array=found, kept_in_l2=kept)


def kind_of(site: Site) -> str:
    """Load, copy or store."""
    match site.statement:
        case Load():
            return "load"
        case Copy():
            return "copy"
        case _:
            return "store"


def global_accesses(counts: LaunchCounts) -> Iterator[tuple[RoleCounts, Site]]:
    """Every access to global memory."""
    for role in counts.roles:
        arrays = role.counter.launch.rung.arrays
        for site in role.sites.sites:
            if (
                isinstance(site.statement, Load | Store | Atomic | Copy)
                and arrays[site.array or ""].space == "global"
            ):
                yield role, site


def _asked(counts: LaunchCounts, setting: Setting) -> dict[Key, Amount]:
    found: dict[Key, Amount] = {}
    for role, site in global_accesses(counts):
        key = (site.array or "", kind_of(site))
        sectors = role.tallies[site.position].sectors * setting.of_geometry("sector")
        found[key] = found.get(key, 0.0) + sectors
    return found


def _misses(
    counts: LaunchCounts, setting: Setting, level: _Level
) -> tuple[dict[Key, Amount], dict[str, Amount]]:
    """Bytes of a launch that a cache does not have, and the share of each array it keeps."""
    walker = _Walker(counts, setting, level)
    total: dict[Key, Amount] = {}
    roots: list[_Footprints] = []
    for role in counts.roles:
        misses, touched = walker.scope(role, role.sites.root)
        roots.append(touched)
        for key, amount in misses.items():
            total[key] = total.get(key, 0.0) + amount
    return walker.whole(total, roots)


class _Footprints:
    """Distinct bytes by array: accesses that touch the same bytes are counted once."""

    def __init__(self) -> None:
        self._marked: dict[Key, list[tuple[Any, Amount, Amount, Amount]]] = {}

    def add(self, key: Key, mark: Any, size: Amount, lines: Amount, of_grid: Amount) -> None:
        """Note what an access touches: bytes in sectors and in lines, and those of the grid."""
        same = self._marked.setdefault(key, [])
        fresh: Amount = 1.0
        for other, *_ in same:
            equal = other == mark
            different = np.where(equal, 0.0, 1.0) if isinstance(equal, np.ndarray) else not equal
            fresh = fresh * (1.0 * different)
        same.append((mark, size * fresh, lines * fresh, of_grid * fresh))

    def bytes(self) -> dict[Key, Amount]:
        """Bytes in sectors of the blocks that run at the same time."""
        return {key: sum(each[1] for each in same) for key, same in self._marked.items()}

    def of_grid(self) -> dict[Key, Amount]:
        """Bytes in sectors of all blocks."""
        return {key: sum(each[3] for each in same) for key, same in self._marked.items()}

    def lines(self) -> Amount:
        """Bytes in lines of all arrays together."""
        return sum((each[2] for same in self._marked.values() for each in same), 0.0)


class _Walker:
    """Goes through the loops of a launch from the inside outwards for one cache."""

    def __init__(self, counts: LaunchCounts, setting: Setting, level: _Level) -> None:
        self.counts = counts
        self.setting = setting
        self.level = level
        self.rounds = counts.blocks / level.resident_blocks
        self._shared: dict[tuple[int, bool], Amount] = {}

    def scope(self, role: RoleCounts, scope: Scope) -> tuple[dict[Key, Amount], _Footprints]:
        """Misses of a scope run once by all resident blocks, and what it touches."""
        inside: dict[Key, Amount] = {}
        for item in scope.items:
            found = self._leaf(role, item) if isinstance(item, Site) else self.scope(role, item)[0]
            for key, amount in found.items():
                inside[key] = inside.get(key, 0.0) + amount
        if not inside:
            return inside, _Footprints()
        touched = self._touched(role, scope, {})
        misses = self._reduced(inside, touched)
        if scope.loop is None:
            return misses, touched
        trips = role.trips[scope.loop.counter]
        size = np.maximum(role.sizes[scope.loop.counter], 1)
        share = trips / size
        few = np.minimum(self._on_one_line(role, scope), size)
        together = {key: amount * few for key, amount in misses.items()}
        some = self._touched(role, scope, {scope.loop.counter: few})
        together = self._reduced(together, some)
        whole = {key: amount * size / few for key, amount in together.items()}
        full = self._touched(role, scope, {scope.loop.counter: size})
        reduced = self._reduced(whole, full)
        return {key: amount * share for key, amount in reduced.items()}, full

    def whole(
        self, misses: Mapping[Key, Amount], roots: list[_Footprints]
    ) -> tuple[dict[Key, Amount], dict[str, Amount]]:
        """Misses of the launch, and the share of what it touched that the cache still holds."""
        total = {key: amount * self.rounds for key, amount in misses.items()}
        extents = self._extents()
        of_round: dict[Key, Amount] = {}
        of_grid: dict[Key, Amount] = {}
        for touched in roots:
            grid = touched.of_grid()
            for key, amount in touched.bytes().items():
                of_round[key] = of_round.get(key, 0.0) + amount
                of_grid[key] = of_grid.get(key, 0.0) + grid[key]
        once = {key: np.minimum(amount, extents[key[0]]) for key, amount in of_grid.items()}
        at_once: Amount = sum(of_round.values(), 0.0)
        everything: Amount = sum(once.values(), 0.0)
        kept = np.minimum(1.0, self.level.capacity / np.maximum(everything, 1.0))
        if self.level.kinds == ("load",):  # an L1 is not kept from one round of blocks to the next
            return total, {}
        for key, amount in of_round.items():
            # After so many rounds the blocks come back to what they have touched before.
            rounds = np.maximum(once[key] / np.maximum(amount, 1.0), 1.0)
            apart = rounds * np.maximum(at_once, 1.0)
            found = np.maximum(kept, np.minimum(1.0, self.level.capacity / apart))
            total[key] = np.minimum(total[key], found * once[key] + (1 - found) * total[key])
        return total, {key[0]: kept for key in of_round}

    def _extents(self) -> dict[str, Amount]:
        launch = self.counts.roles[0].counter.launch
        return {
            name: compiled(array.extent.root)(self.counts.names)
            * element_bytes(array, self.setting.types)
            for name, array in launch.rung.arrays.items()
        }

    def _reduced(self, misses: Mapping[Key, Amount], touched: _Footprints) -> dict[Key, Amount]:
        lines = touched.lines()
        found = np.minimum(1.0, self.level.capacity / np.maximum(lines, 1.0))
        sizes = touched.bytes()
        return {
            key: np.minimum(amount, found * sizes[key] + (1 - found) * amount)
            if key in sizes
            else amount
            for key, amount in misses.items()
        }

    def _leaf(self, role: RoleCounts, site: Site) -> dict[Key, Amount]:
        """What an access asks for in one iteration of the loops around it, by resident blocks."""
        if not self._is_global(role, site):
            return {}
        tallies = role.tallies[site.position]
        sectors = tallies.sectors if self.level.kinds == ("load",) else tallies.l2_sectors
        times: Amount = self.counts.blocks
        for loop in site.loops:
            times = times * np.maximum(role.trips[loop.counter], 1e-9)
        once = sectors * self.level.block_bytes * self.level.resident_blocks / times
        if site.loops and kind_of(site) == "load":
            loop = site.loops[-1]
            unroll = compiled(loop.statement.unroll.root)(self.counts.names)
            few = np.minimum(unroll, np.maximum(role.sizes[loop.counter], 1))
            if np.any(few > 1):
                share = role.counter.repeated_share(
                    site, {loop.counter: few}, self.level.block_bytes
                )
                once = once * share
        return {(site.array or "", kind_of(site)): once}

    def _is_global(self, role: RoleCounts, site: Site) -> bool:
        statement = site.statement
        if not isinstance(statement, Load | Store | Atomic | Copy):
            return False
        if role.counter.launch.rung.arrays[statement.array].space != "global":
            return False
        return kind_of(site) in self.level.kinds

    def _touched(
        self, role: RoleCounts, scope: Scope, running: Mapping[str, Amount]
    ) -> _Footprints:
        """What a scope touches while it and all inside it run."""
        found = _Footprints()
        for site, size, lines, mark in self._footprints(role, scope, running):
            present = self._presence(role, site)
            times = self._different_blocks(site) * present
            of_grid = size * self._different_blocks(site, of_grid=True) * present
            found.add((site.array or "", kind_of(site)), mark, size * times, lines * times, of_grid)
        return found

    def _footprints(
        self, role: RoleCounts, scope: Scope, running: Mapping[str, Amount]
    ) -> list[tuple[Site, Amount, Amount, Any]]:
        """Bytes that one block touches, in sectors and in lines, by each access of a scope."""
        if self.setting.size > 1:
            return self._new_footprints(role, scope, running)
        level = self.level
        sizes = (level.kinds, level.block_bytes, level.line_bytes)
        key = (id(scope), sizes, tuple((name, float(each)) for name, each in running.items()))
        kept = role.counter.kept
        if key not in kept:
            kept[key] = self._new_footprints(role, scope, running)
        known: list[tuple[Site, Amount, Amount, Any]] = kept[key]
        return known

    def _new_footprints(
        self, role: RoleCounts, scope: Scope, running: Mapping[str, Amount]
    ) -> list[tuple[Site, Amount, Amount, Any]]:
        found: list[tuple[Site, Amount, Amount, Any]] = []
        for site in scope.sites():
            if not self._is_global(role, site):
                continue
            loops = list(site.loops)
            inner = loops[loops.index(scope.loop) + 1 :] if scope.loop else loops
            runs = {loop.counter: np.maximum(role.sizes[loop.counter], 1) for loop in inner}
            runs.update(running)
            block, line = self.level.block_bytes, self.level.line_bytes
            (blocks, lines), mark = role.counter.footprints(site, runs, (block, line))
            found.append((site, blocks * block, lines * line, mark))
        return found

    def _presence(self, role: RoleCounts, site: Site) -> Amount:
        """The share of blocks and iterations in which a site is executed at all, at most 1."""
        tallies = role.tallies[site.position]
        times: Amount = self.counts.blocks
        for loop in site.loops:
            times = times * np.maximum(role.trips[loop.counter], 1e-9)
        return np.minimum(1.0, tallies.executions / times)

    def _different_blocks(self, site: Site, *, of_grid: bool = False) -> Amount:
        """How many of the resident blocks touch parts of the array of their own; or of all."""
        known = self._shared.get((site.position, of_grid))
        if known is None:
            resident, stride = self.level.resident_blocks, self.level.stride
            if of_grid:
                resident, stride = self.counts.blocks, 1
            known = self._count_different(site, resident, stride)
            self._shared[site.position, of_grid] = known
        return known

    def _count_different(self, site: Site, resident: Amount, stride: Amount) -> Amount:
        parts = site.parts
        names = self.counts.names
        read = frozenset(BLOCK_NAMES) & reads_of_index(site)
        if not read:
            return 1.0
        shifts = [each for each in parts.shifts if reads(each) & read]
        if shifts or parts.tangled & read:
            return self._listed_blocks(site, read, resident, stride)
        x, y, z = (f"blockIdx.{m}" in read for m in MEMBERS)
        grid = self.counts.grid
        if isinstance(stride, int) and stride == 1:
            across = np.minimum(resident, grid[0])
            down = np.minimum(np.ceil(resident / grid[0]), grid[1])
            deep = np.minimum(np.ceil(resident / (grid[0] * grid[1])), grid[2])
        else:
            turn = np.gcd(stride % grid[0], grid[0])
            across = np.minimum(resident, grid[0] / np.maximum(turn, 1))
            reach = (resident - 1) * stride + 1
            down = np.minimum(np.minimum(resident, np.ceil(reach / grid[0])), grid[1])
            deep = np.minimum(np.minimum(resident, np.ceil(reach / (grid[0] * grid[1]))), grid[2])
        several: Amount = 1.0
        for chosen, count in ((x, across), (y, down), (z, deep)):
            several = several * (count if chosen else 1.0)
        for name, node in parts.linear.items():
            if name in read and np.all(compiled(node)(names) == 0):
                return self._listed_blocks(site, read, resident, stride)
        return np.minimum(several, resident)

    def _listed_blocks(
        self, site: Site, read: frozenset[str], resident: Amount, stride: Amount
    ) -> Amount:
        """Distinct parts, block by block, where the mapping of blocks is no sum."""
        names = self.counts.names
        used = sorted(name for name in reads_of_index(site) if name in names)
        columns = [
            resident,
            stride,
            *self.counts.grid,
            *(names[name] for name in used),
        ]
        chosen, which = distinct(columns, self.setting.size)
        counter = self.counts.roles[0].counter
        found = []
        for place in chosen:
            values = tuple(at(each, place) for each in columns)
            key = ("blocks", counter.launch.number, site.position, values)
            env = {name: at(names[name], place) for name in used}
            found.append(
                counter.launch.prepared.kept(
                    key, lambda values=values, env=env: _distinct_parts(site, read, values, env)
                )
            )
        return gathered(found, which)

    def _on_one_line(self, role: RoleCounts, scope: Scope) -> Amount:
        """Iterations of a loop that stay on one line, the most of its accesses."""
        assert scope.loop is not None
        counter = scope.loop.counter
        found: Amount = 1
        for site in scope.sites():
            if not self._is_global(role, site) or counter not in site.parts.linear:
                continue
            array = role.counter.launch.rung.arrays[site.array or ""]
            size = element_bytes(array, self.setting.types)
            step = np.abs(compiled(site.parts.linear[counter])(self.counts.names) * size)
            line = self.level.line_bytes
            few = np.where((step > 0) & (step < line), line // np.maximum(step, 1), 1)
            found = np.maximum(found, few)
        return found


def reads_of_index(site: Site) -> frozenset[str]:
    """What the index alone reads."""
    return reads(site.index) if site.index else frozenset()


def _distinct_parts(
    site: Site, read: frozenset[str], values: tuple[Any, ...], env: Mapping[str, Any]
) -> float:
    resident, stride, width, height, _ = values[:5]
    number = np.arange(max(int(resident), 1), dtype=np.int64) * int(stride)
    names = {
        **env,
        "blockIdx.x": number % width,
        "blockIdx.y": number // width % height,
        "blockIdx.z": number // (width * height),
    }
    if site.parts.tangled & read:
        return float(resident)
    added: Any = np.zeros_like(number)
    for name, node in site.parts.linear.items():
        if name in BLOCK_NAMES:
            added = added + compiled(node)(names) * names[name]
    for shift in site.parts.shifts:
        if reads(shift) <= names.keys():
            added = added + compiled(shift)(names)
    return len(np.unique(added)) / len(number) * float(resident)
