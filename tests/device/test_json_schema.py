"""The JSON schema that editors use says of a file what the reader says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from perfmodel.device.json_schema import SCHEMA_FILE, json_schema
from perfmodel.device.loading import device_names, specs_directory
from perfmodel.errors import DataError
from tests.device.written import read, shipped

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SCHEMA = json_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["title"] == "perfmodel device"


@pytest.mark.parametrize("name", device_names())
def test_every_shipped_file_is_valid(name: str) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(shipped(name))] == []


def test_the_committed_copy_is_this_schema() -> None:
    committed = (specs_directory() / SCHEMA_FILE).read_text(encoding="utf-8")
    assert committed == json.dumps(SCHEMA, indent=2) + "\n"


def rename(data: dict[str, Any], old: str, new: str) -> None:
    data[new] = data.pop(old)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.update(anything=1),
        lambda data: data.pop("mps"),
        lambda data: data.update(mps=132),
        lambda data: data["mps"].pop("source"),
        lambda data: data["mps"].pop("kind"),
        lambda data: data["mps"].pop("value"),
        lambda data: data["mps"].update(kind="guess"),
        lambda data: data["mps"].update(source=""),
        lambda data: data["mps"].update(note="x"),
        lambda data: data["mps"].update(value=True),
        lambda data: data["mps"].update(range=[1, 200]),
        lambda data: data["clock"].update(value=1980),
        lambda data: data["dram_latency"].update(kind="assumed", range=None),
        lambda data: data.update(
            dram_latency={"value": "9 cycles", "kind": "assumed", "source": "a guess"}
        ),
        lambda data: rename(data["lanes"], "fp32", "fp33"),
        lambda data: rename(data["peaks"], "fp32", "fp4"),
        lambda data: rename(data["links"]["pcie"], "bandwidth", "width"),
        lambda data: data["shared_carveouts"].update(values=[0, 8]),
        lambda data: data["shared_carveouts"].update(values=[]),
        lambda data: data.update(
            shared_lane_groups={
                "load": {"3 B": {"groups": "0-31", "kind": "measured", "source": "test"}}
            }
        ),
        lambda data: data.update(shared_lane_groups={"load": {"4 B": {"groups": "0-31"}}}),
        lambda data: data.update(format=2),
        lambda data: data.update(device="x" * 41),
        lambda data: data.update(about="short"),
        lambda data: data.update(aliases=[1]),
    ],
)
def test_a_broken_file_is_invalid_here_and_for_the_reader(
    change: Callable[[dict[str, Any]], object], tmp_path: Path
) -> None:
    data = shipped("h100")
    change(data)
    assert not VALIDATOR.is_valid(data)
    with pytest.raises(DataError):
        read(tmp_path, data)
