"""Predictions: a rung on a device, with its range and what it is made of."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from perfmodel.device.loading import as_device
from perfmodel.errors import DataError, UsageError, quoted
from perfmodel.kernels.checks import require_amounts, require_sound
from perfmodel.kernels.fast import compiled
from perfmodel.kernels.loading import load_description, pick_rung, split_name
from perfmodel.kernels.parameters import expression_values, rung_parameters
from perfmodel.kernels.schema import Description, Mma, Rung
from perfmodel.kernels.setting import Amount, at
from perfmodel.results.prediction import (
    Bound,
    LaunchPrediction,
    Level,
    Prediction,
    Sensitivity,
)
from perfmodel.scheduler.costs import MP_RESOURCES, has_tensor
from perfmodel.scheduler.evaluation import BOUNDS, Caches, Evaluation, LaunchEvaluation, evaluate
from perfmodel.scheduler.fields import Fields
from perfmodel.suggestions import did_you_mean
from perfmodel.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perfmodel.device.model import Device

BUSY_ENOUGH = 0.6
"""A resource in use for less than this share of the time does not limit; latency does."""
CONTEXT = "kernel alone: what starting it costs, and its time"
MODELS = (
    "engines.occupancy",
    "engines.coalescing",
    "engines.bank_conflicts",
    "engines.latency.latency_bound_time",
    "engines.latency.blended_time",
    "scheduler.reuse: footprints against capacities",
    "scheduler.timeline: statements in order, waiting for what they use",
)


def predict(
    kernel: str | Description,
    device: Device | str,
    *,
    rung: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    caches: Caches = "cold",
    ranges: bool = True,
) -> Prediction:
    """Predict the time of a rung on a device.

    Args:
        kernel: A shipped kernel or a file, with a rung after a colon where `rung` is not given:
            `gemm:naive`, `mine.yaml:fast`; or a loaded description.
        device: The device, or its name.
        rung: The rung; by default the last step of the ladder.
        parameters: Values of the kernel's parameters; the others have their defaults.
        caches: cold, or warm where the L2 holds what fits of the data at the start.
        ranges: Whether to work out the range of the time from the device values that are ranges.

    Returns:
        The prediction.

    Raises:
        UsageError: A parameter the rung does not have, or a value it cannot have.
        DataError: The description is wrong, an access leaves its array, or the device cannot run
            a single block of it.

    Example:
        >>> from perfmodel import load_device
        >>> result = predict("vecadd:naive", load_device("s5000"))
        >>> result.limiter
        'dram'
    """
    device = as_device(device)
    description, chosen = _found(kernel, rung)
    values = rung_parameters(chosen, parameters or {}, warp_width=device.warp_width.whole)
    _require_single(values)
    _require_sound_once(description, chosen, values, device.warp_width.whole)
    fields = Fields(device)
    evaluation = evaluate(chosen, values, fields, caches=caches)
    _require_possible(evaluation, device)
    unknowns: tuple[Sensitivity, ...] = ()
    low = high = float(evaluation.time_s)
    if ranges:
        unknowns = sensitivities(chosen, values, device, caches=caches)
        low, high = _ends(chosen, values, device, unknowns, caches)
    return _result(
        description,
        evaluation,
        values,
        caches=caches,
        unknowns=unknowns,
        ends=(min(low, float(evaluation.time_s)), max(high, float(evaluation.time_s))),
    )


def predict_times(
    kernel: str | Description,
    device: Device | str,
    *,
    rung: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    fields: Mapping[str, Any] | None = None,
    caches: Caches = "cold",
) -> Evaluation:
    """Predict a whole batch in one call.

    Whether accesses stay inside their arrays is not looked at; `predict` does for one case.

    Args:
        kernel: As in `predict`.
        device: The device, or its name.
        rung: The rung; by default the last step of the ladder.
        parameters: Values of the kernel's parameters; whole numbers may be arrays of one length.
        fields: Values of the device to change, in SI units or cycles; they may be arrays too.
        caches: As in `predict`.

    Returns:
        The evaluation; its `time_s` has one element a prediction, infinite where no block fits.

    Raises:
        UsageError: A parameter or a value that cannot be, or arrays of different lengths.
        DataError: The description is wrong.

    Example:
        >>> import numpy as np
        >>> from perfmodel import load_device
        >>> sizes = np.array([1 << 20, 1 << 24])
        >>> batch = predict_times("vecadd:naive", load_device("s5000"), parameters={"n": sizes})
        >>> bool(batch.time_s[1] > batch.time_s[0])
        True
    """
    device = as_device(device)
    _, chosen = _found(kernel, rung)
    values = rung_parameters(chosen, parameters or {}, warp_width=device.warp_width.whole)
    changes = {name: _change(device, name, value) for name, value in (fields or {}).items()}
    sizes = {len(each) for each in (*values.values(), *changes.values()) if np.ndim(each)}
    if len(sizes) > 1:
        raise UsageError(f"arrays of different lengths: {sorted(sizes)}")
    return evaluate(
        chosen, values, Fields(device, changes), size=max(sizes, default=1), caches=caches
    )


def _change(device: Device, name: str, value: Any) -> Any:
    """A value of the device in a batch: a number that it can have, or an array of them."""
    known = device.quantities()
    if name not in known:
        raise UsageError(
            f"{device.device} has no value {quoted(name)}: {did_you_mean(name, known)}"
        )
    form = known[name].form
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iuf" or numbers.ndim > 1 or not numbers.size:
        raise UsageError(f"{name} is {quoted(value)}: a number or a row of them is wanted")
    numbers = numbers.astype(np.float64)
    kind = "whole numbers" if form.whole else "numbers"
    least = max(form.least, 1.0 if form.whole else 0.0) if form.positive else form.least
    fits = (numbers >= least) & (numbers <= form.most)
    if form.positive:
        fits &= numbers > 0
    if form.whole:
        fits &= numbers == np.floor(numbers)
    if not fits.all():
        above = "above 0" if form.positive and not least else f"from {least:g}"
        raise UsageError(f"{name} is {quoted(value)}: {kind} {above} to {form.most:g} are wanted")
    return numbers if numbers.ndim else float(numbers)


def _require_single(values: Mapping[str, Any]) -> None:
    """Refuse several values of a parameter where one prediction is made."""
    for name, value in values.items():
        if np.ndim(value):
            raise UsageError(f"{name} is {quoted(value)}: one value; predict_times takes arrays")


def _require_sound_once(
    description: Description, rung: Rung, values: Mapping[str, Any], warp_width: int
) -> None:
    """Check a rung and its amounts, but for what has already been found to be sound."""
    case = (id(description), id(rung), warp_width, *values.values())
    if case not in _SOUND:
        require_sound(rung, values, warp_width)
        require_amounts(description, expression_values(rung, values))
        if len(_SOUND) >= _MOST_SOUND:
            _SOUND.clear()
        _SOUND[case] = (description, rung)


_SOUND: dict[tuple[Any, ...], tuple[Description, Rung]] = {}
"""Rungs found to be sound, kept alive so that the identities in the key stay theirs."""
_MOST_SOUND = 256


def _found(kernel: str | Description, rung: str | None) -> tuple[Description, Rung]:
    if rung is not None and not isinstance(rung, str):
        raise UsageError(f"the rung is {quoted(rung)}: its name is wanted")
    if isinstance(kernel, Description):
        return kernel, pick_rung(kernel, rung)
    name, after = split_name(kernel) if isinstance(kernel, str) else (kernel, None)
    description = load_description(name)
    return description, pick_rung(description, rung or after)


def sensitivities(
    rung: Rung, values: Mapping[str, Any], device: Device, *, caches: Caches = "cold"
) -> tuple[Sensitivity, ...]:
    """How the time moves over the range of each device value that has one.

    Args:
        rung: The rung.
        values: A value for each of its parameters.
        device: The device.
        caches: cold or warm.

    Returns:
        The values that move the time, the one that moves it most first.
    """
    ranged = {
        name: value
        for name, value in device.quantities().items()
        if not value.is_exact and name not in _NO_MATTER and not name.startswith(_NO_GROUPS)
    }
    if not ranged:
        return ()
    size = 2 * len(ranged)
    changes: dict[str, Any] = {}
    for number, (name, value) in enumerate(ranged.items()):
        column = np.full(size, value.value)
        column[2 * number], column[2 * number + 1] = value.low, value.high
        changes[name] = column
    times = np.broadcast_to(
        evaluate(rung, values, Fields(device, changes), size=size, caches=caches).time_s, (size,)
    )
    found = [
        Sensitivity(
            name=name,
            low=value.low,
            high=value.high,
            value=value.value,
            time_at_low_s=float(times[2 * number]),
            time_at_high_s=float(times[2 * number + 1]),
        )
        for number, (name, value) in enumerate(ranged.items())
    ]
    moving = [each for each in found if each.width_s > 0]
    return tuple(sorted(moving, key=lambda each: -each.width_s))


_NO_GROUPS = ("peaks.", "achievable_peaks.", "links.")
_NO_MATTER = ("dram_size", "dram_bandwidth")
"""Values that no bound reads; of the DRAM's bandwidths those that were reached count."""


