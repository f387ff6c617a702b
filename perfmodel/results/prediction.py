"""Results of the scheduler: predictions, and ladders of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfmodel.results.base import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Bound(Result):
    """A lower limit on the time, from one resource."""

    name: str
    time_s: float
    """Time in which the resource does what is asked of it."""
    utilization: float
    """time_s / predicted time."""


@dataclass(frozen=True, kw_only=True)
class Level(Result):
    """What moves at one level of memory."""

    name: str
    """requested, l1, l2, dram or compulsory."""
    bytes: float
    intensity_flop_per_byte: float
    """Useful FLOP a byte."""
    bandwidth_bytes_per_s: float
    """bytes / predicted time."""


@dataclass(frozen=True, kw_only=True)
class Sensitivity(Result):
    """How far the time moves when one value does."""

    name: str
    low: float
    """The value's lower end, in SI units or cycles."""
    high: float
    value: float
    """As the device or the parameters state it; an end that is this has not been moved."""
    time_at_low_s: float
    time_at_high_s: float

    @property
    def width_s(self) -> float:
        """How far the time moves."""
        return abs(self.time_at_high_s - self.time_at_low_s)


@dataclass(frozen=True, kw_only=True)
class LaunchPrediction(Result):
    """One kernel launch of a prediction."""

    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    blocks: int
    warps_per_block: int
    registers_per_thread: int
    shared_bytes_per_block: int
    blocks_per_mp: int
    occupancy: float
    occupancy_limiters: tuple[str, ...]
    block_time_s: float
    """Time of a block that has a multiprocessor to itself."""
    time_s: float
    """Time of the launch, without what starting it costs."""
    bounds: tuple[Bound, ...]
    limiter: str
    counts: dict[str, float]
    """Sums over the launch: instructions, requests, sectors, passes and so on."""


@dataclass(frozen=True, kw_only=True)
class Prediction(Result):
    """The time of a rung on a device, and what it is made of."""

    kernel: str
    rung: str
    device: str
    parameters: dict[str, int | str]
    caches: str
    """cold or warm: what the L2 holds at the start."""
    context: str
    """What the time is of."""
    time_s: float
    time_range_s: tuple[float, float]
    """The least and the greatest time over the ends of the device values that are ranges."""
    unknowns: tuple[Sensitivity, ...]
    """The device values that are ranges, the one that moves the time most first."""
    bounds: tuple[Bound, ...]
    """Greatest first; summed over the launches."""
    limiter: str
    second_limiter: str
    second_limiter_factor: float
    """How much longer the second limiter's time would have to be to become the limiter."""
    flop: float
    """Useful arithmetic."""
    flop_per_s: float
    levels: tuple[Level, ...]
    counts: dict[str, float]
    occupancy: float
    """Of the launch that takes longest."""
    launches: tuple[LaunchPrediction, ...]
    models: tuple[str, ...]
    """The laws the prediction rests on."""
    missing_work: str
    """How it falls short of the whole work; empty where it does all of it."""
    warnings: tuple[str, ...]

    def bound(self, name: str) -> Bound:
        """A bound by its name."""
        return next(each for each in self.bounds if each.name == name)

    def bound_time_s(self, name: str) -> float:
        """The time of a bound; 0 where it asks for nothing."""
        return next((each.time_s for each in self.bounds if each.name == name), 0.0)

    def level(self, name: str) -> Level:
        """A memory level by its name."""
        return next(each for each in self.levels if each.name == name)

    def to_frame(self) -> pd.DataFrame:
        """The bounds as a table with units in the column names."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"bound": each.name, "time_s": each.time_s, "utilization": each.utilization}
                for each in self.bounds
            ]
        )

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        from perfmodel.tables.html import prediction_html

        return prediction_html(self)


@dataclass(frozen=True, kw_only=True)
class Roof(Result):
    """What a ladder's rungs are held against."""

    peaks_flop_per_s: dict[str, float]
    """Peaks by name: that of fp32, and that of a tensor unit where a rung uses one."""
    bandwidth_bytes_per_s: float
    """Achievable bandwidth of the DRAM."""


@dataclass(frozen=True, kw_only=True)
class LadderStep(Result):
    """A rung of a ladder beside the one before it."""

    rung: str
    change: str
    """What the rung changes and why that should help."""
    prediction: Prediction | None
    cannot: str
    """Why the device cannot run it; empty where it can."""
    speedup: float
    """Over the first rung; not a number for one that cannot run or leaves work out."""
    step_speedup: float
    """Over the last rung before that runs and does the whole work, or over what it is an
    alternative to; 1 for the first, and not a number as `speedup`."""
    removed: str
    """What explains the step, as `scheduler.ladder.what_was_removed` says."""
    is_alternative: bool


