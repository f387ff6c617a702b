"""The roofline: performance against operational intensity, both on logarithmic axes.

One kernel on one device shows every ceiling of the device; several results are laid over each
other, each with its DRAM slope and the peak of its pipe. The preparation is here, the drawing in
`perfmodel.plots.roofline_drawing`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from perfmodel.errors import ArgumentError
from perfmodel.plots.roofline_drawing import draw_roofline
from perfmodel.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from perfmodel.results import Ceiling, RooflinePoint, RooflineResult

Pair = tuple[float, float]

__all__ = [
    "RoofBand", "RoofLine", "RoofMark", "RooflinePlot", "draw_roofline", "prepare_roofline",
]  # fmt: skip

_MOST_BANDS = 3  # results whose ranges are shown when several are overlaid


@dataclass(frozen=True, kw_only=True)
class RoofLine:
    """A ceiling as a line from one corner to another."""

    names: tuple[str, ...]
    """The ceilings that this line stands for: more than one where their values are equal."""
    label: str
    kind: Literal["memory", "compute"]
    value: float
    """FLOP/s or bytes/s."""
    nominal: bool
    emphasised: bool
    """Whether the limiter or the pipe in use is among its names."""
    series: int
    """Which result it belongs to."""
    intensity: Pair
    performance: Pair


@dataclass(frozen=True, kw_only=True)
class RoofBand:
    """What a range of a ceiling covers: between `low` and `high` at each intensity."""

    kind: Literal["memory", "compute", "roof"]
    series: int
    intensity: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class RoofMark:
    """A kernel's point."""

    level: str
    series: int
    intensity: float
    performance: float
    label: str
    """Beside the drop line."""
    legend: str
    measured: bool = False
    """Whether it is a measured time's, rather than the highest that is attainable."""


@dataclass(frozen=True, kw_only=True)
class RooflinePlot:
    """A roofline, ready to be drawn."""

    title: str
    subtitle: str
    overlaid: bool
    """Whether there are several results, told apart by colour."""
    lines: tuple[RoofLine, ...]
    bands: tuple[RoofBand, ...]
    marks: tuple[RoofMark, ...]
    intensity_limits: Pair
    performance_limits: Pair


def prepare_roofline(
    results: Sequence[RooflineResult], measured_s: float | None = None
) -> RooflinePlot:
    """Lines, bands and points of a roofline.

    Args:
        results: One result for all its ceilings; several to compare devices.
        measured_s: A measured time of the one result [s], drawn as a point of its own.

    Returns:
        What `draw_roofline` draws.

    Raises:
        ArgumentError: There is no result, or a measured time with several.

    Example:
        >>> from perfmodel import load_device
        >>> from perfmodel.analyses.roofline import roofline
        >>> plot = prepare_roofline([roofline(load_device("s5000"), kernel="gemv")])
        >>> plot.title
        'gemv on s5000: bound by dram, at least 41.96 us'
        >>> plot.lines[0].label, plot.marks[0].level
        ('dram 1.6 TB/s', 'dram')
    """
    if not results:
        raise ArgumentError("there is no result to draw: give at least one")
    if len(results) == 1:
        return _single(results[0], measured_s)
    if measured_s is not None:
        raise ArgumentError("a measured time belongs to one device: give one result")
    return _overlaid(results)


def _single(result: RooflineResult, measured_s: float | None) -> RooflinePlot:
    memory = [ceiling for ceiling in result.ceilings if ceiling.kind == "memory"]
    compute = [ceiling for ceiling in result.ceilings if ceiling.kind == "compute"]
    marks = tuple(
        _mark(point, 0, f"at {point.level}, {counted} bytes") for point, counted in _points(result)
    )
    if marks and measured_s is not None:
        marks = (*marks, _measured_mark(result, marks[0], measured_s))
    top = max(ceiling.value for ceiling in compute)
    fastest = max(ceiling.value for ceiling in memory)
    slowest = min(ceiling.value for ceiling in memory)
    corners = [ceiling.value / fastest for ceiling in compute]
    seen = [mark.intensity for mark in marks] or [result.peak_flop_per_s / slowest]
    across = (min(min(seen) / 25, min(corners) / 3), max(max(seen) * 25, top / slowest * 6))
    reached = [mark.performance for mark in marks] or [result.peak_flop_per_s]
    up = (
        min(slowest * min(seen) / 80, min(reached) / 30, min(c.value for c in compute) / 8),
        top * 2.5,
    )
    dram = memory[0]
    used = next(c for c in compute if c.name == result.pipe and c.nominal)
    bands = []
    if dram.low < dram.high:
        bands.append(_slope_band(dram, across, top))
    if used.low < used.high:
        bands.append(_peak_band(used, fastest, across))
    return RooflinePlot(
        title=f"{result.kernel} on {result.device}: {_verdict(result)}",
        subtitle=_subtitle(result, marks),
        overlaid=False,
        lines=(*_slopes(memory, across, top), *_peaks(compute, result.pipe, fastest, across)),
        bands=tuple(bands),
        marks=marks,
        intensity_limits=across,
        performance_limits=up,
    )


