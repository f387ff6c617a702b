"""What each statement asks of the resources of a multiprocessor, in cycles over the launch.

A cost is the time a resource would be busy if one multiprocessor did the whole launch. Divided by
the multiprocessors it is a bound; divided by the blocks and the iterations it is what one block
asks for when it executes the statement once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from perfmodel.kernels.affine import reads
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
    from collections.abc import Callable, Mapping

    from perfmodel.expressions import Expression
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
    "l2_port",
    "in_flight",
)
"""Resources that every multiprocessor has for itself."""
DEVICE_RESOURCES: Final = ("l2", "dram", "atomics")
"""Resources that all multiprocessors share."""

LOOP_INSTRUCTIONS: Final = 3
"""Instructions that an iteration costs beside its body: count, compare, branch."""
BRANCH_INSTRUCTIONS: Final = 1
_DIVISION_INSTRUCTIONS: Final = 2
"""A division by a constant is a multiplication and a shift."""


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


def site_cost(
    *,
    counts: LaunchCounts,
    role: RoleCounts,
    site: Site,
    setting: Setting,
    fields: Fields,
    traffic: LaunchTraffic,
    mps: Amount,
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

    Returns:
        Its cost.
    """
    costing = _Costing(counts, role, setting, fields, traffic, mps)
    statement = site.statement
    match statement:
        case Operation() | Load() | Store() | Atomic() | Copy() | Mma() | Shuffle():
            return costing.working(site)
        case Let(value=value):
            return costing.integers(site, value, 0)
        case If(predicate=predicate):
            return costing.integers(site, predicate, BRANCH_INSTRUCTIONS)
        case Barrier():
            return costing.plain(site, fields["latencies.barrier"])
        case _:
            return costing.plain(site, fields["shared_latency"])


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

    def working(self, site: Site) -> Cost:
        """A statement that computes or moves something."""
        match site.statement:
            case Operation() as statement:
                return self.operation(site, statement)
            case Copy():
                return self.copy(site)
            case Mma() as statement:
                return self.mma(site, statement)
            case Shuffle() as statement:
                return self.shuffle(site, statement)
            case _:
                return self.access(site)

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
        executions = self.role.tallies[site.position].executions
        instructions = executions * (self._integer_operations(site, expression) + more)
        return Cost(
            busy=_integer_busy(instructions, self.fields),
            instructions=instructions,
            latency=0.0 if more else self.fields["latencies.int32"],
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
            return Cost(busy=busy, instructions=instructions, latency=fields["shared_latency"])
        busy["load_store"] = np.maximum(busy["load_store"], slots / fields["address_rate"])
        merged = fields["coalescing_group"] >= fields["warp_width"]
        lookups = np.where(merged, tallies.lines, np.maximum(tallies.requests, tallies.lines))
        busy["l1_lines"] = lookups / fields["line_rate"]
        moved = tallies.sectors * self.setting.of_geometry("sector")
        # What lanes get of the same bytes has to be handed to each of them.
        busy["l1"] = np.maximum(moved, tallies.bytes_requested) / fields["l1_bandwidth"]
        l2_share, dram_share = self.traffic.shares[site.position]
        latency = (
            fields["l1_latency"]
            + np.minimum(l2_share, 1.0) * (fields["l2_latency"] - fields["l1_latency"])
            + np.minimum(dram_share, 1.0) * (fields["dram_latency"] - fields["l2_latency"])
        )
        if isinstance(statement, Atomic):
            latency = fields["l2_latency"]
            busy["atomics"] = self._serialized(site)
        self._below_l1(busy, moved, l2_share, dram_share, latency, loads=kind_of(site) == "load")
        if isinstance(statement, Store):
            latency = 0.0  # nothing waits for what a store has handed over
        return Cost(busy=busy, instructions=instructions, latency=latency)

    def copy(self, site: Site) -> Cost:
        """A bulk copy."""
        fields, tallies = self.fields, self.role.tallies[site.position]
        moved = tallies.sectors * self.setting.of_geometry("sector")
        l2_share, dram_share = self.traffic.shares[site.position]
        row = fields["shared_banks"] * fields["shared_bank_width"]
        latency = fields["l2_latency"] + np.minimum(dram_share, 1.0) * (
            fields["dram_latency"] - fields["l2_latency"]
        )
        busy: dict[str, Amount] = {
            "issue": tallies.executions / issue_rate(fields),
            "shared": np.ceil(tallies.access_bytes / row)
            * tallies.lanes
            * row
            / fields["shared_bandwidth"],
        }
        self._below_l1(busy, moved, l2_share, dram_share, latency, loads=True)
        return Cost(busy=busy, instructions=tallies.executions, latency=latency)

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

    def _below_l1(
        self,
        busy: dict[str, Amount],
        moved: Amount,
        l2_share: Amount,
        dram_share: Amount,
        latency: Amount,
        *,
        loads: bool,
    ) -> None:
        """Add what goes on below the L1, as cycles of one multiprocessor's share of it."""
        fields = self.fields
        l2_bytes, dram_bytes = moved * l2_share, moved * dram_share
        busy["l2_port"] = l2_bytes / fields["l2_bandwidth_per_mp"]
        busy["l2"] = l2_bytes * self.mps * fields["clock"] / fields["l2_bandwidth"]
        busy["dram"] = dram_bytes * self.mps * fields["clock"] / fields["dram_bandwidth_achievable"]
        if loads:
            busy["in_flight"] = l2_bytes * latency / fields["bytes_in_flight_per_mp"]

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

    def _address_operations(self, site: Site, index: Expression) -> Amount:
        """Instructions for an address in one execution.

        An address that a loop only adds to is stepped by one addition for all interleaved
        iterations, which differ by constants.
        """
        every = _operations(index)

        def of(loop: Loop) -> Amount:
            if loop.counter in site.parts.tangled:
                return every
            shifted = any(loop.counter in reads(each) for each in site.parts.shifts)
            if loop.counter not in site.parts.linear and not shifted:
                return 0.0
            return 1.0 / np.maximum(self._unroll(loop), 1)

        return self._by_running_loop(site, of, every)

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


def has_tensor(fields: Fields, kind: str) -> bool:
    """Whether a device multiplies matrices of a type."""
    return f"tensor_flop_per_cycle.{kind}" in fields
