"""Results: frozen, and ready for JSON whatever they hold."""

import dataclasses
import json
import math
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import perfmodel
from perfmodel import results
from perfmodel.device.loading import load_device
from perfmodel.results import OccupancyResult, OneBlockMore, Padding, Result, plain


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1),
        (1.5, 1.5),
        ("text", "text"),
        (None, None),
        (True, True),
        (math.inf, None),
        (-math.inf, None),
        (math.nan, None),
        ((1, (2, 3)), [1, [2, 3]]),
        ([math.nan], [None]),
        ({1: np.int64(2)}, {"1": 2}),
        (np.float64(0.5), 0.5),
        (np.float64(math.nan), None),
        (np.bool_(True), True),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.array([1.0, math.inf]), [1.0, None]),
        (np.array([], dtype=int), []),
        (
            Padding(row_elements=32, pad_elements=1, extra_share=1 / 32, passes=(1, 1)),
            {"row_elements": 32, "pad_elements": 1, "extra_share": 1 / 32, "passes": [1, 1]},
        ),
    ],
)
def test_plain_values(value: Any, expected: Any) -> None:
    found = plain(value)
    assert found == expected
    assert type(found) is type(expected)
    json.dumps(found, allow_nan=False)


def test_an_array_of_tuples_becomes_lists() -> None:
    tuples = np.empty(2, dtype=object)
    tuples[0], tuples[1] = ("warps",), ("registers", "blocks")
    assert plain(tuples) == [["warps"], ["registers", "blocks"]]


def test_one_kernel_as_json() -> None:
    result = perfmodel.occupancy(
        load_device("s5000"), threads_per_block=256, registers_per_thread=128
    )
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert data["device"] == "s5000"
    assert data["limiters"] == ["registers"]
    assert data["blocks_by"]["shared_memory"] is None
    assert data["one_block_more"]["blocks_per_mp"] == 5
    assert set(data) == {field.name for field in dataclasses.fields(OccupancyResult)}


def test_a_batch_as_json() -> None:
    result = perfmodel.occupancy(
        load_device("s5000"), threads_per_block=np.array([32, 256]), registers_per_thread=128
    )
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert data["blocks_per_mp"] == [32, 4]
    assert data["limiters"] == [["registers"], ["registers"]]
    assert data["one_block_more"] is None


def test_a_result_cannot_be_changed() -> None:
    result = OneBlockMore(blocks_per_mp=3, active_warps=24)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.blocks_per_mp = 4  # type: ignore[misc]


@pytest.mark.parametrize("name", sorted(results.__all__))
def test_every_public_name_is_there(name: str) -> None:
    found = getattr(results, name)
    if isinstance(found, type):
        assert issubclass(found, Result)
        assert dataclasses.is_dataclass(found)
        assert getattr(import_module(found.__module__), name) is found


def test_another_name_is_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        results.Nothing  # noqa: B018