def _ends(
    rung: Rung,
    values: Mapping[str, Any],
    device: Device,
    unknowns: Sequence[Sensitivity],
    caches: Caches,
) -> tuple[float, float]:
    """The time with every value at its better end, and at its worse end."""
    if not unknowns:
        return np.inf, -np.inf
    changes = {}
    for each in unknowns:
        better, worse = (
            (each.low, each.high)
            if each.time_at_low_s < each.time_at_high_s
            else (each.high, each.low)
        )
        changes[each.name] = np.array([better, worse])
    times = evaluate(rung, values, Fields(device, changes), size=2, caches=caches).time_s
    return float(times[0]), float(times[1])


def _require_possible(evaluation: Evaluation, device: Device) -> None:
    for launch in evaluation.launches:
        counts = launch.counts
        if counts.threads > device.max_threads_per_block.value:
            raise DataError(
                f"{_title(evaluation)}: a block of {counts.threads} threads: {device.device} "
                f"allows {device.max_threads_per_block.whole}"
            )
        if launch.blocks_per_mp >= 1:
            continue
        names = [name for name, each in launch.blocks_by.items() if each < 1]
        asked = {
            "registers": f"{counts.registers} registers a thread of {counts.threads} threads",
            "shared_memory": f"{counts.shared_bytes} B of shared memory a block, of which "
            f"{device.device} allows {device.shared_per_block.whole}",
        }
        what = "; ".join(asked.get(name, name) for name in names)
        raise DataError(f"{_title(evaluation)}: {device.device} cannot run a single block: {what}")


