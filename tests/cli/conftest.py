"""The command line, ready to be called."""

import pytest

from tests.cli.commands import Command


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.delenv("PERFMODEL_DEVICE", raising=False)
    return Command(capsys)
