"""What must hold of a rung once its parameters have values.

Sizes are at least what they must be, loops end, and every access stays in its array. An index is
first judged by its ends (`ranges`), which settles most of them for every thread at once. Where
that settles nothing (a bounds check, a remainder), the index is evaluated: for all threads of the
first two, the last two and a middle block in each dimension, and for the same iterations of every
loop, with the predicates around it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from perfmodel.errors import DataError, UsageError, quoted
from perfmodel.expressions import Expression, ExpressionError
from perfmodel.kernels.affine import MEMBERS, reads, substitute
from perfmodel.kernels.parameters import expression_values, rung_parameters
from perfmodel.kernels.ranges import Range, name_range, range_of
from perfmodel.kernels.sampling import (
    MOST_COUNTED,
    MOST_NESTED,
    Branch,
    Iterations,
    Surroundings,
    Threads,
    at,
    evaluated,
    require_few,
)
from perfmodel.kernels.schema import (
    ELEMENT_BYTES,
    LARGEST_AMOUNT,
    LARGEST_COUNT,
    LARGEST_EXTENT,
    LARGEST_HARDWARE_COUNT,
    LARGEST_SHARED_BYTES,
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

LARGEST_BLOCK = 1024
"""Threads of a block that a device takes at most; none takes more."""
_LARGEST_GRID = (1 << 31) - 1
_SHARED_ALIGNMENT_BYTES = 128


def check_description(
    description: Description,
    given: Mapping[str, Any] | None = None,
    *,
    warp_width: int = 32,
) -> list[str]:
    """What is wrong with the rungs of a kernel for some parameters, in words.

    Args:
        description: The kernel.
        given: Values of parameters; a rung takes those it has, and defaults for the others.
        warp_width: Lanes of a warp.

    Returns:
        The first thing that is wrong with each rung; empty where all is well.

    Raises:
        UsageError: No rung has a parameter of that name, or one does not take the value.
    """
    return [str(each) for each in problems(description, given or {}, warp_width=warp_width)]


def problems(
    description: Description, given: Mapping[str, Any], *, warp_width: int
) -> list[DataError]:
    """What is wrong with the rungs of a kernel for some parameters, as errors.

    Args:
        description: The kernel.
        given: As in `check_description`.
        warp_width: Lanes of a warp.

    Returns:
        The first thing that is wrong with each rung.

    Raises:
        UsageError: As `check_description`.
    """
    known = {name for rung in description.rungs.values() for name in rung.parameters}
    for name in given:
        if name not in known:
            near = did_you_mean(name, known)
            raise UsageError(f"{description.kernel} has no parameter {quoted(name)}: {near}")
    found: list[DataError] = []
    for rung in description.rungs.values():
        own = {name: value for name, value in given.items() if name in rung.parameters}
        try:
            values = rung_parameters(rung, own, warp_width=warp_width)
            require_sound(rung, values, warp_width)
            require_amounts(description, expression_values(rung, values))
        except ExpressionError as error:
            said = f"{error.message} (rung {rung.name})"
            found.append(ExpressionError(said, error.text, error.offset, error.where))
        except DataError as error:
            found.append(DataError(f"{error} (rung {rung.name})"))
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
        _require_within(extent, what, array.place, 0, LARGEST_EXTENT)
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
        return str(error)
    return None


def require_amounts(description: Description, values: Mapping[str, Any]) -> None:
    """Refuse a kernel whose useful work or compulsory traffic is below 0.

    Args:
        description: The kernel.
        values: What its expressions read, as `expression_values` gives it.

    Raises:
        DataError: One of the two is below 0 or has no value.
    """
    for what, written in (("flop", description.flop), ("compulsory", description.compulsory)):
        try:
            amount = written.evaluate(values)
        except ExpressionError as error:
            raise placed(error, f"{description.origin}: {what}") from None
        _require_within(amount.item(), what, description.origin, 0, LARGEST_AMOUNT)


def _require_within(value: float, what: str, place: str, minimum: float, most: float) -> None:
    """Refuse an amount below its least value or beyond all that is believed."""
    if value < minimum:
        raise DataError(f"{place}: {what} is {value}: at least {minimum} is wanted")
    if not value <= most:
        raise DataError(f"{place}: {what} is {value}: at most {most} is believed")


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
    return int(evaluated(written, root, values, what, place).item())


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
        self,
        written: Expression,
        what: str,
        minimum: int,
        place: str | None = None,
        most: int = LARGEST_HARDWARE_COUNT,
    ) -> int:
        at = place or self.launch.place
        value = _constant(written, self.constants, what, at)
        _require_within(value, what, at, minimum, most)
        return value

    def _shared(self) -> None:
        """Refuse less shared memory than the arrays that the launch uses take."""
        if self.launch.shared is None:
            return
        what = f"shared of launch {self.launch.name}"
        given = self._at_least(self.launch.shared, what, 0, most=LARGEST_SHARED_BYTES)
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


class _RoleCheck:
    """A walk over the body of a role."""

    def __init__(self, launch: _LaunchCheck, role: Role, first_warp: int, warps: int) -> None:
        self.launch = launch
        self.role = role
        self.warps = warps
        self.first = first_warp * launch.width
        self.end = min((first_warp + warps) * launch.width, launch.threads)

    def check(self) -> None:
        launch = self.launch
        names = dict(launch.constants)
        for base, sizes in (("threadIdx", launch.block), ("blockIdx", launch.grid)):
            for member, size in zip(MEMBERS, sizes, strict=True):
                name = f"{base}.{member}"
                names[name] = name_range(name, 0, size - 1)
        constants = {name: each.low for name, each in launch.constants.items()}
        threads = Threads(constants, launch.block, launch.grid, self.first, self.end)
        self._body(self.role.body, Surroundings(threads, names, {}))

    def _body(self, body: Body, around: Surroundings) -> None:
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

    def _with_let(self, let: Let, here: Surroundings) -> Surroundings:
        if here.range(let.value) is None:
            here.values(let.value, f"let {let.name}", let.place)
        lets = {**here.lets, let.name: here.root(let.value)}
        return replace(here, lets=lets)

    def _loop(self, loop: For, here: Surroundings) -> None:
        what = f"unroll of for {loop.variable}"
        self._amount(loop.unroll, what, loop, here, 1, most=LARGEST_HARDWARE_COUNT)
        found = self._loop_range(loop, here)
        names = {name: each for name, each in here.names.items() if name != loop.variable}
        if found is not None:
            names[loop.variable] = found
        entered = Iterations(here, loop)
        if found is None:
            _ = entered.samples  # which refuses a loop that does not end
        turns = here.turns * self._most_iterations(loop, found, here)
        if turns > MOST_NESTED:
            raise DataError(
                f"{loop.place}: for {loop.variable} has {turns} iterations within the loops around "
                f"it: at most {MOST_NESTED} are believed"
            )
        inner = Surroundings(entered, names, here.lets, (*here.loops, loop), turns)
        self._body(loop.body, inner)

    def _most_iterations(self, loop: For, found: Range | None, here: Surroundings) -> int:
        """Iterations of a loop at most; 1 where that is not certain."""
        step = None if loop.step is None else here.range(loop.step)
        if found is None or step is None:
            return 1
        return max((found.high - found.low) // step.low + 1, 1)

    def _loop_range(self, loop: For, here: Surroundings) -> Range | None:
        """The least and greatest value of a loop's variable, where that is certain."""
        if loop.bound is None or loop.step is None:
            return self._listed_range(loop, here)
        start, bound, step = (here.range(each) for each in (loop.start, loop.bound, loop.step))
        if start is None or bound is None or step is None or step.low < 1:
            return None
        if (bound.high - start.low) > MOST_COUNTED * step.low:
            return None
        return name_range(loop.variable, start.low, max(start.low, bound.high - 1))

    def _listed_range(self, loop: For, here: Surroundings) -> Range | None:
        roots = here.loop_roots(loop)
        read = frozenset[str]().union(*map(reads, roots)) - {loop.variable}
        known = [here.names.get(name) for name in read]
        if any(each is None or each.low != each.high for each in known):
            return None
        values = {name: here.names[name].low for name in read}
        found = table(loop, roots, values)
        return name_range(loop.variable, min(found), max(found)) if found else None

    def _branch(self, branch: If, here: Surroundings) -> None:
        if branch.predicate is None:
            if branch.share is not None:
                self._share(branch.share, branch, here)
            self._body(branch.then, here)
            self._body(branch.otherwise, here)
            return
        if here.range(branch.predicate) is None:
            here.values(branch.predicate, "if", branch.place)
        for body, answer in ((branch.then, True), (branch.otherwise, False)):
            entered = Branch(here, branch.predicate, answer, branch.place)
            self._body(body, replace(here, entered=entered))

    def _share(self, written: Expression, branch: If, here: Surroundings) -> None:
        root = here.root(written)
        values = {name: each.low for name, each in here.names.items()}
        try:
            share = float(Expression(written.text, root).evaluate(values))
        except ExpressionError as error:
            raise DataError(f"{branch.place}: share: {error.message}") from None
        if not 0 <= share <= 1:
            raise DataError(f"{branch.place}: share is {share}: from 0 to 1 is wanted")

    def _single(self, statement: Statement, here: Surroundings) -> None:
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
        self,
        written: Expression,
        what: str,
        at: Statement,
        here: Surroundings,
        minimum: int,
        *,
        most: int = LARGEST_COUNT,
    ) -> int:
        value = _constant(written, here.names, what, at.place, here.lets)
        _require_within(value, what, at.place, minimum, most)
        return value

    def _mma(self, statement: Mma, here: Surroundings) -> None:
        what = described(statement)
        for size in (statement.m, statement.n, statement.k):
            self._amount(size, f"shape of {what}", statement, here, 1)
        self._amount(statement.count, f"count of {what}", statement, here, 0)
        warps = self._amount(statement.warps, f"warps of {what}", statement, here, 1)
        if warps > self.warps:
            raise DataError(
                f"{statement.place}: warps of {what} is {warps}: only {self.warps} warps execute it"
            )

    def _copy(self, statement: Copy, here: Surroundings) -> None:
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
        self, statement: Load | Store | Atomic | Copy, here: Surroundings, elements: int
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
        active = here.entered.samples.active(statement.place)
        if active is not None:
            require_few([outside, active], statement.place)
            outside = outside & active
        if not outside.any():
            return
        where = np.unravel_index(int(np.argmax(outside)), outside.shape)
        first = at(index, where)
        element = first if first < 0 or first >= extent else extent
        raise DataError(
            f"{statement.place}: {_accessed(statement)}: {self._thread(here, where)}: element "
            f"{element} of {extent}"
        )

    def _thread(self, here: Surroundings, where: tuple[Any, ...]) -> str:
        """Thread, block and loop variables of a sampled element."""
        values = here.entered.samples.values
        names = [f"{base}.{m}" for base in ("threadIdx", "blockIdx") for m in MEMBERS]
        numbers = [at(values[name], where) for name in names]
        loops = [f", {each.variable} = {at(values[each.variable], where)}" for each in here.loops]
        thread, block = (f"({x}, {y}, {z})" for x, y, z in (numbers[:3], numbers[3:]))
        return f"threadIdx {thread} of block {block}{''.join(loops)}"


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
