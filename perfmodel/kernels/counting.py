"""What a rung does in all: executions, requests, lines, sectors, passes, operations.

Totals are exact sums over all warps of all blocks and all iterations. What a site's warps do is
enumerated (`patterns`) once for each distinct combination of the numbers that its index and its
predicates read, kept, and multiplied by the iterations that make no difference; the rest is
arithmetic over the batch.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from perfmodel.errors import DataError
from perfmodel.kernels.affine import MEMBERS, Decomposition, reads
from perfmodel.kernels.fast import compiled
from perfmodel.kernels.footprints import footprint, sectors_by_warp
from perfmodel.kernels.neighbours import added_bytes
from perfmodel.kernels.patterns import TALLIES, Case, decided, tally
from perfmodel.kernels.periods import period
from perfmodel.kernels.schema import (
    ELEMENT_BYTES,
    Array,
    Atomic,
    Copy,
    Launch,
    Load,
    Rung,
    Store,
)
from perfmodel.kernels.setting import Amount, Setting, at, distinct, gathered, rows
from perfmodel.kernels.sites import COPIED_ROW, Loop, RoleSites, Scope, Site, rung_sites

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SHARED_ALIGNMENT_BYTES = 128
"""Shared arrays of a launch lie one after another, each at a multiple of this."""
_MOST_RAGGED = 1 << 22
_LONGEST_TABLE = 1 << 20
_KEPT_RUNGS = 128
_KEPT_CASES = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Tallies:
    """Amounts of a site over a whole launch; see `patterns.TALLIES`."""

    executions: Amount
    """Warps that execute it, with shares of branches on data."""
    lanes: Amount
    requests: Amount
    lines: Amount
    sectors: Amount
    l2_sectors: Amount
    passes: Amount
    ideal_passes: Amount
    instructions: Amount
    """Access instructions: several for one execution where a lane moves more than one can."""
    divergent: Amount
    access_bytes: Amount = 0
    """Bytes a lane accesses."""

    @property
    def bytes_requested(self) -> Amount:
        """What the lanes ask for."""
        return self.lanes * self.access_bytes


@dataclass(frozen=True, kw_only=True)
class RoleCounts:
    """Counts of one role of a launch."""

    sites: RoleSites
    warps: Amount
    """Its warps in a block."""
    first_thread: Amount
    threads: Amount
    tallies: Mapping[int, Tallies]
    """By position of the statement."""
    trips: Mapping[str, Amount]
    """Iterations of each loop, by counter: its mean over the blocks and warps that come to it."""
    sizes: Mapping[str, Amount]
    """Iterations of each loop at most."""
    counter: SiteCounter
    """What it was counted with."""


@dataclass(frozen=True, kw_only=True)
class LaunchCounts:
    """Counts of one launch."""

    launch: Launch
    names: Mapping[str, Any]
    """Parameters and built-in names of the launch, by which its expressions are evaluated."""
    block: tuple[Amount, Amount, Amount]
    grid: tuple[Amount, Amount, Amount]
    blocks: Amount
    threads: Amount
    warps: Amount
    """Warps of a block."""
    registers: Amount
    shared_bytes: Amount
    barriers: Amount
    roles: tuple[RoleCounts, ...]


@dataclass(frozen=True, eq=False)
class CountedRung:
    """A rung with its sites and what has been enumerated of them."""

    rung: Rung
    launches: tuple[tuple[RoleSites, ...], ...]
    cases: dict[Any, Any] = field(default_factory=dict)

    def kept(self, key: Any, make: Any) -> Any:
        """What was worked out for a key, or else what `make` gives."""
        found = self.cases.get(key)
        if found is None:
            if len(self.cases) >= _KEPT_CASES:
                self.cases.clear()
            found = self.cases[key] = make()
        return found


_counted: OrderedDict[int, CountedRung] = OrderedDict()


def counted_rung(rung: Rung) -> CountedRung:
    """A rung prepared for counting; the same object for the same rung."""
    found = _counted.get(id(rung))
    if found is None:
        found = _counted[id(rung)] = CountedRung(rung, rung_sites(rung))
        if len(_counted) > _KEPT_RUNGS:
            _counted.popitem(last=False)
    return found


def count(rung: Rung, setting: Setting) -> tuple[LaunchCounts, ...]:
    """Count a rung.

    Args:
        rung: The rung.
        setting: The numbers; parameters that the rung's `rung_parameters` has accepted.

    Returns:
        The counts of its launches, in order.

    Raises:
        DataError: A loop does not end, or has more distinct cases than can be looked at.
    """
    prepared = counted_rung(rung)

    def counted() -> tuple[LaunchCounts, ...]:
        return tuple(
            LaunchCounter(prepared, number, setting).count() for number in range(len(rung.launches))
        )

    if setting.size > 1:
        return counted()
    values = tuple(sorted(setting.values.items()))
    kinds = tuple(sorted(setting.types.items()))
    found: tuple[LaunchCounts, ...] = prepared.kept(
        ("count", values, kinds, setting.geometry(0)), counted
    )
    return found


def element_bytes(array: Array, types: Mapping[str, str]) -> int:
    """The size of an array's element."""
    return ELEMENT_BYTES[types.get(array.type, array.type)]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Accessed:
    """An access while some loops run, and what its cases are told apart by."""

    array: Array
    size: int
    """Bytes of an element."""
    access: Amount
    """Bytes a lane accesses."""
    kept: Mapping[str, Amount]
    """Iterations of the loops that run and that the index reads."""
    columns: Sequence[Any]


