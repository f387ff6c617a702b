"""A prediction taken apart: what was counted, what it was divided by, and what came of it.

Every bound of the scheduler is an amount over rates. The amounts are read back from the bounds with
the device's rates, so that what is shown multiplies out to what was predicted.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod
from typing import TYPE_CHECKING, Any

from perfmodel.device.loading import as_device
from perfmodel.engines.latency import blended_time
from perfmodel.kernels.loading import load_rung
from perfmodel.kernels.schema import Mma
from perfmodel.results.base import Result
from perfmodel.scheduler.costs import DEVICE_RESOURCES, MP_RESOURCES
from perfmodel.scheduler.evaluation import BOUNDS, evaluate
from perfmodel.scheduler.fields import Fields
from perfmodel.scheduler.prediction import predict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfmodel.device.model import Device
    from perfmodel.results.prediction import Prediction
    from perfmodel.scheduler.evaluation import Evaluation, LaunchEvaluation

_COUNTED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "l2": (
        "bytes from the L2, and to it where stores have no path of their own",
        ("l2_bandwidth",),
    ),
    "l2_lines": ("lines asked of the L2", ("l2_line_rate", "clock")),
    "l2_stores": ("bytes of stores to the L2, with those of masks", ("l2_store_bandwidth",)),
    "atomics": ("atomic operations on one address", ("atomic_rate", "clock")),
    "issue": ("warp instructions", ("schedulers", "issue_width", "clock")),
    "registers": ("operands read", ("lanes.fp32", "register_read_ports", "clock")),
    "l1_lines": ("lines looked up", ("line_rate", "clock")),
    "l1": ("bytes from and to the L1", ("l1_bandwidth", "clock")),
    "shared": ("bytes of shared-memory passes", ("shared_bandwidth", "clock")),
    "l1_data": ("cycles of the data stage of L1 and shared memory", ("clock",)),
    "l2_port": ("bytes between MPs and L2", ("l2_bandwidth_per_mp", "clock")),
    "store_port": ("bytes of stores, with those of masks", ("store_bandwidth_per_mp", "clock")),
    "in_flight": ("bytes x cycles on their way", ("bytes_in_flight_per_mp", "clock")),
}
"""What a bound counts, and the device values that it is divided by."""


@dataclass(frozen=True, kw_only=True)
class Quantity(Result):
    """A device value that an explanation rests on."""

    name: str
    value: float
    """In SI units or cycles."""
    text: str
    """The value with its unit, and its range where it has one."""
    kind: str
    """How it is known: published, measured, inferred or assumed."""
    source: str


@dataclass(frozen=True, kw_only=True)
class Part(Result):
    """An amount over rates: amount x share x `times` / `divided_by`."""

    amount: float
    what: str
    """What was counted over the launch."""
    share: tuple[int, int]
    """The busiest MP's blocks of all blocks; (1, 1) where all MPs share the resource."""
    times: tuple[str, ...]
    """Device values it is multiplied by."""
    divided_by: tuple[str, ...]
    """Device values it is divided by."""
    time_s: float


@dataclass(frozen=True, kw_only=True)
class Term(Result):
    """A bound as the sum of its parts."""

    name: str
    parts: tuple[Part, ...]
    time_s: float
    utilization: float
    """time_s / time of the launch."""


@dataclass(frozen=True, kw_only=True)
class Combination(Result):
    """How latency and the busiest resource give the time: `engines.latency.blended_time`."""

    latency_s: float
    busy_s: float
    busy: str
    """The bound that `busy_s` is of."""
    waiting_s: float
    """The latency that does not run beside the busiest resource."""
    sharpness: float
    blended_s: float
    """(L^n + B^n)^(1/n)."""
    in_turn_s: float
    """W + B."""
    ramp_s: float
    """What the resident blocks wait for one another at the start and at the end."""
    tail_s: float
    """What the block with most to do needs after the others."""
    time_s: float
    """Time of the launch, ramp and tail included."""


@dataclass(frozen=True, kw_only=True)
class LaunchExplanation(Result):
    """A launch: its occupancy, its bounds and their combination."""

    name: str
    blocks: int
    allowed_blocks: dict[str, int]
    """Blocks of an MP that each of its resources allows."""
    blocks_per_mp: int
    mps: int
    """Multiprocessors at work."""
    most_blocks: int
    """Blocks of the busiest of them."""
    rounds: int
    """Rounds of resident blocks in which it takes them."""
    block_cycles: float
    """Cycles of a block that has a multiprocessor to itself."""
    terms: tuple[Term, ...]
    """Greatest first."""
    combination: Combination


