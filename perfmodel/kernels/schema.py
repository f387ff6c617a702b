"""What a kernel is: the records a cost description becomes.

A description (docs/kernels.md has the form) is read into these frozen records and into nothing
else; counting, scheduling and tables read them. Amounts, indices and predicates are expressions
of C, parsed once. Every record that can be wrong in use knows the place it was written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from perfmodel.expressions import Expression

Space = Literal["global", "shared"]
Pipe = Literal["fp32", "fp16", "fp64", "int32", "special"]
Scope = Literal["block", "warp"]

ELEMENT_BYTES: Mapping[str, int] = {
    "fp64": 8,
    "int64": 8,
    "fp32": 4,
    "tf32": 4,
    "int32": 4,
    "fp16": 2,
    "bf16": 2,
    "int16": 2,
    "fp8": 1,
    "int8": 1,
}
"""The element types of arrays and their sizes [bytes]."""

OPERANDS: Mapping[str, int] = {
    "fma": 3,
    "mad": 3,
    "add": 2,
    "sub": 2,
    "mul": 2,
    "max": 2,
    "min": 2,
    "div": 2,
    "compare": 2,
    "select": 3,
    "and": 2,
    "or": 2,
    "xor": 2,
    "shift": 2,
    "exp2": 1,
    "exp": 1,
    "log2": 1,
    "rcp": 1,
    "rsqrt": 1,
    "sqrt": 1,
    "convert": 1,
    "move": 1,
}
"""What an operation can do, and how many registers one of it reads."""


LARGEST_PARAMETER = (1 << 31) - 1
"""The largest value of a parameter: expressions read it as an `int`."""
LARGEST_COUNT = LARGEST_PARAMETER
"""The most that one statement does: what a parameter can ask for."""
LARGEST_HARDWARE_COUNT = 1 << 16
"""The most registers of a thread, barriers, stages or unrolled iterations: a multiprocessor's whole
register file has that many registers, and no instruction memory holds more iterations."""
LARGEST_SHARED_BYTES = 1 << 30
"""The most shared memory of a block [bytes]: the most that a device file may state."""
LARGEST_EXTENT = 1 << 48
"""The most elements of an array: what 48 bits of address reach."""
LARGEST_AMOUNT = 2.0**80
"""The most useful work [FLOP] or compulsory traffic [bytes]: a month of a million devices."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Parameter:
    """A parameter of a kernel: a whole number, or one of a few words such as a type."""

    name: str
    default: int | str
    about: str
    minimum: int = 1
    choices: tuple[int | str, ...] = ()
    """The values it can have; empty where any number of at least `minimum` is one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Constraint:
    """What must hold of the parameters."""

    condition: Expression
    message: str
    """What would be right, in words."""
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Array:
    """An array in global or shared memory."""

    name: str
    space: Space
    type: str
    """One of `ELEMENT_BYTES`, or the name of a parameter that has one of them as its value."""
    extent: Expression
    """Elements; for a shared array, those of one block."""
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Use:
    """A value that a statement reads: made in this iteration, or so many iterations ago."""

    name: str
    distance: int = 0


Uses: TypeAlias = tuple[Use, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Let:
    """A name for an integer expression; what reads it reads what it reads."""

    name: str
    value: Expression
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """Each active lane reads `width` neighbouring elements of an array."""

    to: str
    array: str
    index: Expression
    width: Expression
    uses: Uses
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Store:
    """Each active lane writes `width` neighbouring elements of an array."""

    array: str
    index: Expression
    width: Expression
    uses: Uses
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Atomic:
    """Each active lane adds to an element of an array at once; `to` has what was there before."""

    to: str | None
    array: str
    index: Expression
    uses: Uses
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """Arithmetic: `count` operations a lane on one pipe."""

    to: str | None
    what: str
    pipe: Pipe
    count: Expression
    chain: Expression
    """How many of them wait for one another; 1 where they are independent."""
    packed: int
    """Operations one instruction does for a lane: 2 for packed halves."""
    uses: Uses
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Shuffle:
    """`count` exchanges of a register between the lanes of a warp, one after another."""

    to: str | None
    count: Expression
    uses: Uses
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Barrier:
    """All warps of the block (or of the role, or the lanes of a warp) wait for one another."""

    scope: Scope
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Copy:
    """A bulk copy of a box from global into shared memory that no lane issues for its own.

    One lane of one warp issues it. It completes on its channel where it has one, else at the next
    barrier or use of `to`.
    """

    to: str
    """The shared array that is filled; also the value's name."""
    array: str
    """The global array."""
    index: Expression
    """Element where the box starts."""
    rows: Expression
    row: Expression
    """Neighbouring elements of a row of the box."""
    pitch: Expression
    """Elements from one row to the next in the global array."""
    channel: str | None
    uses: Uses
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Mma:
    """A matrix instruction of a group of warps: `count` of m x n x k, each adding to `to`."""

    to: str
    m: Expression
    n: Expression
    k: Expression
    type: str
    """Operand type, a key of a device's `tensor_flop_per_cycle`, or a parameter."""
    warps: Expression
    """Warps that issue one instruction together."""
    count: Expression
    """Instructions a group issues one after another, independent of one another."""
    shared_operands: tuple[Literal["a", "b"], ...]
    """Operands the unit reads from shared memory by itself: a is m x k, b is k x n."""
    uses: Uses
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Signal:
    """A step of a role on a channel.

    A producer acquires a stage, fills it and commits it; a consumer waits for it, reads it and
    releases it.
    """

    step: Literal["acquire", "commit", "wait", "release"]
    channel: str
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class For:
    """A loop: `variable` starts at `start` and goes on while the condition holds."""

    variable: str
    start: Expression
    condition: Expression
    """Below a bound, or any condition of the variable."""
    bound: Expression | None
    """The bound, where the loop is of the form `variable < bound; variable += step`."""
    step: Expression | None
    following: Expression | None
    """The next value as an expression of the variable, where it is no sum: `stride * 2`."""
    unroll: Expression
    """Iterations that the compiler interleaves; 1 where it does not unroll."""
    body: Body
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class If:
    """A branch on a predicate over lanes, or on data with a share of the warps that take it."""

    predicate: Expression | None
    share: Expression | None
    """Where the branch depends on data: the share of warps that execute `then`, 0 to 1."""
    then: Body
    otherwise: Body
    place: str


