"""Results of the roofline analysis."""

from dataclasses import dataclass

from perfmodel.results.base import Result


@dataclass(frozen=True, kw_only=True)
class Ceiling(Result):
    """One ceiling of a roofline: a peak (FLOP/s) or a bandwidth (bytes/s)."""

    name: str
    kind: str
    """compute or memory."""
    value: float
    low: float
    high: float
    nominal: bool
    """Whether it is a nominal value rather than one seen to be reached."""


@dataclass(frozen=True, kw_only=True)
class RooflinePoint(Result):
    """Where a kernel lies under one memory ceiling and one peak."""

    level: str
    """The memory ceiling's name."""
    bytes: float
    intensity_flop_per_byte: float
    ridge_flop_per_byte: float
    attainable_flop_per_s: float
    share_of_peak: float
    bound: str
    """memory or compute."""
    time_s: float
    """Least time at this ceiling."""


@dataclass(frozen=True, kw_only=True)
class RooflineResult(Result):
    """A kernel under the rooflines of a device."""

    device: str
    kernel: str
    parameters: dict[str, int | str]
    pipe: str
    """The peak the kernel's arithmetic runs on."""
    flop: float
    bytes_requested: float
    bytes_compulsory: float
    peak_flop_per_s: float
    ceilings: tuple[Ceiling, ...]
    points: tuple[RooflinePoint, ...]
    limiter: str
    """What sets the least time: a memory ceiling or the pipe."""
    least_time_s: float
    least_time_range_s: tuple[float, float]
    kernel_launch_s: float
    """What starting a kernel takes on the device, for comparison; the roof leaves it out."""

    def share_of_roof(self, measured_s: float) -> float:
        """The share of the roof that a measured time reaches; above 1 where the roof is wrong."""
        return self.least_time_s / measured_s
