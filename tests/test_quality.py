"""The habits that are configuration: lint, format, types, and what may be said where."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
    ],
    ids=["lint", "format", "types"],
)
def test_the_tools_find_nothing(command: list[str]) -> None:
    result = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("package", ["engines", "expressions"])
def test_the_laws_import_nothing_but_units_and_expressions(package: str) -> None:
    allowed = {"engines", "expressions", "units", "errors"}
    for path in (ROOT / "perfmodel" / package).glob("*.py"):
        for name in re.findall(r"(?:from|import) perfmodel\.(\w+)", path.read_text("utf-8")):
            assert name in allowed, f"{path} imports perfmodel.{name}"


def test_text_never_becomes_code() -> None:
    forbidden = re.compile(
        r"(?<![\w.])(eval|exec)\(|\b(sympify|parse_expr|literal_eval)\(|yaml\.load\("
    )
    for path in (ROOT / "perfmodel").rglob("*.py"):
        assert not forbidden.search(path.read_text("utf-8")), path


def test_engines_hold_no_device() -> None:
    for path in (ROOT / "perfmodel" / "engines").glob("*.py"):
        code = re.sub(r'""".*?"""', "", path.read_text("utf-8"), flags=re.DOTALL)
        assert not re.search(r"s5000|h200|gfx906|131072|65536", code, flags=re.IGNORECASE), path
