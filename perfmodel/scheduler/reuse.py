"""The bytes that move at L2 and DRAM, from what is touched again while it is still cached.

A body is a tree of loops. While a loop runs once, it touches a footprint; what it asks for beyond
that is asked for again. If the footprints of all that runs at the same time fit a cache, asking
again costs nothing below it; if they do not fit, the share that does is still found
(`capacity / footprint`, as where lines are replaced at random). Going from the innermost loop
outwards, each level can only take away from what the level inside it misses.

For the L1 the blocks resident on one multiprocessor run at the same time, for the L2 those of the
whole device. Blocks that read the same part of an array share it, and so do accesses that lie a
distance apart, as the loads of a stencil do. A loop that moves by less than a line is cut into the
few iterations that stay on one line and the rest. Of several accesses to the same bytes the first
in order misses; the others find what it brought.

Loads of global memory may stay in the L1; stores and atomics go through to the L2, and are merged
there. What the L2 still holds of them when the launch ends has not gone to the DRAM. Bulk copies
pass the L1 by.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
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
    left: Amount
    """What was written and is still in the L2 alone when the launch ends."""


@dataclass(frozen=True, kw_only=True)
class LaunchTraffic:
    """The traffic of a launch, and what it leaves in the L2."""

    by_array: Mapping[Key, Traffic]
    shares: Mapping[int, tuple[Amount, Amount]]
    """Of what each access asks for the shares that reach the L2 and the DRAM, by position."""
    sharers: Mapping[int, Amount]
    """Blocks that run at the same time and touch the same part of the array, by position."""
    kept_in_l2: Mapping[str, Amount]
    """Share of each array it touched that is still in the L2 when it ends."""

    def total(self, level: str) -> Amount:
        """The bytes of all arrays at a level: asked, l2, dram or left."""
        return sum((getattr(each, level) for each in self.by_array.values()), 0.0)

    @cached_property
    def read_bytes(self) -> Amount:
        """What is read from the DRAM."""
        return sum((each.dram for key, each in self.by_array.items() if key[1] != "store"), 0.0)

    @cached_property
    def written_bytes(self) -> Amount:
        """What is written to the DRAM."""
        return sum((each.dram for key, each in self.by_array.items() if key[1] == "store"), 0.0)


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


@dataclass(frozen=True, kw_only=True)
class Around:
    """What a launch finds around it: caches, and blocks beside one another."""

    blocks_per_mp: Amount
    """Blocks resident on a multiprocessor."""
    mps: Amount
    """Multiprocessors."""
    l1_bytes: Amount
    """L1 of a multiprocessor that is left for global memory [bytes]."""
    l2_bytes: Amount
    """L2 [bytes]."""
    found_in_l2: Mapping[str, Amount]
    """Share of an array that is in the L2 before the launch starts."""

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal where everything is, for a single prediction."""
        amounts = (self.blocks_per_mp, self.mps, self.l1_bytes, self.l2_bytes)
        return (*map(float, (*amounts, *self.found_in_l2.values())), *self.found_in_l2)


def launch_traffic(counts: LaunchCounts, setting: Setting, around: Around) -> LaunchTraffic:
    """The bytes of a launch at each level.

    Args:
        counts: The launch.
        setting: What it was counted for.
        around: What it finds around it.

    Returns:
        The traffic by array and direction.
    """
    if setting.size > 1:
        return _moved(counts, setting, around)
    # What-ifs and rungs asked for again move the same bytes, whatever the rates are.
    known = counts.roles[0].counter.kept
    key = ("traffic", around.key)
    if key not in known:
        known[key] = _moved(counts, setting, around)
    found: LaunchTraffic = known[key]
    return found


def _moved(counts: LaunchCounts, setting: Setting, around: Around) -> LaunchTraffic:
    blocks_per_mp, mps, found_in_l2 = around.blocks_per_mp, around.mps, around.found_in_l2
    resident = np.maximum(np.minimum(blocks_per_mp, counts.blocks / mps), 1.0)
    wave = np.minimum(np.maximum(blocks_per_mp * mps, 1), counts.blocks)
    geometry = setting.of_geometry
    l1 = _Level(
        block_bytes=geometry("sector"),
        line_bytes=geometry("line"),
        capacity=around.l1_bytes,
        resident_blocks=resident,
        stride=mps,
        kinds=("load",),
    )
    l2 = _Level(
        block_bytes=geometry("l2_sector"),
        line_bytes=geometry("l2_line"),
        capacity=around.l2_bytes,
        resident_blocks=wave,
        stride=1,
        kinds=("load", "copy", "store"),
    )
    above, _ = _misses(_Walker(counts, setting, l1), {})
    walker = _Walker(counts, setting, l2)
    below, kept = _misses(walker, above)
    found: dict[Key, Traffic] = {}
    shares: dict[int, tuple[Amount, Amount]] = {}
    for role, site in global_accesses(counts):
        key = key_of(site)
        asked = role.tallies[site.position].sectors * setting.of_geometry("sector")
        to_l2: Amount = above.get(site.position, asked)
        to_dram: Amount = below[site.position]
        left: Amount = 0.0
        if key[1] == "store":
            left = to_dram * kept.get(key[0], 0.0)
            to_dram = to_dram - left
        elif key[0] in found_in_l2:
            to_dram = to_dram * (1 - found_in_l2[key[0]])
        before = found.get(key, Traffic(asked=0.0, l2=0.0, dram=0.0, left=0.0))
        found[key] = Traffic(
            asked=before.asked + asked,
            l2=before.l2 + to_l2,
            dram=before.dram + to_dram,
            left=before.left + left,
        )
        divided = np.maximum(asked, 1e-300)
        shares[site.position] = (to_l2 / divided, to_dram / divided)
    sharers = {site.position: walker.sharers(site) for _, site in global_accesses(counts)}
    return LaunchTraffic(by_array=found, shares=shares, sharers=sharers, kept_in_l2=kept)


