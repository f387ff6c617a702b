"""Reduction trees against running the loop of the kernel."""

import math
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from perfmodel.engines import reduction_tree
from perfmodel.errors import ArgumentError

powers = st.integers(0, 12).map(lambda exponent: 2**exponent)


def run_the_tree(threads: int, last_stride: int) -> tuple[int, int, int, list[int]]:
    """Sum ones in shared memory as a kernel does: loop steps, barriers, levels and distances."""
    values = [1] * threads
    barriers, steps, distances = 1, 0, []
    stride = threads // 2
    while stride >= last_stride:
        for tid in range(stride):
            values[tid] += values[tid + stride]
        distances.append(stride)
        barriers += 1
        steps += 1
        stride //= 2
    levels = steps
    while stride >= 1:  # what the loop leaves is added outside
        for tid in range(stride):
            values[tid] += values[tid + stride]
        levels += 1
        stride //= 2
    assert values[0] == threads
    return steps, barriers, levels, distances


@given(powers, st.sampled_from([1, 2, 4]))
def test_the_counts_equal_running_the_kernel(threads: int, last_stride: int) -> None:
    steps, barriers, levels, distances = run_the_tree(threads, last_stride)
    assert reduction_tree.tree_levels(values=threads) == levels
    assert reduction_tree.tree_strides(values=threads, last_stride=last_stride) == distances
    if last_stride <= threads:
        tree = {"threads": threads, "last_stride": last_stride}
        assert reduction_tree.tree_loop_steps(**tree) == steps
        assert reduction_tree.tree_barriers(**tree) == barriers


def test_the_document_s_trees() -> None:
    # Claims reduce-tree-steps and reduce-shared-bytes.
    blocks = [1024, 512]
    steps = [reduction_tree.tree_loop_steps(threads=n, last_stride=2) for n in blocks]
    barriers = [reduction_tree.tree_barriers(threads=n, last_stride=2) for n in blocks]
    levels = [reduction_tree.tree_levels(values=n) for n in blocks]
    assert (steps, levels, barriers) == ([9, 8], [10, 9], [10, 9])
    shared = [reduction_tree.tree_shared_bytes(values=n, element_bytes=4) for n in blocks]
    assert shared == [4096, 2048]


def test_shuffles_of_a_warp() -> None:
    # Claims reduce-shuffle-steps and softmax-shuffle-steps, and erratum-shuffle-offset.
    assert [reduction_tree.tree_levels(values=width) for width in (32, 64)] == [5, 6]
    assert reduction_tree.tree_strides(values=32) == [16, 8, 4, 2, 1]
    offsets = reduction_tree.tree_strides(values=64)
    assert offsets == [32, 16, 8, 4, 2, 1]
    assert sum(offset >= 32 for offset in offsets) == 1


def test_arrays_go_element_by_element() -> None:
    sizes = 2 ** np.arange(2, 12)
    numbers = sizes.tolist()
    np.testing.assert_array_equal(
        reduction_tree.tree_levels(values=sizes),
        [reduction_tree.tree_levels(values=n) for n in numbers],
    )
    np.testing.assert_array_equal(
        reduction_tree.tree_barriers(threads=sizes, last_stride=2),
        [reduction_tree.tree_barriers(threads=n, last_stride=2) for n in numbers],
    )
    np.testing.assert_array_equal(
        reduction_tree.tree_shared_bytes(values=sizes, element_bytes=4), 4 * sizes
    )


def test_symbols_give_the_formula() -> None:
    n, size = sympy.symbols("n s", positive=True, integer=True)
    assert reduction_tree.tree_levels(values=n) == sympy.log(n, 2)
    steps = reduction_tree.tree_loop_steps(threads=n, last_stride=2)
    assert sympy.simplify(steps - (sympy.log(n, 2) - 1)) == 0
    assert float(steps.subs(n, 1024)) == pytest.approx(9, rel=1e-12)
    barriers = reduction_tree.tree_barriers(threads=n, last_stride=2)
    assert sympy.simplify(barriers - sympy.log(n, 2)) == 0
    assert reduction_tree.tree_shared_bytes(values=n, element_bytes=size) == n * size


@pytest.mark.parametrize("bad", [0, -2, 3, 48, 1.5, math.nan, math.inf, "32", True, None])
def test_what_is_no_power_of_two_is_refused(bad: Any) -> None:
    message = f"is {bad!r}: it must be"
    with pytest.raises(ArgumentError, match=f"^values {message}"):
        reduction_tree.tree_levels(values=bad)
    with pytest.raises(ArgumentError, match=f"^values {message}"):
        reduction_tree.tree_strides(values=bad)
    with pytest.raises(ArgumentError, match=f"^last_stride {message}"):
        reduction_tree.tree_strides(values=32, last_stride=bad)
    for law in (reduction_tree.tree_loop_steps, reduction_tree.tree_barriers):
        with pytest.raises(ArgumentError, match=f"^threads {message}"):
            law(threads=bad, last_stride=2)
        with pytest.raises(ArgumentError, match=f"^last_stride {message}"):
            law(threads=1024, last_stride=bad)


def test_an_array_with_one_that_is_no_power_is_refused() -> None:
    with pytest.raises(ArgumentError, match="it must be a power of two"):
        reduction_tree.tree_levels(values=np.array([4, 6]))


def test_a_loop_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(ArgumentError, match="last_stride is 8: it must be at most threads, 4"):
        reduction_tree.tree_loop_steps(threads=4, last_stride=8)


@pytest.mark.parametrize("bad", [0, -1, 1.5, math.nan, math.inf, "4", True])
@pytest.mark.parametrize("name", ["values", "element_bytes"])
def test_bytes_of_what_cannot_be_are_refused(name: str, bad: Any) -> None:
    arguments: dict[str, Any] = {"values": 4, "element_bytes": 4, name: bad}
    with pytest.raises(ArgumentError, match=f"^{name} is {bad!r}"):
        reduction_tree.tree_shared_bytes(**arguments)
