"""Finding a device by name, alias, path or environment, and what is said of a wrong file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from perfmodel.device import loading
from perfmodel.device.loading import (
    default_device_name,
    device_names,
    load_device,
    read_device,
    specs_directory,
)
from perfmodel.errors import DataError, UsageError
from tests.device.written import line_of, read, shipped, written

if TYPE_CHECKING:
    from collections.abc import Callable

    Change = Callable[[dict[str, Any]], object]


class TestNames:
    """How a shipped device is asked for."""

    @pytest.mark.parametrize("name", device_names())
    def test_by_name_and_by_each_alias(self, name: str) -> None:
        device = load_device(name)
        assert device.device == name
        assert load_device(name.upper()) is device
        for alias in device.aliases:
            assert load_device(alias) is device
            assert load_device(alias.upper()) is device

    def test_no_name_belongs_to_two(self) -> None:
        every = [
            each.lower() for name in device_names() for each in (name, *load_device(name).aliases)
        ]
        assert len(every) == len(set(every))

    def test_names_are_sorted_and_hold_the_devices_of_the_documents(self) -> None:
        assert device_names() == sorted(device_names())
        assert {"s5000", "dcu", "h200"} <= set(device_names())

    @pytest.mark.parametrize("name", device_names())
    def test_reading_the_file_validates_and_gives_the_same(self, name: str) -> None:
        path = specs_directory() / f"{name}.yaml"
        assert read_device(path) == load_device(name)
        assert load_device(path) == load_device(str(path)) == load_device(name)

    def test_the_default_is_the_s5000(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("PERFMODEL_DEVICE", raising=False)
        assert default_device_name() == "s5000"
        assert load_device().device == "s5000"
        monkeypatch.setenv("PERFMODEL_DEVICE", "")
        assert load_device().device == "s5000"

    def test_the_environment_names_another(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("PERFMODEL_DEVICE", "H100")
        assert load_device().device == "h100"
        assert load_device("dcu").device == "dcu"
        path = written(tmp_path, {**shipped("mi50"), "device": "own"})
        monkeypatch.setenv("PERFMODEL_DEVICE", str(path))
        assert load_device().device == "own"
        monkeypatch.setenv("PERFMODEL_DEVICE", "h10")
        with pytest.raises(UsageError, match="no device 'h10': did you mean h100"):
            load_device()

    @pytest.mark.parametrize(
        ("name", "near"),
        [("s500", "s5000"), ("mi300", "mi300x"), ("mtt-s500", "mtt-s5000"), ("H10", "h100")],
    )
    def test_the_nearest_name_is_told(self, name: str, near: str) -> None:
        with pytest.raises(UsageError, match=f"did you mean {near}") as caught:
            load_device(name)
        assert f"known: {', '.join(device_names())}" in str(caught.value)

    @pytest.mark.parametrize("name", ["", "zzzz", "x" * 10_000, "s5000\n"])
    def test_no_such_name(self, name: str) -> None:
        with pytest.raises(UsageError, match="no device") as caught:
            load_device(name)
        assert len(str(caught.value)) < 400
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("name", ["./s5000", "none.yaml", "folder/h100", "h100.yml"])
    def test_a_path_is_not_looked_up_as_a_name(
        self, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(DataError, match="cannot be read: No such file"):
            load_device(name)

    def test_a_damaged_installation_says_so(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(loading, "__file__", str(tmp_path / "a" / "b" / "c.py"))
        with pytest.raises(DataError, match=r"no hardware_specs folder .* install perfmodel again"):
            specs_directory()


def set_to(key: str, value: Any) -> Change:
    """Set a field, or a key below one as `field.key`."""

    def change(data: dict[str, Any]) -> None:
        *above, last = key.split(".")
        for each in above:
            data = data[each]
        data[last] = value

    return change


def without(key: str) -> Change:
    def change(data: dict[str, Any]) -> None:
        *above, last = key.split(".")
        for each in above:
            data = data[each]
        del data[last]

    return change


def renamed(key: str, new: str) -> Change:
    def change(data: dict[str, Any]) -> None:
        *above, last = key.split(".")
        for each in above:
            data = data[each]
        data[new] = data.pop(last)

    return change


GROUPS = {"groups": "0-31", "kind": "measured", "source": "a test"}

WRONG: list[tuple[Change, str, str]] = [
    # what is done to the file, the field whose line is named, what is said
    (renamed("mps", "mpss"), "mpss", "unknown key 'mpss': did you mean mps?"),
    (renamed("l2_bandwidth", "l2_bandwith"), "l2_bandwith", "did you mean l2_bandwidth?"),
    (set_to("anything", 5), "anything", "unknown key 'anything'"),
    (renamed("mps.value", "valeu"), "mps", "unknown key 'valeu': did you mean value?"),
    (without("mps"), "format", "'mps' is missing: every device file needs it"),
    (without("mps.source"), "mps", "'source' is missing"),
    (without("mps.kind"), "mps", "'kind' is missing"),
    (set_to("mps.source", ""), "mps", "source is empty: say where the value is from"),
    (set_to("mps.kind", "guess"), "mps", "kind is 'guess': it must be published"),
    (set_to("mps", 132), "mps", "132 stands alone"),
    (set_to("mps.value", 0), "mps", "0 is not above 0"),
    (set_to("mps.value", 1.5), "mps", "1.5 is not a whole number"),
    (set_to("mps.value", "132 B"), "mps", "is in bytes: count are wanted"),
    (set_to("dram_bandwidth.value", "3350 GB"), "dram_bandwidth", "is in bytes: bytes/s are"),
    (set_to("dram_bandwidth.value", "3350 G"), "dram_bandwidth", "G is ambiguous"),
    (set_to("dram_bandwidth.value", 3350), "dram_bandwidth", "3350 has no unit"),
    (
        set_to("dram_latency", {"value": "9 cycles", "kind": "assumed", "source": "a guess"}),
        "dram_latency",
        "an assumed value needs a range",
    ),
    (set_to("dram_latency.range", "1 .. 2 cycles"), "dram_latency", "outside its range"),
    (renamed("lanes.fp32", "fp33"), "lanes.fp33", "unknown key 'fp33': did you mean fp32?"),
    (renamed("peaks.fp32", "tensor_fp4"), "peaks.tensor_fp4", "did you mean tensor_fp"),
    (set_to("lanes.fp32.value", "128"), "lanes.fp32", "has no unit"),
    (set_to("lanes", 5), "lanes", "5 is not allowed"),
    (
        set_to("shared_lane_groups", {"load": {"3 B": GROUPS}}),
        "shared_lane_groups.load.3 B",
        "unknown key '3 B'",
    ),
    (
        set_to("shared_lane_groups", {"load": {"4 B": {**GROUPS, "groups": "0-30 30"}}}),
        "shared_lane_groups.load.4 B",
        "must hold every lane of the warp once",
    ),
    (set_to("shared_carveouts.values", ["8 KiB", "0 KiB"]), "shared_carveouts", "must ascend"),
    (renamed("links.pcie.bandwidth", "bandwith"), "links.pcie.bandwith", "did you mean bandwidth?"),
    (set_to("links.pcie.bandwidth.value", "5 GB"), "links.pcie.bandwidth", "bytes/s are wanted"),
    (set_to("format", 2), "format", "2 is not allowed: it must be 1"),
    (set_to("device", "x" * 41), "device", "is not text of 2 to 40 characters"),
    (set_to("device", 100), "device", "is not text"),
    (set_to("name", None), "name", "is not text"),
    (set_to("about", "short"), "about", "is not text of 10 to"),
    (set_to("aliases", "h100"), "aliases", "is not allowed"),
]


class TestWrongFiles:
    """One line: the file, the line, what is wrong and what would be right."""

    @pytest.mark.parametrize(("change", "where", "message"), WRONG, ids=[row[2] for row in WRONG])
    def test_the_line_and_what_is_wrong(
        self, change: Change, where: str, message: str, tmp_path: Path
    ) -> None:
        data = shipped("h100")
        change(data)
        path = written(tmp_path, data)
        with pytest.raises(DataError, match=re.escape(message)) as caught:
            read_device(path)
        said = str(caught.value)
        assert said.startswith(f"{path}:{line_of(path, where)}: ")
        assert "\n" not in said
        assert len(said) < len(str(path)) + 900

    def test_the_first_of_several_faults_and_their_number(self, tmp_path: Path) -> None:
        data = shipped("h100")
        data["dram_latency"]["kind"] = "?"
        data["clock"]["value"] = "1 s"
        data["warp_width"]["value"] = -1
        path = written(tmp_path, data)
        with pytest.raises(DataError, match=r"clock: .*\(and 2 more\)$") as caught:
            read_device(path)
        assert f":{line_of(path, 'clock')}: " in str(caught.value)

    def test_an_item_of_a_list(self, tmp_path: Path) -> None:
        data = shipped("h100") | {"aliases": ["fine", 100]}
        path = written(tmp_path, data)
        with pytest.raises(DataError, match=r"aliases\.1: 100 is not allowed") as caught:
            read_device(path)
        assert f":{line_of(path, 'aliases') + 2}: " in str(caught.value)

    def test_everything_missing(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"own.yaml:1: 'device' is missing: .*more\)"):
            read(tmp_path, {"format": 1})

    def test_no_device_at_all(self, tmp_path: Path) -> None:
        path = tmp_path / "own.yaml"
        for text in ("", "- 1\n", "text\n"):
            path.write_text(text)
            with pytest.raises(DataError, match="a mapping is wanted"):
                load_device(path)

    def test_a_directory(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="cannot be read: Is a directory"):
            load_device(tmp_path)

    def test_a_key_of_a_thousand_letters(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="unknown key") as caught:
            read(tmp_path, {**shipped("h100"), "x" * 100: 1})
        assert len(str(caught.value)) < 400


def test_a_file_of_the_users_own(tmp_path: Path) -> None:
    data = shipped("h100") | {"device": "my-card", "aliases": []}
    data["mps"]["value"] = 7
    device = load_device(written(tmp_path, data))
    assert (device.device, device.mps.whole) == ("my-card", 7)
    assert load_device("h100").mps.whole != 7


def test_a_path_object_and_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, shipped("mi50"))
    monkeypatch.chdir(tmp_path)
    for path in (Path("own.yaml"), "own.yaml", "./own.yaml"):
        assert load_device(path).device == "mi50"


def test_a_file_with_faults_without_end_is_answered_soon(tmp_path: Path) -> None:
    path = tmp_path / "many.yaml"
    path.write_text("format: 1\n" + "".join(f"k{number}: 1\n" for number in range(60_000)), "utf-8")
    with pytest.raises(DataError, match=r"many\.yaml:2: k0: unknown key .* more\)"):
        load_device(path)
