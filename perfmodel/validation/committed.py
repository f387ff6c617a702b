"""The errors as they were when the model was last settled, so that a drift is seen."""

from __future__ import annotations

import json
from math import isclose
from typing import TYPE_CHECKING, Any

from perfmodel.errors import DataError, UsageError
from perfmodel.validation.measurements import folder

if TYPE_CHECKING:
    from pathlib import Path

    from perfmodel.results.validation import Validation

_ALIKE = 1e-3
"""Errors are the same to so large a share; they hang on no rounding of a machine."""


def errors_file(device: str) -> Path:
    """Where the errors of a device are committed."""
    return folder() / "errors" / f"{device}.json"


def record(validation: Validation) -> str:
    """Commit the errors of a checkout.

    Args:
        validation: The errors of now, over all cases.

    Returns:
        The file's name.

    Raises:
        UsageError: perfmodel is installed, not a checkout.
    """
    path = errors_file(validation.device)
    if not (path.parents[2] / "pyproject.toml").is_file():
        raise UsageError("--record is for a checkout of perfmodel: this one is installed")
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(_errors(validation), indent=1) + "\n", encoding="utf-8")
    return path.name


def drifted(validation: Validation) -> list[str]:
    """What is no longer as committed.

    Args:
        validation: The errors of now, over all cases.

    Returns:
        A line for each number that has moved.

    Raises:
        DataError: Nothing is committed, or the file is no JSON.
    """
    path = errors_file(validation.device)
    try:
        before = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path}: not there: perfmodel validate --record writes it") from None
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None
    now = _errors(validation)
    lines = []
    for name in dict.fromkeys([*before, *now]):
        old, new = before.get(name, {}), now.get(name, {})
        lines += [
            f"{name}: {key} was {old.get(key)}, is {new.get(key)}"
            for key in dict.fromkeys([*old, *new])
            if not _alike(old.get(key), new.get(key))
        ]
    return lines


def _alike(old: Any, new: Any) -> bool:
    if isinstance(old, float) and isinstance(new, float):
        return isclose(old, new, rel_tol=_ALIKE, abs_tol=1e-6)
    return bool(old == new)


def _errors(validation: Validation) -> dict[str, dict[str, Any]]:
    """The numbers of each group, flat and rounded."""
    found: dict[str, dict[str, Any]] = {}
    for group in validation.groups:
        plain = group.to_dict()
        medians = {f"median_{name}": value for name, value in plain.pop("medians").items()}
        found[plain.pop("name")] = {
            name: round(value, 6) if isinstance(value, float) else value
            for name, value in {**plain, **medians}.items()
        }
    for each in validation.libraries:
        found[f"library {each.operation}"] = {
            "cases": each.cases,
            "slower": each.slower,
            "efficiency": round(each.efficiency, 6),
        }
    return found
