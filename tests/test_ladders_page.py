"""docs/ladders.md is what its script writes from the committed measurements."""

from __future__ import annotations

import runpy
from pathlib import Path

import perfmodel

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_is_current() -> None:
    script = runpy.run_path(str(DOCS / "ladders.py"))
    page = script["page"](perfmodel.validate("h200"))
    assert page == (DOCS / "ladders.md").read_text("utf-8")
    for picture in script["PICTURES"]:
        assert picture.is_file()
        assert f"images/{picture.name}" in page
