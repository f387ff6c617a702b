"""What each statement asks of the resources of a multiprocessor, in cycles over the launch.

A cost is the time a resource would be busy if one multiprocessor did the whole launch. Divided by
the multiprocessors it is a bound; divided by the blocks and the iterations it is what one block
asks for when it executes the statement once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from perfmodel.engines.dram_streams import streaming_time
from perfmodel.engines.store_path import store_path_bytes
from perfmodel.expressions.nodes import Binary, Call, Cast, Conditional, Unary
from perfmodel.kernels.affine import MEMBERS, THREAD_NAMES, reads
from perfmodel.kernels.fast import compiled
from perfmodel.kernels.schema import (
    ELEMENT_BYTES,
    OPERANDS,
    Atomic,
    Barrier,
    Copy,
    If,
    Let,
    Load,
    Mma,
    Operation,
    Shuffle,
    Store,
)
from perfmodel.kernels.sites import Site
from perfmodel.scheduler.reuse import LaunchTraffic, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Set

    from perfmodel.expressions import Expression
    from perfmodel.expressions.nodes import Node
    from perfmodel.kernels.counting import LaunchCounts, RoleCounts
    from perfmodel.kernels.setting import Amount, Setting
    from perfmodel.kernels.sites import Loop, Scope
    from perfmodel.scheduler.fields import Fields

PIPES: Final = ("fp32", "fp16", "fp64", "int32", "special", "tensor")
MP_RESOURCES: Final = (
    "issue",
    *PIPES,
    "registers",
    "load_store",
    "l1_lines",
    "l1",
    "shared",
    "l1_data",
    "l2_port",
    "store_port",
    "in_flight",
)
"""Resources that every multiprocessor has for itself."""
DEVICE_RESOURCES: Final = ("l2", "l2_lines", "l2_stores", "dram", "atomics")
"""Resources that all multiprocessors share."""

LOOP_INSTRUCTIONS: Final = 3
"""Instructions that an iteration costs beside its body: count, compare, branch."""
BRANCH_INSTRUCTIONS: Final = 1
_DIVISION_INSTRUCTIONS: Final = 2
"""A division by a constant is a multiplication and a shift."""
RUNTIME_DIVISION_INTEGER: Final = 11
RUNTIME_DIVISION_MULTIPLY: Final = 7
RUNTIME_DIVISION_SPECIAL: Final = 3
"""What one by a number that only the running kernel knows costs beside: integer instructions,
multiply-adds, which have a pipe of their own, and 3 on the special pipe (to float, reciprocal,
back), as nvcc 13 compiles `int % int` for sm_90, nearly all of them one after another."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a statement asks for over the launch."""

    busy: Mapping[str, Amount]
    """Cycles of each resource, as if one multiprocessor did it all."""
    instructions: Amount
    """Warp instructions issued."""
    flop: Amount = 0.0
    latency: Amount = 0.0
    """Cycles from when it is served until what it makes can be used."""
    misses: tuple[tuple[Amount, Amount], ...] = ()
    """Shares of its executions that wait for a level further away, and how much longer [cycles]."""

    def latency_of(self, copies: Amount) -> Amount:
        """The latency of so many executions that are under way together: any of them may miss."""
        latency = self.latency
        for share, longer in self.misses:
            latency = latency + np.minimum(share * copies, 1.0) * longer
        return latency


def site_cost(
    *,
    counts: LaunchCounts,
    role: RoleCounts,
    site: Site,
    setting: Setting,
    fields: Fields,
    traffic: LaunchTraffic,
    mps: Amount,
    dram_s_per_byte: Amount,
) -> Cost:
    """The cost of a statement.

    Args:
        counts: The launch.
        role: The role it belongs to.
        site: The statement.
        setting: What it was counted for.
        fields: The device.
        traffic: The launch's bytes by level.
        mps: Multiprocessors at work, which share L2 and DRAM.
        dram_s_per_byte: What a byte from or to the DRAM takes in the launch's mix of both.

    Returns:
        Its cost.
    """
    return _Costing(counts, role, setting, fields, traffic, mps, dram_s_per_byte).of(site)


