"""A value with its range, kind and source; lane groups; carve-outs; text."""

import itertools
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfmodel.device.loading import load_device
from perfmodel.device.values import (
    Value,
    Written,
    WrittenCarveOuts,
    WrittenLaneGroups,
    WrittenText,
)
from perfmodel.errors import UsageError

PROVENANCE = {"kind": "published", "source": "a data sheet"}


def read(unit: str, value: Any, *, form: dict[str, Any] | None = None, **others: Any) -> Value:
    return Written(unit, **(form or {})).read({"value": value, **PROVENANCE, **others})


class TestNumbers:
    """A number with its unit."""

    def test_a_published_value(self) -> None:
        value = read("bytes/s", "1600 GB/s")
        assert (value.value, value.low, value.high) == (1.6e12, 1.6e12, 1.6e12)
        assert (value.unit, value.kind, value.source) == ("bytes/s", "published", "a data sheet")
        assert value.is_exact
        assert str(value) == "1.6 TB/s"

    def test_an_assumed_value_with_its_range(self) -> None:
        value = read("cycles", "300 cycles", range="200 .. 480 cycles", kind="assumed")
        assert (value.low, value.value, value.high) == (200, 300, 480)
        assert not value.is_exact
        assert str(value) == "300 cycles (200 cycles .. 480 cycles)"

    def test_whole_numbers(self) -> None:
        value = read("count", 56, form={"whole": True})
        assert value.whole == 56
        assert isinstance(value.whole, int)

    def test_the_ends_of_a_range_may_be_the_value(self) -> None:
        assert read("count", 4, range="4 .. 4").is_exact
        assert read("count", 4, range="4 .. 8").low == 4
        assert read("count", 4, range="2 .. 4").high == 4

    def test_zero_where_it_is_allowed(self) -> None:
        assert read("bytes", "0 B", form={"positive": False}).value == 0

    def test_it_cannot_be_changed(self) -> None:
        value = read("count", 4)
        with pytest.raises(FrozenInstanceError):
            value.value = 5  # type: ignore[misc]

    @pytest.mark.parametrize(
        ("unit", "raw", "message"),
        [
            ("count", 5, "5 stands alone: write {value: ..., kind: ..., source: ...}"),
            ("count", "x" * 1000, "stands alone"),
            ("count", [5], "stands alone"),
            ("count", None, "stands alone"),
            ("count", {**PROVENANCE}, "'value' is missing: every value needs value, kind, source"),
            ("count", {"value": 5, "source": "abc"}, "'kind' is missing"),
            ("count", {"value": 5, "kind": "measured"}, "'source' is missing"),
            ("count", {"value": 5, "kind": "measured", "source": ""}, "source is empty"),
            ("count", {"value": 5, "kind": "measured", "source": "    "}, "source is empty"),
            ("count", {"value": 5, "kind": "measured", "source": 7}, "source is empty"),
            (
                "count",
                {"value": 5, "kind": "guessed", "source": "abc"},
                "kind is 'guessed': it must be published, measured, inferred, assumed",
            ),
            ("count", {"value": 5, "kind": None, "source": "abc"}, "kind is 'None'"),
            (
                "count",
                {"value": 5, "kind": "assumed", "source": "abc"},
                "an assumed value needs a range: add 'range: low .. high'",
            ),
            ("count", {"valeu": 5, **PROVENANCE}, "unknown key 'valeu': did you mean value?"),
            ("count", {"value": 5, "note": "x", **PROVENANCE}, "unknown key 'note'"),
            ("bytes/s", {"value": "1600 GB", **PROVENANCE}, "is in bytes: bytes/s are wanted"),
            ("bytes/s", {"value": 1600, **PROVENANCE}, "1600 has no unit"),
            ("bytes", {"value": "48 KB", **PROVENANCE}, "KB is ambiguous"),
            ("count", {"value": 0, **PROVENANCE}, "0 is not above 0"),
            ("count", {"value": -4, **PROVENANCE}, "-4 is not above 0"),
            ("count", {"value": float("nan"), **PROVENANCE}, "is no finite number"),
            ("count", {"value": True, **PROVENANCE}, "is no quantity"),
            ("count", {"value": 5, "range": "6 .. 8", **PROVENANCE}, "outside its range 6 .. 8"),
            ("count", {"value": 9, "range": "6 .. 8", **PROVENANCE}, "outside its range 6 .. 8"),
            ("count", {"value": 5, "range": "8 .. 2", **PROVENANCE}, "runs downwards"),
            ("count", {"value": 5, "range": [2, 8], **PROVENANCE}, "is no range"),
            ("count", {"value": 5, "range": None, **PROVENANCE}, "is no range"),
            ("count", {"value": 5, "range": "0 .. 8", **PROVENANCE}, "0 is not above 0"),
        ],
    )
    def test_what_is_refused(self, unit: str, raw: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message) as caught:
            Written(unit).read(raw)
        assert len(str(caught.value)) < 200

    @pytest.mark.parametrize(("value", "between"), [(1.5, None), (2, "1.5 .. 3"), (2, "1 .. 2.5")])
    def test_fractions_of_a_count(self, value: float, between: str | None) -> None:
        others = {} if between is None else {"range": between}
        with pytest.raises(ValueError, match="is not a whole number"):
            read("count", value, form={"whole": True}, **others)

    @pytest.mark.parametrize(("value", "between"), [(0.99, None), (2, "0.5 .. 3")])
    def test_below_the_least(self, value: float, between: str | None) -> None:
        others = {} if between is None else {"range": between}
        with pytest.raises(ValueError, match="is too little: at least 1"):
            read("ratio", value, form={"least": 1}, **others)
        assert read("ratio", 1, form={"least": 1}).value == 1

    def test_below_zero_where_zero_is_allowed(self) -> None:
        with pytest.raises(ValueError, match="-1 is not 0 or more"):
            read("count", -1, form={"positive": False})


