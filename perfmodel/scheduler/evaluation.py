"""The time of a rung and everything it is made of, for a whole batch at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from perfmodel.engines.latency import blended_time
from perfmodel.errors import UsageError
from perfmodel.kernels.counting import LaunchCounts, count
from perfmodel.kernels.geometry import FIELDS as GEOMETRY_FIELDS
from perfmodel.kernels.geometry import Geometry, device_geometry
from perfmodel.kernels.parameters import expression_values, parameter_types
from perfmodel.kernels.setting import Amount, Setting
from perfmodel.kernels.sites import Scope
from perfmodel.scheduler.costs import (
    DEVICE_RESOURCES,
    MP_RESOURCES,
    Cost,
    dram_seconds_per_byte,
    issue_rate,
    loop_cost,
    site_cost,
)
from perfmodel.scheduler.predication import predicate
from perfmodel.scheduler.residency import blocks_by, l1_left
from perfmodel.scheduler.reuse import Around, LaunchTraffic, launch_traffic
from perfmodel.scheduler.timeline import block_time, blocks_differ, share_of_one_turn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfmodel.kernels.schema import Rung
    from perfmodel.scheduler.fields import Fields

Caches = Literal["cold", "warm"]
CACHES: tuple[Caches, ...] = get_args(Caches)

BOUNDS = (*DEVICE_RESOURCES, *MP_RESOURCES, "block_launch", "latency", "ramp", "tail")
"""The lower limits on the time of a launch, each from one resource."""
SPILLED_BYTES = 4


@dataclass(frozen=True, kw_only=True)
class LaunchEvaluation:
    """A launch of a batch."""

    counts: LaunchCounts
    traffic: LaunchTraffic
    costs: Mapping[int, Cost]
    blocks_by: Mapping[str, Amount]
    blocks_per_mp: Amount
    block_cycles: Amount
    """Cycles of a block that has a multiprocessor to itself."""
    bounds: Mapping[str, Amount]
    """Seconds by name of `BOUNDS`."""
    time: Amount
    """Seconds without what it costs to start the launch."""
    spilled_registers: Amount
    """Registers of a thread beyond what it can address."""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """A rung of a batch."""

    rung: Rung
    setting: Setting
    fields: Fields
    launches: tuple[LaunchEvaluation, ...]
    launch_time_s: Amount
    """Seconds that starting the launches costs."""
    time_s: Amount
    """Seconds in all."""

    def bound(self, name: str) -> Amount:
        """A bound, summed over the launches."""
        return sum(launch.bounds[name] for launch in self.launches)


def settle(rung: Rung, parameters: Mapping[str, Any], fields: Fields, size: int = 1) -> Setting:
    """The numbers a rung is counted for on a device.

    Args:
        rung: The rung.
        parameters: A value for each of its parameters.
        fields: The device, whose sizes of lines and the like may be arrays too.
        size: Predictions in the batch.

    Returns:
        The setting.
    """
    geometries, which = _geometries(fields, size)
    values = expression_values(rung, parameters)
    if size == 1:  # an array of one element is that element
        values = {name: int(np.asarray(each).item()) for name, each in values.items()}
    return Setting(
        size=size,
        values=values,
        types=parameter_types(parameters),
        geometries=geometries,
        geometry_of=which,
    )


def _geometries(fields: Fields, size: int) -> tuple[tuple[Geometry, ...], Any]:
    stated = device_geometry(fields.device)
    columns = {ours: fields[name] for name, ours in GEOMETRY_FIELDS.items()}
    if not any(isinstance(each, np.ndarray) for each in columns.values()):
        sizes = {ours: int(each) for ours, each in columns.items()}
        return (stated.resized(sizes),), 0
    rows = [
        tuple(
            int(each[place] if isinstance(each, np.ndarray) else each) for each in columns.values()
        )
        for place in range(size)
    ]
    distinct_rows = sorted(set(rows))
    places = {row: number for number, row in enumerate(distinct_rows)}
    geometries = tuple(
        stated.resized(dict(zip(columns, row, strict=True))) for row in distinct_rows
    )
    return geometries, np.array([places[row] for row in rows], dtype=np.int64)


def evaluate(
    rung: Rung,
    parameters: Mapping[str, Any],
    fields: Fields,
    *,
    size: int = 1,
    caches: Caches = "cold",
) -> Evaluation:
    """Evaluate a rung on a device, for one set of numbers or a batch.

    Args:
        rung: The rung.
        parameters: A value for each parameter, as `rung_parameters` gives them; whole numbers may
            be arrays of `size` elements.
        fields: The device; its values may be such arrays too.
        size: Predictions in the batch.
        caches: Whether the L2 holds what fits of the data when the first launch starts.

    Returns:
        The time and what it is made of. Where not a single block fits, the time is infinite.

    Raises:
        DataError: The rung cannot be counted.
        UsageError: `caches` is neither cold nor warm.
    """
    if not isinstance(caches, str) or caches not in CACHES:
        raise UsageError(f"caches is {caches!r}: cold or warm is wanted")
    setting = settle(rung, parameters, fields, size)
    launches: list[LaunchEvaluation] = []
    found: Mapping[str, Amount] = {}
    counted = count(rung, setting)
    if caches == "warm":
        found = _launch(counted[0], setting, fields, {}).traffic.kept_in_l2
    for counts in counted:
        launch = _launch(counts, setting, fields, found)
        launches.append(launch)
        found = launch.traffic.kept_in_l2
    launch_time = fields["kernel_launch"] * len(launches)
    return Evaluation(
        rung=rung,
        setting=setting,
        fields=fields,
        launches=tuple(launches),
        launch_time_s=launch_time,
        time_s=launch_time + sum(launch.time for launch in launches),
    )


def _launch(
    counts: LaunchCounts, setting: Setting, fields: Fields, found: Mapping[str, Amount]
) -> LaunchEvaluation:
    limits = blocks_by(counts, fields)
    resident: Amount = np.inf
    for each in limits.values():
        resident = np.minimum(resident, each)
    fits = resident >= 1
    held = np.maximum(resident, 1)
    mps = np.minimum(fields["mps"], np.maximum(counts.blocks, 1))
    around = Around(
        blocks_per_mp=held,
        mps=mps,
        l1_bytes=l1_left(counts, fields, np.minimum(held, -(-counts.blocks // mps))),
        l2_bytes=fields["l2_size"],
        found_in_l2=found,
    )
    traffic = launch_traffic(counts, setting, around)
    dram_s_per_byte = dram_seconds_per_byte(traffic, fields)
    costs: dict[int, Cost] = {}
    loops: dict[str, Cost] = {}
    for role in counts.roles:
        for site in role.sites.sites:
            costs[site.position] = site_cost(
                counts=counts,
                role=role,
                site=site,
                setting=setting,
                fields=fields,
                traffic=traffic,
                mps=mps,
                dram_s_per_byte=dram_s_per_byte,
            )
        predicate(role, costs, fields)
        for scope in _loops(role.sites.root):
            assert scope.loop is not None
            loops[scope.loop.counter] = loop_cost(counts, role, scope, fields)
    spilled = np.maximum(counts.registers - fields["max_registers_per_thread"], 0)
    busy = _busy([*costs.values(), *loops.values(), _spill(counts, fields, spilled, mps)])
    follow = partial(block_time, counts, costs, loops, schedulers=fields["schedulers"])
    one_turn = share_of_one_turn(counts, costs)
    of_device = np.maximum(one_turn, 1.0 / mps)
    cycles = follow(of_device=of_device)
    together = np.minimum(held, -(-counts.blocks // mps))
    in_step = follow(once=True, beside=together)
    longer: Amount = 0.0
    if blocks_differ(counts):
        longer = np.maximum(follow(heaviest=True, of_device=of_device) - cycles, 0.0)
    bounds, time = _combined(
        counts=counts,
        fields=fields,
        busy=busy,
        block_cycles=cycles,
        in_step_share=one_turn,
        in_step_cycles=in_step,
        longer_cycles=longer,
        held=held,
        mps=mps,
    )
    return LaunchEvaluation(
        counts=counts,
        traffic=traffic,
        costs=costs,
        blocks_by=limits,
        blocks_per_mp=resident,
        block_cycles=cycles,
        bounds=bounds,
        time=np.where(fits, time, np.inf) if np.any(~np.asarray(fits)) else time,
        spilled_registers=spilled,
    )


def _loops(scope: Scope) -> list[Scope]:
    found: list[Scope] = []
    for item in scope.items:
        if isinstance(item, Scope):
            found += [item, *_loops(item)]
    return found


def _busy(costs: list[Cost]) -> dict[str, Amount]:
    total: dict[str, Amount] = dict.fromkeys((*MP_RESOURCES, *DEVICE_RESOURCES), 0.0)
    for cost in costs:
        for name, cycles in cost.busy.items():
            total[name] = total[name] + cycles
    return total


def _spill(counts: LaunchCounts, fields: Fields, spilled: Amount, mps: Amount) -> Cost:
    """Registers beyond what a thread can address live in local memory.

    Each is written and read once an iteration of the outermost loop.
    """
    if not np.any(spilled > 0):
        return Cost(busy={}, instructions=0.0)
    turns: Amount = 1.0
    for role in counts.roles:
        for item in role.sites.root.items:
            if isinstance(item, Scope) and item.loop is not None:
                turns = np.maximum(turns, role.trips[item.loop.counter])
    instructions = 2.0 * spilled * turns * counts.warps * counts.blocks
    moved = instructions * fields["warp_width"] * SPILLED_BYTES
    return Cost(
        busy={
            "issue": instructions / issue_rate(fields),
            "load_store": instructions * fields["warp_width"] / fields["lanes.load_store"],
            "l1": moved / fields["l1_bandwidth"],
            "l2_port": moved / fields["l2_bandwidth_per_mp"],
            "l2": moved * mps * fields["clock"] / fields["l2_bandwidth"],
        },
        instructions=instructions,
    )


def _combined(
    *,
    counts: LaunchCounts,
    fields: Fields,
    busy: Mapping[str, Amount],
    block_cycles: Amount,
    in_step_cycles: Amount,
    in_step_share: Amount,
    longer_cycles: Amount,
    held: Amount,
    mps: Amount,
) -> tuple[dict[str, Amount], Amount]:
    """The bounds of a launch, and its time between them.

    The busiest multiprocessor has `ceil(blocks / mps)` blocks. Its blocks run in rounds of as many
    as are resident; a round takes at least as long as one block by itself (latency), and all of
    them at least as long as each resource is busy. `perfmodel.engines.latency.blended_time` gives
    the time between the two. Where blocks differ, the one with most to do ends after the others.
    """
    clock = fields["clock"]
    blocks = np.maximum(counts.blocks, 1)
    most = -(-blocks // mps)
    rounds = np.ceil(most / held)
    bounds: dict[str, Amount] = {}
    block_time_s = block_cycles / clock
    latency = rounds * block_time_s + (rounds - 1) * fields.get("block_turnaround", 0.0) / clock
    longest: Amount = 0.0
    alone: Amount = latency
    for name in (*DEVICE_RESOURCES, *MP_RESOURCES):
        cycles = busy[name] / blocks
        hertz = fields.get("tensor_clock", clock) if name == "tensor" else clock
        of_block = cycles / hertz
        if name in DEVICE_RESOURCES:
            bounds[name] = of_block * blocks / mps
        else:
            bounds[name] = of_block * most
        longest = np.maximum(longest, bounds[name])
        alone = np.maximum(alone, rounds * np.maximum(block_time_s - of_block, 0.0) + bounds[name])
    bounds["block_launch"] = most * fields["block_launch"] / clock
    longest = np.maximum(longest, bounds["block_launch"])
    bounds["latency"] = latency
    time = blended_time(
        latency_time=latency,
        busy_time=longest,
        waiting_time=np.maximum(np.maximum(alone, bounds["block_launch"]) - longest, 0.0),
        sharpness=fields["saturation_sharpness"],
    )
    bounds["ramp"] = np.maximum(in_step_cycles / clock - time * in_step_share / rounds, 0.0)
    bounds["tail"] = longer_cycles / clock
    return bounds, time + bounds["ramp"] + bounds["tail"]