class LaunchCounter:
    """Counts one launch of a rung in a setting."""

    def __init__(self, prepared: CountedRung, number: int, setting: Setting) -> None:
        """Work out the shape of the launch."""
        self.prepared = prepared
        self.rung = prepared.rung
        self.number = number
        self.launch = self.rung.launches[number]
        self.setting = setting
        names: dict[str, Any] = dict(setting.values)
        names["warpSize"] = setting.of_geometry("warp_width")
        self.block = self._dimensions(self.launch.block, names)
        names.update({f"blockDim.{m}": each for m, each in zip(MEMBERS, self.block, strict=True)})
        self.grid = self._dimensions(self.launch.grid, names)
        names.update({f"gridDim.{m}": each for m, each in zip(MEMBERS, self.grid, strict=True)})
        self.names = names
        self.tables: dict[str, tuple[list[npt.NDArray[np.int64]], Any]] = {}

    def _dimensions(self, written: Any, names: Mapping[str, Any]) -> tuple[Amount, Amount, Amount]:
        x, y, z = (compiled(each.root)(names) for each in written)
        return x, y, z

    def count(self) -> LaunchCounts:
        """All amounts of the launch."""
        threads = self.block[0] * self.block[1] * self.block[2]
        width = self.names["warpSize"]
        warps = -(-threads // width)
        roles = []
        first: Amount = 0
        for sites in self.prepared.launches[self.number]:
            own = warps if sites.role.warps is None else self._value(sites.role.warps.root)
            here = threads if sites.role.warps is None else own * width
            roles.append(self._role(sites, own, first, here))
            first = first + here
        launch = self.launch
        return LaunchCounts(
            launch=launch,
            names=self.names,
            block=self.block,
            grid=self.grid,
            blocks=self.grid[0] * self.grid[1] * self.grid[2],
            threads=threads,
            warps=warps,
            registers=self._value(launch.registers.root),
            shared_bytes=self._shared_bytes(),
            barriers=self._value(launch.barriers.root),
            roles=tuple(roles),
        )

    def _value(self, node: Any) -> Amount:
        return compiled(node)(self.names)

    def _shared_bytes(self) -> Amount:
        if self.launch.shared is not None:
            return self._value(self.launch.shared.root)
        used = self._shared_arrays()
        return self.offsets().get("", 0) if used else 0

    def _shared_arrays(self) -> list[Array]:
        """The shared arrays that the launch uses, in order of declaration."""
        named = {
            name
            for sites in self.prepared.launches[self.number]
            for site in sites.sites
            for name in (site.array, getattr(site.statement, "to", None))
        }
        return [
            array
            for array in self.rung.arrays.values()
            if array.space == "shared" and array.name in named
        ]

    def offsets(self) -> dict[str, Amount]:
        """Where each shared array starts; under the empty name, where the last one ends."""
        found: dict[str, Amount] = {}
        place: Amount = 0
        for array in self._shared_arrays():
            place = -(-place // SHARED_ALIGNMENT_BYTES) * SHARED_ALIGNMENT_BYTES
            found[array.name] = place
            size = element_bytes(array, self.setting.types)
            place = place + self._value(array.extent.root) * size
        found[""] = place
        return found

    def _role(self, sites: RoleSites, warps: Amount, first: Amount, threads: Amount) -> RoleCounts:
        sizes: dict[str, Amount] = {
            f"blockIdx.{member}": size for member, size in zip(MEMBERS, self.grid, strict=True)
        }
        for loop in sites.loops:
            sizes[loop.counter] = self._loop_size(loop, sizes, first, threads)
        counter = SiteCounter(self, sizes, first, threads, warps)
        trips = counter.mean_trips(sites.root)
        tallies = {
            site.position: counter.copies(site, trips)
            if isinstance(site.statement, Copy)
            else counter.count(site)
            for site in sites.sites
        }
        return RoleCounts(
            sites=sites,
            warps=warps,
            first_thread=first,
            threads=threads,
            tallies=tallies,
            trips=trips,
            sizes=sizes,
            counter=counter,
        )

    def _loop_size(
        self, loop: Loop, sizes: Mapping[str, Amount], first: Amount, threads: Amount
    ) -> Amount:
        if loop.trips is not None:
            size = self._value(loop.trips)
            return np.maximum(size, 0) if isinstance(size, np.ndarray) else max(size, 0)
        if loop.is_table:
            return self._table_size(loop)
        return self._ragged_size(loop, sizes, first, threads)

    def _table_size(self, loop: Loop) -> Amount:
        nodes = (loop.start, loop.condition, loop.following)
        read = sorted(frozenset().union(*(reads(node) for node in nodes if node)) - {loop.counter})
        self._require_known(read, loop)
        chosen, which = distinct([self.names[name] for name in read], self.setting.size)
        tables = [
            _table(loop, {name: at(self.names[name], place) for name in read}) for place in chosen
        ]
        self.tables[loop.counter] = (tables, which)
        return gathered([len(each) for each in tables], which)

    def _require_known(self, read: Any, loop: Loop) -> None:
        for name in read:
            if name not in self.names:
                raise DataError(
                    f"{loop.statement.place}: the loop over {loop.statement.variable} reads "
                    f"{name}, but only one of the form from, below, step can read what threads do "
                    "not share"
                )

    def _ragged_size(
        self, loop: Loop, sizes: Mapping[str, Amount], first: Amount, threads: Amount
    ) -> Amount:
        """Iterations of the lane that has most of a loop in which lanes or blocks differ."""
        assert loop.ragged_trips is not None
        read = reads(loop.ragged_trips)
        variables = [name for name in sizes if name in read]
        known = [self.names[name] for name in sorted(read) if name in self.names]
        columns = [*known, *(sizes[name] for name in variables), first, threads, *self.block]
        chosen, which = distinct(columns, self.setting.size)
        function = compiled(loop.ragged_trips)
        found = []
        for place in chosen:
            env = {name: at(value, place) for name, value in self.names.items() if name in read}
            number = np.arange(at(threads, place)) + at(first, place)
            width, height, _ = (at(each, place) for each in self.block)
            axes = [np.arange(at(sizes[name], place)) for name in variables]
            total = number.size * int(np.prod([len(axis) for axis in axes], dtype=np.int64))
            if total > _MOST_RAGGED:
                axes = [axis[[0, -1]] if len(axis) else axis for axis in axes]
            grids = np.meshgrid(*axes, number, indexing="ij", sparse=True)
            env.update(dict(zip(variables, grids, strict=False)))
            lanes = grids[-1]
            env["threadIdx.x"] = lanes % width
            env["threadIdx.y"] = lanes // width % height
            env["threadIdx.z"] = lanes // (width * height)
            trips = np.asarray(function(env))
            found.append(int(trips.max()) if trips.size else 0)
        return gathered(found, which)


def _table(loop: Loop, names: Mapping[str, int]) -> npt.NDArray[np.int64]:
    """The values of a loop that is no counted one."""
    assert loop.start
    assert loop.condition
    assert loop.following
    goes_on, following = compiled(loop.condition), compiled(loop.following)
    value = compiled(loop.start)(names)
    found: list[int] = []
    while goes_on({**names, loop.counter: value}):
        found.append(value)
        if len(found) > _LONGEST_TABLE:
            raise DataError(
                f"{loop.statement.place}: the loop over {loop.statement.variable} goes on for more "
                f"than {_LONGEST_TABLE} iterations: does its next value come nearer to an end?"
            )
        value = following({**names, loop.counter: value})
    return np.array(found, dtype=np.int64)


class SiteCounter:
    """Counts the sites of one role."""

    def __init__(
        self,
        launch: LaunchCounter,
        sizes: Mapping[str, Amount],
        first: Amount,
        threads: Amount,
        warps: Amount,
    ) -> None:
        """Take over the launch's numbers and the role's threads."""
        self.launch = launch
        self.names = launch.names
        self.setting = launch.setting
        self.sizes = sizes
        self.first = first
        self.threads = threads
        self.warps = warps
        self.offsets = launch.offsets()
        self.kept: dict[Any, Any] = {}
        """What has been worked out from these counts alone, by those who did."""
        self._sure: dict[Any, bool] = {}

    def count(self, site: Site) -> Tallies:
        """The amounts of a site over the launch."""
        site = self._without_sure_guards(site)
        share: Amount = 1.0
        for node in site.shares:
            share = share * compiled(node)(self.names)
        array = self.launch.rung.arrays[site.array] if site.array else None
        size = element_bytes(array, self.setting.types) if array else 0
        width = self._width(site)
        access = width * size
        if not site.read or (not site.guards and not array and site.predicate is None):
            return self._plain(site, share)
        factor, kept = self._factored(site, array, size)
        amounts = self._enumerated(site, array, size, access, kept)
        scaled = {name: each * factor * share for name, each in zip(TALLIES, amounts, strict=True)}
        return Tallies(**scaled, access_bytes=access)

    def _width(self, site: Site) -> Amount:
        match site.statement:
            case Load(width=width) | Store(width=width):
                return compiled(width.root)(self.names)
            case Atomic():
                return 1
            case _:
                return 0

    def _plain(self, site: Site, share: Amount) -> Tallies:
        """A site that every warp executes in every iteration, and that accesses nothing."""
        times: Amount = share
        for name in site.variables:
            times = times * self.sizes[name]
        none: Amount = 0.0
        return Tallies(
            executions=times * self.warps,
            lanes=times * self.threads,
            requests=none,
            lines=none,
            sectors=none,
            l2_sectors=none,
            passes=none,
            ideal_passes=none,
            instructions=none,
            divergent=none,
        )

    def copies(self, site: Site, trips: Mapping[str, Amount]) -> Tallies:
        """A bulk copy: one box for the whole role, its rows in whole sectors."""
        statement = site.statement
        assert isinstance(statement, Copy)
        boxes: Amount = 1.0
        for node in site.shares:
            boxes = boxes * compiled(node)(self.names)
        boxes = boxes * self._times_executed(site, trips)
        array = self.launch.rung.arrays[statement.array]
        row = compiled(statement.row.root)(self.names) * element_bytes(array, self.setting.types)
        rows = boxes * compiled(statement.rows.root)(self.names)
        blocks = {
            name: rows * -(-row // self.setting.of_geometry(geometry))
            for name, geometry in (
                ("lines", "line"),
                ("sectors", "sector"),
                ("l2_sectors", "l2_sector"),
                ("requests", "transaction"),
            )
        }
        none: Amount = 0.0
        return Tallies(
            executions=boxes,
            lanes=rows,
            **blocks,
            passes=none,
            ideal_passes=none,
            instructions=boxes,
            divergent=none,
            access_bytes=row,
        )

    def _times_executed(self, site: Site, trips: Mapping[str, Amount]) -> Amount:
        """Blocks and iterations in which any lane of the role executes a statement."""
        guards = {id(loop.guard) for loop in site.loops}
        own = [guard for guard in site.guards if id(guard) not in guards]
        times: Amount = 1.0
        if not own:
            for size in self.launch.grid:
                times = times * size
            for loop in site.loops:
                times = times * trips[loop.counter]
            return times
        key = ("executed", self.launch.number, site.position)
        alone: Site = self.launch.prepared.kept(key, lambda: replace(site, index=None))
        factor, kept = self._factored(alone, None, 0)
        return self._enumerated(alone, None, 0, 0, kept, as_one_warp=True)[0] * factor

    def _factored(
        self, site: Site, array: Array | None, size: int
    ) -> tuple[Amount, dict[str, Amount]]:
        """Iterations that change nothing, and the number of values of the other variables."""
        factor: Amount = 1.0
        kept: dict[str, Amount] = {}
        in_predicates = frozenset[str]().union(*(reads(guard) for _, _, guard in site.atoms))
        parts = site.parts
        shifted = frozenset[str]().union(*map(reads, parts.shifts)) if parts.shifts else frozenset()
        period = self._period(array)
        for name in site.variables:
            if name == COPIED_ROW:
                continue
            total = self.sizes[name]
            if name not in site.read:
                factor = factor * total
            elif (
                name in parts.linear
                and name not in in_predicates
                and name not in parts.tangled
                and name not in shifted
            ):
                step = compiled(parts.linear[name])(self.names) * size
                same = step % period == 0
                if isinstance(same, np.ndarray) or isinstance(total, np.ndarray):
                    factor = factor * np.where(same, total, 1)
                    kept[name] = np.where(same, 1, total)
                else:
                    factor = factor * (total if same else 1)
                    kept[name] = 1 if same else total
            else:
                repeats = self._repeats(site, name, total)
                factor, kept[name] = factor * (total // repeats), repeats
        return factor, kept

    def _repeats(self, site: Site, name: str, total: Amount) -> Amount:
        """Values of a variable after which a site does the same again, a part of all; else all."""
        if isinstance(total, np.ndarray) or name in self.launch.tables:
            return total
        nodes = [site.index, *(guard for _, _, guard in site.atoms)]
        found = [period(each, name, site.variables, self.names) for each in nodes if each]
        known = [each for each in found if each is not None]
        every = lcm(*known) if len(known) == len(found) else total
        return every if total % every == 0 else total

    def _period(self, array: Array | None) -> Amount:
        shared = array is not None and array.space == "shared"
        return self.setting.of_geometry("shared_period" if shared else "period")

    def footprints(
        self, site: Site, running: Mapping[str, Amount], sizes: Sequence[Amount]
    ) -> tuple[list[Amount], Amount]:
        """Distinct blocks of memory that a block touches by an access while loops run.

        Args:
            site: The access.
            running: Iterations of the loops that run, by counter; the others stand still.
            sizes: Sizes of the blocks of memory to count [bytes].

        Returns:
            The distinct blocks of each size, and a mark that is equal where the bytes are.
        """
        accessed = self._of_access(site, running)
        chosen, which = distinct([*accessed.columns, *sizes], self.setting.size)
        wanted_sizes = rows(sizes, chosen)
        found = self._by_case(footprint, site, accessed, chosen, wanted_sizes)
        counts = [
            gathered(
                [
                    each.counts[wanted[number]]
                    for each, wanted in zip(found, wanted_sizes, strict=True)
                ],
                which,
            )
            for number in range(len(sizes))
        ]
        return counts, gathered([each.fingerprint for each in found], which)

    def added_bytes(
        self, sites: Sequence[Site], running: Mapping[str, Amount], sizes: Sequence[Amount]
    ) -> list[list[Amount]]:
        """What accesses of an array that lie a distance apart add to those before them.

        Args:
            sites: The accesses, with the same loops and predicates around them.
            running: Iterations of the loops that run, by counter, and numbers of blocks by the
                name of the block's index.
            sizes: Sizes of the blocks of memory to count [bytes].

        Returns:
            For each access and size its share of what it touches block by block.
        """
        first, others = sites[0], tuple(sites[1:])
        accessed = self._of_access(first, running, also=others)
        chosen, which = distinct([*accessed.columns, *sizes], self.setting.size)
        wanted = [(each, others) for each in rows(sizes, chosen)]
        found = self._by_case(added_bytes, first, accessed, chosen, wanted)
        return [
            [
                gathered([each.shares[number][place] for each in found], which)
                for place in range(len(sizes))
            ]
            for number in range(len(sites))
        ]

    def repeated_share(self, site: Site, running: Mapping[str, Amount], sector: Amount) -> Amount:
        """Share of a warp's sectors that are new to it while a few iterations run at once."""
        accessed = self._of_access(site, running)
        if not accessed.kept or isinstance(site.statement, Copy):
            return 1.0
        chosen, which = distinct([*accessed.columns, sector], self.setting.size)
        wanted = [at(sector, place) for place in chosen]
        found = self._by_case(sectors_by_warp, site, accessed, chosen, wanted)
        return gathered([together / alone for together, alone in found], which)

    def _by_case(
        self,
        enumerate_case: Callable[[Site, Case, Any], Any],
        site: Site,
        accessed: _Accessed,
        chosen: Sequence[int],
        wanted: Sequence[Any],
    ) -> list[Any]:
        """What enumerating an access gives for each of some distinct cases, each done once."""
        found = []
        for place, row, each in zip(
            chosen, rows(accessed.columns[1:], chosen), wanted, strict=True
        ):
            key = (
                enumerate_case.__name__,
                *self._key(site, accessed.size, place),
                row,
                each,
                *self._marks(accessed.kept, place),
            )
            found.append(
                self.launch.prepared.kept(
                    key,
                    lambda place=place, each=each: enumerate_case(
                        site, self._access_case(site, accessed, place), each
                    ),
                )
            )
        return found

    def _of_access(
        self, site: Site, running: Mapping[str, Amount], also: Sequence[Site] = ()
    ) -> _Accessed:
        assert site.array is not None
        every = frozenset[str]().union(site.read, *(each.read for each in also))
        array = self.launch.rung.arrays[site.array]
        size = element_bytes(array, self.setting.types)
        kept = {name: total for name, total in running.items() if name in site.read}
        if isinstance(site.statement, Copy):
            kept[COPIED_ROW] = compiled(site.statement.rows.root)(self.names)
            access = compiled(site.statement.row.root)(self.names) * size
        else:
            access = self._width(site) * size
        read = sorted(
            name for name in every if name in self.names and not name.startswith("blockDim")
        )
        tables = [self.launch.tables[name][1] for name in kept if name in self.launch.tables]
        columns = [
            self.setting.geometry_of,
            access,
            self.first,
            self.threads,
            *self.launch.block,
            *(self.names[name] for name in read),
            *kept.values(),
            *tables,
        ]
        return _Accessed(array=array, size=size, access=access, kept=kept, columns=columns)

    def _key(self, site: Site, size: int, place: int) -> tuple[Any, ...]:
        return (self.launch.number, site.position, self.setting.geometry(place), size)

    def _marks(self, kept: Mapping[str, Amount], place: int) -> list[Any]:
        """What tells the running loops apart: their names, and the values of those of tables."""
        tables = self.launch.tables
        return [
            (name, tables[name][0][at(tables[name][1], place)].tobytes())
            if name in tables
            else name
            for name in kept
        ]

    def _access_case(self, site: Site, accessed: _Accessed, place: int) -> Case:
        case = self.case(
            site=site,
            array=accessed.array,
            size=accessed.size,
            access=at(accessed.access, place),
            kept=accessed.kept,
            place=place,
        )
        return replace(case, threads=(0, 1)) if isinstance(site.statement, Copy) else case

    def _enumerated(
        self,
        site: Site,
        array: Array | None,
        size: int,
        access: Amount,
        kept: Mapping[str, Amount],
        *,
        as_one_warp: bool = False,
    ) -> list[Amount]:
        launch = self.launch
        read = sorted(
            name for name in site.read if name in self.names and not name.startswith("blockDim")
        )
        offset = self.offsets.get(array.name, 0) if array else 0
        columns = [
            self.setting.geometry_of,
            access,
            offset,
            self.first,
            self.threads,
            *launch.block,
            *(self.names[name] for name in read),
            *kept.values(),
        ]
        tables = [launch.tables[name] for name in kept if name in launch.tables]
        chosen, which = distinct([*columns, *(table[1] for table in tables)], self.setting.size)
        found = []
        for place, row in zip(chosen, rows(columns[1:], chosen), strict=True):
            key = (
                "tally",
                as_one_warp,
                tuple(map(id, site.guards)),
                *self._key(site, size, place),
                row,
                *(table[0][at(table[1], place)].tobytes() for table in tables),
            )
            found.append(
                launch.prepared.kept(
                    key,
                    lambda place=place: tally(
                        site,
                        self.case(
                            site=site,
                            array=array,
                            size=size,
                            access=at(access, place),
                            kept=kept,
                            place=place,
                            as_one_warp=as_one_warp,
                        ),
                    ),
                )
            )
        return [gathered([each[name] for each in found], which) for name in range(len(TALLIES))]

    def case(
        self,
        *,
        site: Site,
        array: Array | None,
        size: int,
        access: int,
        kept: Mapping[str, Amount],
        place: int,
        as_one_warp: bool = False,
    ) -> Case:
        """One prediction's numbers for a site."""
        launch = self.launch
        values: dict[str, Any] = {}
        for name, total in kept.items():
            if name in launch.tables:
                tables, which = launch.tables[name]
                values[name] = tables[at(which, place)]
            else:
                values[name] = int(at(total, place))
        env = {name: at(value, place) for name, value in self.names.items()}
        env.update({name: 0 for name in site.variables if name not in values})
        first, threads = at(self.first, place), at(self.threads, place)
        x, y, z = (at(each, place) for each in launch.block)
        geometry = self.setting.geometry(place)
        if as_one_warp:
            geometry = replace(geometry, warp_width=threads)
        return Case(
            env=env,
            values=values,
            threads=(first, first + threads),
            block=(x, y, z),
            geometry=geometry,
            access_bytes=access,
            element_bytes=size,
            operation="store" if isinstance(site.statement, Store) else "load",
            shared=array is not None and array.space == "shared",
            offset=at(self.offsets.get(array.name, 0), place) if array else 0,
        )

    def _without_sure_guards(self, site: Site) -> Site:
        """The site without the predicates that hold for all lanes of the whole batch."""
        kept = tuple(
            number
            for number, guard in enumerate(site.guards)
            if not self._surely_holds(guard, site)
        )
        if len(kept) == len(site.guards):
            return site
        cache = self.launch.prepared.cases
        key = ("variant", self.launch.number, site.position, kept)
        found = cache.get(key)
        if found is None:
            found = cache[key] = replace(site, guards=tuple(site.guards[number] for number in kept))
        return found

    def _surely_holds(self, guard: Any, site: Site) -> bool:
        known = self._sure.get(id(guard))
        if known is None:
            operator, parts, _ = next(each for each in site.atoms if each[2] is guard)
            known = self._sure[id(guard)] = self._holds(operator, parts)
        return known

    def _holds(self, operator: str, parts: Decomposition) -> bool:
        if parts.tangled or parts.shifts or self.launch.tables.keys() & parts.linear.keys():
            return False
        low, high = self._over_threads(parts.fixed)
        for name, node in parts.linear.items():
            furthest = compiled(node)(self.names) * (self.sizes[name] - 1)
            low, high = low + np.minimum(furthest, 0), high + np.maximum(furthest, 0)
        yes, _ = decided(operator, low, high)
        return bool(np.all(yes))

    def _over_threads(self, node: Any) -> tuple[Amount, Amount]:
        """The least and greatest value of an expression over the threads."""
        read = reads(node)
        if not any(name.startswith("threadIdx") for name in read):
            value = compiled(node)(self.names)
            return value, value
        most = int(np.max(self.threads))
        threads = np.arange(most, dtype=np.int64)
        if self.setting.size == 1:
            number = threads + self.first
            width, height, _ = self.launch.block
            names = self.names
        else:
            number = np.minimum(threads, _column(self.threads) - 1) + _column(self.first)
            width, height, _ = (_column(each) for each in self.launch.block)
            names = {name: _column(value) for name, value in self.names.items() if name in read}
        values = compiled(node)(
            {
                **names,
                "threadIdx.x": number % width,
                "threadIdx.y": number // width % height,
                "threadIdx.z": number // (width * height),
            }
        )
        array = np.asarray(values)
        low, high = array.min(axis=-1), array.max(axis=-1)
        return (low, high) if low.ndim else (low.item(), high.item())

    def mean_trips(self, root: Scope) -> dict[str, Amount]:
        """Mean iterations of every loop, over the warps that come to it."""
        found: dict[str, Amount] = {}
        self._trips_of(root, found)
        return found

    def _trips_of(self, scope: Scope, found: dict[str, Amount]) -> None:
        for item in scope.items:
            if isinstance(item, Site):
                continue
            assert item.loop is not None
            size = self.sizes[item.loop.counter]
            found[item.loop.counter] = size
            if item.loop.guard is not None:
                found[item.loop.counter] = self._ragged_mean(item, size)
            self._trips_of(item, found)

    def _ragged_mean(self, scope: Scope, size: Amount) -> Amount:
        """Warp iterations of a loop in which lanes or blocks differ, a warp that comes to it."""
        assert scope.loop is not None
        inside = next(iter(scope.sites), None)
        if inside is None:
            return size
        depth = next(n for n, loop in enumerate(inside.loops) if loop is scope.loop)
        guard = scope.loop.guard
        at_loop = next(n for n, each in enumerate(inside.guards) if each is guard)
        key = ("ragged", self.launch.number, scope.loop.counter)
        within, around = self.launch.prepared.kept(
            key, lambda: _around_loop(inside, scope.loop, depth, at_loop)
        )
        inner, outer = self.count(within).executions, self.count(around).executions
        if isinstance(inner, np.ndarray) or isinstance(outer, np.ndarray):
            return np.where(outer > 0, inner / np.where(outer > 0, outer, 1), 0)
        return inner / outer if outer else 0


def _around_loop(inside: Site, loop: Any, depth: int, at_loop: int) -> tuple[Site, Site]:
    """A site for an iteration of a loop, and one for coming to the loop."""
    within = replace(
        inside,
        position=-1 - inside.position * 64 - depth,
        loops=inside.loops[: depth + 1],
        guards=inside.guards[: at_loop + 1],
        shares=(),
        index=None,
        predicate=None,
        statement=loop.statement,
    )
    around = replace(
        within,
        position=within.position - (1 << 20),
        loops=inside.loops[:depth],
        guards=inside.guards[:at_loop],
    )
    return within, around


def _column(value: Amount) -> Any:
    return value[:, None] if isinstance(value, np.ndarray) else value
