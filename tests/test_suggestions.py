"""What is said when a name is not known."""

import time

from hypothesis import given
from hypothesis import strategies as st

from perfmodel.suggestions import did_you_mean

KNOWN = ["s5000", "dcu", "h100", "mi300x"]


def test_the_nearest_name_and_all_of_them() -> None:
    assert did_you_mean("s500", KNOWN) == "did you mean s5000? known: dcu, h100, mi300x, s5000"
    assert did_you_mean("MI300", KNOWN).startswith("did you mean mi300x?")
    assert did_you_mean("H100", KNOWN).startswith("did you mean h100?")


def test_capitals_of_a_known_name_stay() -> None:
    assert did_you_mean("tile_v", ["TILE_V", "n"]) == "did you mean TILE_V? known: TILE_V, n"


def test_what_abbreviates_a_name_comes_before_what_is_spelt_like_it() -> None:
    keys = ["block", "grid", "registers", "name", "shared", "barriers", "channels", "roles", "body"]
    for given_name, meant in (
        ("regs", "registers"),
        ("reg", "registers"),
        ("chan", "channels"),
        ("shrd", "shared"),
        ("smem", "shared"),
        ("boddy", "body"),
    ):
        assert did_you_mean(given_name, keys).startswith(f"did you mean {meant}?")


def test_nothing_near_lists_what_there_is() -> None:
    assert did_you_mean("zzz", KNOWN) == "known: dcu, h100, mi300x, s5000"
    assert did_you_mean("", KNOWN) == "known: dcu, h100, mi300x, s5000"


def test_a_shorter_list_can_be_shown() -> None:
    shown = did_you_mean("mp_3", [*KNOWN, "mp_31"], listed=KNOWN)
    assert shown == "did you mean mp_31? known: dcu, h100, mi300x, s5000"


def test_a_long_list_is_not_shown() -> None:
    many = [f"name{number}" for number in range(25)]
    assert did_you_mean("name7", many) == "did you mean name7?"
    assert did_you_mean("zzz", many) == "no name is near it"
    assert did_you_mean("zzz", many[:24]).startswith("known: name0, ")
    assert did_you_mean("zzz", KNOWN, most=3) == "no name is near it"


def test_a_name_of_a_million_letters_is_answered_at_once() -> None:
    started = time.perf_counter()
    did_you_mean("s" * 1_000_000, KNOWN)
    assert time.perf_counter() - started < 0.5


@given(st.text(max_size=200), st.lists(st.text(min_size=1, max_size=20), max_size=30))
def test_any_name_gets_one_line_of_text_with_known_names_alone(name: str, known: list[str]) -> None:
    said = did_you_mean(name, known)
    assert said
    if said.startswith("did you mean "):
        assert any(said.startswith(f"did you mean {each}?") for each in known)