def _title(evaluation: Evaluation) -> str:
    return f"{evaluation.rung.kernel}:{evaluation.rung.name}"


def _result(
    description: Description,
    evaluation: Evaluation,
    values: Mapping[str, Any],
    *,
    caches: Caches,
    unknowns: tuple[Sensitivity, ...],
    ends: tuple[float, float],
) -> Prediction:
    time = float(evaluation.time_s)
    total = {name: float(evaluation.bound(name)) for name in BOUNDS}
    total["kernel_launch"] = float(evaluation.launch_time_s)
    bounds = _bounds(total, time)
    limiter, second = limiters(total, time)
    readable = expression_values(evaluation.rung, values)
    flop = float(compiled(description.flop.root)(readable))
    compulsory = float(compiled(description.compulsory.root)(readable))
    counts = _sum([_counts(launch) for launch in evaluation.launches])
    longest = max(evaluation.launches, key=lambda launch: float(launch.time))
    levels = {
        "requested": counts["bytes_requested"],
        "l1": counts["l1_bytes"],
        "l2": counts["l2_bytes"],
        "dram": counts["dram_bytes"],
        "compulsory": compulsory,
    }
    greatest, next_greatest = total[limiter], total[second]
    left = sum(float(launch.traffic.total("left")) for launch in evaluation.launches)
    missing = missing_work(
        moved_bytes=counts["dram_bytes"] + left, compulsory_bytes=compulsory, caches=caches
    )
    return Prediction(
        kernel=evaluation.rung.kernel,
        rung=evaluation.rung.name,
        device=evaluation.fields.device.device,
        parameters=dict(values),
        caches=caches,
        context=CONTEXT,
        time_s=time,
        time_range_s=ends,
        unknowns=unknowns,
        bounds=bounds,
        limiter=limiter,
        second_limiter=second,
        second_limiter_factor=greatest / next_greatest if next_greatest else np.inf,
        flop=flop,
        flop_per_s=flop / time,
        levels=tuple(
            Level(
                name=name,
                bytes=moved,
                intensity_flop_per_byte=flop / moved if moved else np.inf,
                bandwidth_bytes_per_s=moved / time,
            )
            for name, moved in levels.items()
        ),
        counts=counts,
        occupancy=float(_occupancy(longest, evaluation.fields)),
        launches=tuple(_launch(each, evaluation.fields) for each in evaluation.launches),
        models=MODELS,
        missing_work=missing,
        warnings=(
            *([missing] if missing else []),
            *_warnings(evaluation, values, limiter=limiter, caches=caches),
        ),
    )