def _overlaid(results: Sequence[RooflineResult]) -> RooflinePlot:
    names = _series_names(results)
    roofs = [(_dram(result), _used(result)) for result in results]
    marks = tuple(
        _mark(point, series, f"{name} ({_dram_text(result)}): {_verdict(result)}")
        for series, (name, result) in enumerate(zip(names, results, strict=True))
        for point, _ in _points(result)[:1]
    )
    ridges = [used.value / dram.value for dram, used in roofs]
    seen = [mark.intensity for mark in marks] + ridges
    across = (min(seen) / 25, max(seen) * 12)
    reached = [mark.performance for mark in marks] + [used.value for _, used in roofs]
    up = (
        min(min(dram.value for dram, _ in roofs) * across[0] * 1.5, min(reached) / 30),
        max(used.high for _, used in roofs) * 2.5,
    )
    lines: list[RoofLine] = []
    bands = []
    for series, (name, (dram, used)) in enumerate(zip(names, roofs, strict=True)):
        (slope,) = _slopes([dram], across, used.value, series=series, prefix=f"{name} ")
        (peak,) = _peaks([used], used.name, dram.value, across, series=series, prefix=f"{name} ")
        lines += [slope, peak]
        if len(results) <= _MOST_BANDS and (dram.low < dram.high or used.low < used.high):
            bands.append(_roof_band(dram, used, across, series))
    kernels = list(dict.fromkeys(result.kernel for result in results))
    devices = list(dict.fromkeys(result.device for result in results))
    return RooflinePlot(
        title=f"{', '.join(kernels)} on {_listed(devices, 'devices')}",
        subtitle="nominal DRAM bandwidth and the peak of the pipe in use; compulsory bytes",
        overlaid=True,
        lines=tuple(lines),
        bands=tuple(bands),
        marks=marks,
        intensity_limits=across,
        performance_limits=up,
    )


def _listed(names: Sequence[str], plural: str) -> str:
    return ", ".join(names) if len(names) <= 5 else f"{len(names)} {plural}"


def _dram_text(result: RooflineResult) -> str:
    return f"dram {format_quantity(_dram(result).value, 'bytes/s', 3)}"


def _verdict(result: RooflineResult) -> str:
    least = format_quantity(result.least_time_s, "s")
    return f"bound by {result.limiter}, at least {least}"


def _subtitle(result: RooflineResult, marks: Sequence[RoofMark]) -> str:
    parts = [f"{name} {value}" for name, value in result.parameters.items()]
    low, high = result.least_time_range_s
    if low < high:
        ends = " .. ".join(format_quantity(end, "s") for end in (low, high))
        parts.append(f"least time over the device's ranges {ends}")
    if not marks:
        parts.append("no floating-point operations, so no point")
    return ", ".join(parts)


def _series_names(results: Sequence[RooflineResult]) -> list[str]:
    """A name for each result: the device, with what else is needed to tell them apart."""
    choices = [
        [result.device for result in results],
        [f"{result.kernel} on {result.device}" for result in results],
        [f"{result.kernel} ({result.pipe}) on {result.device}" for result in results],
    ]
    for names in choices:
        if len(set(names)) == len(names):
            return names
    return [f"{number}: {name}" for number, name in enumerate(choices[1], start=1)]


def _dram(result: RooflineResult) -> Ceiling:
    return next(c for c in result.ceilings if c.kind == "memory")


def _used(result: RooflineResult) -> Ceiling:
    return next(
        c for c in result.ceilings if c.kind == "compute" and c.nominal and c.name == result.pipe
    )


def _points(result: RooflineResult) -> list[tuple[RooflinePoint, str]]:
    """The points to draw, DRAM first, each with the name of the bytes it counts."""
    by_level = {point.level: point for point in result.points}
    return [
        (by_level[level], counted)
        for level, counted in (("dram", "compulsory"), ("l1", "requested"))
        if level in by_level and 0 < by_level[level].intensity_flop_per_byte < math.inf
    ]


