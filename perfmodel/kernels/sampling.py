"""What is known of the names around a statement: their ends, and values that are looked at.

Sampled values have an axis for each coordinate of the blocks, one for the threads, and one for
each loop, which stands before those of what is around it, so that everything broadcasts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from perfmodel.errors import DataError
from perfmodel.expressions import Expression, ExpressionError
from perfmodel.kernels.affine import MEMBERS, reads, substitute
from perfmodel.kernels.ranges import Range, range_of
from perfmodel.kernels.tables import table
from perfmodel.kernels.written import placed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perfmodel.expressions.nodes import Node
    from perfmodel.kernels.schema import For

MOST_COUNTED = (1 << 31) - 1
"""Iterations of a loop with a bound that are still believed: what an int counts."""
MOST_NESTED = 10**12
"""Iterations of a loop within those around it that are still believed; a day and more."""
MOST_SAMPLES = 1 << 24
"""Values of an expression that are looked at together."""
_BASE_AXES = 4
"""The block's z, y and x, and the thread."""
_FEW = 5

Flags = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, eq=False)
class Samples:
    """Values of names on their axes, and the predicates that must hold."""

    values: Mapping[str, Any]
    masks: tuple[Flags, ...]
    axes: int

    def active(self, place: str) -> Flags | None:
        """Where all predicates hold; None where there are none."""
        if not self.masks:
            return None
        require_few(self.masks, place)
        found = self.masks[0]
        for mask in self.masks[1:]:
            found = found & mask
        return found


@dataclass(frozen=True, eq=False)
class Threads:
    """Where a body begins: some threads of a launch.

    Attributes:
        constants: Numbers that are the same everywhere.
        block: Sizes of the block.
        grid: Sizes of the grid.
        first: Number of the first thread.
        end: Number of the thread after the last one.
    """

    constants: Mapping[str, int]
    block: Sequence[int]
    grid: Sequence[int]
    first: int
    end: int

    @cached_property
    def samples(self) -> Samples:
        """All threads, of the first two, the last two and a middle block in each dimension."""
        values: dict[str, Any] = dict(self.constants)
        thread = np.arange(self.first, self.end, dtype=np.int64)
        for axis, (member, size) in enumerate(zip(MEMBERS, self.block, strict=True)):
            values[f"threadIdx.{member}"] = (thread % size).reshape(1, 1, 1, -1)
            thread = thread // size
            shape = [1] * _BASE_AXES
            shape[_BASE_AXES - 2 - axis] = -1
            values[f"blockIdx.{member}"] = np.array(_ends(self.grid[axis])).reshape(shape)
        return Samples(values, (), _BASE_AXES)


@dataclass(frozen=True, eq=False)
class Branch:
    """A branch that was entered."""

    outer: Surroundings
    asked: Expression
    answer: bool
    place: str

    @cached_property
    def samples(self) -> Samples:
        """Those outside, with what the branch asks among the predicates."""
        before = self.outer.entered.samples
        holds = self.outer.values(self.asked, "if", self.place) != 0
        return Samples(
            before.values, (*before.masks, holds if self.answer else ~holds), before.axes
        )