@dataclass(frozen=True, kw_only=True)
class Ladder(Result):
    """The rungs of a kernel on a device, worst first."""

    kernel: str
    title: str
    device: str
    parameters: dict[str, int | str]
    """The values that all rungs share."""
    given: dict[str, int | str]
    """Those that were asked for; some rungs may not have them."""
    roof: Roof
    steps: tuple[LadderStep, ...]

    def step(self, rung: str) -> LadderStep:
        """A step by the name of its rung."""
        return next(each for each in self.steps if each.rung == rung)

    def running(self) -> tuple[tuple[LadderStep, Prediction], ...]:
        """The steps that the device can run, with their predictions."""
        return tuple((each, each.prediction) for each in self.steps if each.prediction)

    def to_frame(self) -> pd.DataFrame:
        """One row a rung, with units in the column names; empty cells where one cannot run."""
        import pandas as pd

        rows = []
        for each in self.steps:
            row: dict[str, object] = {"rung": each.rung}
            if each.prediction:
                row |= {
                    "time_s": each.prediction.time_s,
                    "time_low_s": each.prediction.time_range_s[0],
                    "time_high_s": each.prediction.time_range_s[1],
                    "speedup": each.speedup,
                    "step_speedup": each.step_speedup,
                    "limiter": each.prediction.limiter,
                    "dram_bytes": each.prediction.level("dram").bytes,
                    "l2_bytes": each.prediction.level("l2").bytes,
                    "flop_per_s": each.prediction.flop_per_s,
                    "occupancy": each.prediction.occupancy,
                    "missing_work": each.prediction.missing_work,
                }
            rows.append({**row, "removed": each.removed, "cannot": each.cannot})
        return pd.DataFrame(rows)

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        from perfmodel.tables.html import ladder_html

        return ladder_html(self)


def shared_parameters(predictions: Sequence[Prediction]) -> dict[str, int | str]:
    """The parameters that all predictions have with one value.

    Args:
        predictions: Predictions of rungs of one kernel, at least one.

    Returns:
        Values by name, in the order of the first prediction.
    """
    first, *others = (each.parameters for each in predictions)
    return {
        name: value
        for name, value in first.items()
        if all(each.get(name) == value for each in others)
    }


@dataclass(frozen=True, kw_only=True)
class Attempt(Result):
    """A rung on a device: its prediction, or why there is none."""

    rung: str
    device: str
    prediction: Prediction | None
    cannot: str
    """Why the device cannot run it; empty where it can."""


@dataclass(frozen=True, kw_only=True)
class WhatIf(Result):
    """A rung before and after a change of the device."""

    rung: str
    changes: dict[str, str]
    before: Attempt
    after: Attempt

    @property
    def speedup(self) -> float:
        """Time before over time after; not a number where one of them cannot run."""
        before, after = self.before.prediction, self.after.prediction
        return before.time_s / after.time_s if before and after else math.nan


@dataclass(frozen=True, kw_only=True)
class Crossover(Result):
    """Two neighbouring values of a parameter between which another rung becomes faster."""

    last_below: int
    first_above: int
    faster_below: str
    faster_above: str
    limiter_below: str
    """What limits the faster rung below."""
    limiter_above: str
    because_it_runs: bool
    """Whether the slower rung of one side cannot run there at all."""


@dataclass(frozen=True, kw_only=True)
class Crossovers(Result):
    """Where two rungs cross as a parameter grows."""

    first: str
    second: str
    device: str
    over: str
    low: int
    """Least value looked at that one of them can run with."""
    high: int
    asked_low: int
    """Least value that was asked for."""
    asked_high: int
    narrowed: tuple[str, ...]
    """Why not all that was asked for is looked at; empty where it is."""
    missing_work: tuple[str, ...]
    """How one of them falls short of the whole work, so that its times say little."""
    faster_at_low: str
    """The faster rung; empty where both take the same time throughout."""
    faster_at_high: str
    crossings: tuple[Crossover, ...]


@dataclass(frozen=True, kw_only=True)
class Trial(Result):
    """One combination of parameters that was tried."""

    values: dict[str, int]
    time_s: float
    """Infinite where the device cannot run it."""
    limiter: str
    occupancy: float
    cannot: str
    """What no block of it fits into; empty where one does."""


@dataclass(frozen=True, kw_only=True)
class Best(Result):
    """The fastest of several combinations of parameters."""

    kernel: str
    device: str
    values: dict[str, int]
    time_s: float
    tried: int
    possible: int
    """Combinations that keep the constraints and of which a block fits."""
    trials: tuple[Trial, ...]
    """Those that keep the constraints of the rung, in the order in which they were named."""
