"""Scaling: what several devices do that one cannot, and what they say to each other meanwhile.

Work that is split over unequal devices ends with the last of them, so each should get a share in
proportion to its speed. Devices of speed 1, 1, 2 and 2 then take 1/6, 1/6, 1/3 and 1/3, and finish
1.5 times sooner than with equal shares.

Communication is what keeps n devices from n times the speed. If it takes c of the time that one
device needs for everything, then

    fixed problem (strong scaling):    n / (1 + n c)
    problem that grows (weak scaling): n / (1 + c)

The first is bound by 1 / c: 96 devices stay within 5 % of linear only while c is below
0.05 / (0.95 x 96), 1 in 1824. What is left of communication can be hidden under arithmetic:
the time of a step goes from their sum towards the longer of the two as it is cut into pieces.
Jobs that need not speak to each other lose nothing, and so n separate jobs on n devices always
finish more work in an hour than one job spread over them.
"""

from collections.abc import Sequence

from perfmodel.engines.arithmetic import Number, is_array, maximum, minimum, require
from perfmodel.errors import ArgumentError


def split_shares(*, speeds: Sequence[Number]) -> list[Number]:
    """Share of the work for each device, so that all of them finish together.

    Equation: ``s_i / sum(s)``

    Args:
        speeds: s_i, the speeds of the devices on this work, in any common unit [-], above 0.

    Returns:
        The shares [-], together 1.

    Raises:
        ArgumentError: There is no device, or a speed is not above 0.

    Validity: the work can be cut at will and costs the same everywhere; whichever resource limits
    it (arithmetic or bandwidth) is the one whose speeds count.

    Source: document 000, section 4.1 (load balance).

    Example:
        >>> split_shares(speeds=[1, 3])
        [0.25, 0.75]
    """
    total = _sum_of_speeds(speeds)
    return [speed / total for speed in speeds]


def gain_over_equal_split(*, speeds: Sequence[Number]) -> Number:
    """How much sooner a split by speed finishes than equal shares.

    Equation: ``sum(s) / (n min(s))``, the mean speed over the least: with equal shares all wait
    for the slowest.

    Args:
        speeds: s_i, the speeds of the devices on this work, in any common unit [-], above 0.

    Returns:
        The gain [-], at least 1.

    Raises:
        ArgumentError: There is no device, or a speed is not above 0.

    Validity: as `split_shares`.

    Source: document 000, section 4 (exercise on unequal devices), answered by us.

    Example:
        >>> gain_over_equal_split(speeds=[1, 1, 2, 2])  # 6 / (4 * 1)
        1.5
    """
    total = _sum_of_speeds(speeds)
    slowest = speeds[0]
    for speed in speeds[1:]:
        slowest = minimum(slowest, speed)
    return total / (len(speeds) * slowest)


def strong_scaling_speedup(*, devices: Number, communication_share: Number) -> Number:
    """Speed-up of a fixed problem on n devices that also have to communicate.

    Equation: ``n / (1 + n c)``

    Args:
        devices: n, how many share the work evenly [-], at least 1.
        communication_share: c, the time that n devices spend communicating, over the time that
            one device needs for the whole problem [-], at least 0.

    Returns:
        The speed-up over one device [-], below 1 / c.

    Raises:
        ArgumentError: n is below 1 or c below 0.

    Validity: nothing is hidden under arithmetic, and c is that of these n devices: it falls or
    grows with n as the pattern of communication has it. One device alone has c = 0.

    Source: document 000, section 4; the time is 1 / n + c of one device's.

    Example:
        >>> strong_scaling_speedup(devices=8, communication_share=0.125)  # 8 / 2
        4.0
    """
    require("devices", devices, low=1)
    require("communication_share", communication_share, low=0)
    return devices / (1 + devices * communication_share)


