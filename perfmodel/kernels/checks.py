"""What must hold of a rung once its parameters have values.

Sizes are at least what they must be, loops end, and every access stays in its array. An index is
first judged by its ends (`ranges`), which settles most of them for every thread at once. Where
that settles nothing (a bounds check, a remainder), the index is evaluated: for all threads of the
first two, the last two and a middle block in each dimension, and for the same iterations of every
loop, with the predicates around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from perfmodel.errors import DataError, PerfmodelError, UsageError
from perfmodel.expressions import Expression, ExpressionError
from perfmodel.kernels.affine import MEMBERS, reads, substitute
from perfmodel.kernels.parameters import expression_values, rung_parameters
from perfmodel.kernels.ranges import Range, name_range, range_of
from perfmodel.kernels.schema import (
    ELEMENT_BYTES,
    Array,
    Atomic,
    Body,
    Copy,
    Description,
    For,
    If,
    Launch,
    Let,
    Load,
    Mma,
    Operation,
    Role,
    Rung,
    Shuffle,
    Statement,
    Store,
    walk,
)
from perfmodel.kernels.scoping import WIDTHS, described, wrong_width
from perfmodel.kernels.tables import table
from perfmodel.kernels.written import placed
from perfmodel.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perfmodel.expressions.nodes import Node

Flags = np.ndarray[Any, np.dtype[np.bool_]]

LARGEST_BLOCK = 1024
"""Threads of a block that a device takes at most; none takes more."""
MOST_COUNTED = 10**12
"""Iterations of a loop with a bound that are still believed."""
_LARGEST_GRID = (1 << 31) - 1
_SHARED_ALIGNMENT_BYTES = 128
_BASE_AXES = 4
"""Axes of the sampled values: the block's z, y and x, and the thread; loops stand before them."""


def check_description(
    description: Description,
    given: Mapping[str, Any] | None = None,
    *,
    warp_width: int = 32,
) -> list[str]:
    """What is wrong with the rungs of a kernel for some parameters.

    Args:
        description: The kernel.
        given: Values of parameters; a rung takes those it has, and defaults for the others.
        warp_width: Lanes of a warp.

    Returns:
        The first thing that is wrong with each rung, as one line each; empty where all is well.

    Raises:
        UsageError: No rung has a parameter of that name, or none takes the value.
    """
    known = {name for rung in description.rungs.values() for name in rung.parameters}
    for name in given or ():
        if name not in known:
            near = did_you_mean(name, known)
            raise UsageError(f"{description.kernel} has no parameter {name[:60]!r}: {near}")
    found = []
    for rung in description.rungs.values():
        own = {name: value for name, value in (given or {}).items() if name in rung.parameters}
        try:
            require_sound(rung, rung_parameters(rung, own, warp_width=warp_width), warp_width)
            _require_amounts(description, rung_parameters(rung, own), rung)
        except UsageError:
            raise
        except PerfmodelError as error:
            found.append(_with_rung(str(error), rung.name))
    return found


def require_sound(rung: Rung, parameters: Mapping[str, Any], warp_width: int) -> None:
    """Refuse parameters for which a rung makes no sense.

    Args:
        rung: The rung.
        parameters: A number or word for each of its parameters, as `rung_parameters` gives them.
        warp_width: Lanes of a warp.

    Raises:
        DataError: A size is too small, a loop does not end, or an access leaves its array; the
            message has file and line, and for an access the thread.
    """
    values = {**expression_values(rung, parameters), "warpSize": warp_width}
    types = {name: value for name, value in parameters.items() if isinstance(value, str)}
    constants = {name: name_range(name, int(each), int(each)) for name, each in values.items()}
    arrays = {}
    for array in rung.arrays.values():
        what = f"extent of {array.name}"
        extent = _constant(array.extent, constants, what, array.place)
        if extent < 0:
            raise DataError(f"{array.place}: {what} is {extent}: at least 0 is wanted")
        arrays[array.name] = (array, extent)
    for launch in rung.launches:
        _LaunchCheck(launch, constants, arrays, types).check()


def first_index_outside(rung: Rung, parameters: Mapping[str, Any], warp_width: int) -> str | None:
    """The first access of a rung that leaves its array, or what keeps indices from having a value.

    Args:
        rung: The rung.
        parameters: As in `require_sound`.
        warp_width: Lanes of a warp.

    Returns:
        One line with file, line, thread and element; None where every access stays inside.
    """
    try:
        require_sound(rung, parameters, warp_width)
    except DataError as error:
        return _one_line(error)
    return None