@dataclass(frozen=True, eq=False)
class Iterations:
    """A loop that was entered."""

    outer: Surroundings
    loop: For

    @cached_property
    def samples(self) -> Samples:
        """Those outside with an axis for iterations: the first and last two and a middle one."""
        before = self.outer.entered.samples
        loop = self.loop
        if loop.bound is not None and loop.step is not None:
            picked, there = self._counted(loop.bound, loop.step)
        else:
            picked, there = self._listed()
        values = {**before.values, loop.variable: picked}
        return Samples(values, (*before.masks, there), before.axes + 1)

    def _counted(self, bound: Expression, step: Expression) -> tuple[Any, Flags]:
        """Values of a loop with a bound, and where there is such an iteration."""
        loop, place = self.loop, self.loop.place
        what = f"for {loop.variable}"
        axes = self.outer.entered.samples.axes
        start, by, below = (
            _with_axes(self.outer.values(each, f"{key} of {what}", place), axes)
            for key, each in (("from", loop.start), ("step", step), ("below", bound))
        )
        if self._anywhere(by < 1):
            raise DataError(f"{place}: {what} never ends: its step is {by.min()}, below 1")
        trips = np.maximum(-((start - below) // np.maximum(by, 1)), 0)
        if self._anywhere(trips > MOST_COUNTED):
            raise DataError(
                f"{place}: {what} has {trips.max()} iterations: at most {MOST_COUNTED} are believed"
            )
        numbers = _picked(trips)
        return start + by * numbers, numbers < trips

    def _anywhere(self, wrong: Flags) -> bool:
        """Whether something holds for a thread that comes here."""
        if not wrong.any():
            return False
        active = self.outer.entered.samples.active(self.loop.place)
        return active is None or bool((wrong & active).any())

    def _listed(self) -> tuple[Any, Flags]:
        """Values of a loop that goes on while something holds.

        They are listed once for each combination of the outer names that the loop reads.
        """
        samples, roots = self.outer.entered.samples, self.outer.loop_roots(self.loop)
        read = frozenset[str]().union(*map(reads, roots)) - {self.loop.variable}
        fixed = {name: samples.values[name] for name in read if not np.ndim(samples.values[name])}
        names = sorted(read - fixed.keys())
        if not names:
            values = table(self.loop, roots, fixed)
            picked = np.array([values[each] for each in _ends(len(values))] or [0], dtype=np.int64)
            picked = picked.reshape(-1, *(1,) * samples.axes)
            return picked, np.full(picked.shape, bool(values))
        arrays = np.broadcast_arrays(*(_with_axes(samples.values[n], samples.axes) for n in names))
        rows = np.stack([each.ravel() for each in arrays], axis=-1)
        distinct, which = np.unique(rows, axis=0, return_inverse=True)
        there = np.zeros((_FEW, len(distinct)), dtype=bool)
        picked = np.zeros((_FEW, len(distinct)), dtype=np.int64)
        for column, row in enumerate(distinct.tolist()):
            values = table(self.loop, roots, {**fixed, **dict(zip(names, row, strict=True))})
            for line, place in enumerate(_ends(len(values))):
                there[line, column], picked[line, column] = True, values[place]
        shape = (_FEW, *arrays[0].shape)
        return picked[:, which.ravel()].reshape(shape), there[:, which.ravel()].reshape(shape)


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What stands around a statement.

    Attributes:
        entered: The innermost loop or branch around it, or the threads that execute it.
        names: Ends of the names that expressions read; a name of which nothing is certain is
            missing.
        lets: What the names of lets stand for.
        loops: The loops around it, outermost first.
        turns: How often they let it be executed at most, as far as that is certain.
    """

    entered: Threads | Branch | Iterations
    names: Mapping[str, Range]
    lets: Mapping[str, Node]
    loops: tuple[For, ...] = ()
    turns: int = 1

    def root(self, written: Expression) -> Node:
        """The tree of an expression with lets put in."""
        if written.names.isdisjoint(self.lets):
            return written.root
        return substitute(written.root, self.lets)

    def loop_roots(self, loop: For) -> tuple[Node, Node, Node]:
        """Start, condition and next value of a loop over a shared value."""
        following = loop.following or loop.start
        return self.root(loop.start), self.root(loop.condition), self.root(following)

    def range(self, written: Expression) -> Range | None:
        """The ends of an expression, where they are certain."""
        return range_of(self.root(written), self.names)

    def values(self, written: Expression, what: str, place: str) -> Any:
        """The sampled values of an expression.

        What C leaves undefined counts only where the predicates around let a thread come.

        Raises:
            DataError: For such a thread it has no value.
        """
        root, samples = self.root(written), self.entered.samples
        require_few([samples.values[name] for name in reads(root)], place)
        try:
            return evaluated(written, root, samples.values, what, place)
        except DataError:
            active = samples.active(place)
            if active is None:
                raise
        names = [name for name in reads(root) if np.ndim(samples.values[name])]
        require_few([active, *(samples.values[n] for n in names)], place)
        shape = np.broadcast_shapes(active.shape, *(samples.values[n].shape for n in names))
        active = np.broadcast_to(active, shape)
        chosen = {n: np.broadcast_to(samples.values[n], shape)[active] for n in names}
        found = np.zeros(shape, dtype=np.int64)
        found[active] = evaluated(written, root, {**samples.values, **chosen}, what, place)
        return found


def require_few(arrays: Sequence[Any], place: str) -> None:
    """Refuse what would be too much to look at together.

    Raises:
        DataError: The arrays broadcast to more than `MOST_SAMPLES` elements.
    """
    size = math.prod(np.broadcast_shapes(*(np.shape(each) for each in arrays)))
    if size > MOST_SAMPLES:
        raise DataError(
            f"{place}: {size} threads and iterations would have to be looked at, at most "
            f"{MOST_SAMPLES} are: nest fewer loops"
        )


def evaluated(
    written: Expression, root: Node, values: Mapping[str, Any], what: str, place: str
) -> Any:
    """The values of an expression in which lets are put in.

    Args:
        written: The expression as written.
        root: Its tree with lets put in.
        values: Numbers and arrays by name.
        what: What it is, for a message.
        place: Where it stands.

    Returns:
        Whole numbers or truth values.

    Raises:
        DataError: It has no value, or one that is no whole number.
    """
    try:
        found = Expression(written.text, root).evaluate(values)
    except ExpressionError as error:
        if root is written.root:
            raise placed(error, f"{place}: {what}") from None
        raise DataError(f"{place}: {what}: {error.message}") from None
    if found.dtype.kind != "f":
        return found
    broken = found != np.rint(found)
    if broken.any():
        first = found.flat[int(np.argmax(broken))]
        raise DataError(f"{place}: {what} is {first}: a whole number is wanted")
    return found.astype(np.int64)


def at(values: Any, where: Sequence[Any]) -> int:
    """The value at a place of a larger shape that the values broadcast to.

    An axis that the place lacks is one on which nothing there depends; its first value stands.
    """
    array = np.asarray(values)
    here = (*(0,) * array.ndim, *where)[len(where) :] if array.ndim else ()
    return int(
        array[tuple(0 if size == 1 else n for n, size in zip(here, array.shape, strict=True))]
    )


def _with_axes(values: Any, axes: int) -> Any:
    """An array with axes of length one before its own."""
    array = np.asarray(values)
    return array.reshape((1,) * (axes - array.ndim) + array.shape)


def _ends(size: int) -> list[int]:
    """The first two, the last two and a middle one of so many.

    Example:
        >>> _ends(3), _ends(100)
        ([0, 1, 2], [0, 1, 50, 98, 99])
    """
    return list(range(size)) if size <= _FEW else [0, 1, size // 2, size - 2, size - 1]


def _picked(trips: Any) -> Any:
    """Numbers of the iterations that are looked at, on a new first axis."""
    most = int(trips.max())
    if most <= _FEW or int(trips.min()) == most:
        return np.array(_ends(max(most, 1))).reshape(-1, *(1,) * trips.ndim)
    ends = (0 * trips, 0 * trips + 1, trips // 2, trips - 2, trips - 1)
    return np.stack([np.maximum(each, 0) for each in ends])
