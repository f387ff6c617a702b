"""A kernel under the rooflines of a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.device.loading import as_device
from perfmodel.engines import roofline as law
from perfmodel.errors import DataError, UsageError
from perfmodel.results import Ceiling, RooflinePoint, RooflineResult
from perfmodel.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from perfmodel.device.model import Device
    from perfmodel.device.values import Value
    from perfmodel.kernels.schema import Description

_WITHOUT_TENSOR = {"tensor_fp16": "fp16", "tensor_bf16": "fp32", "tensor_tf32": "fp32"}
"""What the work of a tensor pipe runs on where the device has no such pipe."""


def roofline(
    device: Device | str,
    *,
    kernel: str,
    parameters: Mapping[str, int | str] | None = None,
    pipe: str | None = None,
) -> RooflineResult:
    """Where a kernel lies under each memory ceiling of a device, and its least time.

    Args:
        device: The device, or its name.
        kernel: A shipped kernel such as gemv, or the path of a description.
        parameters: Its parameters; those left out have their defaults.
        pipe: The peak its arithmetic runs on, such as tensor_fp16; by default the kernel's own.
            Elements have the type of its operands unless a type is given.

    Returns:
        Ceilings, points and the limiter. The points at DRAM and L2 count the compulsory bytes;
        the point at L1 counts what the plainest rung requests, and does not limit; it is left out
        where the parameters are none that this rung can have.

    Raises:
        DataError: No such kernel, or a description that is wrong.
        UsageError: A parameter or a pipe that does not exist.

    Source: `perfmodel.engines.roofline`; document 000, section 1.2.

    Example:
        >>> from perfmodel import load_device
        >>> result = roofline(load_device("s5000"), kernel="gemv")
        >>> result.limiter, round(result.points[0].intensity_flop_per_byte, 4)
        ('dram', 0.4998)
    """
    device = as_device(device)
    from perfmodel.kernels.fast import compiled
    from perfmodel.kernels.loading import load_description
    from perfmodel.kernels.parameters import parameter_values
    from perfmodel.kernels.schema import ELEMENT_BYTES

    description = load_description(kernel)
    given = dict(parameters or {})
    values = parameter_values(description.kernel, description.parameters, given)
    operand = None if pipe is None else pipe.removeprefix("tensor_")
    if operand in ELEMENT_BYTES and "type" in description.parameters and "type" not in given:
        values["type"] = operand
    words = {name: value for name, value in values.items() if isinstance(value, str)}
    numbers: dict[str, Any] = {
        **{name: value for name, value in values.items() if name not in words},
        **{f"{name}_bytes": ELEMENT_BYTES[word] for name, word in words.items()},
    }
    return roofline_of_amounts(
        device,
        name=description.kernel,
        parameters=values,
        pipe=_pipe(device, pipe, _own_pipe(description.pipe, words)),
        flop=float(compiled(description.flop.root)(numbers)),
        bytes_requested=_requested(device, description, numbers, words),
        bytes_compulsory=float(compiled(description.compulsory.root)(numbers)),
    )


def _own_pipe(pipe: str, words: Mapping[str, str]) -> str:
    """A kernel's pipe, with the word in the place of a parameter that it names."""
    head, bar, tail = pipe.rpartition("tensor_")
    return f"{head}{bar}{words.get(tail, tail)}"


def _requested(
    device: Device, description: Description, numbers: Mapping[str, Any], words: Mapping[str, str]
) -> float | None:
    """Bytes that the lanes of the plainest rung ask for; None where it cannot be counted."""
    from perfmodel.kernels.counting import count
    from perfmodel.kernels.geometry import device_geometry
    from perfmodel.kernels.parameters import rung_parameters
    from perfmodel.kernels.setting import Setting

    rung = description.ladder()[0]
    own = {name: each for name, each in numbers.items() if name in rung.parameters}
    try:
        values = rung_parameters(rung, own)
    except DataError:
        return None
    whole = {name: each for name, each in values.items() if not isinstance(each, str)}
    setting = Setting(
        size=1,
        values={**whole, **numbers},
        types={**{n: v for n, v in values.items() if isinstance(v, str)}, **words},
        geometries=(device_geometry(device),),
    )
    total = 0.0
    for launch in count(rung, setting):
        for role in launch.roles:
            for site in role.sites.sites:
                if site.array is not None and rung.arrays[site.array].space == "global":
                    total += float(role.tallies[site.position].bytes_requested)
    return total


