"""Coalescing laws against counting bytes lane by lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from perfmodel.engines import coalescing as law
from perfmodel.errors import ArgumentError
from tests.analyses.lane_by_lane import Access, accesses, random_indices

if TYPE_CHECKING:
    from random import Random

addresses_of_lanes = st.lists(
    st.one_of(st.none(), st.integers(0, 300), st.integers(0, 20_000)), min_size=1, max_size=64
)
sizes = st.sampled_from([1, 2, 4, 8, 16, 32, 64, 128])


def arrays(access: Access) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.int64]], ...]:
    given_addresses = np.array([a if a is not None else 0 for a in access.addresses])
    return given_addresses, np.array([a is not None for a in access.addresses])


def blocks(access: Access, size: int) -> int:
    addresses, active = arrays(access)
    return int(
        law.distinct_blocks(
            addresses=addresses,
            active=active.astype(bool),
            element_bytes=access.element_bytes,
            block_bytes=size,
        )
    )


def used(access: Access) -> int:
    addresses, active = arrays(access)
    return int(
        law.bytes_used(
            addresses=addresses, active=active.astype(bool), element_bytes=access.element_bytes
        )
    )


@settings(deadline=None)
@given(addresses_of_lanes, st.integers(1, 130), st.integers(1, 130))
def test_blocks_equal_the_sets_of_any_sizes(
    addresses: list[int | None], element_bytes: int, block_bytes: int
) -> None:
    access = Access(tuple(addresses), element_bytes)
    assert blocks(access, block_bytes) == access.blocks(block_bytes)
    assert used(access) == len(access.bytes_used())


@settings(deadline=None)
@given(addresses_of_lanes, sizes, st.integers(1, 70), sizes)
def test_requests_equal_the_sets_of_each_group(
    addresses: list[int | None], element_bytes: int, group: int, transaction: int
) -> None:
    access = Access(tuple(addresses), element_bytes)
    given_addresses, active = arrays(access)
    actual = law.requests(
        addresses=given_addresses,
        active=active.astype(bool),
        element_bytes=element_bytes,
        group_lanes=group,
        transaction_bytes=transaction,
    )
    assert int(actual) == access.requests(group, transaction)


@pytest.mark.parametrize("lanes", [32, 64])
@pytest.mark.parametrize("element_bytes", [1, 2, 4, 8, 16, 128])
@pytest.mark.parametrize("base", [0, 4, 60, 1])
def test_a_thousand_patterns_at_once(lanes: int, element_bytes: int, base: int) -> None:
    rng = np.random.default_rng(lanes + element_bytes + base)
    indices, active = random_indices(rng, 120, lanes)
    addresses = indices * element_bytes + base
    one_by_one = list(accesses(indices, active, element_bytes, base))
    for size in (32, 64, 128):
        together = law.distinct_blocks(
            addresses=addresses, active=active, element_bytes=element_bytes, block_bytes=size
        )
        assert together.tolist() == [access.blocks(size) for access in one_by_one]
    together = law.bytes_used(addresses=addresses, active=active, element_bytes=element_bytes)
    assert together.tolist() == [len(access.bytes_used()) for access in one_by_one]
    for group in (4, 8):
        together = law.requests(
            addresses=addresses,
            active=active,
            element_bytes=element_bytes,
            group_lanes=group,
            transaction_bytes=128,
        )
        assert together.tolist() == [access.requests(group, 128) for access in one_by_one]


@settings(deadline=None)
@given(addresses_of_lanes, sizes, st.randoms(use_true_random=False))
def test_lanes_may_change_places(
    addresses: list[int | None], element_bytes: int, random: Random
) -> None:
    shuffled = list(addresses)
    random.shuffle(shuffled)
    before, after = Access(tuple(addresses), element_bytes), Access(tuple(shuffled), element_bytes)
    assert blocks(before, 32) == blocks(after, 32)
    assert used(before) == used(after)


@settings(deadline=None)
@given(addresses_of_lanes, sizes, st.integers(0, 20_000))
def test_one_lane_more_never_touches_less(
    addresses: list[int | None], element_bytes: int, further: int
) -> None:
    before = Access(tuple(addresses), element_bytes)
    after = Access((*addresses, further), element_bytes)
    for size in (32, 128):
        assert blocks(before, size) <= blocks(after, size)
    assert used(before) <= used(after) <= used(before) + element_bytes


@settings(deadline=None)
@given(addresses_of_lanes, sizes)
def test_lines_hold_sectors_and_sectors_hold_the_bytes(
    addresses: list[int | None], element_bytes: int
) -> None:
    access = Access(tuple(addresses), element_bytes)
    lines, sectors = blocks(access, 128), blocks(access, 32)
    assert lines <= sectors <= 4 * lines
    assert used(access) <= sectors * 32
    assert used(access) <= access.lanes * element_bytes
    if sectors:
        share = law.efficiency(bytes_used=used(access), bytes_moved=sectors * 32)
        assert 0 < share <= 1


def test_lanes_on_one_element_touch_what_one_lane_touches() -> None:
    assert blocks(Access((64,) * 32, 4), 128) == 1
    assert used(Access((64,) * 32, 4)) == 4


def test_an_element_across_the_edge_of_a_line_touches_both() -> None:
    assert blocks(Access((126,), 4), 128) == 2
    assert blocks(Access((124,), 4), 128) == 1
    assert blocks(Access((0,), 128), 32) == 4
    assert blocks(Access((1,), 128), 32) == 5


def test_nobody_taking_part_moves_nothing() -> None:
    nobody = Access((None,) * 32, 4)
    assert (blocks(nobody, 128), used(nobody)) == (0, 0)


class TestTheDocument:
    """Document 000, sections 3.1 and 3.2."""

    def test_a_stride_of_32_floats_uses_4_of_128_bytes(self) -> None:
        access = Access(tuple(lane * 32 * 4 for lane in range(32)), 4)
        share = law.efficiency(bytes_used=used(access), bytes_moved=blocks(access, 128) * 128)
        assert share == 0.03125

    @pytest.mark.parametrize(("element_bytes", "elements"), [(4, 4), (2, 8), (1, 16)])
    def test_128_bits_carry(self, element_bytes: int, elements: int) -> None:
        assert law.elements_per_access(access_bytes=16, element_bytes=element_bytes) == elements

    def test_1024_bits_carry_32_float(self) -> None:
        assert law.elements_per_access(access_bytes=128, element_bytes=4) == 32

    def test_float4_needs_a_quarter_of_the_instructions_and_the_same_lines(self) -> None:
        scalar, vector = (
            law.instructions_per_lane(bytes_per_lane=64, access_bytes=size, max_access_bytes=16)
            for size in (4, 16)
        )
        assert vector / scalar == 0.25
        lines_of_scalar = sum(
            blocks(Access(tuple(part * 128 + lane * 4 for lane in range(32)), 4), 128)
            for part in range(4)
        )
        assert blocks(Access(tuple(lane * 16 for lane in range(32)), 16), 128) == lines_of_scalar


@given(st.integers(1, 500), st.integers(1, 130), st.integers(1, 130))
def test_instructions_equal_cutting_the_bytes_into_accesses(
    bytes_per_lane: int, access: int, most: int
) -> None:
    count, rest = 0, bytes_per_lane
    while rest > 0:
        rest -= access
        written = access
        while written > 0:
            written -= most
            count += 1
    actual = law.instructions_per_lane(
        bytes_per_lane=bytes_per_lane, access_bytes=access, max_access_bytes=most
    )
    assert actual == count


def test_symbols_give_the_formula() -> None:
    used_bytes, moved = sympy.symbols("u m", positive=True)
    assert law.efficiency(bytes_used=used_bytes, bytes_moved=moved) == used_bytes / moved
    n = sympy.Symbol("n", positive=True, integer=True)
    formula = law.instructions_per_lane(bytes_per_lane=n, access_bytes=4, max_access_bytes=16)
    assert formula == sympy.ceiling(n / 4)


class TestBadInput:
    """What no access has is refused."""

    one = np.array([0])
    on = np.array([True])

    @pytest.mark.parametrize("size", [0, -4, 1.5])
    def test_sizes(self, size: int) -> None:
        with pytest.raises(ArgumentError, match="element_bytes is"):
            law.distinct_blocks(
                addresses=self.one, active=self.on, element_bytes=size, block_bytes=128
            )
        with pytest.raises(ArgumentError, match="block_bytes is"):
            law.distinct_blocks(
                addresses=self.one, active=self.on, element_bytes=4, block_bytes=size
            )
        with pytest.raises(ArgumentError, match="group_lanes is"):
            law.requests(
                addresses=self.one,
                active=self.on,
                element_bytes=4,
                group_lanes=size,
                transaction_bytes=128,
            )
        with pytest.raises(ArgumentError, match="access_bytes is"):
            law.elements_per_access(access_bytes=size, element_bytes=4)

    @pytest.mark.parametrize("size", [0, -4, 1.5])
    def test_the_element_of_bytes_used(self, size: int) -> None:
        with pytest.raises(ArgumentError, match="element_bytes is"):
            law.bytes_used(addresses=self.one, active=self.on, element_bytes=size)

    def test_an_address_below_zero(self) -> None:
        addresses = np.array([[0, 4], [0, -4]])
        active = np.ones((2, 2), bool)
        with pytest.raises(ArgumentError, match="the address of lane 1 is -4"):
            law.distinct_blocks(
                addresses=addresses, active=active, element_bytes=4, block_bytes=128
            )
        active[1, 1] = False  # a lane that takes no part may hold anything
        found = law.distinct_blocks(
            addresses=addresses, active=active, element_bytes=4, block_bytes=128
        )
        assert found.tolist() == [1, 1]

    def test_nothing_moved_has_no_efficiency(self) -> None:
        with pytest.raises(ArgumentError, match="bytes_moved is 0"):
            law.efficiency(bytes_used=0, bytes_moved=0)


@pytest.mark.parametrize("lanes", [1, 7, 32, 64])
@pytest.mark.parametrize("line_bytes", [64, 128])
def test_the_closed_form_of_a_stride_equals_counting(lanes: int, line_bytes: int) -> None:
    for element_bytes in (1, 4, 16):
        strides = [element_bytes << step for step in range(12)]
        for stride in [s for s in strides if line_bytes % s == 0 or s % line_bytes == 0]:
            counted = law.distinct_blocks(
                addresses=np.arange(lanes) * stride,
                active=np.ones(lanes, dtype=bool),
                element_bytes=element_bytes,
                block_bytes=line_bytes,
            )
            closed = law.strided_lines(
                lanes=lanes,
                stride_bytes=stride,
                element_bytes=element_bytes,
                line_bytes=line_bytes,
            )
            assert closed == counted
