"""The JSON schema that editors use says of a description what the reader says."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import yaml

import perfmodel.kernels
from perfmodel.errors import DataError
from perfmodel.kernels.json_schema import SCHEMA_FILE, json_schema
from perfmodel.kernels.loading import kernel_names, library_directory
from perfmodel.kernels.reading import read_description
from perfmodel.kernels.starting_file import starting_file
from perfmodel.located_yaml import Document, read_file, read_text
from tests.kernels.sample import SAMPLE

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = json_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["title"] == "perfmodel kernel"


@pytest.mark.parametrize("name", kernel_names())
def test_every_shipped_file_is_valid(name: str) -> None:
    data = read_file(library_directory() / f"{name}.yaml").data
    assert [error.message for error in VALIDATOR.iter_errors(data)] == []


@pytest.mark.parametrize("text", [SAMPLE, starting_file()], ids=["sample", "starting file"])
def test_other_files_that_are_right_are_valid(text: str) -> None:
    data = read_text(text, origin="x.yaml").data
    assert [error.message for error in VALIDATOR.iter_errors(data)] == []


def test_the_committed_copy_is_this_schema() -> None:
    committed = Path(perfmodel.kernels.__file__).with_name(SCHEMA_FILE).read_text(encoding="utf-8")
    assert committed == json.dumps(SCHEMA, indent=2) + "\n"


def rung(data: dict[str, Any], number: int = 0) -> Any:
    return data["rungs"][number]


def launch(data: dict[str, Any], number: int = 0) -> Any:
    return rung(data, number)["launches"][0]


def walk(data: dict[str, Any]) -> Any:
    """The statements of the first rung's branch."""
    return launch(data)["body"][1]["then"]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.update(anything=1),
        lambda data: data.pop("flop"),
        lambda data: data.update(format=2),
        lambda data: data.update(kernel="a b"),
        lambda data: data.update(title=""),
        lambda data: data.update(flop=True),
        lambda data: data.update(rungs=[]),
        lambda data: data["parameters"]["m"].update(default=-1),
        lambda data: data["parameters"]["m"].update(minimun=1),
        lambda data: data["parameters"].update({"a-b": {"default": 1, "about": "x"}}),
        lambda data: data["constraints"][0].pop("otherwise"),
        lambda data: data["arrays"]["input"].update(space="local"),
        lambda data: rung(data).pop("change"),
        lambda data: rung(data).pop("launches"),
        lambda data: rung(data).update(launch={"registers": 4}),
        lambda data: rung(data).update(replace={"loop": []}),
        lambda data: launch(data).pop("registers"),
        lambda data: launch(data).update(block="block"),
        lambda data: launch(data).update(grid=[1, 1, 1, 1]),
        lambda data: launch(data).update(roles=[{"name": "x", "warps": 1, "body": []}]),
        lambda data: launch(data).pop("body"),
        lambda data: launch(data, 2)["channels"]["full"].pop("stages"),
        lambda data: launch(data, 2)["roles"][0].pop("warps"),
        lambda data: walk(data)[0].update(op="fma.fp31"),
        lambda data: walk(data)[0].update(packed=3),
        lambda data: walk(data)[0].update(load="x"),
        lambda data: walk(data)[0].update(label="a b"),
        lambda data: walk(data)[1].pop("below"),
        lambda data: walk(data)[1].update(next="i + 1"),
        lambda data: walk(data)[1]["do"][0].pop("index"),
        lambda data: walk(data)[1]["do"][0].update(witdh=4),
        lambda data: walk(data)[1]["do"][1].update(uses=["x@-1"]),
        lambda data: walk(data).append({"barrier": "grid"}),
        lambda data: walk(data).append({"laod": "x"}),
        lambda data: walk(data).append({"let": {}}),
        lambda data: launch(data, 2)["roles"][1]["body"][0]["do"][1].update(shape=[64, 64]),
        lambda data: launch(data, 2)["roles"][1]["body"][0]["do"][1].update(shared=["c"]),
    ],
)
def test_a_broken_file_is_invalid_here_and_for_the_reader(
    change: Callable[[dict[str, Any]], object],
) -> None:
    data = copy.deepcopy(read_text(SAMPLE, origin="sample.yaml").data)
    change(data)
    assert not VALIDATOR.is_valid(data)
    text = yaml.safe_dump(data, sort_keys=False)
    with pytest.raises(DataError, match=r"^sample.yaml:\d+: "):
        read_description(read_text(text, origin="sample.yaml"))


def test_a_document_needs_no_lines_to_be_read() -> None:
    data = read_text(SAMPLE, origin="sample.yaml").data
    assert read_description(Document(origin="here", data=data, lines={})).kernel == "sample"
