"""Results of the scheduler: predictions, and ladders of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfmodel.results.base import Result

if TYPE_CHECKING:
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

    def bounds_time(self, name: str) -> float:
        """The time of a bound; 0 where it asks for nothing."""
        return next((each.time_s for each in self.bounds if each.name == name), 0.0)


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
    warnings: tuple[str, ...]

    def bound(self, name: str) -> Bound:
        """A bound by its name."""
        return next(each for each in self.bounds if each.name == name)

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
class LadderStep(Result):
    """A rung of a ladder beside the one before it."""

    rung: str
    change: str
    """What the rung changes and why that should help."""
    prediction: Prediction
    speedup: float
    """Over the first rung."""
    step_speedup: float
    """Over the rung before; 1 for the first."""
    removed: str
    """What became of the limiter of the rung before."""
    is_alternative: bool


@dataclass(frozen=True, kw_only=True)
class Ladder(Result):
    """The rungs of a kernel on a device, worst first."""

    kernel: str
    title: str
    device: str
    parameters: dict[str, int | str]
    steps: tuple[LadderStep, ...]

    def step(self, rung: str) -> LadderStep:
        """A step by the name of its rung."""
        return next(each for each in self.steps if each.rung == rung)

    def to_frame(self) -> pd.DataFrame:
        """One row a rung, with units in the column names."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "rung": each.rung,
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
                }
                for each in self.steps
            ]
        )

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        from perfmodel.tables.html import ladder_html

        return ladder_html(self)


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