def strong_scaling_share_allowed(*, devices: Number, shortfall: Number) -> Number:
    """Greatest communication share with which a fixed problem stays near linear.

    Equation: ``x / ((1 - x) n)``, `strong_scaling_speedup` = (1 - x) n solved for c

    Args:
        devices: n, how many share the work evenly [-], at least 1.
        shortfall: x, how far the speed-up may stay below n, relative to n [-], 0 to below 1.

    Returns:
        c, communication time on n devices over the time of one device for the whole [-]. Of the
        step on n devices it is the share x.

    Raises:
        ArgumentError: n is below 1, or x is not in 0 to below 1.

    Validity: as `strong_scaling_speedup`.

    Source: document 000, section 4.2 (96 devices, linear); the bound is ours.

    Example:
        >>> round(1 / strong_scaling_share_allowed(devices=96, shortfall=0.05), 6)  # 96 * 19
        1824.0
    """
    require("devices", devices, low=1)
    _require_shortfall(shortfall)
    return shortfall / ((1 - shortfall) * devices)


def weak_scaling_speedup(*, devices: Number, communication_share: Number) -> Number:
    """How much more work n devices do in the same time, each with a problem of the same size.

    Equation: ``n / (1 + c)``

    Args:
        devices: n, how many work [-], at least 1.
        communication_share: c, the time spent communicating over the time one device needs for
            its own part [-], at least 0.

    Returns:
        Throughput over that of one device alone [-].

    Raises:
        ArgumentError: n is below 1 or c below 0.

    Validity: nothing is hidden under arithmetic, and c is that of these n devices.

    Source: J. L. Gustafson, Communications of the ACM 31(5), 1988, with communication in the
    place of the serial part; document 000, section 4.2.

    Example:
        >>> weak_scaling_speedup(devices=96, communication_share=0.25)  # 96 / 1.25
        76.8
    """
    require("devices", devices, low=1)
    require("communication_share", communication_share, low=0)
    return devices / (1 + communication_share)


def weak_scaling_share_allowed(*, shortfall: Number) -> Number:
    """Greatest communication share with which a problem that grows stays near linear.

    Equation: ``x / (1 - x)``, whatever the number of devices

    Args:
        shortfall: x, how far the throughput may stay below n, relative to n [-], 0 to below 1.

    Returns:
        c, communication time over the time of one device for its part [-].

    Raises:
        ArgumentError: x is not in 0 to below 1.

    Validity: as `weak_scaling_speedup`.

    Source: document 000, section 4.2 (96 devices, linear); the bound is ours.

    Example:
        >>> weak_scaling_share_allowed(shortfall=0.2)  # 0.2 / 0.8
        0.25
    """
    _require_shortfall(shortfall)
    return shortfall / (1 - shortfall)


def ring_all_reduce_time(
    *,
    message_bytes: Number,
    devices: Number,
    link_bandwidth_bytes_per_s: Number,
    link_latency_s: Number,
) -> Number:
    """Time to sum an array over n devices, each of which ends with the whole result.

    Equation: ``2 (n - 1) / n message_bytes / bandwidth + 2 (n - 1) latency``: n - 1 steps gather
    the sums of n pieces, n - 1 more hand them round.

    Args:
        message_bytes: The array that each device holds [bytes], at least 0.
        devices: n, how many are in the ring [-], at least 1.
        link_bandwidth_bytes_per_s: What a device sends to its neighbour while it receives as much
            [bytes/s], above 0.
        link_latency_s: Time a step takes besides its bytes [s], at least 0.

    Returns:
        The time [s]; 0 for one device, towards twice the time of one transfer for many.

    Raises:
        ArgumentError: n is not a whole number of at least 1, or a quantity is out of its range.

    Validity: equal links used in one direction each; the additions are not counted. For short
    messages a tree has fewer steps.

    Source: P. Patarasuk, X. Yuan, Journal of Parallel and Distributed Computing 69(2), 2009.

    Example:
        >>> ring_all_reduce_time(  # 6 steps of 1 GB at 100 GB/s, each 5 ms late
        ...     message_bytes=4e9, devices=4, link_bandwidth_bytes_per_s=1e11, link_latency_s=0.005
        ... )
        0.09
    """
    require("message_bytes", message_bytes, low=0)
    require("devices", devices, low=1, whole=True)
    require("link_bandwidth_bytes_per_s", link_bandwidth_bytes_per_s, low=0, above_low=True)
    require("link_latency_s", link_latency_s, low=0)
    steps = 2 * (devices - 1)
    return steps * message_bytes / (devices * link_bandwidth_bytes_per_s) + steps * link_latency_s


