"""What the names of a rung mean: everything that can be wrong before a parameter has a value.

Two kinds of names are followed through a body in the order of its statements. Expressions read
integers: parameters, built-ins, lets and loop variables. `uses` reads values: what statements made,
and shared arrays by what was stored to them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from perfmodel.errors import DataError
from perfmodel.expressions import Expression, ExpressionError
from perfmodel.expressions.nodes import BUILTIN_MEMBERS, BUILTIN_TYPES, free_names
from perfmodel.expressions.nodes import Literal as Number
from perfmodel.kernels.schema import (
    ELEMENT_BYTES,
    Array,
    Atomic,
    Body,
    Channel,
    Copy,
    Description,
    For,
    If,
    Launch,
    Let,
    Load,
    Mma,
    Operation,
    Parameter,
    Role,
    Rung,
    Shuffle,
    Signal,
    Statement,
    Store,
    Use,
    walk,
)
from perfmodel.kernels.written import is_variable
from perfmodel.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Reach: TypeAlias = Literal["amount", "block", "thread"]
"""How far a value is the same: in all the grid; for all threads of a block; for one thread."""

WIDTHS = (1, 2, 4, 8, 16)
"""Neighbouring elements that one access of a lane can have."""

_FURTHER: Mapping[Reach, int] = {"amount": 0, "block": 1, "thread": 2}
_SAME_EVERYWHERE: Reach = "amount"
_BLOCK_DIM = tuple(f"blockDim.{member}" for member in BUILTIN_MEMBERS["blockDim"])


def check_description_names(description: Description, places: Mapping[str, str]) -> None:
    """Refuse a name in `flop` or `compulsory` that is no parameter of the kernel.

    Raises:
        DataError: There is one.
    """
    known = parameter_names(description.parameters)
    for what, written in (("flop", description.flop), ("compulsory", description.compulsory)):
        _check_names(written, what, places[what], known, description.parameters)


def check_rung(rung: Rung) -> None:
    """Refuse a rung whose names do not fit together.

    Raises:
        DataError: A name is not known where it stands, an amount reads what differs between
            threads, a value is used before it is made, or a channel joins nothing.
    """
    known = parameter_names(rung.parameters)
    amounts = {**known, "warpSize": "amount"}
    for constraint in rung.constraints:
        _check_names(constraint.condition, "that", constraint.place, amounts, rung.parameters)
    for array in rung.arrays.values():
        _check_names(
            array.extent, f"extent of array {array.name}", array.place, amounts, rung.parameters
        )
        if array.name in rung.parameters:
            raise DataError(
                f"{array.place}: array {array.name} has the name of a parameter: rename one"
            )
    for launch in rung.launches:
        _check_launch(launch, rung, amounts)


def parameter_names(parameters: Mapping[str, Parameter]) -> dict[str, Reach]:
    """What expressions can read of parameters: whole numbers, and the sizes of types."""
    found: dict[str, Reach] = {}
    for each in parameters.values():
        if isinstance(each.default, int):
            found[each.name] = "amount"
        elif all(choice in ELEMENT_BYTES for choice in each.choices):
            found[f"{each.name}_bytes"] = "amount"
    return found


def _check_launch(launch: Launch, rung: Rung, amounts: Mapping[str, Reach]) -> None:
    what = f"launch {launch.name}"
    with_block: dict[str, Reach] = {**amounts, **dict.fromkeys(_BLOCK_DIM, _SAME_EVERYWHERE)}
    written: list[tuple[str, Expression | None, Mapping[str, Reach]]] = [
        *((f"block of {what}", size, amounts) for size in launch.block),
        *((f"grid of {what}", size, with_block) for size in launch.grid),
        (f"registers of {what}", launch.registers, amounts),
        (f"shared of {what}", launch.shared, amounts),
        (f"barriers of {what}", launch.barriers, amounts),
        *((f"stages of channel {each.name}", each.stages, amounts) for each in launch.channels),
        *((f"registers of role {each.name}", each.registers, amounts) for each in launch.roles),
        *((f"warps of role {each.name}", each.warps, amounts) for each in launch.roles),
    ]
    for which, expression, names in written:
        if expression is not None:
            _check_names(expression, which, launch.place, names, rung.parameters)
    _check_channels(launch)
    filled = {
        each.array if not isinstance(each, Copy) else each.to
        for role in launch.roles
        for each in walk(role.body)
        if isinstance(each, Store | Atomic | Copy)
    }
    for role in launch.roles:
        _RoleCheck(rung, launch, role, filled).check(amounts)


def _check_channels(launch: Launch) -> None:
    """Refuse a channel that does not join a side that fills it to one that waits for it."""
    declared = {channel.name: channel for channel in launch.channels}
    steps: dict[str, set[str]] = {channel: set() for channel in declared}
    for role in launch.roles:
        own = list(_steps(role.body))
        for channel, step, place in own:
            if channel not in declared:
                near = did_you_mean(channel, declared) if declared else "it declares no channels"
                raise DataError(
                    f"{place}: {step} of channel {channel}, which launch {launch.name} has not; "
                    f"{near}"
                )
            steps[channel].add(step)
        if len(launch.roles) > 1 and not own:
            raise DataError(
                f"{role.place}: role {role.name} has no step on a channel: a channel joins it to "
                "the other roles"
            )
    for channel, taken in steps.items():
        _check_steps(declared[channel], taken)


def _steps(body: Body) -> Iterator[tuple[str, str, str]]:
    """Channel, step and place of everything that touches a channel."""
    for each in walk(body):
        if isinstance(each, Signal):
            yield each.channel, each.step, each.place
        elif isinstance(each, Copy) and each.channel is not None:
            yield each.channel, "copy", each.place


def _check_steps(channel: Channel, taken: set[str]) -> None:
    if not taken & {"commit", "copy"}:
        raise DataError(f"{channel.place}: channel {channel.name}: nothing commits to it")
    if "wait" not in taken:
        raise DataError(f"{channel.place}: channel {channel.name}: nothing waits for it")
    for step, other in (("acquire", "release"), ("release", "acquire")):
        if step in taken and other not in taken:
            raise DataError(
                f"{channel.place}: channel {channel.name}: there is {step} but no {other}: a stage "
                "is acquired after it was released"
            )


@dataclass(frozen=True)
class _Surroundings:
    """What stands around a statement."""

    names: Mapping[str, Reach]
    loops: tuple[frozenset[str], ...] = ()
    """For each loop around it, outermost first, the values made in it."""


@dataclass
class _RoleCheck:
    """A walk over the body of one role."""

    rung: Rung
    launch: Launch
    role: Role
    filled: set[str]
    """Shared arrays that something in the launch stores to."""
    made_anywhere: frozenset[str] = field(default_factory=frozenset)

    def check(self, amounts: Mapping[str, Reach]) -> None:
        names: dict[str, Reach] = {**amounts}
        for name in BUILTIN_TYPES:
            if name != "warpSize":
                names[name] = "thread" if name.startswith("threadIdx") else "block"
        self.made_anywhere = made_in(self.role.body)
        self._body(self.role.body, _Surroundings(names), set())

    def _body(self, body: Body, around: _Surroundings, made: set[str]) -> None:
        """Check statements in order; `made` grows by the values they make."""
        here = around
        for statement in body:
            if isinstance(statement, Let):
                reach = self._reach(statement.value, f"let {statement.name}", statement, here)
                self._require_new(statement.name, statement.place, here)
                here = replace(here, names={**here.names, statement.name: reach})
            elif isinstance(statement, For):
                self._loop(statement, here, made)
            elif isinstance(statement, If):
                self._branch(statement, here, made)
            else:
                self._single(statement, here, made)

    def _single(self, statement: Statement, here: _Surroundings, made: set[str]) -> None:
        for what, written in _amounts(statement):
            self._require(written, what, statement, here, "amount")
        if isinstance(statement, Load | Store | Atomic | Copy):
            what = described(statement)
            self._require(statement.index, f"index of {what}", statement, here, "thread")
            self._access(statement, what)
        if isinstance(statement, Mma):
            self._mma_type(statement)
        for use in getattr(statement, "uses", ()):
            self._use(use, statement, here, made)
        if (value := made_by(statement)) is not None:
            self._require_value_name(value, statement)
            made.add(value)

    def _loop(self, loop: For, here: _Surroundings, made: set[str]) -> None:
        what = f"for {loop.variable}"
        self._require_new(loop.variable, loop.place, here)
        self._require(loop.unroll, f"unroll of {what}", loop, here, "amount")
        start = self._reach(loop.start, f"from of {what}", loop, here)
        inner = replace(
            here,
            names={**here.names, loop.variable: "thread" if start == "thread" else "block"},
            loops=(*here.loops, made_in(loop.body)),
        )
        if loop.bound is not None and loop.step is not None:
            self._require(loop.bound, f"below of {what}", loop, here, "block")
            self._require(loop.step, f"step of {what}", loop, here, "block")
        elif loop.following is not None:
            self._require(loop.start, f"from of {what}", loop, here, "block")
            for key, written in (("while", loop.condition), ("next", loop.following)):
                self._require(written, f"{key} of {what}", loop, inner, "block")
                if loop.variable not in written.names:
                    raise DataError(
                        f"{loop.place}: {key} of {what} does not read {loop.variable}: the loop "
                        "would never end"
                    )
        self._body(loop.body, inner, made)

    def _branch(self, branch: If, here: _Surroundings, made: set[str]) -> None:
        if branch.predicate is not None:
            self._require(branch.predicate, "if", branch, here, "thread")
        if branch.share is not None:
            self._require(branch.share, "share", branch, here, "amount")
        sides = (set(made), set(made))
        for side, body in zip(sides, (branch.then, branch.otherwise), strict=True):
            self._body(body, here, side)
            made |= side

    def _access(self, statement: Load | Store | Atomic | Copy, what: str) -> None:
        array = self._array(statement.array, statement.place, what)
        if isinstance(statement, Copy):
            target = self._array(statement.to, statement.place, what)
            if array.space != "global" or target.space != "shared":
                raise DataError(
                    f"{statement.place}: {what} from {array.name}: a bulk copy goes from a global "
                    "into a shared array"
                )
        if (
            isinstance(statement, Load)
            and array.space == "shared"
            and array.name not in self.filled
        ):
            raise DataError(
                f"{statement.place}: {what}: nothing in launch {self.launch.name} stores to "
                f"{array.name} before: store or copy to it"
            )
        if isinstance(statement, Load | Store):
            self._width(statement, what)

    def _width(self, statement: Load | Store, what: str) -> None:
        written = statement.width.root
        if isinstance(written, Number) and written.value not in WIDTHS:
            raise DataError(f"{statement.place}: {wrong_width(what, written.value)}")

    def _array(self, name: str, place: str, what: str) -> Array:
        if name not in self.rung.arrays:
            near = did_you_mean(name, self.rung.arrays) if self.rung.arrays else "there are none"
            raise DataError(f"{place}: {what}: no array {name}; {near}")
        return self.rung.arrays[name]

    def _mma_type(self, statement: Mma) -> None:
        from perfmodel.device.schema import TensorType

        types = get_args(TensorType)
        parameter = self.rung.parameters.get(statement.type)
        words = parameter.choices if parameter else (statement.type,)
        for word in words or (statement.type,):
            if word not in types:
                where = f", a value of {statement.type}," if parameter else ","
                raise DataError(
                    f"{statement.place}: type of mma {statement.to} is {word}{where} which no "
                    f"tensor unit takes; {did_you_mean(str(word), types)}"
                )

    def _use(self, use: Use, statement: Statement, here: _Surroundings, made: set[str]) -> None:
        """Refuse a value that is not there when it is read."""
        array = self.rung.arrays.get(use.name)
        if array is not None and array.space == "shared":
            self._use_of_array(use, statement, here)
            return
        what = f"{statement.place}: {described(statement)} uses {_shown(use)}"
        if use.distance == 0:
            itself = isinstance(statement, Operation | Mma) and statement.to == use.name
            if use.name in made or itself:
                return
            if any(use.name in loop for loop in here.loops):
                raise DataError(
                    f"{what} before it is made: write {use.name}@1 for the value of one iteration "
                    "ago, or make it before"
                )
        elif any(use.name in loop for loop in here.loops):
            return
        elif use.name in self.made_anywhere:
            raise DataError(
                f"{what}, but no loop around it makes {use.name}: @ counts the iterations of "
                "a loop that makes the value"
            )
        if use.name in self.made_anywhere:
            raise DataError(f"{what} before it is made: move it after the statement that makes it")
        if use.name in here.names:
            raise DataError(
                f"{what}, an integer of expressions: uses lists values that statements make"
            )
        near = (
            did_you_mean(use.name, self.made_anywhere) if self.made_anywhere else "there are none"
        )
        raise DataError(f"{what}, which no statement makes; {near}")

    def _use_of_array(self, use: Use, statement: Statement, here: _Surroundings) -> None:
        what = f"{statement.place}: {described(statement)} uses {_shown(use)}"
        if use.name not in self.filled:
            raise DataError(
                f"{what}, but nothing in launch {self.launch.name} stores to {use.name}: store or "
                "copy to it"
            )
        if use.distance and not here.loops:
            raise DataError(f"{what} outside of every loop: @ counts iterations")

    def _require_new(self, name: str, place: str, here: _Surroundings) -> None:
        if name in here.names or name in self.rung.parameters:
            raise DataError(
                f"{place}: {name} has a meaning here already, and an integer is not set again: "
                "choose another name"
            )

    def _require_value_name(self, value: str, statement: Statement) -> None:
        array = self.rung.arrays.get(value)
        if array is not None and array.space == "shared" and not isinstance(statement, Copy):
            raise DataError(
                f"{statement.place}: {described(statement)} makes a value with the name of the "
                f"shared array {value}: choose another name"
            )

    def _require(
        self, written: Expression, what: str, at: Statement, here: _Surroundings, most: Reach
    ) -> None:
        """Refuse an expression that reads what differs more than it may."""
        _check_names(written, what, at.place, here.names, self.rung.parameters)
        for name, offset in free_names(written.root).items():
            if _FURTHER[here.names[name]] <= _FURTHER[most]:
                continue
            may = (
                "an amount may read parameters, warpSize and lets of them"
                if most == "amount"
                else "all threads share it, so it may not read threadIdx or what depends on it"
            )
            raise ExpressionError(
                f"it reads {name}: {may}", written.text, offset, f"{at.place}: {what}"
            )

    def _reach(self, written: Expression, what: str, at: Statement, here: _Surroundings) -> Reach:
        _check_names(written, what, at.place, here.names, self.rung.parameters)
        found: Reach = "amount"
        for name in written.names:
            found = max(found, here.names[name], key=_FURTHER.__getitem__)
        return found


def made_by(statement: Statement) -> str | None:
    """The value that a statement makes."""
    match statement:
        case Load() | Mma() | Copy():
            return statement.to
        case Atomic() | Operation() | Shuffle():
            return statement.to
        case _:
            return None


def made_in(body: Body) -> frozenset[str]:
    """Every value that is made in a body, inner loops and branches included."""
    return frozenset(value for each in walk(body) if (value := made_by(each)) is not None)


def described(statement: Statement) -> str:
    """A statement as a message names it."""
    match statement:
        case Load(to=to, array=array):
            return f"load {to} from {array}"
        case Store(array=array):
            return f"store to {array}"
        case Atomic(array=array):
            return f"atomic on {array}"
        case Operation(what=what, pipe=pipe):
            return f"op {what}.{pipe}"
        case Signal(step=step, channel=channel):
            return f"{step} {channel}"
        case Shuffle(to=to) | Copy(to=to) | Mma(to=to):
            return f"{type(statement).__name__.lower()} {to}"
        case _:
            return type(statement).__name__.lower()


def wrong_width(what: str, width: object) -> str:
    """The message about a width that no access has."""
    return (
        f"width of {what} is {width}: {', '.join(map(str, WIDTHS[:-1]))} or {WIDTHS[-1]} is wanted"
    )


def _amounts(statement: Statement) -> Sequence[tuple[str, Expression]]:
    """The amounts of a statement that is no loop and no branch, each with what it is."""
    what = described(statement)
    found: Iterable[tuple[str, Expression]]
    match statement:
        case Load(width=width) | Store(width=width):
            found = [("width", width)]
        case Operation(count=count, chain=chain):
            found = [("count", count), ("chain", chain)]
        case Shuffle(count=count):
            found = [("count", count)]
        case Copy(rows=rows, row=row, pitch=pitch):
            found = [("rows", rows), ("row", row), ("pitch", pitch)]
        case Mma(m=m, n=n, k=k, warps=warps, count=count):
            shape = [("shape", m), ("shape", n), ("shape", k)]
            found = [*shape, ("warps", warps), ("count", count)]
        case _:
            found = []
    return [(f"{key} of {what}", each) for key, each in found]


def _shown(use: Use) -> str:
    return f"{use.name}@{use.distance}" if use.distance else use.name


def _check_names(
    written: Expression,
    what: str,
    place: str,
    known: Mapping[str, Reach],
    parameters: Mapping[str, Parameter],
) -> None:
    """Refuse a name that is not known where an expression stands."""
    for name, offset in free_names(written.root).items():
        if name in known:
            continue
        parameter = parameters.get(name)
        if parameter is not None and isinstance(parameter.default, str):
            size = f"{name}_bytes"
            reason = f"{name} is a word: " + (
                f"read {size}, the size of an element"
                if size in known
                else "no expression reads it"
            )
        elif name in BUILTIN_TYPES:
            reason = f"{name} has no value here: it differs within the grid"
            if name.startswith(("blockDim", "gridDim")):
                reason = f"{name} is not known here: write the size itself"
            elif name == "warpSize":
                reason = "warpSize is not known here: this is the same on all devices"
        else:
            words = [each for each in known if is_variable(each)]
            reason = f"no {name}; " + (did_you_mean(name, words) if words else "there are no names")
        raise ExpressionError(reason, written.text, offset, f"{place}: {what}")