def _mark(point: RooflinePoint, series: int, what: str) -> RoofMark:
    intensity = format_quantity(point.intensity_flop_per_byte, "flop/byte", 3)
    reached = format_quantity(point.attainable_flop_per_s, "flop/s", 3)
    return RoofMark(
        level=point.level,
        series=series,
        intensity=point.intensity_flop_per_byte,
        performance=point.attainable_flop_per_s,
        label=f"{point.level}: {intensity}\n{reached}",
        legend=what,
    )


def _measured_mark(result: RooflineResult, at_dram: RoofMark, measured_s: float) -> RoofMark:
    """Where a measured time lies, at the intensity of the point at DRAM."""
    share = 100 * result.share_of_roof(measured_s)
    return RoofMark(
        level=at_dram.level,
        series=0,
        intensity=at_dram.intensity,
        performance=result.flop / measured_s,
        label="",
        measured=True,
        legend=f"measured {format_quantity(measured_s, 's')}: {share:.3g} % of the roof",
    )


def _slopes(
    ceilings: Iterable[Ceiling], across: Pair, top: float, *, series: int = 0, prefix: str = ""
) -> list[RoofLine]:
    """Bandwidths as slopes that end at the highest peak."""
    return [
        RoofLine(
            names=names,
            label=f"{prefix}{_joined(names)} {format_quantity(value, 'bytes/s', 3)}",
            kind="memory",
            value=value,
            nominal=nominal,
            emphasised=names[0].startswith("dram"),
            series=series,
            intensity=(across[0], top / value),
            performance=(across[0] * value, top),
        )
        for (value, nominal), names in _merged(ceilings).items()
    ]


def _peaks(
    ceilings: Iterable[Ceiling],
    pipe: str,
    fastest: float,
    across: Pair,
    *,
    series: int = 0,
    prefix: str = "",
) -> list[RoofLine]:
    """Peaks as level lines that begin at the steepest slope."""
    return [
        RoofLine(
            names=names,
            label=f"{prefix}{_joined(names)} {format_quantity(value, 'flop/s', 3)}",
            kind="compute",
            value=value,
            nominal=nominal,
            emphasised=pipe in (name.removesuffix(" (achievable)") for name in names),
            series=series,
            intensity=(value / fastest, across[1]),
            performance=(value, value),
        )
        for (value, nominal), names in _merged(ceilings).items()
    ]


def _merged(ceilings: Iterable[Ceiling]) -> dict[tuple[float, bool], tuple[str, ...]]:
    """The names of the ceilings of each value, nominal and achievable apart."""
    found: dict[tuple[float, bool], tuple[str, ...]] = {}
    for ceiling in ceilings:
        key = (ceiling.value, ceiling.nominal)
        found[key] = (*found.get(key, ()), ceiling.name)
    return found


def _joined(names: Sequence[str]) -> str:
    """Names in a row, what they share said once.

    >>> _joined(["fp16", "tensor_fp64", "tensor_fp32"])
    'fp16, tensor_fp64/fp32'
    >>> _joined(["tensor_fp16 (achievable)", "tensor_bf16 (achievable)"])
    'tensor_fp16/bf16 (achievable)'
    """
    bare = [name.removesuffix(" (achievable)") for name in names]
    ending = " (achievable)" if bare[0] != names[0] else ""
    tensor = [name.removeprefix("tensor_") for name in bare if name.startswith("tensor_")]
    parts = [name for name in bare if not name.startswith("tensor_")]
    if tensor:
        parts.append("tensor_" + "/".join(tensor))
    return ", ".join(parts) + ending


def _slope_band(ceiling: Ceiling, across: Pair, top: float) -> RoofBand:
    nodes = (across[0], top / ceiling.high, top / ceiling.low)
    return RoofBand(
        kind="memory",
        series=0,
        intensity=nodes,
        low=tuple(min(ceiling.low * node, top) for node in nodes),
        high=tuple(min(ceiling.high * node, top) for node in nodes),
    )


def _peak_band(ceiling: Ceiling, fastest: float, across: Pair) -> RoofBand:
    nodes = (ceiling.low / fastest, ceiling.high / fastest, across[1])
    return RoofBand(
        kind="compute",
        series=0,
        intensity=nodes,
        low=tuple(min(ceiling.low, fastest * node) for node in nodes),
        high=tuple(min(ceiling.high, fastest * node) for node in nodes),
    )


def _roof_band(dram: Ceiling, used: Ceiling, across: Pair, series: int) -> RoofBand:
    nodes = tuple(sorted({across[0], used.low / dram.low, used.high / dram.high, across[1]}))
    return RoofBand(
        kind="roof",
        series=series,
        intensity=nodes,
        low=tuple(min(used.low, dram.low * node) for node in nodes),
        high=tuple(min(used.high, dram.high * node) for node in nodes),
    )
