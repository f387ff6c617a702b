"""Several devices: shares of the work, communication and all-reduce over a device's links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.device.loading import as_device
from perfmodel.engines import scaling as law
from perfmodel.errors import ArgumentError, quoted
from perfmodel.results import ScalingResult
from perfmodel.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfmodel.device.model import Device


def scaling(
    device: Device | str,
    *,
    speeds: Sequence[float],
    communication_share: float = 0.0,
    message_bytes: float | None = None,
    link: str | None = None,
    link_latency_s: float | None = None,
) -> ScalingResult:
    """What several devices do that one cannot.

    Args:
        device: The device, whose links carry the all-reduce.
        speeds: Relative speed of each device.
        communication_share: Communication as a share of one device's time for the whole problem.
        message_bytes: Size of an array to sum over the devices [bytes], if any.
        link: The link to use; by default the widest.
        link_latency_s: Time of a message of no length [s]; by default the device file's, or none.

    Returns:
        Shares, speed-ups and the all-reduce time.

    Raises:
        ArgumentError: A number is outside its range, or the device has no such link.

    Source: `perfmodel.engines.scaling`; document 000, section 4.

    Example:
        >>> from perfmodel import load_device
        >>> result = scaling(load_device("s5000"), speeds=[1, 1, 2, 2])
        >>> [round(share, 4) for share in result.shares], result.gain_over_equal_split
        ([0.1667, 0.1667, 0.3333, 0.3333], 1.5)
    """
    device = as_device(device)
    devices = len(speeds)
    speedup = law.strong_scaling_speedup(devices=devices, communication_share=communication_share)
    used = _link(device, link) if message_bytes is not None else None
    return ScalingResult(
        devices=devices,
        shares=tuple(law.split_shares(speeds=speeds)),
        gain_over_equal_split=law.gain_over_equal_split(speeds=speeds),
        communication_share=communication_share,
        strong_scaling_speedup=speedup,
        strong_scaling_efficiency=speedup / devices,
        share_allowed_within_5_percent=law.strong_scaling_share_allowed(
            devices=devices, shortfall=0.05
        )
        if devices > 1
        else None,
        weak_scaling_speedup=law.weak_scaling_speedup(
            devices=devices, communication_share=communication_share
        ),
        all_reduce_time_s=None
        if used is None
        else law.ring_all_reduce_time(
            message_bytes=message_bytes,
            devices=devices,
            link_bandwidth_bytes_per_s=device.links[used].bandwidth.value,
            link_latency_s=_latency(device, used, link_latency_s),
        ),
        all_reduce_link=used,
    )


def _link(device: Device, name: str | None) -> str:
    """The link asked for, or the widest."""
    if not device.links:
        raise ArgumentError(f"{device.device} has no links in its file: add them under links")
    if name is None:
        return max(device.links, key=lambda each: device.links[each].bandwidth.value)
    if name not in device.links:
        raise ArgumentError(
            f"{device.device} has no link {quoted(name)}: {did_you_mean(name, device.links)}"
        )
    return name


def _latency(device: Device, link: str, given_s: float | None) -> float:
    if given_s is not None:
        return given_s
    latency = device.links[link].latency
    return 0.0 if latency is None else latency.value
