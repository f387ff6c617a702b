"""Distinct values along the last axis against Python's sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfmodel.engines.distinct import ordered_distinct, require_addresses, spanned_blocks
from perfmodel.errors import ArgumentError

wanted_values = st.lists(st.tuples(st.integers(-20, 20), st.booleans()), min_size=1, max_size=40)


@given(wanted_values)
def test_first_ones_are_the_set_in_order(pairs: list[tuple[int, bool]]) -> None:
    values = np.array([value for value, _ in pairs])
    wanted = np.array([flag for _, flag in pairs])
    ordered, first = ordered_distinct(values, wanted)
    assert ordered[first].tolist() == sorted({value for value, flag in pairs if flag})


def test_rows_stay_apart() -> None:
    values = np.array([[[1, 1, 2]], [[2, 2, 2]], [[5, 4, 3]]])
    _, first = ordered_distinct(values, np.ones(values.shape, dtype=bool))
    assert first.sum(axis=-1).tolist() == [[2], [1], [3]]


def test_nothing_wanted_is_nothing_found() -> None:
    _, first = ordered_distinct(np.arange(5), np.zeros(5, dtype=bool))
    assert not first.any()


@given(
    st.lists(st.tuples(st.integers(0, 600), st.booleans()), min_size=1, max_size=20),
    st.integers(1, 140),
    st.integers(1, 140),
)
def test_spanned_blocks_equal_the_blocks_of_every_byte(
    lanes: list[tuple[int, bool]], element_bytes: int, block_bytes: int
) -> None:
    blocks, touched = spanned_blocks(
        np.array([address for address, _ in lanes]),
        np.array([taking_part for _, taking_part in lanes]),
        element_bytes,
        block_bytes,
    )
    expected = sorted(
        block
        for address, taking_part in lanes
        if taking_part
        for block in {byte // block_bytes for byte in range(address, address + element_bytes)}
    )
    assert sorted(blocks[touched].tolist()) == expected


def test_an_address_below_zero_is_named_by_its_lane() -> None:
    addresses = np.array([[0, 8], [4, -12]])
    with pytest.raises(ArgumentError, match="the address of lane 1 is -12: it may not be below 0"):
        require_addresses(addresses, np.ones((2, 2), dtype=bool))
    require_addresses(addresses, addresses >= 0)
