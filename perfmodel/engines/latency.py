"""Latency: what it takes to keep a resource busy while answers are on their way.

Work comes in pieces (a block with its warps) that alternately wait and use a resource. One piece
alone takes its own time; enough of them keep the resource busy all the time, and then its speed is
all that counts. Little's law tells how many are enough; between the two asymptotes the time turns
smoothly, since pieces sometimes queue before the resource is saturated.
"""

from __future__ import annotations

from perfmodel.engines.arithmetic import Number, maximum, minimum, require


def concurrency(*, rate_per_s: Number, latency_s: Number) -> Number:
    """What must be under way at once so that a rate is kept up.

    Equation: ``N = X R`` (Little's law)

    Args:
        rate_per_s: X, completed in a second [1/s], such as bytes a second; at least 0.
        latency_s: R, from the start of one until it is done [s], at least 0.

    Returns:
        N, under way at once [-], in the unit of the rate times seconds, such as bytes.

    Raises:
        ArgumentError: An argument is outside its range.

    Validity: averages over a time that is long against the latency.

    Source: document 000, section 2.1 (warps that wait, bytes in flight); J. D. C. Little, A proof
    for the queuing formula L = lambda W, Operations Research 9 (1961) 383.

    Example:
        >>> concurrency(rate_per_s=1.6e12, latency_s=5e-7)  # 1.6 TB/s x 500 ns
        800000.0
    """
    require("rate_per_s", rate_per_s, low=0)
    require("latency_s", latency_s, low=0)
    return rate_per_s * latency_s


def latency_bound_time(*, pieces: Number, resident: Number, piece_time: Number) -> Number:
    """Time of many pieces of work of which so many are under way at once.

    Equation: ``ceil(pieces / resident) x t``

    Args:
        pieces: Pieces of work [-], at least 0.
        resident: Pieces under way at once [-], above 0.
        piece_time: t, time of a piece that has all for itself [any unit of time], at least 0.

    Returns:
        The time [unit of `piece_time`].

    Raises:
        ArgumentError: An argument is outside its range.

    Validity: pieces of equal length that start together; pieces that do not wait for one another.

    Source: document 000, section 2.1.

    Example:
        >>> latency_bound_time(pieces=100, resident=32, piece_time=5.0)  # 4 rounds
        20.0
    """
    from perfmodel.engines.arithmetic import ceil_divide

    require("pieces", pieces, low=0)
    require("resident", resident, low=0, above_low=True)
    require("piece_time", piece_time, low=0)
    return ceil_divide(pieces, resident) * piece_time


def blended_time(
    *, latency_time: Number, busy_time: Number, waiting_time: Number, sharpness: Number
) -> Number:
    """Time between the two asymptotes: bound by latency, and bound by a busy resource.

    Equation: ``min((L^n + B^n)^(1/n), W + B)``, computed with the greater of L and B taken out so
    that no power overflows

    Args:
        latency_time: L, time if nothing ever queued [any unit of time], at least 0.
        busy_time: B, time that the busiest resource is at work [same unit], at least 0.
        waiting_time: W, part of L in which that resource is not used [same unit], 0 to L.
        sharpness: n, how sharply one asymptote turns into the other [-], at least 1.

    Returns:
        The time [same unit], at least the greater of L and B where W + B is.

    Raises:
        ArgumentError: An argument is outside its range.

    Validity: W + B is the time if nothing overlapped, so no sharpness may exceed it; work that
    uses the resource all the time (W = 0) takes exactly B.

    Source: S. W. Churchill and R. Usagi, A general expression for the correlation of rates of
    transfer and other phenomena, AIChE Journal 18 (1972) 1121, equation 1, for the blend; P. J.
    Denning and J. P. Buzen, The operational analysis of queueing network models, ACM Computing
    Surveys 10 (1978) 225, for the asymptotes.

    Example:
        >>> blended_time(latency_time=3.0, busy_time=4.0, waiting_time=3.0, sharpness=2)
        5.0
        >>> blended_time(latency_time=3.0, busy_time=4.0, waiting_time=0.5, sharpness=2)
        4.5
    """
    require("latency_time", latency_time, low=0)
    require("busy_time", busy_time, low=0)
    require("waiting_time", waiting_time, low=0)
    require("sharpness", sharpness, low=1)
    greater = maximum(latency_time, busy_time)
    scale = maximum(greater, 1e-300)
    lesser = minimum(latency_time, busy_time)
    blended = greater * (1 + (lesser / scale) ** sharpness) ** (1 / sharpness)
    return maximum(minimum(blended, waiting_time + busy_time), greater)