def kind_of(site: Site) -> str:
    """Load, copy or store."""
    match site.statement:
        case Load():
            return "load"
        case Copy():
            return "copy"
        case _:
            return "store"


def key_of(site: Site) -> Key:
    """The array that an access is to, and what it does."""
    return site.array or "", kind_of(site)


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


def _misses(
    walker: _Walker, asked: Mapping[int, Amount]
) -> tuple[dict[int, Amount], dict[str, Amount]]:
    """Bytes of each access that a cache does not have, and the share of each array it keeps.

    `asked` has what reaches the cache where another above it has taken something away.
    """
    total: dict[int, Amount] = {}
    roots: list[_Footprints] = []
    for role in walker.counts.roles:
        misses, touched = walker.scope(role, role.sites.root)
        roots.append(touched)
        total.update(misses)
    return walker.whole(total, roots, asked)


@dataclass(frozen=True, kw_only=True)
class _Mark:
    """What tells the bytes that accesses touch apart."""

    fingerprint: Amount
    """Of the first block, in the first iteration of what stands still."""
    steps: Mapping[str, Amount]
    """Elements by which each variable that stands still moves the access."""


@dataclass(frozen=True, kw_only=True)
class _Touched:
    """What an access touches that none before it does [bytes]."""

    mark: _Mark
    sectors: Amount
    lines: Amount
    of_grid: Amount
    """In sectors, by all blocks."""


def _same(mark: _Mark, other: _Mark) -> Amount:
    """1 where two accesses touch the same bytes, else 0."""
    equal: Amount = mark.fingerprint == other.fingerprint
    for name in mark.steps.keys() | other.steps.keys():
        equal = equal & (mark.steps.get(name, 0) == other.steps.get(name, 0))
    return 1.0 * equal


class _Footprints:
    """Distinct bytes by access: what several touch counts for the first of them."""

    def __init__(self) -> None:
        self._marks: dict[Key, list[_Mark]] = {}
        self.accesses: dict[int, tuple[Key, _Touched]] = {}

    def add(self, site: Site, touched: _Touched) -> None:
        """Note what an access touches."""
        key = key_of(site)
        marks = self._marks.setdefault(key, [])
        fresh: Amount = 1.0
        for other in marks:
            fresh = fresh * (1.0 - _same(other, touched.mark))
        marks.append(touched.mark)
        first = _Touched(
            mark=touched.mark,
            sectors=touched.sectors * fresh,
            lines=touched.lines * fresh,
            of_grid=touched.of_grid * fresh,
        )
        self.accesses[site.position] = (key, first)

    def lines(self) -> Amount:
        """Bytes in lines of all arrays together."""
        return sum((each.lines for _, each in self.accesses.values()), 0.0)


