"""Where one rung becomes faster than another, and which values of parameters are the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from perfmodel.device.loading import as_device
from perfmodel.errors import UsageError, quoted
from perfmodel.kernels.loading import load_rung
from perfmodel.kernels.parameters import parameter_values, possible, require_by_name
from perfmodel.kernels.schema import LARGEST_PARAMETER
from perfmodel.kernels.setting import at
from perfmodel.results.prediction import Best, Crossover, Crossovers, Trial
from perfmodel.scheduler.evaluation import BOUNDS, Evaluation, evaluate
from perfmodel.scheduler.fields import Fields
from perfmodel.scheduler.prediction import limiters, predict
from perfmodel.scheduler.whatif import own_parameters, require_known

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perfmodel.device.model import Device
    from perfmodel.kernels.schema import Rung

_POINTS = 64
"""Values that a search looks at before it closes in."""
_WINDOW = 1 << 12
_WIDEST = 1 << 22
"""Neighbouring values that are looked through for those that the constraints allow."""
_EQUAL = 1e-9
"""Times that differ by less than this share are the same."""


def crossovers(
    first: str,
    second: str,
    device: Device | str,
    *,
    over: str,
    low: int,
    high: int,
    parameters: Mapping[str, Any] | None = None,
) -> Crossovers:
    """Where one rung becomes faster than another as a parameter grows.

    Args:
        first: A kernel and its rung.
        second: Another.
        device: The device, or its name.
        over: The parameter, which both have.
        low: Its least value.
        high: Its greatest value.
        parameters: Values of other parameters; each rung takes those it has.

    Returns:
        Every crossing, found by looking at values that both rungs can have and closing in by
        bisection among them.

    Raises:
        UsageError: The parameter is none of both, or no value between the ends is possible.
        DataError: A description is wrong.

    Example:
        >>> from perfmodel import load_device
        >>> found = crossovers("reduce:one_block", "reduce:vector_load", load_device("s5000"),
        ...                    over="n", low=1 << 12, high=1 << 24)
        >>> [each.faster_below for each in found.crossings]
        ['reduce:one_block']
    """
    device = as_device(device)
    _require_ends(over, low, high)
    rungs = tuple(_side(name, over, parameters) for name in (first, second))
    require_known(f"{first} or {second}", [each.rung for each in rungs], parameters or {})
    search = _Search(rungs=rungs, device=device, over=over, **_steps(rungs, over, low, high))
    allowed = search.usable(search.spread(low, high))
    values, signs = search.signs(allowed)
    if len(values) < 2:
        raise UsageError(
            f"{over} from {low} to {high}: fewer than two values that both rungs can have and one "
            f"of them can run with on {device.device}; give ends further apart"
        )
    signs = _carried(signs)
    found = []
    for place in np.nonzero(signs[1:] != signs[:-1])[0]:
        below, above = search.closed_in(
            int(values[place]), int(values[place + 1]), int(signs[place])
        )
        names = (first, second) if signs[place] < 0 else (second, first)
        found.append(search.crossover(below, above, names))
    named = {-1: first, 1: second, 0: ""}
    return Crossovers(
        first=first,
        second=second,
        device=device.device,
        over=over,
        low=int(values[0]),
        high=int(values[-1]),
        asked_low=low,
        asked_high=high,
        narrowed=_narrowed(allowed, values, low=low, high=high, device=device.device),
        missing_work=search.missing_work(values),
        faster_at_low=named[int(signs[0])],
        faster_at_high=named[int(signs[-1])],
        crossings=tuple(found),
    )


def _narrowed(allowed: Any, values: Any, *, low: int, high: int, device: str) -> tuple[str, ...]:
    """Why the ends of what is looked at are not those asked for."""
    found = []
    for side, end, asked, nearest in (
        ("below", int(values[0]), low, int(allowed[0])),
        ("above", int(values[-1]), high, int(allowed[-1])),
    ):
        if end == asked:
            continue
        why = (
            "no value is allowed by both rungs"
            if nearest == end
            else f"neither rung can run on {device}"
        )
        found.append(f"{side} {end} {why}")
    return tuple(found)


def _require_ends(over: Any, low: Any, high: Any) -> None:
    """Refuse ends between which no parameter grows."""
    if not isinstance(over, str):
        raise UsageError(f"what grows is {quoted(over)}: the name of a parameter is wanted")
    for end in (low, high):
        if isinstance(end, bool) or not isinstance(end, int | np.integer):
            raise UsageError(f"{over} to {quoted(end)}: a whole number is wanted")
    if not 1 <= low < high <= LARGEST_PARAMETER:
        raise UsageError(
            f"{over} from {quoted(low)} to {quoted(high)}: upwards, from 1 to {LARGEST_PARAMETER}, "
            "is wanted"
        )


@dataclass(frozen=True, kw_only=True)
class _Side:
    """One of the two rungs, with the values of its other parameters."""

    name: str
    rung: Rung
    values: Mapping[str, Any]


def _side(name: str, over: str, given: Mapping[str, Any] | None) -> _Side:
    rung = load_rung(name)
    if over not in rung.parameters:
        raise UsageError(f"{name} has no parameter {quoted(over)}: both rungs must have it")
    if isinstance(rung.parameters[over].default, str):
        raise UsageError(f"{over[:40]} of {name} is a word: a parameter that grows is wanted")
    if over in (given or {}):
        raise UsageError(f"-p {over}: it is what grows; leave it out")
    return _Side(
        name=name,
        rung=rung,
        values=parameter_values(name, rung.parameters, own_parameters(rung, given)),
    )


def _usable(sides: Sequence[_Side], over: str, values: Any) -> Any:
    """Those values with which every rung keeps its constraints."""
    kept = np.ones(len(values), dtype=bool)
    for side in sides:
        parameter = side.rung.parameters[over]
        kept &= (values >= parameter.minimum) & (values <= LARGEST_PARAMETER)
        if parameter.choices:
            kept &= np.isin(values, np.array(parameter.choices))
        kept &= possible(side.rung, {**side.values, over: values}, len(values))
    return values[kept]


def _steps(sides: Sequence[_Side], over: str, low: int, high: int) -> dict[str, int]:
    """The first value that the constraints allow, and the step from one to the next.

    The step is the greatest common divisor of the first ones, so that it misses none of them where
    constraints ask for multiples.
    """
    width = _WINDOW
    while True:
        found = _usable(sides, over, np.arange(low, min(low + width, high + 1), dtype=np.int64))
        if len(found) > 2 or width >= _WIDEST or low + width > high:
            break
        width *= 16
    if not len(found):
        return {"start": low, "step": 1}
    return {"start": int(found[0]), "step": int(np.gcd.reduce(np.diff(found))) or 1}


@dataclass(frozen=True, kw_only=True)
class _Search:
    """Looks for the values between which the faster of two rungs changes."""

    rungs: tuple[_Side, ...]
    device: Device
    over: str
    start: int
    step: int

    def usable(self, values: Any) -> Any:
        """The distinct values that keep all constraints, ascending."""
        return _usable(self.rungs, self.over, np.unique(values))

    def spread(self, low: int, high: int) -> Any:
        """Whole numbers on a logarithmic scale, rounded to what the constraints allow."""
        even = self._rounded(np.geomspace(low, high, _POINTS))
        powers = [1 << power for power in range(63)]
        steps = [3 << power for power in range(62)]
        last = self.start + (high - self.start) // self.step * self.step
        ends = [low, self.start, last, high]
        every = np.concatenate([even, np.array([*ends, *powers, *steps], dtype=np.int64)])
        return every[(every >= low) & (every <= high)]

    def _rounded(self, values: Any) -> Any:
        steps = np.round((values - self.start) / self.step).astype(np.int64)
        return self.start + steps * self.step

    def signs(self, values: Any) -> tuple[Any, Any]:
        """The values that one of the rungs can run with, and which is faster there.

        Returns:
            The values, and -1 for the first, 1 for the second, 0 for neither.
        """
        if not len(values):
            return values, values
        first, second = (self._times(side, values) for side in self.rungs)
        runs = np.isfinite(first) | np.isfinite(second)
        values, first, second = values[runs], first[runs], second[runs]
        equal = np.isclose(first, second, rtol=_EQUAL, atol=0)
        return values, np.where(equal, 0, np.where(first < second, -1, 1))

    def missing_work(self, values: Any) -> tuple[str, ...]:
        """How the rungs fall short of the whole work, each at the greatest value it runs with."""
        found = []
        for side in self.rungs:
            runs = values[np.isfinite(self._times(side, values))]
            if not len(runs):
                continue
            given = {**side.values, self.over: int(runs[-1])}
            said = predict(side.name, self.device, parameters=given, ranges=False).missing_work
            if said:
                found.append(f"{side.name} {said}")
        return tuple(found)

    def _times(self, side: _Side, values: Any) -> Any:
        batch = {**side.values, self.over: values}
        time = evaluate(side.rung, batch, Fields(self.device), size=len(values)).time_s
        return np.broadcast_to(time, (len(values),))

    def closed_in(self, below: int, above: int, sign: int) -> tuple[int, int]:
        """The neighbouring usable values between which the sign changes."""
        while True:
            between = np.arange(below + 1, above, dtype=np.int64)
            if (above - below) // self.step > _POINTS:
                powers = [1 << power for power in range(63) if below < 1 << power < above]
                between = np.concatenate(
                    [self._rounded(np.linspace(below, above, _POINTS)), powers]
                ).astype(np.int64)
            values = self.usable(between[(between > below) & (between < above)])
            values, signs = self.signs(values)
            if not len(values):
                return below, above
            same = _carried(signs, before=sign) == sign
            if same.all():
                below = int(values[-1])
                continue
            place = int(np.argmin(same))
            above = int(values[place])
            if place:
                below = int(values[place - 1])

    def crossover(self, below: int, above: int, names: tuple[str, str]) -> Crossover:
        """A crossing: `names` are those of the rung that is faster below and of the other."""
        sides = {side.name: side for side in self.rungs}
        limits = [
            predict(
                name,
                self.device,
                parameters={**sides[name].values, self.over: value},
                ranges=False,
            ).limiter
            for name, value in zip(names, (below, above), strict=True)
        ]
        others = [
            float(self._times(sides[name], np.array([value]))[0])
            for name, value in zip(names, (above, below), strict=True)
        ]
        return Crossover(
            last_below=below,
            first_above=above,
            faster_below=names[0],
            faster_above=names[1],
            limiter_below=limits[0],
            limiter_above=limits[1],
            because_it_runs=not np.isfinite(others).all(),
        )


def _carried(signs: Any, before: int = 0) -> Any:
    """Signs in which a tie goes on as what stood before it; at the start, as what follows."""
    carried = np.array(signs)
    for place in range(len(carried)):
        if not carried[place]:
            carried[place] = carried[place - 1] if place else before
    decided = np.flatnonzero(carried)
    if len(decided):
        carried[: decided[0]] = carried[decided[0]]
    return carried


def best_values(
    kernel: str,
    device: Device | str,
    choices: Mapping[str, Sequence[int]],
    *,
    parameters: Mapping[str, Any] | None = None,
) -> Best:
    """The fastest of all combinations of some parameters' values.

    Args:
        kernel: A kernel and its rung.
        device: The device, or its name.
        choices: Values to try, by parameter.
        parameters: Values of the other parameters.

    Returns:
        The fastest combination, the first of several, and all that keep the rung's constraints;
        one that no multiprocessor can hold a block of takes an infinite time and says why.

    Raises:
        UsageError: A parameter that is none, or no combination that the rung or the device allows.
        DataError: The description is wrong, or an access of the fastest leaves its array.

    Example:
        >>> from perfmodel import load_device
        >>> best = best_values("attention:pipelined", load_device("s5000"),
        ...                    {"br": [64, 128, 256], "bc": [32, 64, 256]})
        >>> best.tried, best.possible < best.tried
        (9, True)
    """
    device = as_device(device)
    rung = load_rung(kernel)
    fixed = parameter_values(kernel, rung.parameters, parameters or {})
    require_by_name(choices)
    if not choices:
        raise UsageError(f"{kernel}: values to try are wanted, by the name of a parameter")
    several = parameter_values(
        kernel, rung.parameters, {name: np.ravel(values) for name, values in choices.items()}
    )
    meshes = np.meshgrid(*(several[name] for name in choices), indexing="ij")
    tried = {name: mesh.ravel() for name, mesh in zip(choices, meshes, strict=True)}
    count = len(next(iter(tried.values())))
    kept = possible(rung, {**fixed, **tried}, count)
    if not kept.any():
        raise UsageError(f"{kernel}: no combination keeps the constraints of the rung")
    usable = {name: values[kept] for name, values in tried.items()}
    size = int(kept.sum())
    evaluation = evaluate(rung, {**fixed, **usable}, Fields(device), size=size)
    trials = tuple(
        _trial(evaluation, {name: int(each[place]) for name, each in usable.items()}, place)
        for place in range(size)
    )
    best = min(trials, key=lambda each: each.time_s)
    if not np.isfinite(best.time_s):
        raise UsageError(f"{kernel}: {device.device} cannot run any of these combinations")
    predict(kernel, device, parameters={**fixed, **best.values}, ranges=False)  # refuses nonsense
    return Best(
        kernel=f"{rung.kernel}:{rung.name}",
        device=device.device,
        values=best.values,
        time_s=best.time_s,
        tried=count,
        possible=sum(not each.cannot for each in trials),
        trials=trials,
    )


def _trial(evaluation: Evaluation, values: dict[str, int], place: int) -> Trial:
    """One element of a batch."""
    time = float(at(evaluation.time_s, place))
    launches = evaluation.launches
    full = [
        f"{name} ({launch.counts.launch.name})" if len(launches) > 1 else name
        for launch in launches
        for name, each in launch.blocks_by.items()
        if at(each, place) < 1
    ]
    total = {name: float(at(evaluation.bound(name), place)) for name in BOUNDS}
    total["kernel_launch"] = float(at(evaluation.launch_time_s, place))
    longest = max(launches, key=lambda launch: float(at(launch.time, place)))
    warps = at(longest.blocks_per_mp, place) * at(longest.counts.warps, place)
    return Trial(
        values=values,
        time_s=time,
        limiter="" if full else limiters(total, time)[0],
        occupancy=float(warps / evaluation.fields["max_warps_per_mp"]),
        cannot=", ".join(full),
    )


def doublings(
    kernel: str, name: str, *, low: int | None = None, high: int | None = None
) -> tuple[int, ...]:
    """Values of a parameter that are worth a try.

    Args:
        kernel: A kernel and its rung.
        name: The parameter.
        low: Its least value; by default an eighth of its default.
        high: Its greatest; by default eight times its default.

    Returns:
        Its choices where it has some, else its default halved and doubled between the ends.

    Raises:
        UsageError: No such parameter, one that is a word, or no value between the ends.

    Example:
        >>> doublings("gemv:cached_vector", "tile_v", high=4096)
        (128, 256, 512, 1024, 2048, 4096)
    """
    rung = load_rung(kernel)
    require_known(kernel, [rung], {name: None})
    parameter = rung.parameters[name]
    if isinstance(parameter.default, str):
        raise UsageError(f"{name} of {kernel} is a word: a parameter that grows is wanted")
    start = max(parameter.default, 1)
    least = max(start // 8 if low is None else low, parameter.minimum)
    most = start * 8 if high is None else high
    values: Sequence[int] = [int(each) for each in parameter.choices]
    if not values:
        halves = [start >> power for power in range(31) if start % (1 << power) == 0]
        values = sorted({*halves, *(start << power for power in range(31))})
    found = tuple(each for each in values if least <= each <= min(most, LARGEST_PARAMETER))
    if not found:
        raise UsageError(f"{name} from {least} to {most}: no doubling of {start} is among them")
    return found
