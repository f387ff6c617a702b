"""Where the statements of a rung stand: each with the loops and predicates around it.

Counting does not walk the body again and again. It is flattened once: lets are put in where they
are read, every loop gets a counter of its own that runs from 0, and each statement becomes a
*site* that knows its loops, its predicates and, for an access, its index, all as expressions of
parameters, threads, block indices and counters. The loops remain as a tree of *scopes*, since
reuse and time are worked out from the innermost loop outwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from perfmodel.expressions.c_types import INT, LONG
from perfmodel.expressions.expression import Expression
from perfmodel.expressions.nodes import Binary, Call, Literal, Name, Node, Unary
from perfmodel.kernels.affine import (
    MEMBERS,
    THREAD_NAMES,
    Decomposition,
    decompose,
    reads,
    substitute,
)
from perfmodel.kernels.fast import Compiled, compiled
from perfmodel.kernels.schema import (
    Atomic,
    Barrier,
    Body,
    Copy,
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
    Signal,
    Statement,
    Store,
    Use,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

AnyStatement = TypeVar("AnyStatement", bound=Statement)

BLOCK_NAMES = tuple(f"blockIdx.{member}" for member in MEMBERS)
COPIED_ROW = "row@"
"""Counts the rows of the box of a bulk copy."""
ZERO_INT = Literal(0, 0, INT)


@dataclass(frozen=True, kw_only=True, eq=False)
class Loop:
    """A loop with a counter that runs from 0.

    Attributes:
        statement: The loop as written.
        counter: Name of its counter in the sites' expressions.
        trips: Its iterations as an expression; None for a table or where lanes differ.
        guard: What must hold of counter and lanes for an iteration, where lanes differ.
        most_trips: For a guarded loop: iterations of the lane that has most, as an expression of
            what `trips_read` names.
        start, condition, following: Of a loop whose values are a table.
    """

    statement: For
    counter: str
    trips: Node | None = None
    guard: Node | None = None
    ragged_trips: Node | None = None
    start: Node | None = None
    condition: Node | None = None
    following: Node | None = None

    @property
    def is_table(self) -> bool:
        """Whether the counter stands for values that are worked out one after another."""
        return self.start is not None


@dataclass(frozen=True, kw_only=True, eq=False)
class Site:
    """A statement with what stands around it."""

    position: int
    """Its place among all statements of the rung."""
    statement: Statement
    loops: tuple[Loop, ...]
    """Outermost first."""
    guards: tuple[Node, ...]
    shares: tuple[Node, ...]
    """Shares of enclosing branches on data."""
    index: Node | None = None
    """Element an access starts at."""
    predicate: Node | None = None
    """What a branch asks."""
    value: Node | None = None
    """What a let names; it is counted as arithmetic alone."""
    branch: int | None = None
    """Position of the branch right around it, where all its body are statements in a row: one that
    compilers issue under a predicate if it is short."""

    @property
    def array(self) -> str | None:
        """The array it accesses."""
        match self.statement:
            case Load(array=array) | Store(array=array) | Atomic(array=array) | Copy(array=array):
                return array
            case _:
                return None

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """The values that it waits for; a shared load waits for its array to be filled."""
        statement = self.statement
        match statement:
            case Load(uses=uses, array=array):
                named = any(use.name == array for use in uses)
                return uses if named else (*uses, Use(name=array))
            case (
                Store(uses=uses)
                | Atomic(uses=uses)
                | Operation(uses=uses)
                | Shuffle(uses=uses)
                | Copy(uses=uses)
                | Mma(uses=uses)
            ):
                return uses
            case _:
                return ()

    @cached_property
    def makes(self) -> str | None:
        """The value that it makes; a store makes what its array holds."""
        match self.statement:
            case Load(to=to) | Operation(to=to) | Shuffle(to=to) | Copy(to=to) | Mma(to=to):
                return to
            case Atomic(to=to):
                return to
            case Store(array=array):
                return array
            case _:
                return None

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """Block indices and counters around it, and the row of a box that is copied."""
        row = (COPIED_ROW,) if isinstance(self.statement, Copy) else ()
        return (*BLOCK_NAMES, *(loop.counter for loop in self.loops), *row)

    @cached_property
    def parts(self) -> Decomposition:
        """The index, taken apart by the variables."""
        return decompose(self.index, self.variables) if self.index else Decomposition()

    @property
    def is_linear(self) -> bool:
        """Whether the index does nothing with a variable but add a multiple of it."""
        return not self.parts.tangled and not self.parts.shifts

    @cached_property
    def atoms(self) -> tuple[tuple[str, Decomposition, Node], ...]:
        """All predicates as single comparisons: operator, left minus right, and the whole.

        What a branch asks itself is among them, since its answer is counted.
        """
        asked = _conjunction(self.predicate) if self.predicate else ()
        return tuple(_atom(each, self.variables) for each in (*self.guards, *asked))

    @cached_property
    def read(self) -> frozenset[str]:
        """Every name that the index and the predicates read."""
        nodes = [each for each in (self.index, self.predicate, *self.guards) if each is not None]
        return frozenset[str]().union(*map(reads, nodes))

    @cached_property
    def compiled_index(self) -> Compiled | None:
        """The index as a function."""
        return compiled(self.index) if self.index else None

    @cached_property
    def compiled_guards(self) -> tuple[Compiled, ...]:
        """The predicates as functions."""
        return tuple(compiled(each) for each in self.guards)


@dataclass(kw_only=True, eq=False)
class Scope:
    """A loop, or a whole body, with what it holds in order."""

    loop: Loop | None
    items: list[Site | Scope] = field(default_factory=list)

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """Every site in it, inner scopes included; asked for once it is complete."""
        inside = [(item,) if isinstance(item, Site) else item.sites for item in self.items]
        return tuple(chain.from_iterable(inside))

    @cached_property
    def made(self) -> frozenset[str]:
        """The values that its statements make."""
        return frozenset(site.makes for site in self.sites if site.makes is not None)

    @cached_property
    def furthest_use(self) -> int:
        """The greatest distance at which a value is used again."""
        return max((use.distance for site in self.sites for use in site.uses), default=0)

    @cached_property
    def is_interrupted(self) -> bool:
        """Whether its iterations cannot be interleaved: a barrier or another loop is in them."""
        return any(
            isinstance(item, Scope) or isinstance(item.statement, Barrier | Signal)
            for item in self.items
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class RoleSites:
    """The sites of one role of a launch."""

    launch: Launch
    role: Role
    root: Scope
    sites: tuple[Site, ...]
    loops: tuple[Loop, ...]

    @cached_property
    def neighbours(self) -> tuple[tuple[Site, ...], ...]:
        """Accesses that may lie a distance apart: one array, the same surroundings and variables.

        Groups of one or more. The first index of each does nothing with a variable but add a
        multiple of it; the others may do so within bounds, as at the border of an array.
        """
        groups: dict[object, list[Site]] = {}
        for site in sorted(self.sites, key=lambda site: not site.is_linear):
            surroundings = (site.loops, tuple(map(id, site.guards)), tuple(map(id, site.shares)))
            variables = site.read & frozenset(site.variables)
            what = (site.array, type(site.statement), surroundings, variables)
            if site.array is not None and (site.is_linear or what in groups):
                groups.setdefault(what, []).append(site)
        return tuple(map(tuple, groups.values()))


def rung_sites(rung: Rung) -> tuple[tuple[RoleSites, ...], ...]:
    """The sites of every role of every launch.

    Args:
        rung: The rung.

    Returns:
        For each launch its roles, in their order.
    """
    positions = {id(statement): place for place, statement in enumerate(rung.statements())}
    return tuple(
        tuple(_role_sites(launch, role, positions) for role in launch.roles)
        for launch in rung.launches
    )


def _role_sites(launch: Launch, role: Role, positions: Mapping[int, int]) -> RoleSites:
    flattener = _Flattener(positions)
    root = Scope(loop=None)
    flattener.flatten(role.body, root, _Surroundings())
    return RoleSites(
        launch=launch,
        role=role,
        root=root,
        sites=root.sites,
        loops=tuple(flattener.loops),
    )


@dataclass(frozen=True)
class _Surroundings:
    names: Mapping[str, Node] = field(default_factory=dict)
    loops: tuple[Loop, ...] = ()
    guards: tuple[Node, ...] = ()
    shares: tuple[Node, ...] = ()
    branch: int | None = None


class _Flattener:
    def __init__(self, positions: Mapping[int, int]) -> None:
        self.positions = positions
        self.loops: list[Loop] = []

    def flatten(self, body: Body, scope: Scope, around: _Surroundings) -> None:
        names = dict(around.names)
        for statement in body:
            here = replace(around, names=names)
            match statement:
                case Let(name=name, value=value):
                    named = substitute(value.root, names)
                    scope.items.append(replace(self._site(statement, here), value=named))
                    names[name] = named
                case For():
                    self._loop(statement, scope, here)
                case If():
                    self._branch(statement, scope, here)
                case Copy(index=index, pitch=pitch):
                    row = Binary(0, "*", Name(0, COPIED_ROW), substitute(pitch.root, names))
                    start = substitute(index.root, names)
                    scope.items.append(self._site(statement, here, Binary(0, "+", start, row)))
                case Load(index=index) | Store(index=index) | Atomic(index=index):
                    scope.items.append(self._site(statement, here, substitute(index.root, names)))
                case _:
                    scope.items.append(self._site(statement, here))

    def _site(
        self,
        statement: Statement,
        around: _Surroundings,
        index: Node | None = None,
        predicate: Node | None = None,
    ) -> Site:
        return Site(
            position=self.positions[id(statement)],
            statement=_with_lets(statement, around.names),
            loops=around.loops,
            guards=around.guards,
            shares=around.shares,
            index=index,
            predicate=predicate,
            branch=around.branch,
        )

    def _branch(self, statement: If, scope: Scope, around: _Surroundings) -> None:
        predicate = (
            substitute(statement.predicate.root, around.names) if statement.predicate else None
        )
        scope.items.append(self._site(statement, around, predicate=predicate))
        if predicate is not None:
            yes = (*around.guards, *_conjunction(predicate))
            no = (*around.guards, _negation(predicate))
            sides = ((statement.then, yes, around.shares), (statement.otherwise, no, around.shares))
        else:
            share = substitute(statement.share.root, around.names) if statement.share else ZERO_INT
            rest = Binary(0, "-", Literal(0, 1, INT), share)
            sides = (
                (statement.then, around.guards, (*around.shares, share)),
                (statement.otherwise, around.guards, (*around.shares, rest)),
            )
        in_a_row = not statement.otherwise and all(
            isinstance(each, Let | Load | Store | Operation) for each in statement.then
        )
        branch = self.positions[id(statement)] if in_a_row else None
        for body, guards, shares in sides:
            self.flatten(body, scope, replace(around, guards=guards, shares=shares, branch=branch))

    def _loop(self, statement: For, scope: Scope, around: _Surroundings) -> None:
        statement = _with_lets(statement, around.names)
        counter = f"{statement.variable}@{len(self.loops)}"
        start = substitute(statement.start.root, around.names)
        names = dict(around.names)
        guards = around.guards
        if statement.bound is not None and statement.step is not None:
            step = substitute(statement.step.root, around.names)
            bound = substitute(statement.bound.root, around.names)
            value = Binary(0, "+", start, Binary(0, "*", step, Name(0, counter)))
            if start == Literal(start.offset, 0, INT):
                value = Binary(0, "*", Name(0, counter), step)
            trips = _trips(start, bound, step)
            variables = frozenset((*BLOCK_NAMES, *(loop.counter for loop in around.loops)))
            if reads(trips) & (variables | THREAD_NAMES):
                guard = Binary(0, "<", value, bound)
                loop = Loop(statement=statement, counter=counter, guard=guard, ragged_trips=trips)
                guards = (*guards, guard)
            else:
                loop = Loop(statement=statement, counter=counter, trips=trips)
            names[statement.variable] = value
        else:
            following = statement.following or statement.start
            names[statement.variable] = Name(0, counter)
            loop = Loop(
                statement=statement,
                counter=counter,
                start=start,
                condition=substitute(statement.condition.root, names),
                following=substitute(following.root, names),
            )
        self.loops.append(loop)
        inner = Scope(loop=loop)
        scope.items.append(inner)
        self.flatten(
            statement.body,
            inner,
            _Surroundings(names, (*around.loops, loop), guards, around.shares),
        )


_AMOUNTS = ("width", "count", "chain", "row", "rows", "m", "n", "k", "warps", "unroll")
"""Fields of statements that are read as numbers, apart from what stands around the statement."""


def _with_lets(statement: AnyStatement, names: Mapping[str, Node]) -> AnyStatement:
    """A statement whose amounts read parameters alone: what lets name is put into them."""
    changed: dict[str, Any] = {}
    for name in _AMOUNTS:
        amount = getattr(statement, name, None)
        if isinstance(amount, Expression) and not amount.names.isdisjoint(names):
            changed[name] = Expression(amount.text, substitute(amount.root, names))
    return replace(statement, **changed) if changed else statement


def _trips(start: Node, bound: Node, step: Node) -> Node:
    """Iterations of a counted loop; none where it starts at its bound or beyond."""
    distance = Binary(0, "-", bound, start) if start != Literal(start.offset, 0, INT) else bound
    count = Call(0, "ceil_div", (Call(0, "max", (distance, Literal(0, 0, LONG))), step))
    return (
        bound if count.arguments[1] == Literal(step.offset, 1, INT) and distance is bound else count
    )


def _conjunction(predicate: Node) -> tuple[Node, ...]:
    """The parts of a predicate that must all hold."""
    match predicate:
        case Binary(operator="&&", left=left, right=right):
            return (*_conjunction(left), *_conjunction(right))
        case _:
            return (predicate,)


_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


def _negation(predicate: Node) -> Node:
    match predicate:
        case Binary(operator=operator, left=left, right=right) if operator in _OPPOSITE:
            return Binary(0, _OPPOSITE[operator], left, right)
        case Unary(operator="!", operand=operand):
            return operand
        case _:
            return Unary(0, "!", predicate)


def _atom(guard: Node, variables: tuple[str, ...]) -> tuple[str, Decomposition, Node]:
    """A comparison as what its sides' difference is made of; anything else is tangled."""
    match guard:
        case Binary(operator=operator, left=left, right=right) if operator in _OPPOSITE:
            difference = Binary(0, "-", left, right)
            return operator, decompose(difference, variables), guard
        case _:
            shared = reads(guard) & frozenset(variables)
            return "!=", Decomposition(tangled=set(shared), fixed=guard), guard