@dataclass(frozen=True, kw_only=True)
class Explanation(Result):
    """A prediction with every term it was made of."""

    prediction: Prediction
    launches: tuple[LaunchExplanation, ...]
    """In the order of the prediction's."""
    launch_time_s: float
    """What starting the launches costs."""
    quantities: tuple[Quantity, ...]
    """The device values in it, in the order of the device file."""


def explain_prediction(
    kernel: str, device: Device | str, *, parameters: Mapping[str, Any] | None = None
) -> Explanation:
    """Take a prediction apart.

    Args:
        kernel: A kernel or a file and its rung.
        device: The device, or its name.
        parameters: Values of the kernel's parameters.

    Returns:
        The prediction and its terms.

    Raises:
        UsageError: A parameter that is none.
        DataError: The description is wrong, or the device cannot run it.

    Example:
        >>> from perfmodel import load_device
        >>> first = explain_prediction("vecadd:naive", load_device("s5000")).launches[0].terms[0]
        >>> (part,) = first.parts
        >>> first.name, round(part.amount / 2**20), part.divided_by
        ('dram', 172, ('dram_bandwidth_achievable',))
    """
    device = as_device(device)
    prediction = predict(kernel, device, parameters=parameters, ranges=False)
    evaluation = evaluate(load_rung(kernel), prediction.parameters, Fields(device))
    launches = tuple(_launch(evaluation, each) for each in evaluation.launches)
    return Explanation(
        prediction=prediction,
        launches=launches,
        launch_time_s=float(evaluation.launch_time_s),
        quantities=_quantities(device, launches),
    )


def _quantities(device: Device, launches: tuple[LaunchExplanation, ...]) -> tuple[Quantity, ...]:
    named = {"mps", "clock", "saturation_sharpness", "kernel_launch"}
    for launch in launches:
        for term in launch.terms:
            for part in term.parts:
                named.update(part.times, part.divided_by)
    return tuple(
        Quantity(
            name=name, value=value.value, text=str(value), kind=value.kind, source=value.source
        )
        for name, value in device.quantities().items()
        if name in named
    )


def _launch(evaluation: Evaluation, launch: LaunchEvaluation) -> LaunchExplanation:
    fields, blocks = evaluation.fields, int(launch.counts.blocks)
    held = int(launch.blocks_per_mp)
    mps = min(int(fields["mps"]), max(blocks, 1))
    most = ceil(blocks / mps)
    terms = [
        Term(
            name=name,
            parts=_parts(evaluation, launch, name, share=(most, blocks)),
            time_s=float(launch.bounds[name]),
            utilization=float(launch.bounds[name] / launch.time),
        )
        for name in BOUNDS
        if launch.bounds[name] > 0 and name not in ("ramp", "tail")
    ]
    return LaunchExplanation(
        name=launch.counts.launch.name,
        blocks=blocks,
        allowed_blocks={name: int(each) for name, each in launch.blocks_by.items()},
        blocks_per_mp=held,
        mps=mps,
        most_blocks=most,
        rounds=ceil(most / held),
        block_cycles=float(launch.block_cycles),
        terms=tuple(sorted(terms, key=lambda each: -each.time_s)),
        combination=_combination(launch, fields, rounds=ceil(most / held), mps=mps),
    )


def _parts(
    evaluation: Evaluation, launch: LaunchEvaluation, name: str, *, share: tuple[int, int]
) -> tuple[Part, ...]:
    """What a bound is made of."""
    time, fields = float(launch.bounds[name]), evaluation.fields
    if name == "latency":
        rounds = ceil(share[0] / int(launch.blocks_per_mp))
        what = f"cycles in {rounds} x {launch.block_cycles:.5g} of a block by itself"
        between = (rounds - 1) * float(fields.get("block_turnaround", 0.0) / fields["clock"])
        blocks = _part(fields, time - between, what=what, divided_by=("clock",))
        if not between:
            return (blocks,)
        what = "times the next block takes the place of one that has ended"
        turnaround = ("block_turnaround",)
        return blocks, _part(fields, between, what=what, times=turnaround, divided_by=("clock",))
    if name == "block_launch":
        what = "blocks of the busiest MP"
        return (_part(fields, time, what=what, times=(name,), divided_by=("clock",)),)
    if name == "load_store":
        return _load_store(launch, fields, share)
    if name == "dram":
        return _dram(launch, fields)
    what, divided_by = _COUNTED.get(name, (f"{name} operations of lanes", ()))
    if name == "tensor":
        what = "FLOP of matrix instructions"
        kind = f"tensor_flop_per_cycle.{_tensor_kind(evaluation)}"
        divided_by = (kind, "tensor_clock" if "tensor_clock" in fields else "clock")
    if name in DEVICE_RESOURCES:
        return (_part(fields, time, what=what, divided_by=divided_by),)
    divided_by = divided_by or (f"lanes.{name}", "clock")
    return (_part(fields, time, what=what, divided_by=divided_by, share=share),)