def dram_seconds_per_byte(traffic: LaunchTraffic, fields: Fields) -> Amount:
    """What a byte from or to the DRAM takes where a launch reads and writes as it does."""
    copy = fields["dram_bandwidth_achievable"]
    time_s = streaming_time(
        read_bytes=traffic.read_bytes,
        written_bytes=traffic.written_bytes,
        copy_bandwidth_bytes_per_s=copy,
        read_bandwidth_bytes_per_s=fields.get("dram_read_bandwidth", copy),
        write_bandwidth_bytes_per_s=fields.get("dram_write_bandwidth", copy),
    )
    return time_s / np.maximum(traffic.read_bytes + traffic.written_bytes, 1e-300)


def loop_cost(counts: LaunchCounts, role: RoleCounts, scope: Scope, fields: Fields) -> Cost:
    """What a loop costs beside its body: counting, comparing, branching."""
    assert scope.loop is not None
    unroll = compiled(scope.loop.statement.unroll.root)(counts.names)
    size = np.maximum(role.sizes[scope.loop.counter], 1)
    groups = np.where(unroll >= size, 0.0, 1.0 / np.minimum(unroll, size))
    instructions = _iterations(role, scope) * groups * LOOP_INSTRUCTIONS
    return Cost(busy=_integer_busy(instructions, fields), instructions=instructions)


def _iterations(role: RoleCounts, scope: Scope) -> Amount:
    """Iterations of a loop, summed over the warps that run it."""
    most: Amount = 0.0
    for item in scope.items:
        if isinstance(item, Site):
            most = np.maximum(most, role.tallies[item.position].executions)
        elif item.loop is not None:
            trips = np.maximum(role.trips[item.loop.counter], 1e-9)
            most = np.maximum(most, _iterations(role, item) / trips)
    return most


def _integer_busy(instructions: Amount, fields: Fields) -> dict[str, Amount]:
    return {
        "issue": instructions / issue_rate(fields),
        "int32": instructions * fields["warp_width"] / fields["lanes.int32"],
    }


def issue_rate(fields: Fields) -> Amount:
    """Warp instructions a multiprocessor issues in a cycle."""
    return fields["schedulers"] * fields["issue_width"]


