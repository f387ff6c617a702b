"""The distinct sectors that a block touches while some of its loops run.

A footprint is kept as runs of neighbouring bytes. A loop that moves an access by no more than a
run's length lengthens the runs; one that moves it beyond everything touched so far repeats them;
what lies between is put together run by run. So a walk over a million elements costs no more than
its first step.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from perfmodel.kernels.affine import THREAD_NAMES, reads
from perfmodel.kernels.fast import compiled
from perfmodel.kernels.patterns import Case, added, thread_names
from perfmodel.kernels.sites import BLOCK_NAMES, Site

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perfmodel.expressions.nodes import Node

Ints: TypeAlias = npt.NDArray[np.int64]

_MOST_RUNS = 1 << 18
_MOST_LISTED = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Footprint:
    """Distinct blocks of memory, at each size asked for."""

    counts: Mapping[int, float]
    """Distinct aligned blocks by their size [bytes]."""
    fingerprint: int
    """Equal for accesses that touch the same bytes of their array."""


@dataclass(frozen=True, kw_only=True)
class Runs:
    """Runs of bytes [start, stop), sorted and apart; `times` copies, far from each other."""

    start: Ints
    stop: Ints
    times: int = 1

    def moved(self, step: int, count: int) -> Runs:
        """The union of copies of the runs, each `step` further than the one before."""
        step = abs(step)
        if step == 0 or count <= 1:
            return self
        length = int((self.stop - self.start).min())
        span = int(self.stop[-1] - self.start[0])
        if step <= length and self.times == 1:
            return _merged(self.start, self.stop + step * (count - 1), self.times)
        if len(self.start) * count <= _MOST_RUNS and self.times == 1:
            shift = np.arange(count, dtype=np.int64)[:, None] * step
            return _merged((self.start + shift).ravel(), (self.stop + shift).ravel(), 1)
        if step >= span:
            return Runs(start=self.start, stop=self.stop, times=self.times * count)
        # Neither fits nor is apart: all that lies between is touched sooner or later.
        return Runs(
            start=self.start[:1], stop=self.start[:1] + span + step * (count - 1), times=self.times
        )

    def at(self, offsets: Ints) -> Runs:
        """The union of copies of the runs at some offsets, the first of them 0."""
        if len(offsets) == 1:
            return self
        if self.times == 1 and len(self.start) * len(offsets) <= _MOST_RUNS:
            shift = offsets[:, None]
            return _merged((self.start + shift).ravel(), (self.stop + shift).ravel(), 1)
        return Runs(start=self.start, stop=self.stop, times=self.times * len(offsets))

    def blocks(self, size: int) -> float:
        """Distinct aligned blocks of a size."""
        first, last = self.start // size, (self.stop - 1) // size
        before = np.concatenate(([np.int64(-1)], np.maximum.accumulate(last)[:-1]))
        own = np.maximum(last - np.maximum(first, before + 1) + 1, 0)
        return float(own.sum()) * self.times


def _merged(start: Ints, stop: Ints, times: int) -> Runs:
    order = np.argsort(start, kind="stable")
    start, stop = start[order], stop[order]
    reach = np.maximum.accumulate(stop)
    opens = np.ones(len(start), dtype=bool)
    opens[1:] = start[1:] > reach[:-1]
    closes = np.append(np.nonzero(opens)[0][1:] - 1, len(start) - 1)
    return Runs(start=start[opens], stop=reach[closes], times=times)


def footprint(site: Site, case: Case, sizes: Sequence[int]) -> Footprint:
    """What a block touches of an array by one access while some of its loops run.

    Args:
        site: The access.
        case: Its numbers; `values` has the iterations of the loops that run, all other variables
            stand still at their first value.
        sizes: Block sizes to count at [bytes].

    Returns:
        The distinct blocks of each size, of the first block; predicates over a block's number
        alone are taken to hold.
    """
    guards = [guard for guard in site.guards if not _of_block(guard)]
    runs = touched_runs(site, case, guards)
    if runs is None:
        return Footprint(counts=dict.fromkeys(sizes, 0.0), fingerprint=0)
    mark = hash((runs.start.tobytes(), runs.stop.tobytes(), runs.times))
    return Footprint(counts={size: runs.blocks(size) for size in sizes}, fingerprint=mark)


def touched_runs(
    site: Site, case: Case, guards: Sequence[Node], distances: Ints | None = None
) -> Runs | None:
    """What a block touches while some of its loops run, as runs of bytes.

    Args:
        site: The access.
        case: Its numbers.
        guards: The predicates to keep.
        distances: Elements from the access to others like it, 0 among them.

    Returns:
        The runs; None where no thread takes part.
    """
    values, guards = _allowed(case, guards)
    names: dict[str, Any] = {**case.env, **thread_names(case)}
    in_guards = frozenset[str]().union(*map(reads, guards))
    read = [name for name in values if name in site.read]
    tied = [name for name in read if name in site.parts.tangled or name in in_guards]
    shifted = frozenset[str]().union(*map(reads, site.parts.shifts))
    alone = [
        name
        for name in read
        if name not in tied and (name in shifted or not isinstance(values[name], int))
    ]
    if any(len(reads(shift) & set(read)) > 1 for shift in site.parts.shifts):
        tied, alone = [*tied, *alone], []
    names.update({name: 0 for name in values if name not in tied})
    runs = _first_runs(site, case, names, guards, {name: values[name] for name in tied})
    if runs is None:
        return None
    if distances is not None:
        runs = runs.at(distances * case.element_bytes)
    for name in alone:
        offsets = added(site.parts, {**case.env, name: _listed(values[name])}, (name,))
        runs = runs.at(np.unique(offsets - offsets.min()) * case.element_bytes)
    moves = sorted(
        (abs(int(compiled(node)(case.env)) * case.element_bytes), _number(values[name]))
        for name, node in site.parts.linear.items()
        if name in values and name not in tied and name not in alone
    )
    for step, count in moves:
        runs = runs.moved(step, count)
    return runs


def _of_block(guard: Node) -> bool:
    """Whether a predicate reads a block's number, and nothing of the thread."""
    read = reads(guard)
    return bool(read & frozenset(BLOCK_NAMES)) and not read & THREAD_NAMES


