"""A rung walked thread by thread: the slow and obvious count that the fast one is held against.

Every block, every warp, every lane and every iteration is gone through, one after the other, in
plain Python over the records of `perfmodel.kernels.schema`. Nothing is sorted into classes, nothing
is multiplied that could be repeated, and nothing is shared with the counting or the engines; the
expressions have an interpreter of their own, over whole numbers without a limit. Use it on small
sizes.

Statements are known by their position in `list(rung.statements())`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from perfmodel.expressions import Expression, nodes
from perfmodel.kernels import schema

if TYPE_CHECKING:
    from perfmodel.expressions.c_types import CType

Names: TypeAlias = Mapping[str, Any]
Meaning: TypeAlias = Callable[[Names], Any]
Lanes: TypeAlias = Sequence[tuple[int, dict[str, Any]]]
"""The active lanes of a warp: the number of each in the warp, and its values of names."""
LaneGroups: TypeAlias = Sequence[Sequence[int]]

MOST_ITERATIONS: Final = 1_000_000
"""A loop that goes on for longer does not end."""
SHARED_ALIGNMENT_BYTES: Final = 128


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """The sizes of a device that decide which accesses fall together [bytes, lanes, banks]."""

    warp_width: int
    line_bytes: int
    sector_bytes: int
    l2_sector_bytes: int
    transaction_bytes: int
    coalescing_group: int
    shared_banks: int
    shared_bank_width: int
    shared_groups: Callable[[str, int], LaneGroups] | None = None
    """The lanes that are served together, for an operation (load, store, atomic) and the bytes a
    lane accesses; None: consecutive lanes, as many as fill one pass."""
    widest_access_bytes: int | None = None
    """What one instruction can access for a lane; wider accesses are several, each counted for
    itself. None: any width is one."""
    widest_shared_access_bytes: int | None = None
    """The same for shared memory."""

    @property
    def pass_bytes(self) -> int:
        """What the banks give in one pass."""
        return self.shared_banks * self.shared_bank_width

    def groups(self, operation: str, access_bytes: int) -> LaneGroups:
        """The lanes that shared memory serves together."""
        if self.shared_groups is not None:
            return self.shared_groups(operation, access_bytes)
        size = max(self.pass_bytes // max(access_bytes, self.shared_bank_width), 1)
        return [range(first, first + size) for first in range(0, self.warp_width, size)]


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What all warps of all blocks do at a statement, in all iterations; zero where it has none.

    Each amount is weighted by the shares of the branches on data around the statement.
    """

    executions: float = 0
    """Warps that execute it with at least one lane; boxes of a copy; iterations of a loop."""
    lanes: float = 0
    """Their active lanes; none of a copy."""
    instructions: float = 0
    """Accesses: several for an execution that is wider than one can be."""
    lines: float = 0
    """Distinct lines of each access to a global array, or of each row of a copy's box."""
    sectors: float = 0
    l2_sectors: float = 0
    requests: float = 0
    """Distinct transactions of each coalescing group of an access to a global array."""
    bytes_requested: float = 0
    """What lanes ask for of global or shared arrays, or what a copy fetches."""
    passes: float = 0
    """Passes of accesses to shared arrays."""
    ideal_passes: float = 0
    """The same, had the active lanes no conflict: ceil(lanes x bytes / bytes of a pass)."""
    amount: float = 0
    """`count` of an operation, a shuffle or an mma, for each warp that executes it."""
    flop: float = 0
    """Arithmetic of an mma."""
    divergent: float = 0
    """Executions of an `if` by a warp that has active lanes on both sides."""


def walk(
    rung: schema.Rung, parameters: Mapping[str, int | str], geometry: Geometry
) -> dict[int, Tally]:
    """Walk all threads of a rung.

    Args:
        rung: The rung.
        parameters: Values by name; what is left out has its default.
        geometry: The device's sizes.

    Returns:
        For each position of `list(rung.statements())` what was done there.
    """
    walker = _Walker(rung, parameters, geometry)
    for launch in range(len(rung.launches)):
        walker.launch(launch)
    return {place: Tally(**amounts) for place, amounts in walker.tallies.items()}


