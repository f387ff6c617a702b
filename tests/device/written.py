"""Device files written for a test: a shipped one with something changed."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from perfmodel.device.loading import read_device, specs_directory

if TYPE_CHECKING:
    from pathlib import Path

    from perfmodel.device.model import Device


@cache
def _shipped(name: str) -> dict[str, Any]:
    text = (specs_directory() / f"{name}.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.safe_load(text)
    return data


def shipped(name: str) -> dict[str, Any]:
    """The plain data of a shipped file, to be changed."""
    return deepcopy(_shipped(name))


def written(folder: Path, data: dict[str, Any]) -> Path:
    """The data as a file, each field on lines of its own."""
    path = folder / "own.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False, width=10_000), encoding="utf-8")
    return path


def read(folder: Path, data: dict[str, Any]) -> Device:
    return read_device(written(folder, data))


def line_of(path: Path, key: str) -> int:
    """The line of a field of the file, or of a key below one as `field.key`."""
    *above, last = key.split(".")
    lines = path.read_text(encoding="utf-8").splitlines()
    start = line_of(path, ".".join(above)) if above else 0
    indent = "  " * len(above)
    return next(
        number
        for number, line in enumerate(lines[start:], start + 1)
        if line.startswith(f"{indent}{last}:")
    )