class _Walker:
    """Goes through the loops of a launch from the inside outwards for one cache."""

    def __init__(self, counts: LaunchCounts, setting: Setting, level: _Level) -> None:
        self.counts = counts
        self.setting = setting
        self.level = level
        self.rounds = counts.blocks / level.resident_blocks
        self._shared: dict[tuple[int, bool], Amount] = {}

    def scope(self, role: RoleCounts, scope: Scope) -> tuple[dict[int, Amount], _Footprints]:
        """Misses of a scope run once by all resident blocks, and what it touches."""
        inside: dict[int, Amount] = {}
        for item in scope.items:
            inside.update(
                self._leaf(role, item) if isinstance(item, Site) else self.scope(role, item)[0]
            )
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
        together = {place: amount * few for place, amount in misses.items()}
        some = self._touched(role, scope, {scope.loop.counter: few})
        together = self._reduced(together, some)
        whole = {place: amount * size / few for place, amount in together.items()}
        full = self._touched(role, scope, {scope.loop.counter: size})
        reduced = self._reduced(whole, full)
        return {place: amount * share for place, amount in reduced.items()}, full

    def whole(
        self,
        misses: Mapping[int, Amount],
        roots: list[_Footprints],
        asked: Mapping[int, Amount],
    ) -> tuple[dict[int, Amount], dict[str, Amount]]:
        """Misses of the launch, and the share of what it touched that the cache still holds."""
        every = {
            place: np.minimum(amount * self.rounds, asked.get(place, np.inf))
            for place, amount in misses.items()
        }
        if self.level.kinds == ("load",):  # an L1 is not kept from one round of blocks to the next
            return every, {}
        extents = self._extents()
        of_round: dict[Key, Amount] = {}
        of_grid: dict[Key, Amount] = {}
        total: dict[Key, Amount] = {}
        places: dict[Key, list[int]] = {}
        for touched in roots:
            for place, (key, each) in touched.accesses.items():
                of_round[key] = of_round.get(key, 0.0) + each.sectors
                of_grid[key] = of_grid.get(key, 0.0) + each.of_grid
                total[key] = total.get(key, 0.0) + every[place]
                places.setdefault(key, []).append(place)
        once = {key: np.minimum(amount, extents[key[0]]) for key, amount in of_grid.items()}
        at_once: Amount = sum(of_round.values(), 0.0)
        everything: Amount = sum(once.values(), 0.0)
        kept = np.minimum(1.0, self.level.capacity / np.maximum(everything, 1.0))
        for key, amount in of_round.items():
            # After so many rounds the blocks come back to what they have touched before.
            rounds = np.maximum(once[key] / np.maximum(amount, 1.0), 1.0)
            apart = rounds * np.maximum(at_once, 1.0)
            found = np.maximum(kept, np.minimum(1.0, self.level.capacity / apart))
            left = np.minimum(total[key], found * once[key] + (1 - found) * total[key])
            share = left / np.maximum(total[key], 1e-300)
            every.update({place: every[place] * share for place in places[key]})
        return every, {key[0]: kept for key in of_round}

    def _extents(self) -> dict[str, Amount]:
        launch = self.counts.roles[0].counter.launch
        return {
            name: compiled(array.extent.root)(self.counts.names)
            * element_bytes(array, self.setting.types)
            for name, array in launch.rung.arrays.items()
        }

    def _reduced(self, misses: Mapping[int, Amount], touched: _Footprints) -> dict[int, Amount]:
        found = np.minimum(1.0, self.level.capacity / np.maximum(touched.lines(), 1.0))
        first = {place: each.sectors for place, (_, each) in touched.accesses.items()}
        return {
            place: np.minimum(amount, found * first[place] + (1 - found) * amount)
            for place, amount in misses.items()
        }

    def _leaf(self, role: RoleCounts, site: Site) -> dict[int, Amount]:
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
        return {site.position: once}

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
        added = self._added(role, scope, running)
        for site, size, lines, mark in self._footprints(role, scope, running):
            sector_share, line_share, grid_share = added.get(site.position, (1.0, 1.0, 1.0))
            present = self._presence(role, site)
            times = self._different_blocks(site) * present
            touched = _Touched(
                mark=mark,
                sectors=size * times * sector_share,
                lines=lines * times * line_share,
                of_grid=size * self._different_blocks(site, of_grid=True) * present * grid_share,
            )
            found.add(site, touched)
        return found

    def _added(
        self, role: RoleCounts, scope: Scope, running: Mapping[str, Amount]
    ) -> dict[int, tuple[Amount, Amount, Amount]]:
        """What accesses add to others and blocks to their neighbours, as shares of their own.

        In sectors and lines of the resident blocks, and in sectors of the grid. Blocks that follow
        one another share what lies at their borders; those of one multiprocessor do not.
        """
        found: dict[int, tuple[Amount, Amount, Amount]] = {}
        sizes = (self.level.block_bytes, self.level.line_bytes)
        for sites in self._neighbours(role, scope):
            runs = self._running(role, scope, sites[0], running)
            of_round = role.counter.added_bytes(
                sites, {**runs, **self._blocks_in_a_row(self.level.resident_blocks)}, sizes
            )
            of_grid = role.counter.added_bytes(
                sites, {**runs, **self._blocks_in_a_row(self.counts.blocks)}, sizes[:1]
            )
            for site, (sector, line), (whole,) in zip(sites, of_round, of_grid, strict=True):
                found[site.position] = (sector, line, whole)
            if len(sites) == 1:  # in a batch some predictions may have whole sectors
                place, ragged = sites[0].position, self._ragged(role, sites[0])
                sector, line, whole = (np.where(ragged, each, 1.0) for each in found[place])
                found[place] = (sector, line, whole)
        return found

    def _neighbours(self, role: RoleCounts, scope: Scope) -> list[tuple[Site, ...]]:
        """Accesses in a scope that others, or themselves in other blocks, may lie next to."""
        known = role.counter.kept
        key = ("neighbours", id(scope), self.level.kinds)
        if key not in known:
            held = {site.position for site in scope.sites}
            known[key] = [
                sites
                for sites in role.sites.neighbours
                if sites[0].position in held
                and self._is_global(role, sites[0])
                and (len(sites) > 1 or np.any(self._ragged(role, sites[0])))
            ]
        found: list[tuple[Site, ...]] = known[key]
        return found

    def _ragged(self, role: RoleCounts, site: Site) -> Amount:
        """Whether blocks that follow one another start within a sector."""
        found: Amount = False
        if isinstance(self.level.stride, int):
            array = role.counter.launch.rung.arrays[site.array or ""]
            size = element_bytes(array, self.setting.types)
            for name, node in site.parts.linear.items():
                if name in BLOCK_NAMES:
                    step = compiled(node)(self.counts.names) * size
                    found = found | (step % self.level.block_bytes != 0)
        return found

    def _blocks_in_a_row(self, count: Amount) -> dict[str, Amount]:
        """So many blocks by the name of their index, where neighbours run at the same time."""
        if not isinstance(self.level.stride, int):
            return {}
        return dict(zip(BLOCK_NAMES, self._neighbouring_blocks(count), strict=True))

    def _running(
        self, role: RoleCounts, scope: Scope, site: Site, running: Mapping[str, Amount]
    ) -> dict[str, Amount]:
        """Iterations of the loops that run inside a scope around a site, and of some others."""
        loops = list(site.loops)
        inner = loops[loops.index(scope.loop) + 1 :] if scope.loop else loops
        runs = {loop.counter: np.maximum(role.sizes[loop.counter], 1) for loop in inner}
        return {**runs, **running}

    def _neighbouring_blocks(self, count: Amount) -> tuple[Amount, Amount, Amount]:
        """How far so many blocks, one after another, reach in x, y and z."""
        grid = self.counts.grid
        return (
            np.minimum(count, grid[0]),
            np.minimum(np.ceil(count / grid[0]), grid[1]),
            np.minimum(np.ceil(count / (grid[0] * grid[1])), grid[2]),
        )

    def _footprints(
        self, role: RoleCounts, scope: Scope, running: Mapping[str, Amount]
    ) -> list[tuple[Site, Amount, Amount, _Mark]]:
        """Bytes that one block touches, in sectors and in lines, by each access of a scope."""
        if self.setting.size > 1:
            return self._new_footprints(role, scope, running)
        level = self.level
        sizes = (level.kinds, level.block_bytes, level.line_bytes)
        key = (id(scope), sizes, tuple((name, float(each)) for name, each in running.items()))
        kept = role.counter.kept
        if key not in kept:
            kept[key] = self._new_footprints(role, scope, running)
        known: list[tuple[Site, Amount, Amount, _Mark]] = kept[key]
        return known

    def _new_footprints(
        self, role: RoleCounts, scope: Scope, running: Mapping[str, Amount]
    ) -> list[tuple[Site, Amount, Amount, _Mark]]:
        found: list[tuple[Site, Amount, Amount, _Mark]] = []
        for site in scope.sites:
            if not self._is_global(role, site):
                continue
            runs = self._running(role, scope, site, running)
            block, line = self.level.block_bytes, self.level.line_bytes
            (blocks, lines), fingerprint = role.counter.footprints(site, runs, (block, line))
            mark = _Mark(fingerprint=fingerprint, steps=self._steps(role, site, runs))
            found.append((site, blocks * block, lines * line, mark))
        return found

    def _steps(
        self, role: RoleCounts, site: Site, running: Mapping[str, Amount]
    ) -> dict[str, Amount]:
        """By how much blocks and the loops that stand still move an access [elements]."""
        found: dict[str, Amount] = {}
        for name, node in site.parts.linear.items():
            step = compiled(node)(self.counts.names)
            if name in running:
                step = step * ((running[name] == 1) & (role.sizes[name] > 1))
            found[name] = step
        return found

    def _presence(self, role: RoleCounts, site: Site) -> Amount:
        """The share of blocks and iterations in which a site is executed at all, at most 1."""
        tallies = role.tallies[site.position]
        times: Amount = self.counts.blocks
        for loop in site.loops:
            times = times * np.maximum(role.trips[loop.counter], 1e-9)
        return np.minimum(1.0, tallies.executions / times)

    def sharers(self, site: Site) -> Amount:
        """How many of the resident blocks touch the same part of an array."""
        return self.level.resident_blocks / np.maximum(self._different_blocks(site), 1.0)

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
            across, down, deep = self._neighbouring_blocks(resident)
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
        for site in scope.sites:
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