def missing_work(*, moved_bytes: float, compulsory_bytes: float, caches: Caches) -> str:
    """How a rung falls short of its kernel's work, judged by what it moves.

    From a cold L2 every element that has to be read or written passes the DRAM once at least, or
    is written and stays in the L2. A rung that moves less leaves work out, or the description's
    `compulsory` is too high. Below `_WHOLE` of the compulsory bytes it is said; from a warm L2
    nothing follows.

    Args:
        moved_bytes: Bytes from and to the DRAM, and those written that are still in the L2 [bytes].
        compulsory_bytes: Each element once [bytes].
        caches: What the L2 holds at the start.

    Returns:
        A sentence, or nothing where the rung moves enough.

    Example:
        >>> missing_work(moved_bytes=1e6, compulsory_bytes=4e6, caches="cold")
        'does not do the whole work: moves 1 MB of 4 MB compulsory bytes'
        >>> missing_work(moved_bytes=1e6, compulsory_bytes=4e6, caches="warm")
        ''
    """
    if caches != "cold" or moved_bytes >= _WHOLE * compulsory_bytes:
        return ""
    return (
        f"does not do the whole work: moves {format_quantity(moved_bytes, 'bytes')} of "
        f"{format_quantity(compulsory_bytes, 'bytes')} compulsory bytes"
    )


_WHOLE = 0.99
"""Traffic is a model's; what is missing less than this may be its error."""


def _bounds(total: Mapping[str, float], time: float) -> tuple[Bound, ...]:
    found = [
        Bound(name=name, time_s=each, utilization=each / time)
        for name, each in total.items()
        if each > 0
    ]
    return tuple(sorted(found, key=lambda each: -each.time_s))


def limiters(total: Mapping[str, float], time: float) -> tuple[str, str]:
    """What limits a time, and what would next.

    Args:
        total: Seconds by bound.
        time: The time they are the bounds of [s].

    Returns:
        The resource of highest utilization, or latency where none is near its limit; and the
        greatest of the others.

    Example:
        >>> limiters({"dram": 0.9, "fp32": 0.2, "latency": 0.4}, 1.0)
        ('dram', 'latency')
        >>> limiters({"dram": 0.3, "fp32": 0.2, "latency": 0.4}, 1.0)
        ('latency', 'dram')
    """
    ordered = sorted((name for name in total if name != "ramp"), key=lambda name: -total[name])
    first = ordered[0]
    if total[first] < BUSY_ENOUGH * time:
        first = "latency"
    return first, next(name for name in ordered if name != first)


