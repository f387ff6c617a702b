"""Values of parameters: defaults, what is refused, and constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from perfmodel.errors import DataError, UsageError
from perfmodel.kernels.parameters import (
    expression_values,
    parameter_types,
    rung_parameters,
)
from tests.kernels.sample import changed, described

RUNG = described(
    changed("{default: 100, about: rows}", "{default: 100, about: rows, choices: [1, 100, 128]}")
).rungs["walk"]


def test_what_is_not_given_has_its_default() -> None:
    assert rung_parameters(RUNG, {}) == {"m": 100, "n": 64, "type": "fp32", "block": 32}
    given = {"n": np.int64(2), "type": "fp16", "m": 128}
    assert rung_parameters(RUNG, given) == {"m": 128, "n": 2, "type": "fp16", "block": 32}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"blok": 1}, "sample:walk has no parameter 'blok': did you mean block?"),
        ({"n": 1}, "n is 1: it must be from 2 to 2147483647"),
        ({"n": 1 << 31}, "n is 2147483648: it must be from 2 to 2147483647"),
        ({"n": 2.0}, "n is '2.0': a whole number is wanted"),
        ({"n": True}, "n is 'True': a whole number is wanted"),
        ({"n": "fp32"}, "n is 'fp32': a whole number is wanted"),
        ({"m": 2}, "m is 2: one of 1, 100, 128 is wanted"),
        ({"type": "bf16"}, "type is 'bf16': one of fp32, fp16 is wanted"),
        ({"type": 4}, "type is 4: one of fp32, fp16 is wanted"),
        ({"type": np.array([4])}, "type is '[4]': one of fp32, fp16 is wanted"),
        ({"n": np.array([2, 1])}, "n holds 1 to 2: it must be from 2 to"),
        ({"n": np.array([2.0])}, "n holds float64 values: whole numbers are wanted"),
        ({"n": np.array([], dtype=np.int64)}, "n holds int64 values: whole numbers are wanted"),
        ({"m": np.array([100, 2])}, "m is 2: one of 1, 100, 128 is wanted"),
    ],
)
def test_a_value_that_a_parameter_cannot_have_is_refused(
    given: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        rung_parameters(RUNG, given)
    assert str(caught.value).startswith(message)


def test_a_constraint_is_told_with_the_values_that_break_it() -> None:
    with pytest.raises(DataError, match=r"^sample:walk with n = 65: n must be even$"):
        rung_parameters(RUNG, {"n": 65})


def test_a_batch_is_refused_for_its_first_element_that_breaks_a_constraint() -> None:
    sizes = np.array([64, 66, 67, 69])
    with pytest.raises(DataError, match=r"^sample:walk with n = 67: n must be even$"):
        rung_parameters(RUNG, {"n": sizes})
    assert rung_parameters(RUNG, {"n": sizes[:2]})["n"].tolist() == [64, 66]


def test_a_constraint_of_a_width_is_asked_where_the_width_is_given() -> None:
    text = changed('that: "n % 2 == 0"', 'that: "n % warpSize == 0"')
    rung = described(text).rungs["walk"]
    assert rung_parameters(rung, {"n": 96})["n"] == 96
    assert rung_parameters(rung, {"n": 96}, warp_width=32)["n"] == 96
    with pytest.raises(DataError, match="with n = 96, warpSize = 64: n must be even"):
        rung_parameters(rung, {"n": 96}, warp_width=64)


def test_a_constraint_without_a_value_is_refused() -> None:
    text = changed('that: "n % 2 == 0"', 'that: "n % (m - 100) == 0"')
    with pytest.raises(DataError, match=r"sample.yaml:10: that of a constraint: "):
        rung_parameters(described(text).rungs["walk"], {})


def test_expressions_read_numbers_and_the_sizes_of_types() -> None:
    values = rung_parameters(RUNG, {"type": "fp16"})
    assert expression_values(RUNG, values) == {"m": 100, "n": 64, "type_bytes": 2, "block": 32}
    assert parameter_types(values) == {"type": "fp16"}