def roofline_of_amounts(
    device: Device | str,
    *,
    name: str,
    pipe: str,
    flop: float,
    bytes_compulsory: float,
    bytes_requested: float | None = None,
    parameters: Mapping[str, int | str] | None = None,
) -> RooflineResult:
    """Where given amounts of work lie under the rooflines of a device.

    Args:
        device: The device, or its name.
        name: What to call the work.
        pipe: The peak its arithmetic runs on.
        flop: Floating-point operations [FLOP].
        bytes_compulsory: Each element once [bytes].
        bytes_requested: What the lanes ask for [bytes]; without it there is no point at L1.
        parameters: Shown with the result.

    Returns:
        As `roofline`.

    Raises:
        UsageError: The device has no such pipe.
        ArgumentError: An amount is outside its range.
    """
    device = as_device(device)
    pipe = _pipe(device, pipe, pipe)
    peak = device.peaks[pipe]  # type: ignore[index]  # checked by _pipe
    memory = dict(memory_ceilings(device))
    moved = {
        "dram": bytes_compulsory,
        "dram (achievable)": bytes_compulsory,
        "l3": bytes_compulsory,
        "l2": bytes_compulsory,
        **({} if bytes_requested is None else {"l1": bytes_requested}),
    }
    points = tuple(
        _point(level, moved[level], flop, peak.value, ceiling.value)
        for level, ceiling in memory.items()
        if level in moved
    )
    limiting = [point for point in points if point.level not in ("l1", "dram (achievable)")]
    slowest = max(limiting, key=lambda point: point.time_s)
    limiter = slowest.level if slowest.bound == "memory" else pipe
    least, most = (
        max(
            law.least_time(
                flop=flop,
                peak_flop_per_s=getattr(peak, end),
                moved_bytes=point.bytes,
                bandwidth_bytes_per_s=getattr(memory[point.level], end),
            )
            for point in limiting
        )
        for end in ("high", "low")
    )
    return RooflineResult(
        device=device.device,
        kernel=name,
        parameters=dict(parameters or {}),
        pipe=pipe,
        flop=flop,
        bytes_requested=bytes_compulsory if bytes_requested is None else bytes_requested,
        bytes_compulsory=bytes_compulsory,
        peak_flop_per_s=peak.value,
        ceilings=(*memory.values(), *_compute_ceilings(device)),
        points=points,
        limiter=limiter,
        least_time_s=slowest.time_s,
        least_time_range_s=(least, most),
        kernel_launch_s=device.kernel_launch.value,
    )


def memory_ceilings(device: Device) -> Iterator[tuple[str, Ceiling]]:
    """The bandwidth of each memory level of a device, from DRAM inwards."""
    yield "dram", _memory("dram", device.dram_bandwidth)
    yield (
        "dram (achievable)",
        _memory("dram (achievable)", device.dram_bandwidth_achievable, nominal=False),
    )
    if device.l3_bandwidth is not None:
        yield "l3", _memory("l3", device.l3_bandwidth)
    yield "l2", _memory("l2", device.l2_bandwidth)
    for level, per_mp in (("l1", device.l1_bandwidth), ("shared", device.shared_bandwidth)):
        yield level, _memory(level, per_mp, device.mps, device.clock)


def _memory(name: str, *factors: Value, nominal: bool = True) -> Ceiling:
    ends = {"value": 1.0, "low": 1.0, "high": 1.0}
    for factor in factors:
        ends = {end: product * getattr(factor, end) for end, product in ends.items()}
    return Ceiling(name=name, kind="memory", nominal=nominal, **ends)


def _compute_ceilings(device: Device) -> Iterator[Ceiling]:
    for nominal, peaks in ((True, device.peaks), (False, device.achievable_peaks)):
        for name, peak in peaks.items():
            yield Ceiling(
                name=name if nominal else f"{name} (achievable)",
                kind="compute",
                value=peak.value,
                low=peak.low,
                high=peak.high,
                nominal=nominal,
            )


def _pipe(device: Device, asked: str | None, default: str) -> str:
    """The peak to use: the one asked for, or the kernel's own or what stands in for it."""
    if asked is not None:
        if asked not in device.peaks:
            raise UsageError(
                f"{device.device} has no peak {asked!r}: {did_you_mean(asked, device.peaks)}"
            )
        return asked
    return default if default in device.peaks else _WITHOUT_TENSOR.get(default, "fp32")


def _point(
    level: str, moved_bytes: float, flop: float, peak: float, bandwidth: float
) -> RooflinePoint:
    intensity = law.intensity(flop=flop, moved_bytes=moved_bytes)
    ridge = law.ridge_point(peak_flop_per_s=peak, bandwidth_bytes_per_s=bandwidth)
    attainable = law.attainable(
        peak_flop_per_s=peak,
        bandwidth_bytes_per_s=bandwidth,
        intensity_flop_per_byte=intensity,
    )
    return RooflinePoint(
        level=level,
        bytes=moved_bytes,
        intensity_flop_per_byte=intensity,
        ridge_flop_per_byte=ridge,
        attainable_flop_per_s=attainable,
        share_of_peak=attainable / peak,
        bound="memory" if intensity < ridge else "compute",
        time_s=law.least_time(
            flop=flop,
            peak_flop_per_s=peak,
            moved_bytes=moved_bytes,
            bandwidth_bytes_per_s=bandwidth,
        ),
    )
