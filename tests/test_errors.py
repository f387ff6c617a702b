"""The errors a user can cause, and their exit codes."""

import pytest

from perfmodel.errors import ArgumentError, DataError, PerfmodelError, UsageError
from perfmodel.expressions import ExpressionError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (PerfmodelError, 1),
        (UsageError, 2),
        (ArgumentError, 2),
        (DataError, 3),
        (ExpressionError, 3),
    ],
)
def test_exit_codes(error: type[PerfmodelError], code: int) -> None:
    assert error.exit_code == code
    assert issubclass(error, PerfmodelError)


def test_a_number_outside_a_law_is_also_a_value_error() -> None:
    with pytest.raises(ValueError, match="n is 0"):
        raise ArgumentError("n is 0")
    assert issubclass(ArgumentError, UsageError)
    assert not issubclass(DataError, UsageError)


def test_the_message_is_the_text() -> None:
    assert str(DataError("file.yaml:3: wrong")) == "file.yaml:3: wrong"
