"""What stores cost on their way to the L2, where sectors may be written in part."""

from __future__ import annotations

from perfmodel.engines.arithmetic import Number, maximum, minimum, require


def store_path_bytes(
    *,
    sectors: Number,
    lines: Number,
    written_bytes: Number,
    access_bytes: Number,
    sector_bytes: Number,
    overhead_bytes: Number,
) -> Number:
    """Bytes that the stores of a warp take up between its multiprocessor and the L2.

    Equation: ``s S + min(l, (s S - b) / max(S - a, 1)) o``: every sector is moved whole, and a
    line of which some sector is written in part needs room for which bytes are meant. A sector
    written in part lacks at most S - a bytes, which gives the least number of such sectors.

    Args:
        sectors: s, distinct sectors that are written [sectors], at least 0.
        lines: l, distinct lines they lie in [lines], at least 0.
        written_bytes: b, distinct bytes that are written [bytes], 0 to s S.
        access_bytes: a, what a lane writes [bytes], above 0.
        sector_bytes: S [bytes], above 0.
        overhead_bytes: o, what a line written in part costs beside its sectors [bytes], at least 0.

    Returns:
        The bytes [bytes]; amounts may be sums over many requests.

    Raises:
        ArgumentError: An argument is outside its range.

    Validity: measured on an H200 with o = 32 bytes: stores of 2 to 16 bytes a lane, lanes side by
    side or 32, 64 or 128 bytes apart, within 1 % from one multiprocessor and 8 % from all. Where
    lines written in part and whole ones are summed before the call, the least is a lower bound.

    Source: this project, validation/microbenchmarks/sectors.cu and h200_sectors.csv.

    Example:
        >>> side_by_side = dict(sectors=4, lines=1, written_bytes=128)
        >>> store_path_bytes(**side_by_side, access_bytes=4, sector_bytes=32, overhead_bytes=32)
        128.0
        >>> apart = dict(sectors=32, lines=32, written_bytes=128)  # a transposed store
        >>> store_path_bytes(**apart, access_bytes=4, sector_bytes=32, overhead_bytes=32)
        2048.0
    """
    require("sectors", sectors, low=0)
    require("lines", lines, low=0)
    require("written_bytes", written_bytes, low=0)
    require("access_bytes", access_bytes, low=0, above_low=True)
    require("sector_bytes", sector_bytes, low=0, above_low=True)
    require("overhead_bytes", overhead_bytes, low=0)
    moved = sectors * sector_bytes
    lacking = maximum(moved - written_bytes, 0) / maximum(sector_bytes - access_bytes, 1)
    return moved + minimum(lines, lacking) * overhead_bytes * 1.0
