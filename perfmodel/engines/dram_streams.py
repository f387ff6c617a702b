"""Device memory that is read and written at the same time."""

from __future__ import annotations

from perfmodel.engines.arithmetic import Number, maximum, minimum, require


def streaming_time(
    *,
    read_bytes: Number,
    written_bytes: Number,
    copy_bandwidth_bytes_per_s: Number,
    read_bandwidth_bytes_per_s: Number,
    write_bandwidth_bytes_per_s: Number,
) -> Number:
    """Time that the DRAM needs for a mix of reads and writes.

    Equation: ``2 min(r, w) / C + max(r - w, 0) / R + max(w - r, 0) / W``: as much as is both read
    and written goes at the rate of a copy, which turns the bus around; the rest at the rate of its
    direction.

    Args:
        read_bytes: r [bytes], at least 0.
        written_bytes: w [bytes], at least 0.
        copy_bandwidth_bytes_per_s: C, of a copy, both directions counted [B/s], above 0.
        read_bandwidth_bytes_per_s: R, of reading alone [B/s], above 0.
        write_bandwidth_bytes_per_s: W, of writing alone [B/s], above 0.

    Returns:
        The time [s].

    Raises:
        ArgumentError: An argument is outside its range.

    Validity: streams far larger than the caches. On an H200 it is 2 % slow for two arrays read and
    one written and 3 % for three and one (validation/microbenchmarks/h200_streams.csv).

    Source: this project, validation/microbenchmarks/streams.cu.

    Example:
        >>> rates = dict(copy_bandwidth_bytes_per_s=4e12, read_bandwidth_bytes_per_s=4.5e12,
        ...              write_bandwidth_bytes_per_s=4.5e12)
        >>> streaming_time(read_bytes=4e9, written_bytes=4e9, **rates)
        0.002
        >>> streaming_time(read_bytes=9e9, written_bytes=0, **rates)
        0.002
    """
    require("read_bytes", read_bytes, low=0)
    require("written_bytes", written_bytes, low=0)
    for name, rate in (
        ("copy_bandwidth_bytes_per_s", copy_bandwidth_bytes_per_s),
        ("read_bandwidth_bytes_per_s", read_bandwidth_bytes_per_s),
        ("write_bandwidth_bytes_per_s", write_bandwidth_bytes_per_s),
    ):
        require(name, rate, low=0, above_low=True)
    return (
        2.0 * minimum(read_bytes, written_bytes) / copy_bandwidth_bytes_per_s
        + maximum(read_bytes - written_bytes, 0) / read_bandwidth_bytes_per_s
        + maximum(written_bytes - read_bytes, 0) / write_bandwidth_bytes_per_s
    )