Access: TypeAlias = Load | Store | Atomic
Statement: TypeAlias = (
    Let | Load | Store | Atomic | Operation | Shuffle | Barrier | Copy | Mma | Signal | For | If
)
Body: TypeAlias = tuple[Statement, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Channel:
    """A ring of stages in shared memory that joins a producing role to a consuming one."""

    name: str
    stages: Expression
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Role:
    """Warps of a block that run a body of their own; a launch without roles has one of all."""

    name: str
    warps: Expression | None
    """Its warps; None for all of the block. Roles take the block's warps in their order."""
    registers: Expression
    """Registers a thread of it has."""
    body: Body
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Launch:
    """One kernel launch of a rung."""

    name: str
    block: tuple[Expression, Expression, Expression]
    grid: tuple[Expression, Expression, Expression]
    registers: Expression
    """Registers a thread has at launch."""
    shared: Expression | None
    """Shared memory of a block [bytes]; None: what its shared arrays take."""
    barriers: Expression
    """Block barriers it uses, for occupancy."""
    channels: tuple[Channel, ...]
    roles: tuple[Role, ...]
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Rung:
    """One version of a kernel."""

    kernel: str
    name: str
    change: str
    """What it changes and why that should help, in a sentence."""
    source: str
    extends: str | None
    """The rung it was written as a change of."""
    alternative_to: str | None
    """The rung it is an alternative to, for one that is no step of the ladder."""
    parameters: Mapping[str, Parameter]
    """Those of the kernel and its own."""
    constraints: tuple[Constraint, ...]
    arrays: Mapping[str, Array]
    launches: tuple[Launch, ...]
    place: str

    def statements(self) -> Iterator[Statement]:
        """Every statement, each before those inside it, in the order written."""
        for launch in self.launches:
            for role in launch.roles:
                yield from walk(role.body)


@dataclass(frozen=True, kw_only=True, slots=True)
class Description:
    """A kernel with all its rungs: a whole file."""

    kernel: str
    title: str
    source: str
    about: str
    parameters: Mapping[str, Parameter]
    pipe: str
    """The peak its useful arithmetic is held against; a type parameter may follow `tensor_`."""
    flop: Expression
    """Useful arithmetic, the same for all rungs [FLOP]."""
    compulsory: Expression
    """Each element read or written once [bytes]."""
    rungs: Mapping[str, Rung]
    """Worst first; alternatives after."""
    origin: str

    def ladder(self) -> tuple[Rung, ...]:
        """The rungs that are steps, worst first."""
        return tuple(rung for rung in self.rungs.values() if rung.alternative_to is None)


def walk(body: Body) -> Iterator[Statement]:
    """Every statement of a body, each before those inside it, in the order written."""
    for statement in body:
        yield statement
        if isinstance(statement, For):
            yield from walk(statement.body)
        elif isinstance(statement, If):
            yield from walk(statement.then)
            yield from walk(statement.otherwise)
