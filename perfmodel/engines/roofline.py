"""The roofline: what a kernel can attain, given how much it computes for every byte it moves.

With a peak pi [FLOP/s], a bandwidth beta [bytes/s] and an operational intensity I [FLOP/byte] at
the memory level that beta belongs to,

    attainable = min(pi, beta x I)

The two meet at the ridge point pi / beta. Left of it a kernel is bound by memory and gains only
by moving fewer bytes or by more bandwidth; right of it only by more arithmetic throughput. Worked
by hand, a peak of 20 TFLOP/s over 1 TB/s has its ridge at 20 FLOP/byte, so a matrix-vector
product with 0.5 FLOP/byte attains 0.5 TFLOP/s, a fortieth of the peak.

Each memory level and each pipe has a ceiling of its own, and the lowest over all of them holds.
The bytes must be those of the level: the same kernel has one intensity at DRAM and another at L1.
"""

from perfmodel.engines.arithmetic import Number, maximum, minimum, require


def attainable(
    *,
    peak_flop_per_s: Number,
    bandwidth_bytes_per_s: Number,
    intensity_flop_per_byte: Number,
) -> Number:
    """Highest performance under one peak and one bandwidth.

    Equation: ``min(pi, beta x I)``

    Args:
        peak_flop_per_s: pi, the peak of the pipe [FLOP/s], above 0.
        bandwidth_bytes_per_s: beta, the bandwidth of the level [bytes/s], above 0.
        intensity_flop_per_byte: I, FLOP for each byte moved at the level [FLOP/byte], at least 0.

    Returns:
        Attainable performance [FLOP/s].

    Raises:
        ArgumentError: An argument is outside its range.

    Validity: an upper bound; latency, launch costs and the last wave of blocks are left out.

    Source: S. Williams, A. Waterman, D. Patterson, Communications of the ACM 52(4), 2009;
    document 000, section 1.2.

    Example:
        >>> attainable(peak_flop_per_s=20e12, bandwidth_bytes_per_s=1e12,
        ...            intensity_flop_per_byte=0.5)
        500000000000.0
    """
    require("peak_flop_per_s", peak_flop_per_s, low=0, above_low=True)
    require("bandwidth_bytes_per_s", bandwidth_bytes_per_s, low=0, above_low=True)
    require("intensity_flop_per_byte", intensity_flop_per_byte, low=0, finite=False)
    return minimum(peak_flop_per_s, bandwidth_bytes_per_s * intensity_flop_per_byte)


def ridge_point(*, peak_flop_per_s: Number, bandwidth_bytes_per_s: Number) -> Number:
    """Intensity at which a peak and a bandwidth meet.

    Equation: ``pi / beta``

    Args:
        peak_flop_per_s: pi, the peak of the pipe [FLOP/s], above 0.
        bandwidth_bytes_per_s: beta, the bandwidth of the level [bytes/s], above 0.

    Returns:
        The ridge point [FLOP/byte].

    Raises:
        ArgumentError: An argument is outside its range.

    Source: document 000, section 1.2.

    Example:
        >>> ridge_point(peak_flop_per_s=20e12, bandwidth_bytes_per_s=1e12)
        20.0
    """
    require("peak_flop_per_s", peak_flop_per_s, low=0, above_low=True)
    require("bandwidth_bytes_per_s", bandwidth_bytes_per_s, low=0, above_low=True)
    return peak_flop_per_s / bandwidth_bytes_per_s


def intensity(*, flop: Number, moved_bytes: Number) -> Number:
    """Operational intensity at a memory level.

    Equation: ``FLOP / bytes``

    Args:
        flop: Floating-point operations, an FMA counted as two [FLOP], at least 0.
        moved_bytes: Bytes moved at the level [bytes], above 0.

    Returns:
        Intensity [FLOP/byte].

    Raises:
        ArgumentError: An argument is outside its range.

    Source: document 000, section 1.2.

    Example:
        >>> intensity(flop=1, moved_bytes=12) == 1 / 12  # one fp32 addition: two reads, one write
        True
    """
    require("flop", flop, low=0)
    require("moved_bytes", moved_bytes, low=0, above_low=True)
    return flop / moved_bytes


def peak(*, units: Number, flop_per_cycle_per_unit: Number, clock_hz: Number) -> Number:
    """Peak of a pipe from what it is made of.

    Equation: ``units x FLOP per cycle x clock``

    Args:
        units: How many units work side by side [-], at least 1.
        flop_per_cycle_per_unit: FLOP that a unit does in a cycle [FLOP/cycle], above 0.
        clock_hz: Clock [Hz], above 0.

    Returns:
        Peak [FLOP/s].

    Raises:
        ArgumentError: An argument is outside its range.

    Source: document 000, section 1.2 (8 FLOP a cycle at 3 GHz).

    Example:
        >>> peak(units=1, flop_per_cycle_per_unit=8, clock_hz=3e9)
        24000000000.0
    """
    require("units", units, low=1)
    require("flop_per_cycle_per_unit", flop_per_cycle_per_unit, low=0, above_low=True)
    require("clock_hz", clock_hz, low=0, above_low=True)
    return units * flop_per_cycle_per_unit * clock_hz


def least_time(
    *,
    flop: Number,
    peak_flop_per_s: Number,
    moved_bytes: Number,
    bandwidth_bytes_per_s: Number,
) -> Number:
    """Least time under one peak and one bandwidth.

    Equation: ``max(FLOP / pi, bytes / beta)``

    Args:
        flop: Floating-point operations [FLOP], at least 0.
        peak_flop_per_s: pi, the peak of the pipe [FLOP/s], above 0.
        moved_bytes: Bytes moved at the level [bytes], at least 0.
        bandwidth_bytes_per_s: beta, the bandwidth of the level [bytes/s], above 0.

    Returns:
        Time [s].

    Raises:
        ArgumentError: An argument is outside its range.

    Source: document 000, section 1.2: FLOP / attainable.

    Example:
        >>> least_time(flop=2e12, peak_flop_per_s=20e12, moved_bytes=4e12,
        ...            bandwidth_bytes_per_s=1e12)
        4.0
    """
    require("flop", flop, low=0)
    require("peak_flop_per_s", peak_flop_per_s, low=0, above_low=True)
    require("moved_bytes", moved_bytes, low=0)
    require("bandwidth_bytes_per_s", bandwidth_bytes_per_s, low=0, above_low=True)
    return maximum(flop / peak_flop_per_s, moved_bytes / bandwidth_bytes_per_s)


def share_of_roof(*, achieved_flop_per_s: Number, attainable_flop_per_s: Number) -> Number:
    """Share of the roof that a measured performance reaches.

    Equation: ``achieved / attainable``

    Args:
        achieved_flop_per_s: Measured performance [FLOP/s], at least 0.
        attainable_flop_per_s: The roof at the kernel's intensity [FLOP/s], above 0.

    Returns:
        Share [-]; above 1 where the roof, or the count of bytes, is wrong.

    Raises:
        ArgumentError: An argument is outside its range.

    Source: document 000, section 1.2.

    Example:
        >>> share_of_roof(achieved_flop_per_s=0.4e12, attainable_flop_per_s=0.5e12)
        0.8
    """
    require("achieved_flop_per_s", achieved_flop_per_s, low=0)
    require("attainable_flop_per_s", attainable_flop_per_s, low=0, above_low=True)
    return achieved_flop_per_s / attainable_flop_per_s