@dataclass(frozen=True)
class _Costing:
    counts: LaunchCounts
    role: RoleCounts
    setting: Setting
    fields: Fields
    traffic: LaunchTraffic
    mps: Amount
    dram_s_per_byte: Amount

    def of(self, site: Site) -> Cost:
        """The cost of a statement by its kind."""
        match site.statement:
            case Operation() as statement:
                return self.operation(site, statement)
            case Copy():
                return self.copy(site)
            case Mma() as statement:
                return self.mma(site, statement)
            case Shuffle() as statement:
                return self.shuffle(site, statement)
            case Load() | Store() | Atomic():
                return self.access(site)
            case Let(value=value):
                return self.integers(site, value, 0)
            case If(predicate=predicate):
                return self.integers(site, predicate, BRANCH_INSTRUCTIONS)
            case Barrier():
                return self.plain(site, self.fields["latencies.barrier"])
            case _:
                return self.plain(site, self.fields["shared_latency"])

    def plain(self, site: Site, latency: Amount) -> Cost:
        """A statement that is one instruction."""
        instructions = self.role.tallies[site.position].executions
        return Cost(
            busy={"issue": instructions / issue_rate(self.fields)},
            instructions=instructions,
            latency=latency,
        )

    def integers(self, site: Site, expression: Expression | None, more: int) -> Cost:
        """Integer arithmetic where it stands."""
        fields = self.fields
        executions = self.role.tallies[site.position].executions
        instructions = executions * (self._integer_operations(site, expression) + more)
        latency = 0.0 if more else fields["latencies.int32"]
        divisions = self._divisions(site, expression)
        if not divisions:
            busy = _integer_busy(instructions, fields)
            return Cost(busy=busy, instructions=instructions, latency=latency)
        every = executions * divisions
        busy = _integer_busy(instructions + every * RUNTIME_DIVISION_INTEGER, fields)
        beside = RUNTIME_DIVISION_MULTIPLY + RUNTIME_DIVISION_SPECIAL
        busy["issue"] = busy["issue"] + every * beside / issue_rate(fields)
        busy["special"] = (
            every * RUNTIME_DIVISION_SPECIAL * fields["warp_width"] / fields["lanes.special"]
        )
        return Cost(
            busy=busy,
            instructions=instructions + every * (RUNTIME_DIVISION_INTEGER + beside),
            latency=divisions
            * (
                RUNTIME_DIVISION_SPECIAL * fields["latencies.special"]
                + (RUNTIME_DIVISION_INTEGER + RUNTIME_DIVISION_MULTIPLY) * fields["latencies.int32"]
            ),
        )

    def operation(self, site: Site, statement: Operation) -> Cost:
        """Arithmetic on one pipe."""
        fields, width = self.fields, self.fields["warp_width"]
        executions = self.role.tallies[site.position].executions
        amount = compiled(statement.count.root)(self.counts.names)
        instructions = executions * -(-amount // statement.packed)
        operands = OPERANDS[statement.what]
        pipe = statement.pipe
        busy = {
            "issue": instructions / issue_rate(fields),
            pipe: executions * amount * width / fields[f"lanes.{pipe}"],
            "registers": instructions
            * width
            * operands
            / (fields["lanes.fp32"] * fields["register_read_ports"]),
        }
        flop_each = {"fma": 2, "mad": 2, "convert": 0, "move": 0, "select": 0}
        useful = flop_each.get(statement.what, 1) if pipe != "int32" else 0
        lanes = self.role.tallies[site.position].lanes
        return Cost(
            busy=busy,
            instructions=instructions,
            flop=lanes * amount * useful,
            latency=fields[f"latencies.{pipe}"],
        )

    def shuffle(self, site: Site, statement: Shuffle) -> Cost:
        """Exchanges between the lanes of a warp."""
        fields = self.fields
        executions = self.role.tallies[site.position].executions
        instructions = executions * compiled(statement.count.root)(self.counts.names)
        busy = {
            "issue": instructions / issue_rate(fields),
            "load_store": instructions * fields["warp_width"] / fields["lanes.load_store"],
        }
        if self._one_data_stage:
            busy["l1_data"] = instructions / fields["line_rate"]
        return Cost(busy=busy, instructions=instructions, latency=fields["latencies.shuffle"])

    def access(self, site: Site) -> Cost:
        """A load, a store or an atomic."""
        fields, tallies = self.fields, self.role.tallies[site.position]
        statement = site.statement
        assert isinstance(statement, Load | Store | Atomic)
        array = self.role.counter.launch.rung.arrays[statement.array]
        address = tallies.executions * self._address_operations(site, statement.index)
        instructions = tallies.instructions + address
        busy = _integer_busy(address, fields)
        busy["issue"] = instructions / issue_rate(fields)
        slots = tallies.instructions * fields["warp_width"]
        busy["load_store"] = slots / fields["lanes.load_store"]
        if array.space == "shared":
            row = fields["shared_banks"] * fields["shared_bank_width"]
            busy["shared"] = tallies.passes * row / fields["shared_bandwidth"]
            if self._one_data_stage:
                busy["l1_data"] = busy["shared"]
            return Cost(busy=busy, instructions=instructions, latency=fields["shared_latency"])
        busy["load_store"] = np.maximum(busy["load_store"], slots / fields["address_rate"])
        merged = fields["coalescing_group"] >= fields["warp_width"]
        lookups = np.where(merged, tallies.lines, np.maximum(tallies.requests, tallies.lines))
        busy["l1_lines"] = lookups / fields["line_rate"]
        moved = tallies.sectors * self.setting.of_geometry("sector")
        # What lanes get of the same bytes has to be handed to each of them.
        busy["l1"] = np.maximum(moved, tallies.bytes_requested) / fields["l1_bandwidth"]
        if self._one_data_stage:
            busy["l1_data"] = np.maximum(busy["l1"], busy["l1_lines"])
        l2_share, dram_share = self.traffic.shares[site.position]
        self._dram(busy, moved * dram_share)
        if kind_of(site) == "load":
            misses = (
                (l2_share, fields["l2_latency"] - fields["l1_latency"]),
                self._from_dram(site),
            )
            cost = Cost(
                busy=busy, instructions=instructions, latency=fields["l1_latency"], misses=misses
            )
            self._loads(busy, moved, l2_share, cost.latency_of(1), tallies.lines)
            return cost
        self._stores(busy, site, moved, l2_share)
        if isinstance(statement, Store):  # nothing waits for what it has handed over
            return Cost(busy=busy, instructions=instructions)
        busy["atomics"] = self._serialized(site)
        return Cost(busy=busy, instructions=instructions, latency=fields["l2_latency"])

    def copy(self, site: Site) -> Cost:
        """A bulk copy."""
        fields, tallies = self.fields, self.role.tallies[site.position]
        moved = tallies.sectors * self.setting.of_geometry("sector")
        l2_share, dram_share = self.traffic.shares[site.position]
        row = fields["shared_banks"] * fields["shared_bank_width"]
        busy: dict[str, Amount] = {
            "issue": tallies.executions / issue_rate(fields),
            "shared": np.ceil(tallies.access_bytes / row)
            * tallies.lanes
            * row
            / fields["shared_bandwidth"],
        }
        cost = Cost(
            busy=busy,
            instructions=tallies.executions,
            latency=fields["l2_latency"],
            misses=(self._from_dram(site),),
        )
        self._loads(busy, moved, l2_share, cost.latency_of(1), tallies.lines)
        self._dram(busy, moved * dram_share)
        return cost

    def mma(self, site: Site, statement: Mma) -> Cost:
        """Matrix instructions, on the fp32 pipe where there is no tensor unit."""
        fields, names = self.fields, self.counts.names
        tallies = self.role.tallies[site.position]
        m, n, k = (compiled(each.root)(names) for each in (statement.m, statement.n, statement.k))
        groups = tallies.executions / compiled(statement.warps.root)(names)
        count = compiled(statement.count.root)(names)
        flop = groups * count * (2.0 * m * n * k)
        kind = self.setting.types.get(statement.type, statement.type)
        instructions = tallies.executions * count
        busy: dict[str, Amount] = {}
        if has_tensor(fields, kind):
            busy["tensor"] = flop / fields[f"tensor_flop_per_cycle.{kind}"]
            latency = fields.get("latencies.tensor", fields["latencies.fp32"])
            if "latencies.tensor_group" in fields:
                alone = compiled(statement.warps.root)(names) == 1
                latency = np.where(alone, latency, fields["latencies.tensor_group"])
        else:
            busy["fp32"] = flop / 2 / fields["lanes.fp32"]
            instructions = instructions * 0.0 + flop / 2 / fields["warp_width"]
            latency = fields["latencies.fp32"]
        busy["issue"] = instructions / issue_rate(fields)
        if statement.shared_operands:
            size = ELEMENT_BYTES.get(kind, 4)
            elements = ("a" in statement.shared_operands) * m * k + (
                "b" in statement.shared_operands
            ) * k * n
            busy["shared"] = groups * count * elements * size / fields["shared_bandwidth"]
        return Cost(busy=busy, instructions=instructions, flop=flop, latency=latency)

    @property
    def _one_data_stage(self) -> bool:
        """Whether L1, shared memory and shuffles share what hands data out: one body of memory."""
        return self.fields.device.shared_carveouts is not None

    def _from_dram(self, site: Site) -> tuple[Amount, Amount]:
        """The share of a load that waits for the DRAM, and how much longer than for the L2.

        Blocks that run at the same time and read the same all wait while it is on its way.
        """
        _, dram_share = self.traffic.shares[site.position]
        waiting = np.minimum(dram_share * self.traffic.sharers[site.position], 1.0)
        return waiting, self.fields["dram_latency"] - self.fields["l2_latency"]

    def _loads(
        self,
        busy: dict[str, Amount],
        moved: Amount,
        l2_share: Amount,
        latency: Amount,
        lines: Amount,
    ) -> None:
        """Add what loads and copies ask of the L2, as cycles of one multiprocessor's share."""
        fields = self.fields
        l2_bytes = moved * l2_share
        busy["l2_port"] = l2_bytes / fields["l2_bandwidth_per_mp"]
        busy["l2"] = l2_bytes * self.mps * fields["clock"] / fields["l2_bandwidth"]
        if "l2_line_rate" in fields:
            busy["l2_lines"] = lines * l2_share * self.mps / fields["l2_line_rate"]
        busy["in_flight"] = l2_bytes * latency / fields["bytes_in_flight_per_mp"]

    def _stores(self, busy: dict[str, Amount], site: Site, moved: Amount, l2_share: Amount) -> None:
        """Add what stores and atomics ask of the L2; where it is known they have a path to it."""
        fields, tallies = self.fields, self.role.tallies[site.position]
        if "store_bandwidth_per_mp" not in fields:
            l2_bytes = moved * l2_share
            busy["l2_port"] = l2_bytes / fields["l2_bandwidth_per_mp"]
            busy["l2"] = l2_bytes * self.mps * fields["clock"] / fields["l2_bandwidth"]
            return
        sent = l2_share * store_path_bytes(
            sectors=tallies.sectors,
            lines=tallies.lines,
            written_bytes=tallies.bytes_requested,
            access_bytes=tallies.access_bytes,
            sector_bytes=self.setting.of_geometry("sector"),
            overhead_bytes=fields["partial_store_overhead"],
        )
        busy["store_port"] = sent / fields["store_bandwidth_per_mp"]
        if self._one_data_stage:  # what comes after a store in the L1 waits until it is sent
            busy["l1_data"] = np.maximum(busy["l1_data"], busy["store_port"])
        busy["l2_stores"] = sent * self.mps * fields["clock"] / fields["l2_store_bandwidth"]

    def _dram(self, busy: dict[str, Amount], dram_bytes: Amount) -> None:
        """Add what an access asks of the DRAM: its share of the launch's mix of both directions."""
        busy["dram"] = dram_bytes * self.dram_s_per_byte * self.mps * self.fields["clock"]

    def _serialized(self, site: Site) -> Amount:
        """Cycles of atomics on one address, where all lanes of all blocks have the same."""
        if site.read or "atomic_rate" not in self.fields:
            return 0.0
        tallies = self.role.tallies[site.position]
        return tallies.lanes * self.mps / self.fields["atomic_rate"]

    def _integer_operations(self, site: Site, expression: Expression | None) -> Amount:
        """Instructions of an expression in one execution; what no loop changes is done before."""
        if expression is None:
            return 0.0
        read = reads(site.value) if site.value else site.read
        every = _operations(expression)
        return self._by_running_loop(site, lambda loop: every * (loop.counter in read), every)

    def _divisions(self, site: Site, expression: Expression | None) -> int:
        """Divisions of an expression by numbers that no compiler knows."""
        if expression is None or not expression.integer_operations["divide"]:
            return 0
        counters = {
            loop.statement.variable
            for loop in site.loops
            if np.any(self._unroll(loop) < self.role.sizes[loop.counter])
        }
        return _divisions_by(expression.root, _RUNNING_NAMES | counters)

    def _address_operations(self, site: Site, index: Expression) -> Amount:
        """Instructions for an address in one execution.

        The element's place is scaled and added to where the array begins. An address that a loop
        only adds to is stepped once for all interleaved iterations, which differ by constants; one
        of 64 bits by two additions. Where a loop is unrolled to its end, what its iterations have
        in common is worked out once.
        """
        amount: Amount = _operations(index) + 1.0
        beside: Amount = 0.0
        searching: Amount = 1.0
        step = 2.0 if self._is_global(site) else 1.0
        for loop in reversed(site.loops):
            size = np.maximum(self.role.sizes[loop.counter], 1)
            runs = 1.0 * (self._unroll(loop) < size)
            tangled = loop.counter in site.parts.tangled
            shifted = any(loop.counter in reads(each) for each in site.parts.shifts)
            moved = loop.counter in site.parts.linear or shifted
            if tangled:
                of_running = amount
            else:
                of_running = step / np.maximum(self._unroll(loop), 1) if moved else 0.0
                apart = step * (not self._is_constant_step(site, loop))
                beside = beside + searching * (1.0 - runs) * moved * apart * (1.0 - 1.0 / size)
                amount = np.where(runs > 0, amount, amount / size)
            beside = beside + searching * runs * of_running
            searching = searching * (1.0 - runs)
        return beside + searching * amount

    def _is_constant_step(self, site: Site, loop: Loop) -> bool:
        """Whether the instruction itself can hold how far an iteration moves the address."""
        node = site.parts.linear.get(loop.counter)
        return node is not None and not reads(node) - {"warpSize"}

    def _is_global(self, site: Site) -> bool:
        return self.role.counter.launch.rung.arrays[site.array or ""].space == "global"

    def _by_running_loop(self, site: Site, of: Callable[[Loop], Amount], outside: Amount) -> Amount:
        """An amount by the innermost loop that is left once those unrolled to the end are gone."""
        total: Amount = 0.0
        searching: Amount = 1.0
        for loop in reversed(site.loops):
            runs = 1.0 * (self._unroll(loop) < self.role.sizes[loop.counter])
            total = total + searching * runs * of(loop)
            searching = searching * (1.0 - runs)
        return total + searching * outside

    def _unroll(self, loop: Loop) -> Amount:
        return compiled(loop.statement.unroll.root)(self.counts.names)


def _operations(expression: Expression) -> float:
    counts = expression.integer_operations
    return float(sum(counts.values()) + (_DIVISION_INSTRUCTIONS - 1) * counts["divide"])


_RUNNING_NAMES = THREAD_NAMES | frozenset(
    f"{what}.{member}" for what in ("blockIdx", "blockDim", "gridDim") for member in MEMBERS
)


def _divisions_by(node: Node, names: Set[str]) -> int:
    """Divisions and remainders in an expression whose divisor reads one of the names."""
    match node:
        case Binary(operator="/" | "%", left=left, right=right):
            own = not reads(right).isdisjoint(names)
            return own + _divisions_by(left, names) + _divisions_by(right, names)
        case Binary(left=left, right=right):
            return _divisions_by(left, names) + _divisions_by(right, names)
        case Unary(operand=operand) | Cast(operand=operand):
            return _divisions_by(operand, names)
        case Conditional(condition=condition, if_true=yes, if_false=no):
            return sum(_divisions_by(each, names) for each in (condition, yes, no))
        case Call(function=function, arguments=arguments):
            inside = sum(_divisions_by(each, names) for each in arguments)
            return inside + (function == "ceil_div" and not reads(arguments[1]).isdisjoint(names))
        case _:
            return 0


def has_tensor(fields: Fields, kind: str) -> bool:
    """Whether a device multiplies matrices of a type."""
    return f"tensor_flop_per_cycle.{kind}" in fields