def _allowed(case: Case, guards: Sequence[Node]) -> tuple[dict[str, int | Ints], list[Node]]:
    """The values that predicates over a single variable let through, and the other predicates."""
    values = dict(case.values)
    others: list[Node] = []
    for guard in guards:
        variables = reads(guard) & values.keys()
        if reads(guard) & THREAD_NAMES or len(variables) != 1:
            others.append(guard)
            continue
        (name,) = variables
        listed = _listed(values[name])
        kept = listed[np.broadcast_to(compiled(guard)({**case.env, name: listed}), listed.shape)]
        counted = kept.size and kept[-1] == kept.size - 1 and kept[0] == 0
        values[name] = int(kept.size) if counted or not kept.size else kept
    return values, others


def _listed(values: int | Ints) -> Ints:
    return np.arange(values, dtype=np.int64) if isinstance(values, int) else values


def _number(values: int | Ints) -> int:
    return values if isinstance(values, int) else len(values)


def _first_runs(
    site: Site,
    case: Case,
    names: dict[str, Any],
    guards: Sequence[Any],
    listed: Mapping[str, int | Ints],
) -> Runs | None:
    """What the threads touch over the variables whose values have to be listed."""
    assert site.compiled_index is not None
    axes = [_listed(values) for values in listed.values()]
    threads = case.threads[1] - case.threads[0]
    total = prod(len(axis) for axis in axes) * max(threads, 1)
    if total > _MOST_LISTED:  # a long loop tied up with the lanes: its ends bound what it touches
        axes = [axis[[0, len(axis) // 2, -1]] if len(axis) > 3 else axis for axis in axes]
    grids = np.meshgrid(*axes, np.arange(threads), indexing="ij", sparse=True)
    names.update(dict(zip(listed, grids, strict=False)))
    shape = np.broadcast_shapes(*(grid.shape for grid in grids))
    index = np.broadcast_to(np.asarray(site.compiled_index(names), dtype=np.int64), shape)
    active = np.ones(shape, dtype=bool)
    for guard in guards:
        active = active & (np.broadcast_to(compiled(guard)(names), shape) != 0)
    start = np.unique(index[active]) * case.element_bytes
    if not start.size:
        return None
    start = start - min(int(start[0]) // 4096 * 4096, 0)
    return _merged(start, start + case.access_bytes, 1)


def sectors_by_warp(site: Site, case: Case, sector: int) -> tuple[float, float]:
    """Sectors that a warp asks for while its loops run, once each, and time after time.

    Args:
        site: The access.
        case: Its numbers; `values` has the few iterations that follow one another at once.
        sector: Size of a sector [bytes].

    Returns:
        The sum over warps of distinct sectors, and the sum over warps and iterations.
    """
    assert site.compiled_index is not None
    names: dict[str, Any] = {**case.env, **thread_names(case)}
    read = list(case.values)
    axes = [
        np.arange(values, dtype=np.int64) if isinstance(values, int) else values
        for values in case.values.values()
    ]
    width = case.geometry.warp_width
    threads = case.threads[1] - case.threads[0]
    grids = np.meshgrid(*axes, indexing="ij")
    names.update({name: grid.reshape(-1, 1) for name, grid in zip(read, grids, strict=True)})
    count = max(prod(len(axis) for axis in axes), 1)
    index = np.broadcast_to(
        np.asarray(site.compiled_index(names), dtype=np.int64), (count, threads)
    )
    short = -threads % width
    padded = np.pad(index, [(0, 0), (0, short)], mode="edge") * case.element_bytes
    first = (padded - min(int(padded.min()) // 4096 * 4096, 0)) // sector
    by_warp = first.reshape(count, -1, width)
    alone = float(sum(_distinct_per_row(each) for each in by_warp))
    together = float(_distinct_per_row(by_warp.transpose(1, 0, 2).reshape(by_warp.shape[1], -1)))
    return together, alone


def _distinct_per_row(values: Ints) -> int:
    ordered = np.sort(values, axis=-1)
    return int((ordered[:, 1:] != ordered[:, :-1]).sum()) + len(ordered)