def _counts(launch: LaunchEvaluation) -> dict[str, float]:
    """The sums of a launch."""
    sums = dict.fromkeys(COUNTS, 0.0)
    for role in launch.counts.roles:
        arrays = role.counter.launch.rung.arrays
        for site in role.sites.sites:
            cost = launch.costs[site.position]
            tallies = role.tallies[site.position]
            sums["warp_instructions"] += float(cost.instructions)
            sums["arithmetic_flop"] += float(cost.flop)
            sums["divergent_branches"] += float(tallies.divergent)
            if site.array is None:
                continue
            if arrays[site.array].space == "shared":
                sums["shared_requests"] += float(tallies.instructions)
                sums["shared_passes"] += float(tallies.passes)
                sums["shared_ideal_passes"] += float(tallies.ideal_passes)
            else:
                sums["global_requests"] += float(tallies.instructions)
                sums["global_lines"] += float(tallies.lines)
                sums["global_sectors"] += float(tallies.sectors)
                sums["bytes_requested"] += float(tallies.bytes_requested)
    sums["l1_bytes"] = float(launch.traffic.total("asked"))
    sums["l2_bytes"] = float(launch.traffic.total("l2"))
    sums["dram_bytes"] = float(launch.traffic.total("dram"))
    return sums


COUNTS = (
    "warp_instructions",
    "arithmetic_flop",
    "divergent_branches",
    "global_requests",
    "global_lines",
    "global_sectors",
    "bytes_requested",
    "shared_requests",
    "shared_passes",
    "shared_ideal_passes",
    "l1_bytes",
    "l2_bytes",
    "dram_bytes",
)


def _sum(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: sum(part[name] for part in parts) for name in parts[0]}


def _occupancy(launch: LaunchEvaluation, fields: Fields) -> Amount:
    return launch.blocks_per_mp * launch.counts.warps / fields["max_warps_per_mp"]


def _launch(launch: LaunchEvaluation, fields: Fields) -> LaunchPrediction:
    counts, time = launch.counts, float(launch.time)
    total = {name: float(launch.bounds[name]) for name in BOUNDS}
    x, y, z = (int(at(each, 0)) for each in counts.grid)
    bx, by, bz = (int(at(each, 0)) for each in counts.block)
    return LaunchPrediction(
        name=counts.launch.name,
        grid=(x, y, z),
        block=(bx, by, bz),
        blocks=int(counts.blocks),
        warps_per_block=int(counts.warps),
        registers_per_thread=int(counts.registers),
        shared_bytes_per_block=int(counts.shared_bytes),
        blocks_per_mp=int(launch.blocks_per_mp),
        occupancy=float(_occupancy(launch, fields)),
        occupancy_limiters=tuple(
            name for name, each in launch.blocks_by.items() if each == launch.blocks_per_mp
        ),
        block_time_s=float(launch.block_cycles / fields["clock"]),
        time_s=time,
        bounds=_bounds(total, time),
        limiter=limiters(total, time)[0],
        counts=_counts(launch),
    )


def _warnings(
    evaluation: Evaluation, values: Mapping[str, Any], *, limiter: str, caches: Caches
) -> tuple[str, ...]:
    fields, device = evaluation.fields, evaluation.fields.device
    quantities = device.quantities()
    found = [
        f"the limiter rests on {name} = {quantities[name]}, which is assumed"
        for name in _assumed_behind(limiter, evaluation, values, caches)
    ]
    found += [
        f"{launch.counts.launch.name}: {int(launch.counts.registers)} registers a thread, "
        f"{int(launch.spilled_registers)} more than it can address: spills to local memory"
        for launch in evaluation.launches
        if launch.spilled_registers > 0
    ]
    types = evaluation.setting.types
    for statement in evaluation.rung.statements():
        if isinstance(statement, Mma):
            kind = types.get(statement.type, statement.type)
            if not has_tensor(fields, kind):
                found.append(
                    f"{device.device} has no tensor unit for {kind}: the product is counted on the "
                    "fp32 pipe"
                )
                break
    return tuple(dict.fromkeys(found))


