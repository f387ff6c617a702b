"""The JSON schema of device files, from the models and the docstrings of their fields."""

from __future__ import annotations

import ast
import inspect
from functools import lru_cache
from typing import Any

from perfmodel.device import schema

SCHEMA_FILE = "device.schema.json"
"""Name of the committed copy, in the folder of the device files."""


def json_schema() -> dict[str, Any]:
    """The schema that editors check and complete device files with.

    Returns:
        A JSON schema; each field is described by its docstring.
    """
    from perfmodel.device.validation import adapter

    found = adapter().json_schema()
    found["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    found["title"] = "perfmodel device"
    described = _docstrings()
    for name, field in found["properties"].items():
        field["description"] = described[name]
    return found


@lru_cache(maxsize=1)
def _docstrings() -> dict[str, str]:
    """The text under each field of the schema's classes."""
    found: dict[str, str] = {}
    for node in ast.walk(ast.parse(inspect.getsource(schema))):
        if not isinstance(node, ast.ClassDef):
            continue
        for field, text in zip(node.body, node.body[1:], strict=False):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
            ):
                found[field.target.id] = str(text.value.value)
    return found
