"""Bank conflicts against handing out one word a bank and pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from perfmodel.engines import bank_conflicts as law
from perfmodel.errors import ArgumentError
from tests.analyses.lane_by_lane import Access, accesses, random_indices

if TYPE_CHECKING:
    from random import Random

# The lanes that 16-byte loads of CDNA serve together, two runs of four each.
INTERLEAVED = tuple(
    (*range(first, first + 4), *range(second, second + 4))
    for first, second in (
        (0, 20), (32, 52), (4, 16), (36, 48), (8, 28), (40, 60), (12, 24), (44, 56)
    )
)  # fmt: skip

elements = st.sampled_from([1, 2, 4, 8, 16])
shared_addresses = st.one_of(st.none(), st.integers(0, 1023), st.integers(0, 65535))


def passes(access: Access, groups: tuple[tuple[int, ...], ...], banks: int, width: int) -> int:
    return int(
        law.passes(
            addresses=np.array([a if a is not None else 0 for a in access.addresses]),
            active=np.array([a is not None for a in access.addresses], dtype=bool),
            element_bytes=access.element_bytes,
            banks=banks,
            bank_width_bytes=width,
            groups=groups,
        )
    )


@settings(deadline=None)
@given(
    st.lists(shared_addresses, min_size=1, max_size=64),
    elements,
    st.sampled_from([1, 2, 16, 32, 64]),
    st.sampled_from([1, 4, 8]),
)
def test_passes_equal_handing_out_words(
    addresses: list[int | None], element_bytes: int, banks: int, width: int
) -> None:
    access = Access(tuple(addresses), element_bytes)
    groups = law.lane_groups(
        lanes=len(addresses), element_bytes=element_bytes, banks=banks, bank_width_bytes=width
    )
    assert passes(access, groups, banks, width) == access.passes(groups, banks, width)


@pytest.mark.parametrize("element_bytes", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("base", [0, 4, 1, 6])
@pytest.mark.parametrize(("lanes", "interleaved"), [(32, False), (64, False), (64, True)])
def test_hundreds_of_patterns_at_once(
    element_bytes: int, base: int, lanes: int, interleaved: bool
) -> None:
    rng = np.random.default_rng(element_bytes + base + lanes)
    indices, active = random_indices(rng, 150, lanes)
    groups = (
        INTERLEAVED
        if interleaved
        else law.lane_groups(lanes=lanes, element_bytes=element_bytes, banks=32, bank_width_bytes=4)
    )
    together = law.passes(
        addresses=indices * element_bytes + base,
        active=active,
        element_bytes=element_bytes,
        banks=32,
        bank_width_bytes=4,
        groups=groups,
    )
    expected = [
        access.passes(groups, 32, 4) for access in accesses(indices, active, element_bytes, base)
    ]
    assert together.tolist() == expected


@settings(deadline=None)
@given(st.lists(shared_addresses, min_size=1, max_size=32), elements)
def test_words_of_each_bank_equal_the_sets(addresses: list[int | None], element_bytes: int) -> None:
    access = Access(tuple(addresses), element_bytes)
    expected = access.words_of_banks(range(len(addresses)), 32, 4)
    actual = law.words_by_bank(
        addresses=np.array([a if a is not None else 0 for a in addresses]),
        active=np.array([a is not None for a in addresses], dtype=bool),
        element_bytes=element_bytes,
        banks=32,
        bank_width_bytes=4,
    )
    assert actual.tolist() == [len(expected.get(bank, ())) for bank in range(32)]


@settings(deadline=None)
@given(
    st.lists(shared_addresses, min_size=64, max_size=64),
    elements,
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_lanes_of_a_group_may_change_places(
    addresses: list[int | None], element_bytes: int, interleaved: bool, random: Random
) -> None:
    groups = (
        INTERLEAVED
        if interleaved
        else law.lane_groups(lanes=64, element_bytes=element_bytes, banks=32, bank_width_bytes=4)
    )
    moved = list(addresses)
    for group in groups:
        places = list(group)
        random.shuffle(places)
        for lane, place in zip(group, places, strict=True):
            moved[place] = addresses[lane]
    before, after = Access(tuple(addresses), element_bytes), Access(tuple(moved), element_bytes)
    assert passes(before, groups, 32, 4) == passes(after, groups, 32, 4)


@settings(deadline=None)
@given(
    st.permutations(range(64)).map(lambda order: order[:32]),
    st.integers(0, 100),
    st.sampled_from([4, 8, 16]),
)
def test_different_elements_never_take_less_than_the_ideal(
    order: list[int], start: int, element_bytes: int
) -> None:
    """Nothing is shared, so every word has to come out of a bank once."""
    access = Access(tuple((place + start) * element_bytes for place in order), element_bytes)
    groups = law.lane_groups(lanes=32, element_bytes=element_bytes, banks=32, bank_width_bytes=4)
    ideal = law.ideal_passes(lanes=32, element_bytes=element_bytes, banks=32, bank_width_bytes=4)
    assert passes(access, groups, 32, 4) >= ideal


@settings(deadline=None)
@given(st.integers(0, 4096), st.integers(1, 32), elements)
def test_one_element_for_all_is_one_pass_a_group(
    index: int, lanes: int, element_bytes: int
) -> None:
    access = Access((index * element_bytes,) * lanes, element_bytes)
    groups = law.lane_groups(lanes=lanes, element_bytes=element_bytes, banks=32, bank_width_bytes=4)
    assert passes(access, groups, 32, 4) == len(groups)


@settings(deadline=None)
@given(st.lists(shared_addresses, min_size=1, max_size=31), elements, st.integers(0, 65535))
def test_one_lane_more_never_takes_fewer_passes(
    addresses: list[int | None], element_bytes: int, further: int
) -> None:
    groups = (tuple(range(32)),)
    before = Access(tuple(addresses), element_bytes)
    after = Access((*addresses, further), element_bytes)
    assert passes(before, groups, 32, 4) <= passes(after, groups, 32, 4)


@pytest.mark.parametrize("stride", range(1, 70))
def test_a_stride_conflicts_as_often_as_it_shares_factors_with_the_banks(stride: int) -> None:
    access = Access(tuple(lane * stride * 4 for lane in range(32)), 4)
    banks_used = len({lane * stride % 32 for lane in range(32)})
    assert passes(access, (tuple(range(32)),), 32, 4) == 32 // banks_used


def test_nobody_taking_part_takes_no_pass() -> None:
    assert passes(Access((None,) * 32, 4), (tuple(range(32)),), 32, 4) == 0


@given(st.integers(1, 64), st.integers(1, 64), st.sampled_from([1, 8, 32]), st.sampled_from([4, 8]))
def test_groups_hold_every_lane_once_in_order(
    lanes: int, element_bytes: int, banks: int, width: int
) -> None:
    groups = law.lane_groups(
        lanes=lanes, element_bytes=element_bytes, banks=banks, bank_width_bytes=width
    )
    assert [lane for group in groups for lane in group] == list(range(lanes))
    for group in groups:
        assert len(group) == 1 or len(group) * max(element_bytes, width) <= banks * width


@pytest.mark.parametrize(
    ("element_bytes", "lanes", "size"),
    [(1, 32, 32), (4, 32, 32), (8, 32, 16), (16, 32, 8), (4, 64, 32), (8, 64, 16), (16, 64, 8)],
)
def test_groups_of_the_programming_guide(element_bytes: int, lanes: int, size: int) -> None:
    groups = law.lane_groups(lanes=lanes, element_bytes=element_bytes, banks=32, bank_width_bytes=4)
    assert {len(group) for group in groups} == {size}


@pytest.mark.parametrize(
    ("lanes", "element_bytes", "passes_wanted"),
    [(32, 4, 1), (32, 16, 4), (64, 4, 2), (32, 1, 1), (33, 4, 2), (0, 4, 0), (1, 16, 1)],
)
def test_the_ideal_by_hand(lanes: int, element_bytes: int, passes_wanted: int) -> None:
    actual = law.ideal_passes(
        lanes=lanes, element_bytes=element_bytes, banks=32, bank_width_bytes=4
    )
    assert actual == passes_wanted


def test_the_ideal_over_arrays_and_symbols() -> None:
    lanes = np.arange(65)
    together = law.ideal_passes(lanes=lanes, element_bytes=8, banks=32, bank_width_bytes=4)
    assert together.tolist() == [-(-8 * lane // 128) for lane in range(65)]
    n = sympy.Symbol("n", positive=True, integer=True)
    formula = law.ideal_passes(lanes=n, element_bytes=8, banks=32, bank_width_bytes=4)
    assert formula == sympy.ceiling(n / 16)


class TestLayouts:
    """Padding and swizzle move elements without losing one."""

    @given(st.integers(1, 64), st.integers(0, 33))
    def test_padding_equals_walking_the_rows(self, row: int, pad: int) -> None:
        expected, place = [], 0
        for element in range(300):
            if element and element % row == 0:
                place += pad
            expected.append(place)
            place += 1
        actual = law.padded(elements=np.arange(300), row_elements=row, pad_elements=pad)
        assert actual.tolist() == expected

    @given(st.integers(1, 6), st.integers(0, 5), st.integers(0, 6))
    def test_a_swizzle_that_does_not_overlap_undoes_itself(
        self, bits: int, target: int, further: int
    ) -> None:
        shift = bits + further
        mask = ((1 << bits) - 1) << (target + shift)
        everything = np.arange(1 << 12)
        moved = law.swizzled(addresses=everything, mask=mask, shift=shift)
        again = law.swizzled(addresses=moved, mask=mask, shift=shift)
        assert sorted(set((moved & 4095).tolist())) == everything.tolist()
        np.testing.assert_array_equal(again, everything)

    def test_a_swizzle_bit_by_bit(self) -> None:
        for address in (0, 128, 0xF80, 12345):
            folded = sum(
                ((address >> bit) & 1) << (bit - 5) for bit in range(7, 12)
            )  # bits 7 to 11 onto 2 to 6
            actual = law.swizzled(addresses=np.array([address]), mask=0xF80, shift=5)
            assert int(actual[0]) == address ^ folded


class TestTheDocument:
    """Document 000, section 3.3, and document 004, section 4.2."""

    @pytest.mark.parametrize(("stride", "expected"), [(0, 1), (1, 1), (2, 2), (32, 32), (33, 1)])
    def test_strides(self, stride: int, expected: int) -> None:
        access = Access(tuple(lane * stride * 4 for lane in range(32)), 4)
        assert passes(access, (tuple(range(32)),), 32, 4) == expected

    @pytest.mark.parametrize(
        ("name", "words", "expected"),
        [
            ("As[ty][i]", [lane // 16 * 16 for lane in range(32)], 1),
            ("Bs[i][tx]", [lane % 16 for lane in range(32)], 1),
            ("Bs[tx][i]", [lane % 16 * 16 for lane in range(32)], 8),
            ("Bs[tx][ty]", [lane % 16 * 16 + lane // 16 for lane in range(32)], 8),
        ],
    )
    def test_tiles_of_16_by_16(self, name: str, words: list[int], expected: int) -> None:
        access = Access(tuple(word * 4 for word in words), 4)
        assert passes(access, (tuple(range(32)),), 32, 4) == expected


class TestBadInput:
    """What no shared memory has is refused."""

    one = np.array([0])
    on = np.array([True])

    @pytest.mark.parametrize("name", ["element_bytes", "banks", "bank_width_bytes"])
    @pytest.mark.parametrize("size", [0, -1, 1.5])
    def test_sizes(self, name: str, size: int) -> None:
        sizes: dict[str, Any] = {"element_bytes": 4, "banks": 32, "bank_width_bytes": 4, name: size}
        with pytest.raises(ArgumentError, match=f"{name} is"):
            law.passes(addresses=self.one, active=self.on, groups=((0,),), **sizes)
        with pytest.raises(ArgumentError, match=f"{name} is"):
            law.lane_groups(lanes=32, **sizes)
        with pytest.raises(ArgumentError, match=f"{name} is"):
            law.ideal_passes(lanes=32, **sizes)

    def test_an_address_below_zero(self) -> None:
        with pytest.raises(ArgumentError, match="the address of lane 0 is -4"):
            law.passes(
                addresses=np.array([-4]),
                active=self.on,
                element_bytes=4,
                banks=32,
                bank_width_bytes=4,
                groups=((0,),),
            )

    def test_layouts(self) -> None:
        with pytest.raises(ArgumentError, match="mask is -1"):
            law.swizzled(addresses=self.one, mask=-1, shift=0)
        with pytest.raises(ArgumentError, match="shift is -1"):
            law.swizzled(addresses=self.one, mask=0, shift=-1)
        with pytest.raises(ArgumentError, match="row_elements is 0"):
            law.padded(elements=self.one, row_elements=0, pad_elements=1)
        with pytest.raises(ArgumentError, match="pad_elements is -1"):
            law.padded(elements=self.one, row_elements=1, pad_elements=-1)


@pytest.mark.parametrize("banks", [16, 32, 64])
def test_the_closed_form_of_a_stride_equals_counting(banks: int) -> None:
    for stride in range(1, 3 * banks):
        counted = law.passes(
            addresses=np.arange(banks) * stride * 4,
            active=np.ones(banks, dtype=bool),
            element_bytes=4,
            banks=banks,
            bank_width_bytes=4,
            groups=[range(banks)],
        )
        assert law.strided_passes(stride_words=stride, banks=banks) == counted


class TestMerging:
    """Groups of a wide load that are served together, against going through lanes in pairs."""

    @settings(deadline=None, max_examples=200)
    @given(data=st.data(), lanes=st.sampled_from([1, 5, 16, 32]))
    def test_reading_alike(self, data: st.DataObject, lanes: int) -> None:
        row = st.lists(st.sampled_from([0, 16, 32]), min_size=lanes, max_size=lanes)
        some = st.lists(st.booleans(), min_size=lanes, max_size=lanes)
        if data.draw(st.booleans()):
            addresses = [16 * (lane // 2) for lane in range(lanes)]
        else:
            addresses = data.draw(row)
        active = data.draw(some)
        expected = any(
            all(
                addresses[one] == addresses[one ^ distance]
                for one in range(lanes)
                if one ^ distance < lanes and active[one] and active[one ^ distance]
            )
            for distance in (1, 2)
        )
        found = law.read_alike(
            addresses=np.array(addresses), active=np.array(active), distances=(1, 2)
        )
        assert bool(found) == expected

    def test_merging_never_costs_a_pass(self) -> None:
        rng = np.random.default_rng(7)
        addresses = 16 * rng.integers(0, 64, size=(400, 32))
        addresses[::2] = np.repeat(addresses[::2, :16], 2, axis=-1)
        amounts: dict[str, Any] = {
            "addresses": addresses,
            "active": rng.random((400, 32)) < 0.8,
            "element_bytes": 16,
            "banks": 32,
            "bank_width_bytes": 4,
            "groups": law.lane_groups(lanes=32, element_bytes=16, banks=32, bank_width_bytes=4),
        }
        alone, merged = law.passes(**amounts), law.passes(**amounts, merge_distances=(1, 2))
        assert (merged <= alone).all()
        assert (merged < alone).sum() > 100
        assert (2 * merged >= alone).all()

    @pytest.mark.parametrize("distance", [0, -1, 1.5])
    def test_a_distance_that_is_none(self, distance: Any) -> None:
        with pytest.raises(ArgumentError, match="distances is"):
            law.read_alike(
                addresses=np.zeros(32, int), active=np.ones(32, bool), distances=(distance,)
            )

    def test_no_groups(self) -> None:
        with pytest.raises(ArgumentError, match="number of groups is 0"):
            law.paired_groups(groups=())