def _one_line(error: PerfmodelError) -> str:
    return error.message if isinstance(error, ExpressionError) else str(error)


def _with_rung(message: str, rung: str) -> str:
    first, newline, rest = message.partition("\n")
    return f"{first} (rung {rung}){newline}{rest}"


def _require_amounts(description: Description, values: Mapping[str, Any], rung: Rung) -> None:
    """Refuse a kernel whose useful work or compulsory traffic is below 0."""
    readable = expression_values(rung, values)
    for what, written in (("flop", description.flop), ("compulsory", description.compulsory)):
        try:
            amount = written.evaluate(readable)
        except ExpressionError as error:
            raise placed(error, f"{description.origin}: {what}") from None
        if amount < 0:
            raise DataError(f"{description.origin}: {what} is {amount}: at least 0 is wanted")


def _constant(
    written: Expression,
    names: Mapping[str, Range],
    what: str,
    place: str,
    lets: Mapping[str, Node] | None = None,
) -> int:
    """The value of an amount: its names have one value each."""
    root = substitute(written.root, lets) if lets else written.root
    found = range_of(root, names)
    if found is not None and found.low == found.high:
        return found.low
    values = {name: each.low for name, each in names.items() if each.low == each.high}
    return int(_evaluated(written, root, values, what, place).item())


def _evaluated(
    written: Expression, root: Node, values: Mapping[str, Any], what: str, place: str
) -> Any:
    """The values of an expression in which lets are put in."""
    try:
        found = Expression(written.text, root).evaluate(values)
    except ExpressionError as error:
        if root is written.root:
            raise placed(error, f"{place}: {what}") from None
        raise DataError(f"{place}: {what}: {error.message}") from None
    if found.dtype.kind == "f":
        if (found == np.rint(found)).all():
            return found.astype(np.int64)
        raise DataError(f"{place}: {what} is {found.flat[0]}: a whole number is wanted")
    return found


