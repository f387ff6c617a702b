"""Addresses of a warp's lanes against walking the threads of a block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfmodel.analyses.warp_access import ELEMENT_BYTES, MOST_ACCESSES, warp_access
from perfmodel.device.loading import device_names, load_device
from perfmodel.errors import ArgumentError, DataError
from perfmodel.expressions import ExpressionError

shapes = st.one_of(
    st.tuples(st.integers(1, 1024)),
    st.tuples(st.integers(1, 32), st.integers(1, 32)),
    st.tuples(st.integers(1, 10), st.integers(1, 10), st.integers(1, 10)),
)
SUM = "threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z"


def threads_of(shape: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """The threads of a block in the order in which they fill warps: x runs fastest."""
    x, y, z = (*shape, 1, 1)[:3]
    return [(i, j, k) for k in range(z) for j in range(y) for i in range(x)]


@settings(deadline=None)
@given(st.sampled_from(["h100", "mi300x"]), shapes, st.integers(0, 31))
def test_threads_fill_warps_with_x_fastest(name: str, shape: tuple[int, ...], warp: int) -> None:
    device = load_device(name)
    width = device.warp_width.whole
    threads = threads_of(shape)
    warps = -(-len(threads) // width)
    warp %= warps
    access = warp_access(device, index=SUM, element_bytes=4, block=shape, warp=warp, base_bytes=12)
    for lane in range(width):
        thread = warp * width + lane
        assert access.active[lane] == (thread < len(threads))
        if thread < len(threads):
            x, y, z = threads[thread]
            assert access.addresses[lane] == (x + 100 * y + 10000 * z) * 4 + 12


@pytest.mark.parametrize("name", device_names())
def test_one_warp_is_the_default_block(name: str) -> None:
    device = load_device(name)
    access = warp_access(device, index="threadIdx.x * blockDim.x", element_bytes=1)
    width = device.warp_width.whole
    assert access.addresses.tolist() == [lane * width for lane in range(width)]
    assert access.active.all()
    assert access.element_bytes == 1


def test_names_of_block_grid_and_warp() -> None:
    device = load_device("mi300x")
    access = warp_access(
        device,
        index="blockIdx.x * blockDim.x + gridDim.x * 1000 + blockDim.y * 100 + warpSize",
        element_bytes=1,
        block=(64, 2),
        parameters={"blockIdx.x": 3, "gridDim.x": 7},
    )
    assert set(access.addresses.tolist()) == {3 * 64 + 7000 + 200 + 64}


def test_each_parameter_with_several_values_has_an_axis() -> None:
    device = load_device("h100")
    access = warp_access(
        device,
        index="a * 1000 + b * 100 + c + threadIdx.x",
        element_bytes=1,
        parameters={"a": [1, 2], "b": 5, "c": range(3)},
    )
    assert access.addresses.shape == (2, 3, 32)
    for i, a in enumerate((1, 2)):
        for j in range(3):
            expected = [a * 1000 + 500 + j + lane for lane in range(32)]
            assert access.addresses[i, j].tolist() == expected


class TestWhoTakesPart:
    """Predicates, counts and flags."""

    device = load_device("h100")

    @pytest.mark.parametrize(
        ("active", "expected"),
        [
            (None, range(32)),
            ("threadIdx.x % 3 == 1", range(1, 32, 3)),
            ("threadIdx.x & 4", [lane for lane in range(32) if lane & 4]),
            (5, range(5)),
            (0, ()),
            (32, range(32)),
            ([lane == 7 for lane in range(32)], [7]),
        ],
    )
    def test_in_every_form(self, active: Any, expected: Any) -> None:
        access = warp_access(self.device, index="threadIdx.x", element_bytes=4, active=active)
        assert np.flatnonzero(access.active).tolist() == list(expected)

    def test_flags_for_each_access(self) -> None:
        flags = np.array([[True] * 32, [False] * 32])
        access = warp_access(self.device, index="threadIdx.x", element_bytes=4, active=flags)
        np.testing.assert_array_equal(access.active, flags)

    def test_a_lane_that_takes_no_part_may_point_anywhere(self) -> None:
        access = warp_access(
            self.device,
            index="(int)threadIdx.x - 5",
            element_bytes=4,
            active="threadIdx.x >= 5",
        )
        assert access.addresses[access.active].min() == 0
        assert access.addresses.min() == 0

    @pytest.mark.parametrize("active", [-1, 33])
    def test_a_count_beyond_the_lanes(self, active: int) -> None:
        with pytest.raises(ArgumentError, match=f"active is {active}: there are 32 lanes"):
            warp_access(self.device, index="threadIdx.x", element_bytes=4, active=active)

    @pytest.mark.parametrize("active", [[True], [1] * 32, np.ones(32), True])
    def test_flags_of_another_form(self, active: Any) -> None:
        with pytest.raises(ArgumentError, match=r"active has shape .*: give 32 flags"):
            warp_access(self.device, index="threadIdx.x", element_bytes=4, active=active)


class TestGivenIndices:
    """Integers for each lane instead of an expression."""

    device = load_device("h100")

    def test_any_number_of_axes_before_the_lanes(self) -> None:
        indices = np.arange(2 * 3 * 32).reshape(2, 3, 32)
        access = warp_access(self.device, index=indices, element_bytes=8, base_bytes=1)
        np.testing.assert_array_equal(access.addresses, indices * 8 + 1)

    def test_fewer_lanes_than_the_warp(self) -> None:
        access = warp_access(self.device, index=[4, 2], element_bytes=4)
        assert access.addresses.tolist() == [16, 8]

    def test_lanes_beyond_the_block_take_no_part(self) -> None:
        access = warp_access(self.device, index=list(range(32)), element_bytes=4, block=(20,))
        assert access.active.sum() == 20

    @pytest.mark.parametrize(
        "index", [[1.5] * 32, [True] * 32, list(range(33)), [], np.array(3), np.array(["a"])]
    )
    def test_what_is_no_index(self, index: Any) -> None:
        with pytest.raises(ArgumentError, match="index is an array of"):
            warp_access(self.device, index=index, element_bytes=4)


class TestBadInput:
    """What no access has is refused."""

    device = load_device("h100")

    @pytest.mark.parametrize("size", [0, -1, 3, 12, 256, 4.0, True, "4"])
    def test_element_bytes(self, size: Any) -> None:
        with pytest.raises(ArgumentError, match="element_bytes is"):
            warp_access(self.device, index="0", element_bytes=size)

    @pytest.mark.parametrize("base", [-1, 1.5, True])
    def test_base_bytes(self, base: Any) -> None:
        with pytest.raises(ArgumentError, match="base_bytes is"):
            warp_access(self.device, index="0", element_bytes=4, base_bytes=base)

    @pytest.mark.parametrize("block", [(0,), (32, -1), (2, 2, 2, 2), (1.5,)])
    def test_block(self, block: Any) -> None:
        with pytest.raises(ArgumentError, match="block is"):
            warp_access(self.device, index="0", element_bytes=4, block=block)

    def test_a_block_of_too_many_threads(self) -> None:
        with pytest.raises(ArgumentError, match="block is 33x32, 1056 threads: h100 allows"):
            warp_access(self.device, index="0", element_bytes=4, block=(33, 32))

    @pytest.mark.parametrize("warp", [-1, 2])
    def test_warp(self, warp: int) -> None:
        with pytest.raises(ArgumentError, match=f"warp is {warp}: the block has warps 0 to 1"):
            warp_access(self.device, index="0", element_bytes=4, block=(33,), warp=warp)

    def test_a_fraction_as_index(self) -> None:
        with pytest.raises(ArgumentError, match="gives fractions"):
            warp_access(self.device, index="threadIdx.x * 0.5", element_bytes=4)

    @pytest.mark.parametrize("index", [[2**62], [-(2**62)], [2**50]])
    def test_beyond_any_memory(self, index: list[int]) -> None:
        with pytest.raises(ArgumentError, match="beyond any memory"):
            warp_access(self.device, index=index, element_bytes=4)

    def test_too_many_accesses(self) -> None:
        with pytest.raises((ArgumentError, DataError), match="at most"):
            warp_access(
                self.device,
                index="a + b + threadIdx.x",
                element_bytes=4,
                parameters={"a": range(MOST_ACCESSES // 64), "b": range(128)},
            )

    def test_a_wrong_expression(self) -> None:
        with pytest.raises(ExpressionError):
            warp_access(self.device, index="threadIdx.x +", element_bytes=4)
        with pytest.raises(ArgumentError, match="needs a value for row"):
            warp_access(self.device, index="row", element_bytes=4)
        with pytest.raises(ArgumentError, match="needs a value for mask"):
            warp_access(self.device, index="0", element_bytes=4, active="mask")


def test_element_types_have_the_sizes_of_c() -> None:
    sizes = {
        1: {"char", "int8", "uint8", "fp8", "bool"},
        2: {"short", "half", "fp16", "bf16"},
        4: {"int", "float", "half2", "unsigned"},
        8: {"double", "float2", "int64"},
        16: {"float4", "int4", "double2", "half8"},
    }
    for size, names in sizes.items():
        assert {ELEMENT_BYTES[name] for name in names} == {size}


@pytest.mark.parametrize(
    ("spelling", "meaning"),
    [
        ("tid", "threadIdx.y * blockDim.x + threadIdx.x"),
        ("lane", "(threadIdx.y * blockDim.x + threadIdx.x) % warpSize"),
        ("lane_id", "(threadIdx.y * blockDim.x + threadIdx.x) % warpSize"),
        ("warp", "(threadIdx.y * blockDim.x + threadIdx.x) / warpSize"),
        ("warp_id", "(threadIdx.y * blockDim.x + threadIdx.x) / warpSize"),
        ("hipThreadIdx_x + hipBlockIdx_x * hipBlockDim_x", "threadIdx.x + blockIdx.x * blockDim.x"),
    ],
)
@pytest.mark.parametrize("device", ["h200", "dcu"])
def test_names_that_kernels_use(device: str, spelling: str, meaning: str) -> None:
    found, wanted = (
        warp_access(
            load_device(device),
            index=text,
            element_bytes=4,
            block=(16, 16),
            warp=1,
            parameters={"blockIdx.x": 3},
        )
        for text in (spelling, meaning)
    )
    np.testing.assert_array_equal(found.addresses, wanted.addresses)


def test_a_parameter_takes_precedence_over_a_built_in_name() -> None:
    access = warp_access(
        load_device("h200"), index="lane * 2", element_bytes=4, parameters={"lane": 5}
    )
    assert set(access.addresses.tolist()) == {40}


def test_a_misspelt_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(ArgumentError, match=r"did you mean hipThreadIdx_x\?"):
        warp_access(load_device("dcu"), index="hipThreadidx_x", element_bytes=4)
