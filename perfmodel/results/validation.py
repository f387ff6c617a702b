"""What came of predictions beside measurements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perfmodel.results.base import Result

if TYPE_CHECKING:
    import pandas as pd


AMOUNTS = ("dram", "l2", "l1", "shared", "instructions", "occupancy")
"""What is counted beside the time."""


@dataclass(frozen=True, kw_only=True)
class Case(Result):
    """A measured case and its prediction."""

    name: str
    """The kernel and its rung."""
    parameters: dict[str, int | str]
    operation: str
    ours: bool
    """Whether this project measured it, and so knows what ran."""
    library: bool
    held_out: bool
    measured_s: float
    predicted_s: float
    roofline_s: float
    """The plain roofline: the greater of work over peak and least bytes over bandwidth."""
    compulsory_bytes: float
    limiter: str
    counted_limiter: str
    """The family of resources that the counters show; empty where nothing was counted."""
    limiter_agrees: bool | None
    ratios: dict[str, float]
    """Predicted over counted amounts: dram, l2, l1, shared, instructions, occupancy."""

    @property
    def ratio(self) -> float:
        """Predicted over measured time."""
        return self.predicted_s / self.measured_s


@dataclass(frozen=True, kw_only=True)
class GroupErrors(Result):
    """The errors of some cases. Errors are |predicted / measured - 1|."""

    name: str
    cases: int
    median: float
    p90: float
    worst_factor: float
    """exp |ln ratio| of the case that is furthest off."""
    worst_case: str
    within_10_percent: int
    roofline_median: float
    roofline_p90: float
    tau: float
    """Kendall's tau of rungs at equal parameters."""
    ordered: int
    """Pairs of rungs that are ordered as measured."""
    pairs: int
    """Pairs of rungs whose measured times differ by more than 5 %."""
    medians: dict[str, float]
    """Median errors of counted amounts."""
    limiters_agree: int
    limiters: int


@dataclass(frozen=True, kw_only=True)
class LibraryBounds(Result):
    """Library kernels of an operation: their insides are unknown, so they bound the best rung."""

    operation: str
    cases: int
    slower: int
    """Predictions more than 10 % slower than the library, which a best rung may not be."""
    efficiency: float
    """Median of predicted over measured: how near the library comes to the prediction."""


@dataclass(frozen=True, kw_only=True)
class LaunchBound(Result):
    """Cases so short that launching them is most of it."""

    cases: int
    median_s: float
    """Median of |predicted - measured|."""
    within_2_us: int


@dataclass(frozen=True, kw_only=True)
class Validation(Result):
    """All measurements of a device beside their predictions."""

    device: str
    groups: tuple[GroupErrors, ...]
    """One a kernel or operation, then all, those of 100 us and more, and the two halves."""
    libraries: tuple[LibraryBounds, ...]
    launch_bound: LaunchBound | None
    cases: tuple[Case, ...]

    def group(self, name: str) -> GroupErrors:
        """The errors of a group by its name."""
        return next(each for each in self.groups if each.name == name)

    def rows(self) -> list[dict[str, Any]]:
        """A row a case, times in microseconds."""
        return [
            {
                "case": each.name,
                "parameters": ";".join(f"{n}={v}" for n, v in each.parameters.items()),
                "measured_us": each.measured_s * 1e6,
                "predicted_us": each.predicted_s * 1e6,
                "roofline_us": each.roofline_s * 1e6,
                "ratio": each.ratio,
                "limiter": each.limiter,
                "counted_limiter": each.counted_limiter,
                "held_out": each.held_out,
                "library": each.library,
                **{f"{name}_ratio": each.ratios.get(name, "") for name in AMOUNTS},
            }
            for each in self.cases
        ]

    def to_frame(self) -> pd.DataFrame:
        """The same as a frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def _repr_html_(self) -> str:
        from perfmodel.tables.html import validation_html

        return validation_html(self)