class _LaunchCheck:
    """A launch with the values of the parameters."""

    def __init__(
        self,
        launch: Launch,
        constants: Mapping[str, Range],
        arrays: Mapping[str, tuple[Array, int]],
        types: Mapping[str, str],
    ) -> None:
        self.launch = launch
        self.arrays = arrays
        self.types = types
        self.width = constants["warpSize"].low
        self.block = self._shape("block", launch.block, constants, LARGEST_BLOCK)
        threads = int(np.prod(self.block))
        if threads > LARGEST_BLOCK:
            raise DataError(
                f"{launch.place}: block of launch {launch.name} has {threads} threads: at most "
                f"{LARGEST_BLOCK} are possible"
            )
        with_block = {**constants, **_members("blockDim", self.block)}
        self.grid = self._shape("grid", launch.grid, with_block, _LARGEST_GRID)
        self.constants = {**with_block, **_members("gridDim", self.grid)}
        self.threads = threads

    def _shape(
        self,
        key: str,
        written: Sequence[Expression],
        names: Mapping[str, Range],
        most: int,
    ) -> tuple[int, ...]:
        what = f"{key} of launch {self.launch.name}"
        sizes = tuple(_constant(each, names, what, self.launch.place) for each in written)
        for size in sizes:
            if not 1 <= size <= most:
                shape = " x ".join(map(str, sizes))
                raise DataError(
                    f"{self.launch.place}: {what} is {shape}: each size is from 1 to {most}"
                )
        return sizes

    def check(self) -> None:
        launch = self.launch
        self._at_least(launch.registers, "registers of launch " + launch.name, 1)
        self._at_least(launch.barriers, "barriers of launch " + launch.name, 0)
        for channel in launch.channels:
            self._at_least(channel.stages, f"stages of channel {channel.name}", 1, channel.place)
        self._shared()
        first = 0
        warps = -(-self.threads // self.width)
        for role in launch.roles:
            own = warps
            if role.warps is not None:
                own = self._at_least(role.warps, f"warps of role {role.name}", 1, role.place)
            self._at_least(role.registers, f"registers of role {role.name}", 1, role.place)
            if first + own <= warps:
                _RoleCheck(self, role, first, own).check()
            first += own
        if first != warps:
            raise DataError(
                f"{launch.place}: the roles of launch {launch.name} have {first} warps, its block "
                f"of {self.threads} threads has {warps}: both must be the same"
            )

    def _at_least(
        self, written: Expression, what: str, minimum: int, place: str | None = None
    ) -> int:
        at = place or self.launch.place
        value = _constant(written, self.constants, what, at)
        if value < minimum:
            raise DataError(f"{at}: {what} is {value}: at least {minimum} is wanted")
        return value

    def _shared(self) -> None:
        """Refuse less shared memory than the arrays that the launch uses take."""
        if self.launch.shared is None:
            return
        what = f"shared of launch {self.launch.name}"
        given = self._at_least(self.launch.shared, what, 0)
        used = {name for role in self.launch.roles for name in _arrays_of(role.body)}
        taken = 0
        for name in self.arrays:
            array, extent = self.arrays[name]
            if name in used and array.space == "shared":
                taken = -(-taken // _SHARED_ALIGNMENT_BYTES) * _SHARED_ALIGNMENT_BYTES
                taken += extent * ELEMENT_BYTES[self.types.get(array.type, array.type)]
        if given < taken:
            raise DataError(
                f"{self.launch.place}: {what} is {given} bytes: its shared arrays take {taken}"
            )


def _arrays_of(body: Body) -> set[str]:
    found = set()
    for each in walk(body):
        if isinstance(each, Load | Store | Atomic | Copy):
            found.add(each.array)
        if isinstance(each, Copy):
            found.add(each.to)
    return found


def _members(name: str, sizes: Sequence[int]) -> dict[str, Range]:
    return {
        f"{name}.{member}": name_range(f"{name}.{member}", size, size)
        for member, size in zip(MEMBERS, sizes, strict=True)
    }


@dataclass(frozen=True, eq=False)
class _Around:
    """What stands around statements: names with their ranges, and how their values are sampled.

    Sampled values have an axis for each coordinate; a loop's axis stands before those of what is
    around it, so that everything broadcasts.
    """

    check: _RoleCheck
    names: Mapping[str, Range]
    """Loop variables of which nothing is known are missing."""
    lets: Mapping[str, Node]
    loops: tuple[For, ...] = ()
    outer: _Around | None = None
    predicate: tuple[Expression, bool, str] | None = None
    """A branch entered since `outer`: what it asks, which answer, and where it stands."""

    @cached_property
    def sampled(self) -> _Sampled:
        """The values of threads, blocks and loop variables that are looked at."""
        if self.outer is None:
            return self.check.base_samples()
        before = self.outer.sampled
        if self.predicate is None:
            return self.outer.with_loop(self.loops[-1])
        written, answer, place = self.predicate
        asked = self.outer.values(written, "if", place) != 0
        return _Sampled(before.values, (*before.masks, asked if answer else ~asked), before.axes)

    def root(self, written: Expression) -> Node:
        """The tree of an expression with lets put in."""
        return (
            substitute(written.root, self.lets)
            if written.names & self.lets.keys()
            else written.root
        )

    def range(self, written: Expression) -> Range | None:
        """The ends of an expression, where they are certain."""
        return range_of(self.root(written), self.names)

    def values(self, written: Expression, what: str, place: str) -> Any:
        """The sampled values of an expression.

        What C leaves undefined counts only where the predicates around let a thread come.
        """
        root = self.root(written)
        samples = self.sampled
        try:
            return _evaluated(written, root, samples.values, what, place)
        except DataError:
            active = samples.active()
            if active is None:
                raise
        names = [name for name in reads(root) if np.ndim(samples.values.get(name, 0))]
        shape = np.broadcast_shapes(active.shape, *(samples.values[n].shape for n in names))
        active = np.broadcast_to(active, shape)
        chosen: dict[str, Any] = {**samples.values}
        for name in names:
            chosen[name] = np.broadcast_to(samples.values[name], shape)[active]
        found = np.zeros(shape, dtype=np.int64)
        found[active] = _evaluated(written, root, chosen, what, place)
        return found

    def with_loop(self, loop: For) -> _Sampled:
        """The samples with an axis for the iterations of a loop."""
        before = self.sampled
        if loop.bound is not None and loop.step is not None:
            picked, there = self._counted(loop, loop.bound, loop.step)
        else:
            picked, there = self._listed(loop)
        values = {**before.values, loop.variable: picked}
        return _Sampled(values, (*before.masks, there), before.axes + 1)

    def _counted(self, loop: For, bound: Expression, step: Expression) -> tuple[Any, Flags]:
        """The values of a loop with a bound, and where there is such an iteration."""
        what = f"for {loop.variable}"
        start = np.asarray(self.values(loop.start, f"from of {what}", loop.place))
        by = np.asarray(self.values(step, f"step of {what}", loop.place))
        below = np.asarray(self.values(bound, f"below of {what}", loop.place))
        self._require_step(loop, by)
        trips = np.maximum(-((start - below) // np.maximum(by, 1)), 0)
        self._require_few(loop, trips)
        axes = self.sampled.axes
        start, by, trips = (
            each.reshape((1,) * (axes - each.ndim) + each.shape) for each in (start, by, trips)
        )
        numbers = _picked(trips)
        return start + by * numbers, np.broadcast_to(numbers < trips, numbers.shape)

    def _require_step(self, loop: For, by: Any) -> None:
        if (by < 1).any() and self._anywhere(by < 1):
            raise DataError(
                f"{loop.place}: for {loop.variable} never ends: its step is {by.min()}, at least 1 "
                "is wanted"
            )

    def _require_few(self, loop: For, trips: Any) -> None:
        if (trips > MOST_COUNTED).any() and self._anywhere(trips > MOST_COUNTED):
            raise DataError(
                f"{loop.place}: for {loop.variable} has {trips.max()} iterations: at most "
                f"{MOST_COUNTED} are believed"
            )

    def _anywhere(self, wrong: Any) -> bool:
        active = self.sampled.active()
        return bool((wrong if active is None else wrong & active).any())

    def _listed(self, loop: For) -> tuple[Any, Flags]:
        """The values of a loop that goes on while something holds.

        They are listed once for each combination of the outer names that the loop reads.
        """
        samples = self.sampled
        following = loop.following or loop.start
        roots = tuple(self.root(each) for each in (loop.start, loop.condition, following))
        names = sorted(
            name
            for name in frozenset[str]().union(*map(reads, roots)) - {loop.variable}
            if np.ndim(samples.values[name])
        )
        arrays = np.broadcast_arrays(*(samples.values[name] for name in names)) if names else []
        shape = arrays[0].shape if arrays else (1,)
        rows = np.stack([each.ravel() for each in arrays], axis=-1) if arrays else np.zeros((1, 0))
        distinct, which = np.unique(rows, axis=0, return_inverse=True)
        fixed = {n: each for n, each in samples.values.items() if not np.ndim(each)}
        lists = [
            table(loop, roots, {**fixed, **dict(zip(names, row, strict=True))})
            for row in distinct.astype(np.int64).tolist()
        ]
        picks = [_picked(np.array(len(each))).ravel().clip(0) for each in lists]
        most = max(map(len, picks))
        there = np.zeros((most, len(lists)), dtype=bool)
        picked = np.zeros((most, len(lists)), dtype=np.int64)
        for column, (values, places) in enumerate(zip(lists, picks, strict=True)):
            if values:
                there[: len(places), column] = True
                picked[: len(places), column] = np.array(values)[places]
        axes = (1,) * (samples.axes - len(shape)) + shape
        spread = which.reshape(-1)
        return (
            picked[:, spread].reshape(most, *axes),
            there[:, spread].reshape(most, *axes),
        )


def _picked(trips: Any) -> Any:
    """Numbers of the iterations that are looked at, on a new first axis."""
    most = int(trips.max(initial=0))
    if trips.min(initial=0) == most or most <= 5:
        every = sorted({0, 1, most // 2, most - 2, most - 1} & set(range(max(most, 1))))
        if most <= 5:
            every = list(range(max(most, 1)))
        return np.array(every, dtype=np.int64).reshape(-1, *(1,) * trips.ndim)
    return np.stack(
        [
            np.clip(each, 0, None)
            for each in (0 * trips, 0 * trips + 1, trips // 2, trips - 2, trips - 1)
        ]
    )


@dataclass(frozen=True)
class _Sampled:
    """Values of names on their axes, and the predicates that must hold."""

    values: Mapping[str, Any]
    masks: tuple[Flags, ...]
    axes: int

    def active(self) -> Flags | None:
        """Where all predicates hold; None where there are none."""
        if not self.masks:
            return None
        found = self.masks[0]
        for mask in self.masks[1:]:
            found = found & mask
        return found


class _RoleCheck:
    """A walk over the body of a role."""

    def __init__(self, launch: _LaunchCheck, role: Role, first_warp: int, warps: int) -> None:
        self.launch = launch
        self.role = role
        self.warps = warps
        self.first = first_warp * launch.width
        self.end = min((first_warp + warps) * launch.width, launch.threads)

    def check(self) -> None:
        names = dict(self.launch.constants)
        for base, sizes in (("threadIdx", self.launch.block), ("blockIdx", self.launch.grid)):
            for member, size in zip(MEMBERS, sizes, strict=True):
                name = f"{base}.{member}"
                names[name] = name_range(name, 0, size - 1)
        self._body(self.role.body, _Around(self, names, {}))

    def base_samples(self) -> _Sampled:
        """All threads of the role in some blocks."""
        values: dict[str, Any] = {name: each.low for name, each in self.launch.constants.items()}
        thread = np.arange(self.first, self.end, dtype=np.int64)
        for member, size in zip(MEMBERS, self.launch.block, strict=True):
            values[f"threadIdx.{member}"] = (thread % size).reshape(1, 1, 1, -1)
            thread = thread // size
        for axis, (member, size) in enumerate(zip(MEMBERS, self.launch.grid, strict=True)):
            every = np.array(
                sorted({0, 1, size // 2, size - 2, size - 1} & {*range(2), *range(size // 2, size)})
                if size < 5
                else [0, 1, size // 2, size - 2, size - 1],
                dtype=np.int64,
            )
            shape = [1] * _BASE_AXES
            shape[_BASE_AXES - 2 - axis] = -1
            values[f"blockIdx.{member}"] = every.reshape(shape)
        return _Sampled(values, (), _BASE_AXES)

    def _body(self, body: Body, around: _Around) -> None:
        here = around
        for statement in body:
            if isinstance(statement, Let):
                here = self._with_let(statement, here)
            elif isinstance(statement, For):
                self._loop(statement, here)
            elif isinstance(statement, If):
                self._branch(statement, here)
            else:
                self._single(statement, here)

    def _with_let(self, let: Let, here: _Around) -> _Around:
        if here.range(let.value) is None:
            here.values(let.value, f"let {let.name}", let.place)
        lets = {**here.lets, let.name: here.root(let.value)}
        return _Around(self, here.names, lets, here.loops, here.outer, here.predicate)

    def _loop(self, loop: For, here: _Around) -> None:
        self._amount(loop.unroll, f"unroll of for {loop.variable}", loop, here, 1)
        found = self._loop_range(loop, here)
        names = {name: each for name, each in here.names.items() if name != loop.variable}
        if found is not None:
            names[loop.variable] = found
        inner = _Around(self, names, here.lets, (*here.loops, loop), here)
        if found is None:
            _ = inner.sampled  # which refuses a loop that does not end
        self._body(loop.body, inner)

    def _loop_range(self, loop: For, here: _Around) -> Range | None:
        """The least and greatest value of a loop's variable, where that is certain."""
        if loop.bound is None or loop.step is None:
            return self._listed_range(loop, here)
        start, bound, step = (here.range(each) for each in (loop.start, loop.bound, loop.step))
        if start is None or bound is None or step is None or step.low < 1:
            return None
        if (bound.high - start.low) > MOST_COUNTED * step.low:
            return None
        return name_range(loop.variable, start.low, max(start.low, bound.high - 1))

    def _listed_range(self, loop: For, here: _Around) -> Range | None:
        roots = tuple(
            here.root(each) for each in (loop.start, loop.condition, loop.following or loop.start)
        )
        read = frozenset[str]().union(*map(reads, roots)) - {loop.variable}
        known = [here.names.get(name) for name in read]
        if any(each is None or each.low != each.high for each in known):
            return None
        values = {name: here.names[name].low for name in read}
        found = table(loop, roots, values)
        return name_range(loop.variable, min(found), max(found)) if found else None

    def _branch(self, branch: If, here: _Around) -> None:
        if branch.predicate is None:
            if branch.share is not None:
                self._share(branch.share, branch, here)
            self._body(branch.then, here)
            self._body(branch.otherwise, here)
            return
        if here.range(branch.predicate) is None:
            here.values(branch.predicate, "if", branch.place)
        for body, answer in ((branch.then, True), (branch.otherwise, False)):
            asked = (branch.predicate, answer, branch.place)
            inner = _Around(self, here.names, here.lets, here.loops, here, asked)
            self._body(body, inner)

    def _share(self, written: Expression, branch: If, here: _Around) -> None:
        root = here.root(written)
        values = {name: each.low for name, each in here.names.items()}
        try:
            share = float(Expression(written.text, root).evaluate(values))
        except ExpressionError as error:
            raise DataError(f"{branch.place}: share: {error.message}") from None
        if not 0 <= share <= 1:
            raise DataError(f"{branch.place}: share is {share}: from 0 to 1 is wanted")

    def _single(self, statement: Statement, here: _Around) -> None:
        what = described(statement)
        match statement:
            case Load(width=width) | Store(width=width):
                elements = self._amount(width, f"width of {what}", statement, here, 0)
                if elements not in WIDTHS:
                    raise DataError(f"{statement.place}: {wrong_width(what, elements)}")
                self._access(statement, here, elements)
            case Atomic():
                self._access(statement, here, 1)
            case Copy():
                self._copy(statement, here)
            case Operation(count=count, chain=chain):
                self._amount(count, f"count of {what}", statement, here, 0)
                self._amount(chain, f"chain of {what}", statement, here, 1)
            case Shuffle(count=count):
                self._amount(count, f"count of {what}", statement, here, 0)
            case Mma():
                self._mma(statement, here)
            case _:
                pass

    def _amount(
        self, written: Expression, what: str, at: Statement, here: _Around, minimum: int
    ) -> int:
        value = _constant(written, here.names, what, at.place, here.lets)
        if value < minimum:
            raise DataError(f"{at.place}: {what} is {value}: at least {minimum} is wanted")
        return value

    def _mma(self, statement: Mma, here: _Around) -> None:
        what = described(statement)
        for size in (statement.m, statement.n, statement.k):
            self._amount(size, f"shape of {what}", statement, here, 1)
        self._amount(statement.count, f"count of {what}", statement, here, 0)
        warps = self._amount(statement.warps, f"warps of {what}", statement, here, 1)
        if warps > self.warps:
            raise DataError(
                f"{statement.place}: warps of {what} is {warps}: only {self.warps} warps execute it"
            )

    def _copy(self, statement: Copy, here: _Around) -> None:
        what = described(statement)
        rows = self._amount(statement.rows, f"rows of {what}", statement, here, 1)
        row = self._amount(statement.row, f"row of {what}", statement, here, 1)
        pitch = self._amount(statement.pitch, f"pitch of {what}", statement, here, 0)
        _, room = self.launch.arrays[statement.to]
        if rows * row > room:
            raise DataError(
                f"{statement.place}: {what}: a box of {rows} x {row} elements, and {statement.to} "
                f"has {room}"
            )
        self._access(statement, here, (rows - 1) * pitch + row)

    def _access(
        self, statement: Load | Store | Atomic | Copy, here: _Around, elements: int
    ) -> None:
        """Refuse an access of which an element lies outside its array."""
        _, extent = self.launch.arrays[statement.array]
        found = here.range(statement.index)
        if found is not None and found.low >= 0 and found.high + elements <= extent:
            return
        what = f"index of {described(statement)}"
        index = here.values(statement.index, what, statement.place)
        outside = (index < 0) | (index + elements > extent)
        if not outside.any():
            return
        active = here.sampled.active()
        outside = outside if active is None else outside & active
        if not outside.any():
            return
        where = np.unravel_index(int(np.argmax(outside)), outside.shape)
        first = int(_at(index, where))
        element = first if first < 0 or first >= extent else extent
        raise DataError(
            f"{statement.place}: {_accessed(statement)}: {self._thread(here, where)}: element "
            f"{element} of {extent}"
        )

    def _thread(self, here: _Around, where: tuple[Any, ...]) -> str:
        """Thread, block and loop variables of a sampled element."""
        values = here.sampled.values
        names = [f"{base}.{m}" for base in ("threadIdx", "blockIdx") for m in MEMBERS]
        numbers = [int(_at(values[name], where)) for name in names]
        loops = [f", {each.variable} = {_at(values[each.variable], where)}" for each in here.loops]
        thread, block = (f"({x}, {y}, {z})" for x, y, z in (numbers[:3], numbers[3:]))
        return f"threadIdx {thread} of block {block}{''.join(loops)}"


def _at(values: Any, where: tuple[Any, ...]) -> Any:
    """The value at a place of a larger shape that the values broadcast to."""
    array = np.asarray(values)
    here = where[len(where) - array.ndim :]
    # An axis that `where` lacks is one that nothing in it depends on: its first value stands.
    here = (0,) * (array.ndim - len(here)) + tuple(here) if len(here) < array.ndim else here
    return array[tuple(0 if size == 1 else n for n, size in zip(here, array.shape, strict=True))]


def _accessed(statement: Load | Store | Atomic | Copy) -> str:
    match statement:
        case Load(array=array):
            return f"load of {array}"
        case Store(array=array):
            return f"store to {array}"
        case Atomic(array=array):
            return f"atomic on {array}"
        case Copy(array=array):
            return f"copy from {array}"
