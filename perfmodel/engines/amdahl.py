"""Amdahl's law: what is gained when part of the work becomes faster.

If a share P of the time is sped up by N, the rest stays, so

    speed-up = 1 / ((1 - P) + P / N)

and however large N grows, the speed-up stays below 1 / (1 - P). Example: 80 % of a program
made infinitely fast gives 1 / 0.2 = 5. The law answers "is this worth doing" before anything is
written: a kernel that takes 8 % of a step cannot save more than 8 % of it.

Gustafson's law is the same arithmetic for a problem that grows with the machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from perfmodel.engines.arithmetic import Number, require
from perfmodel.errors import ArgumentError


def speedup(*, parallel_fraction: Number, part_speedup: Number) -> Number:
    """Speed-up of the whole when a part of it is sped up.

    Equation: ``1 / (1 - P + P / N)``

    Args:
        parallel_fraction: P, the share of the original time that is sped up [-], 0 to 1.
        part_speedup: N, the speed-up of that share [-], above 0; may be infinite.

    Returns:
        The speed-up of the whole [-]; infinite where P is 1 and N is.

    Raises:
        ArgumentError: P is outside 0 to 1, or N is not above 0.

    Validity: the other part must be untouched, so a change of shared resources (cache, clock)
    is outside the law.

    Source: G. M. Amdahl, AFIPS Spring Joint Computer Conference, 1967; document 000, section 1.1.

    Example:
        >>> speedup(parallel_fraction=0.8, part_speedup=4)  # 1 / (0.2 + 0.2)
        2.5
        >>> round(speedup(parallel_fraction=0.8, part_speedup=float("inf")), 12)
        5.0
    """
    require("parallel_fraction", parallel_fraction, low=0, high=1)
    require("part_speedup", part_speedup, low=0, above_low=True, finite=False)
    return _reciprocal(1 - parallel_fraction + parallel_fraction / part_speedup)


def speedup_limit(*, parallel_fraction: Number) -> Number:
    """Speed-up that no speed-up of the part can exceed.

    Equation: ``1 / (1 - P)``

    Args:
        parallel_fraction: P, the share of the original time that is sped up [-], 0 to 1.

    Returns:
        The limit [-]; infinite where P is 1.

    Raises:
        ArgumentError: P is outside 0 to 1.

    Source: document 000, section 1.1.

    Example:
        >>> speedup_limit(parallel_fraction=0.75)  # 1 / 0.25
        4.0
    """
    require("parallel_fraction", parallel_fraction, low=0, high=1)
    return _reciprocal(1 - parallel_fraction)


def fraction_needed(*, target_speedup: Number, part_speedup: Number) -> Number:
    """Share of the time that must be sped up by N to reach a target.

    Equation: ``(1 - 1 / S) / (1 - 1 / N)``, Amdahl's law solved for P.

    Args:
        target_speedup: S, the speed-up wanted of the whole [-], at least 1.
        part_speedup: N, the speed-up of the part [-], above 1; may be infinite.

    Returns:
        P [-]; above 1 where the target is beyond N, so that nothing reaches it.

    Raises:
        ArgumentError: S is below 1, or N is not above 1.

    Source: document 000, section 1.1, solved for P.

    Example:
        >>> round(fraction_needed(target_speedup=2.5, part_speedup=4), 12)  # 0.6 / 0.75
        0.8
    """
    require("target_speedup", target_speedup, low=1)
    require("part_speedup", part_speedup, low=1, above_low=True, finite=False)
    return (1 - 1 / target_speedup) / (1 - 1 / part_speedup)


def scaled_speedup(*, parallel_fraction: Number, processors: Number) -> Number:
    """Gustafson's law: speed-up of a problem that grows with the machine.

    Equation: ``(1 - P) + P N``

    Args:
        parallel_fraction: P, the share of the time *on N processors* that is parallel [-], 0 to 1.
        processors: N, how many processors share the parallel part [-], at least 1.

    Returns:
        How much more work is done in the same time than by one processor [-].

    Raises:
        ArgumentError: P is outside 0 to 1, or N is below 1.

    Source: J. L. Gustafson, Communications of the ACM 31(5), 1988.

    Example:
        >>> round(scaled_speedup(parallel_fraction=0.8, processors=10), 12)  # 0.2 + 8
        8.2
    """
    require("parallel_fraction", parallel_fraction, low=0, high=1)
    require("processors", processors, low=1)
    return 1 - parallel_fraction + parallel_fraction * processors


@dataclass(frozen=True, kw_only=True)
class PartGain:
    """What one part contributes: its index, its share of the time and what is left to gain."""

    part: int
    fraction: float
    fraction_after: float
    speedup_if_alone: float
    speedup_limit: float


def speedup_of_parts(*, fractions: Sequence[Number], part_speedups: Sequence[Number]) -> Number:
    """Speed-up when several parts are sped up, each by its own factor.

    Equation: ``1 / (1 - sum(P_i) + sum(P_i / N_i))``

    Args:
        fractions: P_i, the shares of the original time [-], each 0 to 1, together at most 1.
        part_speedups: N_i, the speed-up of each share [-], above 0; may be infinite.

    Returns:
        The speed-up of the whole [-].

    Raises:
        ArgumentError: The two sequences differ in length, a share is outside 0 to 1, the shares
            exceed 1, or a speed-up is not above 0.

    Source: Amdahl's law for disjoint parts; document 000, section 1.1 (find the largest part
    again after each change).

    Example:
        >>> speedup_of_parts(fractions=[0.5, 0.25], part_speedups=[2, 5])  # 1 / (.25 + .25 + .05)
        1.8181818181818181
    """
    _require_parts(fractions, part_speedups)
    remaining: Number = 1 - sum(fractions)
    if isinstance(remaining, float):
        remaining = max(remaining, 0.0)  # shares that add up to 1 but for rounding
    return _reciprocal(
        remaining + sum(p / n for p, n in zip(fractions, part_speedups, strict=True))
    )


def what_to_attack_first(
    *, fractions: Sequence[float], part_speedups: Sequence[float]
) -> list[PartGain]:
    """Parts ordered by what each would bring alone, the most rewarding first.

    Equation: ``1 / (1 - P_i + P_i / N_i)`` for each part, and its limit ``1 / (1 - P_i)``.

    Args:
        fractions: P_i, the shares of the original time [-], each 0 to 1, together at most 1.
        part_speedups: N_i, what is thought possible for each part [-], above 0.

    Returns:
        One record a part; `fraction_after` is the part's share of the time [-] once all the
        speed-ups are in place: the bottleneck that is left.

    Raises:
        ArgumentError: As `speedup_of_parts`.

    Source: document 000, section 1.1.

    Example:
        >>> gains = what_to_attack_first(fractions=[0.5, 0.25], part_speedups=[2, 5])
        >>> [(g.part, round(g.speedup_if_alone, 4)) for g in gains]
        [(0, 1.3333), (1, 1.25)]
    """
    total = speedup_of_parts(fractions=fractions, part_speedups=part_speedups)
    gains = [
        PartGain(
            part=index,
            fraction=fraction,
            fraction_after=fraction / factor * total if fraction else 0.0,
            speedup_if_alone=speedup(parallel_fraction=fraction, part_speedup=factor),
            speedup_limit=speedup_limit(parallel_fraction=fraction),
        )
        for index, (fraction, factor) in enumerate(zip(fractions, part_speedups, strict=True))
    ]
    return sorted(gains, key=lambda gain: gain.speedup_if_alone, reverse=True)


def _reciprocal(time: Number) -> Number:
    """1 / time, infinite where nothing is left of the time."""
    if isinstance(time, int | float):
        return 1 / time if time else float("inf")
    return 1 / time


def _require_parts(fractions: Sequence[Number], part_speedups: Sequence[Number]) -> None:
    if len(fractions) != len(part_speedups):
        raise ArgumentError(
            f"{len(fractions)} fractions and {len(part_speedups)} part_speedups: "
            "give one speed-up for each fraction"
        )
    for fraction, factor in zip(fractions, part_speedups, strict=True):
        require("fractions", fraction, low=0, high=1)
        require("part_speedups", factor, low=0, above_low=True, finite=False)
    require("the sum of fractions", sum(fractions), low=0, high=1 + 1e-12)