def overlapped_time(*, compute_s: Number, transfer_s: Number, pieces: Number) -> Number:
    """Time of a step whose transfer runs under its arithmetic, piece by piece.

    Equation: ``max(a, b) + min(a, b) / pieces``: the first piece has nothing to hide under

    Args:
        compute_s: a, the arithmetic of the whole step [s], at least 0.
        transfer_s: b, the transfer of the whole step [s], at least 0.
        pieces: Equal pieces the step is cut into [-], at least 1; may be infinite. With 1 the
            times add up; with infinitely many the longer is left.

    Returns:
        The time of the step [s].

    Raises:
        ArgumentError: A time is below 0 or `pieces` below 1.

    Validity: copy engine and arithmetic do not slow each other, a piece can start as soon as its
    data have come, and a piece has no fixed cost of its own.

    Source: document 000, section 4.1 (streams); the pipeline of two stages.

    Example:
        >>> [overlapped_time(compute_s=3.0, transfer_s=2.0, pieces=n) for n in (1, 4)]
        [5.0, 3.5]
        >>> overlapped_time(compute_s=3.0, transfer_s=2.0, pieces=float("inf"))
        3.0
    """
    require("compute_s", compute_s, low=0)
    require("transfer_s", transfer_s, low=0)
    require("pieces", pieces, low=1, finite=False)
    return maximum(compute_s, transfer_s) + minimum(compute_s, transfer_s) / pieces


def independent_jobs_throughput(*, devices: Number, job_time_s: Number) -> Number:
    """Jobs finished a second by n devices that each work on their own job.

    Equation: ``n / t``

    Args:
        devices: n, how many work [-], at least 1.
        job_time_s: t, the time one device needs for a job [s], above 0.

    Returns:
        Throughput [jobs/s].

    Raises:
        ArgumentError: n is below 1 or t is not above 0.

    Validity: there are at least n jobs, each fits one device, and they do not compete for the
    host.

    Source: document 000, section 4.1 (independent jobs on one node).

    Example:
        >>> independent_jobs_throughput(devices=8, job_time_s=16.0)
        0.5
    """
    require("devices", devices, low=1)
    require("job_time_s", job_time_s, low=0, above_low=True)
    return devices / job_time_s


def spread_job_throughput(
    *, devices: Number, job_time_s: Number, communication_s: Number
) -> Number:
    """Jobs finished a second by n devices that share one job after the other.

    Equation: ``1 / (t / n + communication)``

    Args:
        devices: n, how many share a job evenly [-], at least 1.
        job_time_s: t, the time one device needs for a job [s], above 0.
        communication_s: Time of a job that n devices spend communicating [s], at least 0.

    Returns:
        Throughput [jobs/s], below that of `independent_jobs_throughput` once communication takes
        any time; the single job is done sooner all the same while it takes less than t (1 - 1 / n).

    Raises:
        ArgumentError: n is below 1, t is not above 0 or communication below 0.

    Validity: as `strong_scaling_speedup`.

    Source: document 000, section 4.1 (independent jobs on one node).

    Example:
        >>> spread_job_throughput(devices=8, job_time_s=16.0, communication_s=2.0)  # 1 / (2 + 2)
        0.25
    """
    require("devices", devices, low=1)
    require("job_time_s", job_time_s, low=0, above_low=True)
    require("communication_s", communication_s, low=0)
    return 1 / (job_time_s / devices + communication_s)


def _sum_of_speeds(speeds: Sequence[Number]) -> Number:
    if isinstance(speeds, str) or not (is_array(speeds) or isinstance(speeds, Sequence)):
        raise ArgumentError(f"speeds is {speeds!r}: give the speed of each device")
    if not len(speeds):
        raise ArgumentError("speeds is empty: give the speed of at least one device")
    total: Number = 0
    for speed in speeds:
        require("speeds", speed, low=0, above_low=True)
        total = total + speed
    return total


def _require_shortfall(shortfall: Number) -> None:
    require("shortfall", shortfall, low=0, high=1)
    require("1 - shortfall", 1 - shortfall, low=0, above_low=True)
