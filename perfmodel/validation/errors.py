"""How far predictions lie from measurements: the few statistics that are published."""

from __future__ import annotations

from math import ceil, exp, log
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def relative_error(*, predicted: float, measured: float) -> float:
    """The error of a prediction as a share of what was measured.

    Equation: ``|p / m - 1|``

    Args:
        predicted: p, in any unit.
        measured: m, in the same unit, above 0.

    Returns:
        The error [-].

    Example:
        >>> relative_error(predicted=10.0, measured=8.0)
        0.25
    """
    return abs(predicted / measured - 1)


def factor_apart(*, predicted: float, measured: float) -> float:
    """How many times too slow or too fast a prediction is, whichever is above 1.

    Equation: ``exp |ln (p / m)|``

    Args:
        predicted: p, in any unit, above 0.
        measured: m, in the same unit, above 0.

    Returns:
        The factor [-], at least 1.

    Example:
        >>> factor_apart(predicted=5.0, measured=10.0)
        2.0
    """
    return exp(abs(log(predicted / measured)))


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which so large a share lies: of the sorted values, the nearest rank.

    Args:
        values: At least one.
        share: 0 to 1.

    Returns:
        One of the values; for a half, the mean of the two in the middle of an even number.

    Example:
        >>> quantile([4.0, 1.0, 2.0, 3.0], 0.5), quantile(range(1, 11), 0.9)
        (2.5, 9)
    """
    if share == 0.5:
        return median(values)
    ordered = sorted(values)
    return ordered[max(ceil(len(ordered) * share) - 1, 0)]


def kendall_tau(pairs: Sequence[tuple[float, float]]) -> float:
    """Whether two rankings agree: 1 where every pair does, -1 where every pair is turned round.

    Equation: ``(agreeing - others) / all``, over pairs that were measured to differ

    Args:
        pairs: The two numbers of each thing that is ranked.

    Returns:
        Kendall's tau [-]; 1 where nothing differs.

    Source: M. G. Kendall, A new measure of rank correlation, Biometrika 30 (1938) 81.

    Example:
        >>> kendall_tau([(1, 10), (2, 30), (3, 20)])  # of three pairs one is turned round
        0.3333333333333333
    """
    agreeing, apart = order_of_pairs(pairs, least=0.0)
    return (2 * agreeing - apart) / apart if apart else 1.0


def order_of_pairs(pairs: Sequence[tuple[float, float]], *, least: float) -> tuple[int, int]:
    """Pairs ordered alike by both numbers, of those that differ enough in the second.

    Args:
        pairs: A predicted and a measured number of each thing.
        least: By how large a share of the lesser the measured ones differ at least.

    Returns:
        Those ordered alike, and all that differ so much.

    Example:
        >>> order_of_pairs([(1.0, 10.0), (2.0, 10.1), (3.0, 20.0)], least=0.05)
        (2, 2)
    """
    alike = every = 0
    for place, (first, first_measured) in enumerate(pairs):
        for second, second_measured in pairs[place + 1 :]:
            low, high = sorted((first_measured, second_measured))
            if high <= low * (1 + least):
                continue
            every += 1
            alike += (first - second) * (first_measured - second_measured) > 0
    return alike, every
