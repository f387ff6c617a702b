"""Lanes as text, and the first of several accesses."""

from perfmodel import bank_conflicts, coalescing, load_device
from perfmodel.plots.lanes import access_title, cell_text, first_access, first_of, ranges_text


def test_ranges_are_sorted_and_joined() -> None:
    assert ranges_text([21, 20, 3, 2, 1, 0, 22, 23]) == "0-3, 20-23"
    assert ranges_text([7]) == "7"
    assert ranges_text([]) == ""


def test_what_does_not_fit_a_cell_is_counted() -> None:
    assert cell_text([0, 1, 2, 3, 20, 21, 22, 23]) == "x8"
    assert cell_text(range(10, 20)) == "10-19"
    assert cell_text([1, 3]) == "1,3"


def test_the_first_of_several_accesses_is_taken() -> None:
    result = bank_conflicts(
        load_device("s5000"), index="threadIdx.x * s", element_bytes=4, parameters={"s": [2, 32]}
    )
    addresses, active, accesses = first_access(result)
    assert (addresses[:3].tolist(), bool(active.all()), accesses) == ([0, 8, 16], True, 2)
    assert first_of(result.passes) == 2
    assert access_title(result, accesses) == "4-byte load on s5000, access 1 of 2"


def test_a_single_access_is_its_own_first() -> None:
    result = coalescing(load_device("s5000"), index=[5, 4], element_bytes=8, operation="store")
    addresses, active, accesses = first_access(result)
    assert (addresses.tolist(), active.tolist(), accesses) == ([40, 32], [True, True], 1)
    assert access_title(result, accesses) == "8-byte store on s5000"