def unique_sectors(
    rung: schema.Rung,
    parameters: Mapping[str, int | str],
    geometry: Geometry,
    position: int,
    scope: Literal["block", "grid"],
) -> int:
    """The distinct sectors of a global array that a statement touches.

    Args:
        rung: The rung.
        parameters: Values by name; what is left out has its default.
        geometry: The device's sizes.
        position: The place of an access or a copy in `list(rung.statements())`.
        scope: All that block 0 touches, or all that the grid does.

    Returns:
        Sectors, each once.
    """
    walker = _Walker(rung, parameters, geometry, watched=position)
    for launch in range(len(rung.launches)):
        walker.launch(launch, first_block_only=scope == "block")
    return len(walker.touched)


class _Walker:
    """Goes through a rung and adds up what it meets."""

    def __init__(
        self,
        rung: schema.Rung,
        parameters: Mapping[str, int | str],
        geometry: Geometry,
        watched: int | None = None,
    ) -> None:
        unknown = sorted(parameters.keys() - rung.parameters.keys())
        if unknown:
            raise ValueError(f"{rung.name} has no parameter {', '.join(unknown)}")
        self.rung = rung
        self.geometry = geometry
        values = {name: each.default for name, each in rung.parameters.items()} | dict(parameters)
        self.types = {name: value for name, value in values.items() if isinstance(value, str)}
        self.fixed: dict[str, Any] = {"warpSize": geometry.warp_width}
        for name, value in values.items():
            if not isinstance(value, str):
                self.fixed[name] = value
            elif value in schema.ELEMENT_BYTES:
                self.fixed[f"{name}_bytes"] = schema.ELEMENT_BYTES[value]
        statements = list(rung.statements())
        self.tallies: dict[int, dict[str, float]] = {place: {} for place in range(len(statements))}
        self.sizes = {id(each): len(list(schema.walk((each,)))) for each in statements}
        self.watched = watched
        self.touched: set[int] = set()
        if watched is not None:
            array = rung.arrays.get(getattr(statements[watched], "array", ""))
            if array is None or array.space != "global":
                raise ValueError(f"statement {watched} accesses no global array")
        self.bases: dict[str, int] = {}
        self.warp = 0
        self.copying_warps: dict[int, int] = {}

    def launch(self, number: int, *, first_block_only: bool = False) -> None:
        launch = self.rung.launches[number]
        before = sum(
            len(list(schema.walk(role.body)))
            for earlier in self.rung.launches[:number]
            for role in earlier.roles
        )
        width, height, depth = (meaning(each)(self.fixed) for each in launch.block)
        names = self.fixed | {"blockDim.x": width, "blockDim.y": height, "blockDim.z": depth}
        columns, rows, layers = (meaning(each)(names) for each in launch.grid)
        names |= {"gridDim.x": columns, "gridDim.y": rows, "gridDim.z": layers}
        self.bases = self._shared_bases(names)
        for z in range(layers):
            for y in range(rows):
                for x in range(columns):
                    if first_block_only and (x, y, z) != (0, 0, 0):
                        continue
                    here = names | {"blockIdx.x": x, "blockIdx.y": y, "blockIdx.z": z}
                    self._block(launch, before, here)

    def _shared_bases(self, names: Names) -> dict[str, int]:
        """Where each shared array starts: one after another."""
        bases = {}
        end = 0
        for array in self.rung.arrays.values():
            if array.space == "shared":
                while end % SHARED_ALIGNMENT_BYTES:
                    end += 1
                bases[array.name] = end
                end += meaning(array.extent)(names) * self._element_bytes(array)
        return bases

    def _element_bytes(self, array: schema.Array) -> int:
        return schema.ELEMENT_BYTES[self.types.get(array.type, array.type)]

    def _block(self, launch: schema.Launch, position: int, names: Names) -> None:
        threads = [
            {**names, "threadIdx.x": x, "threadIdx.y": y, "threadIdx.z": z}
            for z in range(names["blockDim.z"])
            for y in range(names["blockDim.y"])
            for x in range(names["blockDim.x"])
        ]
        width = self.geometry.warp_width
        warps = [threads[first : first + width] for first in range(0, len(threads), width)]
        self.copying_warps = {}
        first = 0
        for role in launch.roles:
            own = len(warps) if role.warps is None else meaning(role.warps)(names)
            for warp in range(first, min(first + own, len(warps))):
                self.warp = warp
                self._body(role.body, position, list(enumerate(warps[warp])), 1)
            first += own
            position += len(list(schema.walk(role.body)))

    def _body(self, body: schema.Body, position: int, lanes: Lanes, weight: float) -> None:
        """Run a body. What it names stays known after it, where no description may read it."""
        for statement in body:
            self._statement(statement, position, lanes, weight)
            position += self.sizes[id(statement)]

    def _statement(
        self, statement: schema.Statement, position: int, lanes: Lanes, weight: float
    ) -> None:
        add = partial(self._add, position, weight)
        match statement:
            case schema.For():
                self._loop(statement, position, lanes, weight)
                return
            case schema.Copy():
                self._copy(statement, position, lanes[0][1], weight)
                return
        add("executions", 1)
        add("lanes", len(lanes))
        match statement:
            case schema.Let(name=name, value=value):
                for _, names in lanes:
                    names[name] = meaning(value)(names)
            case schema.If():
                self._branch(statement, position, lanes, weight)
            case schema.Load(width=width):
                self._access(statement, "load", self._same(width, lanes), position, lanes, weight)
            case schema.Store(width=width):
                self._access(statement, "store", self._same(width, lanes), position, lanes, weight)
            case schema.Atomic():
                self._access(statement, "atomic", 1, position, lanes, weight)
            case schema.Operation(count=count) | schema.Shuffle(count=count):
                add("amount", self._same(count, lanes))
            case schema.Mma():
                count = self._same(statement.count, lanes)
                sides = (statement.m, statement.n, statement.k)
                size = math.prod(self._same(each, lanes) for each in sides)
                add("amount", count)
                add("flop", 2 * size * count / self._same(statement.warps, lanes))
            case schema.Barrier() | schema.Signal():
                pass

    def _add(self, position: int, weight: float, name: str, amount: float) -> None:
        tally = self.tallies[position]
        tally[name] = tally.get(name, 0) + amount * weight

    def _same(self, amount: Expression, lanes: Lanes) -> Any:
        """An amount, which all lanes share."""
        found = {meaning(amount)(names) for _, names in lanes}
        if len(found) != 1:
            raise ValueError(f"lanes differ in {amount.text}")
        return found.pop()

    def _loop(self, loop: schema.For, position: int, lanes: Lanes, weight: float) -> None:
        going = lanes
        for _, names in going:
            names[loop.variable] = meaning(loop.start)(names)
        for _ in range(MOST_ITERATIONS):
            going = [(lane, names) for lane, names in going if _goes_on(loop, names)]
            if not going:
                return
            self._add(position, weight, "executions", 1)
            self._add(position, weight, "lanes", len(going))
            self._body(loop.body, position + 1, going, weight)
            for _, names in going:
                names[loop.variable] = _following(loop, names)
        raise ValueError(f"{loop.place}: the loop over {loop.variable} does not end")

    def _branch(self, branch: schema.If, position: int, lanes: Lanes, weight: float) -> None:
        first = position + 1
        second = first + len(list(schema.walk(branch.then)))
        if branch.predicate is None:
            assert branch.share is not None
            share = self._same(branch.share, lanes)
            if share:
                self._body(branch.then, first, lanes, weight * share)
            if share != 1:
                self._body(branch.otherwise, second, lanes, weight * (1 - share))
            return
        taking: list[tuple[int, dict[str, Any]]] = []
        others: list[tuple[int, dict[str, Any]]] = []
        for lane in lanes:
            (taking if meaning(branch.predicate)(lane[1]) else others).append(lane)
        if taking and others:
            self._add(position, weight, "divergent", 1)
        if taking:
            self._body(branch.then, first, taking, weight)
        if others:
            self._body(branch.otherwise, second, others, weight)

    def _access(
        self,
        access: schema.Access,
        operation: str,
        width: int,
        position: int,
        lanes: Lanes,
        weight: float,
    ) -> None:
        array = self.rung.arrays[access.array]
        size = self._element_bytes(array)
        index = meaning(access.index)
        base = self.bases.get(array.name, 0)
        addresses = {lane: base + index(names) * size for lane, names in lanes}
        self._add(position, weight, "bytes_requested", len(lanes) * width * size)
        shared = array.space == "shared"
        geometry = self.geometry
        widest = geometry.widest_shared_access_bytes if shared else geometry.widest_access_bytes
        for first, piece in _pieces(width * size, widest):
            starts = {lane: address + first for lane, address in addresses.items()}
            self._add(position, weight, "instructions", 1)
            if shared:
                self._shared_access(operation, starts, piece, position, weight)
            else:
                self._global_access(starts, piece, position, weight)

    def _global_access(
        self, starts: Mapping[int, int], size: int, position: int, weight: float
    ) -> None:
        geometry = self.geometry
        add = partial(self._add, position, weight)
        add("lines", len(_blocks(starts.values(), size, geometry.line_bytes)))
        add("l2_sectors", len(_blocks(starts.values(), size, geometry.l2_sector_bytes)))
        sectors = _blocks(starts.values(), size, geometry.sector_bytes)
        add("sectors", len(sectors))
        if position == self.watched:
            self.touched |= sectors
        for first in range(0, geometry.warp_width, geometry.coalescing_group):
            neighbours = range(first, first + geometry.coalescing_group)
            own = [starts[lane] for lane in neighbours if lane in starts]
            add("requests", len(_blocks(own, size, geometry.transaction_bytes)))

    def _shared_access(
        self, operation: str, starts: Mapping[int, int], size: int, position: int, weight: float
    ) -> None:
        geometry = self.geometry
        passes = 0
        for group in geometry.groups(operation, size):
            own = [starts[lane] for lane in group if lane in starts]
            wanted: dict[int, int] = {}
            for word in _blocks(own, size, geometry.shared_bank_width):
                bank = word % geometry.shared_banks
                wanted[bank] = wanted.get(bank, 0) + 1
            passes += max(wanted.values(), default=0)
        self._add(position, weight, "passes", passes)
        asked = len(starts) * max(size, geometry.shared_bank_width)
        self._add(position, weight, "ideal_passes", -(-asked // geometry.pass_bytes))

    def _copy(self, copy: schema.Copy, position: int, names: Names, weight: float) -> None:
        """A box, which the first warp of the block that comes to it issues for all of them."""
        if self.copying_warps.setdefault(position, self.warp) != self.warp:
            return
        add = partial(self._add, position, weight)
        size = self._element_bytes(self.rung.arrays[copy.array])
        row = meaning(copy.row)(names) * size
        add("executions", 1)
        for number in range(meaning(copy.rows)(names)):
            start = (meaning(copy.index)(names) + number * meaning(copy.pitch)(names)) * size
            sectors = _blocks([start], row, self.geometry.sector_bytes)
            add("bytes_requested", row)
            add("lines", len(_blocks([start], row, self.geometry.line_bytes)))
            add("sectors", len(sectors))
            add("l2_sectors", len(_blocks([start], row, self.geometry.l2_sector_bytes)))
            if position == self.watched:
                self.touched |= sectors


def _goes_on(loop: schema.For, names: Names) -> bool:
    if loop.bound is not None:
        return bool(names[loop.variable] < meaning(loop.bound)(names))
    return bool(meaning(loop.condition)(names))


def _following(loop: schema.For, names: Names) -> Any:
    if loop.step is not None:
        return names[loop.variable] + meaning(loop.step)(names)
    assert loop.following is not None
    return meaning(loop.following)(names)


def _pieces(size: int, widest: int | None) -> Iterator[tuple[int, int]]:
    """The parts that a lane's access is made in: where each begins, and its size."""
    step = widest or size
    for first in range(0, size, step):
        yield first, min(step, size - first)


def _blocks(starts: Iterable[int], size: int, block: int) -> set[int]:
    """The aligned blocks that hold at least one byte of the accesses."""
    found: set[int] = set()
    for start in starts:
        found.update(range(start // block, (start + size - 1) // block + 1))
    return found


@cache
def meaning(expression: Expression) -> Meaning:
    """An expression as a function of the values of its names."""
    return _function(expression.root)


def _function(node: nodes.Node) -> Meaning:
    match node:
        case nodes.Literal(value=value):
            return lambda _: value
        case nodes.Name(name=name):
            return operator.itemgetter(name)
        case nodes.Cast(kind=kind, operand=operand):
            inner = _function(operand)
            return lambda names: _converted(inner(names), kind)
        case nodes.Unary(operator=sign, operand=operand):
            inner, unary = _function(operand), _UNARY[sign]
            return lambda names: unary(inner(names))
        case nodes.Conditional(condition=condition, if_true=if_true, if_false=if_false):
            asked, yes, no = _function(condition), _function(if_true), _function(if_false)
            return lambda names: yes(names) if asked(names) else no(names)
        case nodes.Call(function=function, arguments=arguments):
            inputs, called = [_function(each) for each in arguments], _CALLS[function]
            return lambda names: called(*(each(names) for each in inputs))
        case nodes.Binary(operator=sign, left=left, right=right):
            first, second = _function(left), _function(right)
            if sign == "&&":
                return lambda names: int(bool(first(names)) and bool(second(names)))
            if sign == "||":
                return lambda names: int(bool(first(names)) or bool(second(names)))
            binary = _BINARY[sign]
            return lambda names: binary(first(names), second(names))


def _quotient(left: Any, right: Any) -> Any:
    if isinstance(left, float) or isinstance(right, float):
        return left / right
    whole = abs(left) // abs(right)
    return whole if (left < 0) == (right < 0) else -whole


def _remainder(left: int, right: int) -> int:
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def _converted(value: Any, kind: CType) -> Any:
    """A conversion to a type: whole numbers modulo its width."""
    if kind.floating:
        return float(value)
    if kind.bits == 1:
        return int(value != 0)
    low = int(value) % (1 << kind.bits)
    return low - (1 << kind.bits) if low > kind.maximum else low


def _ones(value: int) -> int:
    """The one bits of an int, or of a long long where it takes one."""
    bits = 32 if -(1 << 31) <= value < 1 << 32 else 64
    return bin(value % (1 << bits)).count("1")


_UNARY: Final[Mapping[str, Callable[[Any], Any]]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
    "!": lambda value: int(not value),
}
_BINARY: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _quotient,
    "%": _remainder,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "<": lambda left, right: int(left < right),
    "<=": lambda left, right: int(left <= right),
    ">": lambda left, right: int(left > right),
    ">=": lambda left, right: int(left >= right),
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
}
_CALLS: Final[Mapping[str, Callable[..., Any]]] = {
    "abs": abs,
    "ceil_div": lambda left, right: -(-left // right),
    "log2": math.log2,
    "max": max,
    "min": min,
    "popcount": _ones,
    "__popc": lambda value: bin(value % (1 << 32)).count("1"),
    "__popcll": lambda value: bin(value % (1 << 64)).count("1"),
}
