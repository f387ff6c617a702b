"""Reduction trees: how many steps, barriers and bytes a block spends on summing its values.

Pairs are added, then pairs of pairs: n values, a power of two, are one after log2(n) levels. Where
the values are held decides the price of a level.

In shared memory a level costs a load, an addition, a store and a barrier for the whole block. The
usual loop halves the distance s between partners and may stop early, at s = 2, with the last
addition written out by the one thread that stores the result: 1024 threads then take 9 steps and
10 levels, and one barrier more than steps, as the values must be there before the first.

Within a warp the partners are lanes, and a shuffle hands the value over without memory and
without a barrier: 5 steps for 32 lanes, 6 for 64.
"""

from perfmodel.engines.arithmetic import Number, is_array, is_symbolic, require
from perfmodel.errors import ArgumentError


def tree_levels(*, values: Number) -> Number:
    """Levels of a tree that sums values in pairs; in a warp, its shuffle steps.

    Equation: ``log2(values)``

    Args:
        values: How many are summed: threads of a block, lanes of a warp [-], a power of two.

    Returns:
        Levels [-].

    Raises:
        ArgumentError: `values` is not a power of two.

    Source: document 000, section 5 Reduce, steps 1 and 2.

    Example:
        >>> tree_levels(values=32)  # 16, 8, 4, 2, 1
        5
    """
    _require_power_of_two("values", values)
    if is_symbolic(values):
        import sympy

        return sympy.log(values, 2)
    if is_array(values):
        import numpy as np

        return np.log2(values).astype(np.int64)
    return int(values).bit_length() - 1


def tree_strides(*, values: int, last_stride: int = 1) -> list[int]:
    """Distances between partners, step by step, of a loop that halves them.

    Equation: ``values / 2, values / 4, ..., last_stride``

    Args:
        values: How many are summed: threads of a block, lanes of a warp [-], a power of two.
        last_stride: The distance at which the loop ends [-], a power of two; 1 does every level.

    Returns:
        The distances [-]: the offsets of the shuffles in a warp. Empty where `values` is too few.

    Raises:
        ArgumentError: An argument is not a power of two.

    Source: document 000, section 5 Reduce, steps 1 and 2; document 002, section 6.1.

    Example:
        >>> tree_strides(values=32)
        [16, 8, 4, 2, 1]
        >>> tree_strides(values=16, last_stride=2)
        [8, 4, 2]
    """
    _require_power_of_two("values", values)
    _require_power_of_two("last_stride", last_stride)
    strides = []
    stride = int(values) // 2
    while stride >= last_stride:
        strides.append(stride)
        stride //= 2
    return strides


def tree_loop_steps(*, threads: Number, last_stride: Number) -> Number:
    """Steps of the loop of a shared-memory tree that ends at a given distance.

    Equation: ``log2(threads) - log2(last_stride)``

    Args:
        threads: Threads of the block, one value each [-], a power of two.
        last_stride: The distance at which the loop ends [-], a power of two, at most `threads`.

    Returns:
        Steps [-]; the levels that are left are done outside the loop.

    Raises:
        ArgumentError: An argument is not a power of two, or `last_stride` exceeds `threads`.

    Source: document 000, section 5 Reduce, step 1.

    Example:
        >>> tree_loop_steps(threads=1024, last_stride=2)  # 10 - 1
        9
    """
    _require_power_of_two("threads", threads)
    _require_power_of_two("last_stride", last_stride)
    if not (is_symbolic(threads) or is_symbolic(last_stride)):
        too_far = last_stride > threads
        if too_far.any() if is_array(too_far) else too_far:
            raise ArgumentError(
                f"last_stride is {last_stride}: it must be at most threads, {threads}"
            )
    return tree_levels(values=threads) - tree_levels(values=last_stride)


def tree_barriers(*, threads: Number, last_stride: Number) -> Number:
    """Barriers of a shared-memory tree: one once the values are stored and one a step.

    Equation: ``1 + log2(threads) - log2(last_stride)``

    Args:
        threads: Threads of the block, one value each [-], a power of two.
        last_stride: The distance at which the loop ends [-], a power of two, at most `threads`.

    Returns:
        Barriers [-].

    Raises:
        ArgumentError: As `tree_loop_steps`.

    Validity: a barrier every step; a tree that drops them inside the last warp has fewer.

    Source: document 000, section 5 Reduce, step 1.

    Example:
        >>> tree_barriers(threads=1024, last_stride=2)
        10
    """
    return 1 + tree_loop_steps(threads=threads, last_stride=last_stride)


def tree_shared_bytes(*, values: Number, element_bytes: Number) -> Number:
    """Shared memory of a tree.

    Equation: ``values element_bytes``

    Args:
        values: Values kept in shared memory [-], at least 1: one a thread, or one a warp where
            the warps reduce by shuffles first.
        element_bytes: Size of a value [bytes], a whole number of at least 1.

    Returns:
        Shared memory of a block [bytes].

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Source: document 000, section 5 Reduce, step 1.

    Example:
        >>> tree_shared_bytes(values=1024, element_bytes=4)
        4096
    """
    require("values", values, low=1, whole=True)
    require("element_bytes", element_bytes, low=1, whole=True)
    return values * element_bytes


def _require_power_of_two(name: str, value: Number) -> None:
    require(name, value, low=1, whole=True)
    if is_symbolic(value):
        return
    number: Number = value.astype("int64") if is_array(value) else int(value)
    other_bits = number & (number - 1)
    if other_bits.any() if is_array(other_bits) else other_bits:
        raise ArgumentError(f"{name} is {value}: it must be a power of two")
