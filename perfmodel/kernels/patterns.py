"""What a statement's warps do, enumerated once for each distinct case.

A block's number and a loop's counter take many values, and few of them differ: what an index adds
matters modulo a line, and a bound matters where it is near. So the values of each variable are
sorted into classes by what they add (modulo the period of the memory) and by which predicates
they decide, one value stands for its class, and its weight is the number of values in it. Lanes
are never sorted: all threads of a block are looked at for every combination of classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from perfmodel.engines import bank_conflicts, coalescing
from perfmodel.errors import DataError
from perfmodel.kernels.affine import Decomposition, reads
from perfmodel.kernels.fast import compiled
from perfmodel.kernels.geometry import WIDEST_SHARED_ACCESS_BYTES, Geometry
from perfmodel.kernels.schema import If

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from perfmodel.kernels.sites import Site

Ints: TypeAlias = npt.NDArray[np.int64]

MOST_VALUES = 1 << 25
"""Values of a variable, or combinations of classes, that are still looked at one by one."""
_MOST_TIED = 1 << 20
"""Values of lanes and what is tied up with them that are looked at for their ends."""
_CHUNK = 1 << 21

TALLIES = (
    "executions",
    "lanes",
    "requests",
    "lines",
    "sectors",
    "l2_sectors",
    "passes",
    "ideal_passes",
    "instructions",
    "divergent",
)
"""What is counted of a site; zero where it does not apply."""
_PLACE = {name: place for place, name in enumerate(TALLIES)}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One set of numbers to count a site for."""

    env: Mapping[str, int]
    """Parameters and built-in names but threadIdx and blockIdx."""
    values: Mapping[str, int | Ints]
    """For each variable the number of its values, or the values themselves."""
    threads: tuple[int, int]
    """The first thread of the block that takes part, and the one after the last."""
    block: tuple[int, int, int]
    geometry: Geometry
    access_bytes: int = 0
    """Bytes a lane accesses; 0 where the statement is no access."""
    element_bytes: int = 0
    operation: str = "load"
    shared: bool = False
    offset: int = 0
    """Where a shared array starts [bytes]."""


def thread_names(case: Case) -> dict[str, Ints]:
    """ThreadIdx of the threads that take part, x fastest."""
    number = np.arange(*case.threads, dtype=np.int64)
    width, height, _ = case.block
    return {
        "threadIdx.x": number % width,
        "threadIdx.y": number // width % height,
        "threadIdx.z": number // (width * height),
    }


def _threads(case: Case) -> int:
    return case.threads[1] - case.threads[0]


def tally(site: Site, case: Case) -> tuple[float, ...]:
    """Count what a site's warps do over all values of the case's variables.

    Args:
        site: The statement with its surroundings.
        case: The numbers.

    Returns:
        The amounts of `TALLIES`, without the shares of branches on data.

    Raises:
        DataError: There are more distinct cases than can be looked at.
    """
    total = np.zeros(len(TALLIES))
    names: dict[str, Any] = {**case.env, **thread_names(case)}
    if any(len(_values(case, name)) == 0 for name in case.values) or not _threads(case):
        return tuple(total.tolist())
    for chosen, weights in _combinations(site, case, names):
        columns: dict[str, Any] = {name: values[:, None] for name, values in chosen.items()}
        total += _evaluated(site, case, {**names, **columns}, weights)
    return tuple(total.tolist())