def _part(
    fields: Fields,
    time: float,
    *,
    what: str,
    divided_by: tuple[str, ...],
    times: tuple[str, ...] = (),
    share: tuple[int, int] = (1, 1),
) -> Part:
    """A part with the amount that gives a time."""
    rate = prod(float(fields[name]) for name in divided_by)
    factor = prod(float(fields[name]) for name in times)
    return Part(
        amount=time * rate / factor * share[1] / share[0],
        what=what,
        share=share,
        times=times,
        divided_by=divided_by,
        time_s=time,
    )


def _dram(launch: LaunchEvaluation, fields: Fields) -> tuple[Part, ...]:
    """What is both read and written at the rate of a copy, the rest at that of its direction."""
    read, written = float(launch.traffic.read_bytes), float(launch.traffic.written_bytes)
    copy = "dram_bandwidth_achievable"
    if "dram_read_bandwidth" not in fields:
        what = "bytes from and to the DRAM"
        return (_part(fields, float(launch.bounds["dram"]), what=what, divided_by=(copy,)),)
    amounts = (
        (2 * min(read, written), "bytes read from the DRAM and as many written", copy),
        (read - written, "bytes read beyond those", "dram_read_bandwidth"),
        (written - read, "bytes written beyond those", "dram_write_bandwidth"),
    )
    return tuple(
        _part(fields, amount / float(fields[rate]), what=what, divided_by=(rate,))
        for amount, what, rate in amounts
        if amount > 0
    )


def _load_store(
    launch: LaunchEvaluation, fields: Fields, share: tuple[int, int]
) -> tuple[Part, ...]:
    """Global accesses pass the address unit too, which may take fewer lanes in a cycle."""
    slots = 0.0
    for role in launch.counts.roles:
        arrays = role.counter.launch.rung.arrays
        for site in role.sites.sites:
            asks = "load_store" in launch.costs[site.position].busy
            if asks and site.array is not None and arrays[site.array].space == "global":
                slots += float(role.tallies[site.position].instructions * fields["warp_width"])
    slower = min("lanes.load_store", "address_rate", key=lambda name: float(fields[name]))
    of_global = slots * share[0] / share[1] / float(fields[slower] * fields["clock"])
    rest = float(launch.bounds["load_store"]) - of_global
    found = []
    if slots:
        what = "lanes of global accesses"
        found.append(_part(fields, of_global, what=what, divided_by=(slower, "clock"), share=share))
    if rest > 1e-9 * of_global:
        what = "lanes of shared accesses, shuffles and spills"
        divided_by = ("lanes.load_store", "clock")
        found.append(_part(fields, rest, what=what, divided_by=divided_by, share=share))
    return tuple(found)


def _tensor_kind(evaluation: Evaluation) -> str:
    """The operand type of the matrix instructions, the first where there are several."""
    types = evaluation.setting.types
    kinds = [
        types.get(each.type, each.type)
        for each in evaluation.rung.statements()
        if isinstance(each, Mma)
    ]
    return next(kind for kind in kinds if f"tensor_flop_per_cycle.{kind}" in evaluation.fields)


def _combination(launch: LaunchEvaluation, fields: Fields, *, rounds: int, mps: int) -> Combination:
    """The terms of `blended_time`, from the bounds as the evaluation puts them together."""
    bounds = {name: float(each) for name, each in launch.bounds.items()}
    blocks = int(launch.counts.blocks)
    block_s = float(launch.block_cycles / fields["clock"])
    latency, sharpness = bounds["latency"], float(fields["saturation_sharpness"])
    alone = max(latency, bounds["block_launch"])
    for name in (*DEVICE_RESOURCES, *MP_RESOURCES):
        in_turn = blocks / mps if name in DEVICE_RESOURCES else ceil(blocks / mps)
        of_block = bounds[name] / in_turn
        alone = max(alone, rounds * max(block_s - of_block, 0.0) + bounds[name])
    busiest = max((*DEVICE_RESOURCES, *MP_RESOURCES, "block_launch"), key=bounds.__getitem__)
    busy = bounds[busiest]
    waiting = max(alone - busy, 0.0)
    greater, lesser = max(latency, busy), min(latency, busy)
    time = blended_time(
        latency_time=latency, busy_time=busy, waiting_time=waiting, sharpness=sharpness
    )
    return Combination(
        latency_s=latency,
        busy_s=busy,
        busy=busiest,
        waiting_s=waiting,
        sharpness=sharpness,
        blended_s=greater * (1 + (lesser / greater) ** sharpness) ** (1 / sharpness),
        in_turn_s=waiting + busy,
        ramp_s=bounds["ramp"],
        tail_s=bounds["tail"],
        time_s=float(time) + bounds["ramp"] + bounds["tail"],
    )
