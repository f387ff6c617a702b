"""Runs a command in this process and keeps what it printed."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from perfmodel.cli import run


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Command:
    """`command("occupancy --threads 256", "-d", path)`: a line as typed, then single arguments."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, line: str = "", *arguments: str) -> Answer:
        code = run([*line.split(), *arguments])
        out, err = self._capsys.readouterr()
        return Answer(code, out, err)