def _assumed_behind(
    limiter: str, evaluation: Evaluation, values: Mapping[str, Any], caches: Caches
) -> list[str]:
    """The assumed device values behind a limiter that matter to this time.

    A value matters if 10 % less or more of it moves both the limiter's bound and the time by more
    than 1 %: a latency that the rung never waits for does not, nor the wider of two widths in a
    row.
    """
    device = evaluation.fields.device
    behind = _BEHIND.get(limiter, (limiter,))
    groups = tuple(each for each in behind if each.endswith("."))
    assumed = {
        name: each
        for name, each in device.quantities().items()
        if each.kind == "assumed" and (name in behind or name.startswith(groups))
    }
    if not assumed:
        return []
    size = 2 * len(assumed)
    changes: dict[str, Any] = {}
    for number, (name, each) in enumerate(assumed.items()):
        column = np.full(size, each.value)
        column[2 * number : 2 * number + 2] *= (1 - _MOVED, 1 + _MOVED)
        changes[name] = column
    moved = evaluate(evaluation.rung, values, Fields(device, changes), size=size, caches=caches)
    shares = np.minimum(
        np.abs(np.broadcast_to(moved.time_s, (size,)) / float(evaluation.time_s) - 1),
        np.abs(
            np.broadcast_to(_bound(moved, limiter), (size,)) / float(_bound(evaluation, limiter))
            - 1
        ),
    )
    return [
        name
        for number, name in enumerate(assumed)
        if shares[2 * number : 2 * number + 2].max() > _MATTERS
    ]


def _bound(evaluation: Evaluation, name: str) -> Amount:
    """A bound; what starting the launches costs is one too."""
    return evaluation.launch_time_s if name == "kernel_launch" else evaluation.bound(name)


_MOVED = 0.1
_MATTERS = 0.01
_OF_RESOURCES: Mapping[str, tuple[str, ...]] = {
    "dram": ("dram_bandwidth_achievable", "dram_read_bandwidth", "dram_write_bandwidth"),
    "l2": ("l2_bandwidth",),
    "l2_lines": ("l2_line_rate",),
    "l2_stores": ("l2_store_bandwidth", "partial_store_overhead"),
    "l2_port": ("l2_bandwidth_per_mp",),
    "store_port": ("store_bandwidth_per_mp", "partial_store_overhead"),
    "l1_data": ("l1_bandwidth", "line_rate", "shared_bandwidth"),
    "l1": ("l1_bandwidth",),
    "l1_lines": ("line_rate",),
    "load_store": ("lanes.load_store", "address_rate"),
    "shared": ("shared_bandwidth",),
    "issue": ("issue_width",),
    "registers": ("register_read_ports",),
    "in_flight": ("bytes_in_flight_per_mp",),
    "tensor": ("tensor_flop_per_cycle.", "tensor_clock"),
    "block_launch": ("block_launch",),
    "atomics": ("atomic_rate",),
    **{pipe: (f"lanes.{pipe}",) for pipe in MP_RESOURCES if pipe.startswith(("fp", "int", "spec"))},
}
_BEHIND: Mapping[str, tuple[str, ...]] = {
    **_OF_RESOURCES,
    "latency": (
        *("dram_latency", "l2_latency", "l1_latency", "shared_latency", "latencies."),
        *chain.from_iterable(_OF_RESOURCES.values()),  # which serve a block while it is alone
    ),
}
"""The device values that a bound rests on, all of a group where one ends in a dot; a bound that is
none of these rests on the value of its own name."""