class TestLaneGroups:
    """Which lanes are served together."""

    def groups(self, text: Any) -> tuple[tuple[int, ...], ...]:
        return WrittenLaneGroups().read({"groups": text, **PROVENANCE}).groups

    def test_runs_and_single_lanes(self) -> None:
        assert self.groups("0-1 4 | 2 3 5") == ((0, 1, 4), (2, 3, 5))
        assert self.groups("0-31") == (tuple(range(32)),)
        assert self.groups(0) == ((0,),)

    @given(st.permutations(range(24)), st.lists(st.integers(1, 23), max_size=3, unique=True))
    def test_any_partition_reads_back(self, order: list[int], cuts: list[int]) -> None:
        places = [0, *sorted(cuts), 24]
        parts = [tuple(order[a:b]) for a, b in itertools.pairwise(places)]
        text = " | ".join(" ".join(map(str, part)) for part in parts)
        assert self.groups(text) == tuple(parts)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("0-3 3", "must hold every lane of the warp once"),
            ("0-3 5", "must hold every lane of the warp once"),
            ("1-4", "must hold every lane of the warp once"),
            ("3-0", "must hold every lane of the warp once"),
            ("0-3 |", "must hold every lane of the warp once"),
            ("", "must hold every lane of the warp once"),
            ("0-x", "'0-x' is no lane or run of lanes such as 0-3"),
            ("a", "is no lane or run"),
            ("-3", "is no lane or run"),
            ("0-", "must hold every lane|is no lane or run"),
            ("0-1-2", "is no lane or run"),
            ("0-9999999", "is no lane or run"),
            ("9" * 100, "is no lane or run"),
            (None, "is no lane or run"),
        ],
    )
    def test_what_is_refused(self, text: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            self.groups(text)

    def test_a_source_is_needed(self) -> None:
        with pytest.raises(ValueError, match="'source' is missing"):
            WrittenLaneGroups().read({"groups": "0-3", "kind": "measured"})


class TestCarveOuts:
    """Sizes that shared memory can be set to."""

    def sizes(self, values: Any) -> tuple[float, ...]:
        return WrittenCarveOuts().read({"values": values, **PROVENANCE}).values

    def test_ascending_sizes(self) -> None:
        assert self.sizes(["0 B", "8 KiB", "100 KiB"]) == (0, 8192, 102400)

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            (["8 KiB", "0 KiB"], "the sizes must ascend from 0 on"),
            (["8 KiB", "8 KiB"], "the sizes must ascend"),
            (["-8 KiB", "8 KiB"], "the sizes must ascend from 0 on"),
            ([0, "8 KiB"], "0 has no unit"),
            (["8 KB"], "KB is ambiguous"),
            (["8"], "has no unit"),
            ([], "values must be a list of sizes such as"),
            ("8 KiB", "values must be a list"),
            (None, "values must be a list"),
        ],
    )
    def test_what_is_refused(self, values: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            self.sizes(values)


class TestText:
    """Names."""

    def test_text_of_its_length(self) -> None:
        assert WrittenText(5).read("abcde") == "abcde"

    @pytest.mark.parametrize("raw", ["abcdef", "a", "", 5, None, ["ab"]])
    def test_what_is_refused(self, raw: Any) -> None:
        with pytest.raises(ValueError, match="is not text of 2 to 5 characters"):
            WrittenText(5).read(raw)


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("warp_width", 1_000_000_000),
        ("max_threads_per_block", 10**9),
        ("shared_per_block", "1 TiB"),
        ("mps", 10**18),
        ("dram_size", "1000 PB"),
    ],
)
def test_more_than_any_device_has_is_a_mistake(field: str, text: str | int) -> None:
    with pytest.raises(UsageError, match="more than any device has"):
        load_device("h200").what_if(**{field: text})