def _evaluated(
    site: Site, case: Case, names: Mapping[str, Any], weights: Ints
) -> npt.NDArray[np.float64]:
    threads = _threads(case)
    shape = (len(weights), threads)
    width = case.geometry.warp_width
    active = np.ones(shape, dtype=bool)
    for guard in site.compiled_guards:
        active = active & (np.broadcast_to(guard(names), shape) != 0)
    by_warp = _by_warp(active, width)
    total = np.zeros(len(TALLIES))
    lanes = by_warp.sum(axis=-1)
    running = lanes > 0

    def add(name: str, amounts: Any) -> None:
        total[_PLACE[name]] += float((amounts.sum(axis=-1) * weights).sum())

    add("executions", running)
    add("lanes", lanes)
    if isinstance(site.statement, If) and site.statement.predicate is not None:
        add("divergent", _divergent(site, names, by_warp))
    if site.compiled_index is None or not case.access_bytes:
        return total
    index = np.broadcast_to(np.asarray(site.compiled_index(names), dtype=np.int64), shape)
    addresses = index * case.element_bytes + case.offset
    period = case.geometry.shared_period if case.shared else case.geometry.period
    lowest = int(addresses.min(where=active, initial=0))
    if lowest < 0:
        addresses = addresses + -(lowest // period) * period
    addresses = _by_warp(np.where(active, addresses, 0), width)
    widest = WIDEST_SHARED_ACCESS_BYTES if case.shared else case.geometry.max_access
    for first in range(0, case.access_bytes, widest):
        size = min(widest, case.access_bytes - first)
        add("instructions", running)
        _count_access(case, addresses + first, by_warp, size, add)
    return total


def _count_access(case: Case, addresses: Ints, active: Any, size: int, add: Any) -> None:
    geometry = case.geometry
    if case.shared:
        groups = geometry.shared_groups(case.operation, size)
        passes = bank_conflicts.passes(
            addresses=addresses,
            active=active,
            element_bytes=size,
            banks=geometry.shared_banks,
            bank_width_bytes=geometry.shared_bank_width,
            groups=groups,
            merge_distances=geometry.merge_distances if case.operation == "load" else (),
        )
        add("passes", passes)
        add(
            "ideal_passes",
            bank_conflicts.ideal_passes(
                lanes=active.sum(axis=-1),
                element_bytes=size,
                banks=geometry.shared_banks,
                bank_width_bytes=geometry.shared_bank_width,
            ),
        )
        return
    for name, block in (
        ("lines", geometry.line),
        ("sectors", geometry.sector),
        ("l2_sectors", geometry.l2_sector),
    ):
        add(
            name,
            coalescing.distinct_blocks(
                addresses=addresses, active=active, element_bytes=size, block_bytes=block
            ),
        )
    add(
        "requests",
        coalescing.requests(
            addresses=addresses,
            active=active,
            element_bytes=size,
            group_lanes=geometry.coalescing_group,
            transaction_bytes=geometry.transaction,
        ),
    )


def _divergent(site: Site, names: Mapping[str, Any], by_warp: Any) -> Any:
    """Warps that have active lanes on both sides of a branch."""
    assert site.predicate is not None
    predicate = compiled(site.predicate)
    shape = (by_warp.shape[0], by_warp.shape[1] * by_warp.shape[2])
    threads = len(names["threadIdx.x"])
    taken = np.broadcast_to(predicate(names), (shape[0], threads)) != 0
    taken = _by_warp(taken, by_warp.shape[2])
    return (by_warp & taken).any(axis=-1) & (by_warp & ~taken).any(axis=-1)


def _by_warp(values: Any, width: int) -> Any:
    """The threads' axis split into warps and lanes, the last warp filled up with zeros."""
    short = -values.shape[1] % width
    if short:
        values = np.pad(values, [(0, 0), (0, short)])
    return values.reshape(values.shape[0], -1, width)


def _combinations(
    site: Site, case: Case, names: Mapping[str, Any]
) -> Iterator[tuple[dict[str, Ints], Ints]]:
    """Values that stand for their classes, with the weights, in pieces of bearable size."""
    groups = _groups(site, case)
    atoms = _Atoms(site, case, names, groups)
    classes = [_classes(site, case, names, group, atoms) for group in groups]
    count = prod(len(weights) for _, weights in classes)
    if count > MOST_VALUES:
        raise DataError(
            f"{getattr(site.statement, 'place', '')}: {count} distinct cases of "
            f"{', '.join(sorted(name for group in groups for name in group))} are too many to count"
        )
    threads = _threads(case)
    step = max(_CHUNK // threads, 1)
    for first in range(0, count, step):
        places = np.arange(first, min(first + step, count))
        chosen: dict[str, Ints] = {}
        weights = np.ones(len(places), dtype=np.int64)
        for values, weight in classes:
            here = places % len(weight)
            places = places // len(weight)
            chosen.update({name: each[here] for name, each in values.items()})
            weights = weights * weight[here]
        yield chosen, weights


def _groups(site: Site, case: Case) -> list[tuple[str, ...]]:
    """The variables that are read, those together that one shift reads together."""
    read = [name for name in case.values if name in site.read]
    home = {name: {name} for name in read}
    for parts in (site.parts, *(parts for _, parts, _ in site.atoms)):
        for shift in parts.shifts:
            together = sorted(reads(shift) & home.keys())
            for name in together[1:]:
                merged = home[together[0]] | home[name]
                for member in merged:
                    home[member] = merged
    found = {tuple(sorted(members)) for members in map(frozenset, home.values())}
    return sorted(found)


def _domain(case: Case, group: Sequence[str]) -> dict[str, Ints]:
    """All values of the variables of a group, every combination of them."""
    values = [_values(case, name) for name in group]
    count = prod(len(each) for each in values)
    if count > MOST_VALUES:
        raise DataError(f"{' x '.join(group)} have {count} values: too many to count one by one")
    if len(values) == 1:
        return {group[0]: values[0]}
    grids = np.meshgrid(*values, indexing="ij")
    return {name: grid.ravel() for name, grid in zip(group, grids, strict=True)}


def _values(case: Case, name: str) -> Ints:
    values = case.values[name]
    return np.arange(values, dtype=np.int64) if isinstance(values, int) else values


def _classes(
    site: Site, case: Case, names: Mapping[str, Any], group: tuple[str, ...], atoms: _Atoms
) -> tuple[dict[str, Ints], Ints]:
    """A value for every class of a group's values, and how many values are in each."""
    parts = site.parts
    period = case.geometry.shared_period if case.shared else case.geometry.period
    size = case.values[group[0]]
    if isinstance(size, int) and _only_added(parts, group) and not atoms.read(group):
        step = int(compiled(parts.linear[group[0]])(names)) * case.element_bytes
        cycle = period // gcd(step, period)
        residues = np.arange(min(cycle, size), dtype=np.int64)
        return {group[0]: residues}, (size - residues + cycle - 1) // cycle
    domain = _domain(case, group)
    columns: list[Any] = [
        domain[name] for name in group if name in parts.tangled or name in atoms.tangled
    ]
    if case.access_bytes:
        shift = added(parts, {**names, **domain}, group)
        columns.append(np.broadcast_to(shift * case.element_bytes % period, _length(domain)))
    columns += atoms.columns(group, domain)
    if not columns:
        first = {name: each[:1] for name, each in domain.items()}
        return first, np.array([_length(domain)], dtype=np.int64)
    rows = np.stack([np.broadcast_to(each, _length(domain)) for each in columns], axis=1)
    _, chosen, counts = np.unique(rows, axis=0, return_index=True, return_counts=True)
    return {name: each[chosen] for name, each in domain.items()}, counts.astype(np.int64)


def _only_added(parts: Decomposition, group: Sequence[str]) -> bool:
    """Whether a group is one variable that is added times a factor, and nothing else."""
    return (
        len(group) == 1
        and group[0] in parts.linear
        and group[0] not in parts.tangled
        and not any(group[0] in reads(shift) for shift in parts.shifts)
    )


def _length(domain: Mapping[str, Ints]) -> int:
    return len(next(iter(domain.values())))


def added(parts: Decomposition, names: Mapping[str, Any], group: Sequence[str]) -> Any:
    """What the variables of a group add to an expression."""
    total: Any = np.int64(0)
    for name in group:
        if name in parts.linear:
            total = total + compiled(parts.linear[name])(names) * names[name]
    for shift in parts.shifts:
        if reads(shift) & frozenset(group):
            total = total + compiled(shift)(names)
    return total


class _Atoms:
    """The comparisons of a site's predicates: which values decide one, whatever the rest is."""

    def __init__(
        self,
        site: Site,
        case: Case,
        names: Mapping[str, Any],
        groups: Sequence[tuple[str, ...]],
    ) -> None:
        self.names = names
        self.tangled: set[str] = set()
        self._readers = [reads(guard) for _, _, guard in site.atoms]
        self._plain: list[tuple[str, Decomposition, dict[tuple[str, ...], Any], int, int]] = []
        self._tied: list[Decomposition] = []
        for operator, parts, _ in site.atoms:
            self.tangled |= parts.tangled
            ends = _ends(parts, case, names)
            if ends is None:
                self._tied.append(parts)
                continue
            given = {
                group: added(parts, {**names, **_domain(case, group)}, group)
                for group in groups
                if _takes_part(parts, group)
            }
            self._plain.append((operator, parts, given, *ends))

    def read(self, group: tuple[str, ...]) -> bool:
        """Whether a predicate reads a variable of the group."""
        return any(names & frozenset(group) for names in self._readers)

    def columns(self, group: tuple[str, ...], domain: Mapping[str, Ints]) -> list[Any]:
        """For each comparison what a value of the group decides, or exactly what it adds."""
        found: list[Any] = [
            added(parts, {**self.names, **domain}, group)
            for parts in self._tied
            if _takes_part(parts, group)
        ]
        for operator, _, given, low, high in self._plain:
            if group not in given:
                continue
            others = [each for name, each in given.items() if name != group]
            least = low + sum(int(np.min(each)) for each in others)
            most = high + sum(int(np.max(each)) for each in others)
            yes, no = decided(operator, given[group] + least, given[group] + most)
            open_ = ~(yes | no)
            found += [np.where(open_, 2, no), np.where(open_, given[group], 0)]
        return found


def _ends(parts: Decomposition, case: Case, names: Mapping[str, Any]) -> tuple[int, int] | None:
    """The ends of what lanes make of an expression, over all values of what is tied up with them.

    None where those are too many to look at.
    """
    tied = sorted(name for name in parts.tangled if name in case.values)
    values = [_values(case, name) for name in tied]
    if prod(map(len, values)) * _threads(case) > _MOST_TIED:
        return None
    axes = np.meshgrid(*values, indexing="ij")
    columns = {name: axis.reshape(-1, 1) for name, axis in zip(tied, axes, strict=True)}
    fixed = np.asarray(compiled(parts.fixed)({**names, **columns}))
    return int(fixed.min()), int(fixed.max())


def _takes_part(parts: Decomposition, group: Sequence[str]) -> bool:
    members = frozenset(group)
    return bool(members & parts.linear.keys()) or any(
        reads(shift) & members for shift in parts.shifts
    )


def decided(operator: str, least: Any, most: Any) -> tuple[Any, Any]:
    """Whether a difference that lies between two values surely fulfils a comparison with 0.

    Args:
        operator: Of C: <, <=, >, >=, == or !=.
        least: The least the difference can be.
        most: The most it can be.

    Returns:
        Whether it surely holds, and whether it surely does not.

    Example:
        >>> decided("<", -5, -1), decided("<", -5, 3), decided(">=", 0, 3)
        ((True, False), (False, False), (True, False))
    """
    match operator:
        case "<":
            return most < 0, least >= 0
        case "<=":
            return most <= 0, least > 0
        case ">":
            return least > 0, most <= 0
        case ">=":
            return least >= 0, most < 0
        case "==":
            return (least == 0) & (most == 0), (least > 0) | (most < 0)
        case _:
            return (least > 0) | (most < 0), (least == 0) & (most == 0)
