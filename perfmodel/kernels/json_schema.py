"""The JSON schema of kernel descriptions, for editors.

It says what keys there are and what kind of value each has. What names mean and whether they fit
together is beyond it; `perfmodel kernel check` says that.
"""

from __future__ import annotations

from typing import Any, get_args

from perfmodel.kernels.extending import RUNG_KEYS
from perfmodel.kernels.reading import FORMAT
from perfmodel.kernels.schema import ELEMENT_BYTES, LARGEST_PARAMETER, OPERANDS, Pipe, Scope, Space
from perfmodel.kernels.statements import STATEMENT_KEYS

SCHEMA_FILE = "kernel.schema.json"
"""Name of the committed copy, beside this module."""

_NAME = "^[A-Za-z_][A-Za-z0-9_]*$"
_USE = r"^\s*[A-Za-z_][A-Za-z0-9_]*(\s*@\s*[0-9]{1,6})?\s*$"

_ABOUT = {
    "let": "Integer names, in order.",
    "load": "The value made: each active lane reads `width` neighbouring elements.",
    "store": "The values that each active lane writes.",
    "atomic": "The values that each active lane adds to an element.",
    "op": "Arithmetic: what and on which pipe, such as fma.fp32.",
    "shuffle": "The value made by exchanges between the lanes of a warp.",
    "barrier": "Whose threads wait for one another.",
    "for": "The variable of a loop.",
    "if": "A predicate over lanes.",
    "share": "A branch on data: the share of warps that take `then`, 0 to 1.",
    "copy": "The shared array that a bulk copy fills.",
    "mma": "The value that a matrix instruction adds to.",
    "acquire": "The channel of which a stage is acquired.",
    "commit": "The channel of which a stage is committed.",
    "wait": "The channel of which a stage is waited for.",
    "release": "The channel of which a stage is released.",
    "from": "The array that is read; of a loop, its first value (default 0).",
    "to": "The value made; of a store, the array that is written.",
    "on": "The array that is added to.",
    "index": "The element that an access starts at.",
    "width": "Neighbouring elements of a lane: 1 (default), 2, 4, 8 or 16.",
    "uses": "The values read: x of this iteration, x@1 of one iteration ago.",
    "count": "Operations, exchanges or instructions (default 1).",
    "chain": "How many of `count` wait for one another (default 1).",
    "packed": "Operations that one instruction does for a lane (default 1).",
    "below": "The bound of a counted loop.",
    "step": "What a counted loop adds (default 1).",
    "while": "The condition under which a loop goes on.",
    "next": "The following value of the variable, such as s * 2.",
    "unroll": "Iterations that the compiler interleaves (default 1).",
    "do": "What the loop does.",
    "then": "What is done where it holds.",
    "else": "What is done where it does not hold.",
    "rows": "Rows of the box (default 1).",
    "row": "Neighbouring elements of a row of the box.",
    "pitch": "Elements from one row of the box to the next (default: row).",
    "channel": "The channel on which the copy completes.",
    "shape": "m, n and k of one instruction.",
    "type": "Operand type, or the parameter that has one as its value.",
    "warps": "Warps that issue an instruction together (default 1).",
    "shared": "The operands that are read from shared memory: a, b or both.",
    "label": "A name by which a rung that extends this one can replace the statement.",
}
"""What a key of a statement is."""


def json_schema() -> dict[str, Any]:
    """The schema that editors check and complete kernel descriptions with.

    Returns:
        A JSON schema.
    """
    top = _object(
        {
            "format": {"const": FORMAT, "description": "Version of the file format."},
            "kernel": _named("The kernel's name."),
            "title": _text("What it is, in a few words."),
            "source": _text("Where it is described."),
            "about": _text("What there is to say about it."),
            "parameters": _map("parameter", "What can be chosen, by name."),
            "constraints": _list("constraint", "What must hold of the parameters."),
            "pipe": _text("The peak that the arithmetic is held against: fp32, tensor_fp16, ..."),
            "flop": _expression("Useful arithmetic, the same for all rungs [FLOP]."),
            "compulsory": _expression("Each element read or written once [bytes]."),
            "arrays": _map("array", "Arrays of all rungs, by name."),
            "rungs": {**_list("rung", "The versions, worst first."), "minItems": 1},
        },
        required=("format", "kernel", "title", "source", "pipe", "flop", "compulsory", "rungs"),
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "perfmodel kernel",
        "description": "A kernel: what it computes, and what each version of it does.",
        **top,
        "$defs": {
            "expression": {
                "description": "An expression of C; quoted where YAML would take it for more.",
                "anyOf": [{"type": "string", "minLength": 1}, {"type": "number"}],
            },
            "use": {"type": "string", "pattern": _USE},
            "uses": {"anyOf": [_ref("use"), {"type": "array", "items": _ref("use")}]},
            "parameter": _parameter(),
            "constraint": _object(
                {
                    "that": _expression("The condition."),
                    "otherwise": _text("What would be right, in words."),
                },
                required=("that", "otherwise"),
            ),
            "array": _array(),
            "rung": _rung(),
            "launch": _launch(required=("block", "grid", "registers")),
            "changed_launch": _launch(required=()),
            "channel": _object(
                {"stages": _expression("Stages of the ring.")}, required=("stages",)
            ),
            "role": _object(
                {
                    "name": _named("The role's name."),
                    "warps": _expression("Its warps."),
                    "registers": _expression("Registers a thread of it has."),
                    "body": _list("statement", "What it does."),
                },
                required=("name", "warps", "body"),
            ),
            "statement": {"anyOf": [_ref(f"{key}_statement") for key in STATEMENT_KEYS]},
            **{f"{key}_statement": _statement(key) for key in STATEMENT_KEYS},
        },
    }


def _object(fields: dict[str, Any], *, required: tuple[str, ...]) -> dict[str, Any]:
    found = {"type": "object", "additionalProperties": False, "properties": fields}
    return {**found, "required": list(required)} if required else found


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _expression(about: str) -> dict[str, Any]:
    return {**_ref("expression"), "description": about}


def _text(about: str) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "description": about}


def _named(about: str) -> dict[str, Any]:
    return {"type": "string", "pattern": _NAME, "description": about}


def _list(item: str, about: str) -> dict[str, Any]:
    return {"type": "array", "items": _ref(item), "description": about}


def _map(item: str, about: str) -> dict[str, Any]:
    return {
        "type": "object",
        "propertyNames": {"pattern": _NAME},
        "additionalProperties": _ref(item),
        "description": about,
    }


def _parameter() -> dict[str, Any]:
    """A whole number or a word; a rung that says one again need not say all of it."""
    number = {"type": "integer", "minimum": 0, "maximum": LARGEST_PARAMETER}
    value = {"anyOf": [number, {"type": "string", "pattern": _NAME}]}
    return _object(
        {
            "default": {**value, "description": "The value it has where none is given."},
            "about": _text("What it is."),
            "minimum": {**number, "description": "The least value (default 1)."},
            "choices": {
                "type": "array",
                "items": value,
                "description": "The only values it can have; words need them.",
            },
        },
        required=(),
    )


def _array() -> dict[str, Any]:
    return _object(
        {
            "type": {
                **_named("Element type, or the parameter that has one as its value."),
                "examples": list(ELEMENT_BYTES),
            },
            "extent": _expression("Elements; of a shared array, those of one block."),
            "space": {"enum": list(get_args(Space)), "description": "global by default."},
        },
        required=(),
    )


def _rung() -> dict[str, Any]:
    statements = {"type": "array", "items": _ref("statement")}
    changed = _ref("changed_launch")
    fields = {
        "name": _named("The rung's name."),
        "change": _text("What it changes and why that should help, in a sentence."),
        "source": _text("Where it is described."),
        "extends": _named("The rung that this one is written as a change of."),
        "alternative_to": _named("The rung it is an alternative to, where it is no step."),
        "parameters": _map("parameter", "Its own parameters, by name."),
        "constraints": _list("constraint", "What must hold of its parameters besides."),
        "arrays": _map("array", "Its own arrays, by name."),
        "launches": {**_list("launch", "Its launches, in order."), "minItems": 1},
        "launch": {
            "anyOf": [changed, {"type": "array", "items": changed}],
            "description": "Fields that change in a launch of the rung that is extended.",
        },
        "replace": {
            "type": "object",
            "additionalProperties": statements,
            "description": "For a label, the statements that stand in its place.",
        },
    }
    known = {"name", "change", *RUNG_KEYS}
    return {
        **_object(
            {key: each for key, each in fields.items() if key in known}, required=("name", "change")
        ),
        "dependentRequired": {"launch": ["extends"], "replace": ["extends"]},
        "anyOf": [{"required": ["launches", "source"]}, {"required": ["extends"]}],
    }


def _launch(*, required: tuple[str, ...]) -> dict[str, Any]:
    sizes = {"type": "array", "items": _ref("expression"), "minItems": 1, "maxItems": 3}
    found = _object(
        {
            "name": _named("Its name; optional with one launch."),
            "block": {**sizes, "description": "Threads of a block: x, y, z."},
            "grid": {**sizes, "description": "Blocks: x, y, z."},
            "registers": _expression("Registers a thread has at launch."),
            "shared": _expression(
                "Shared memory of a block [bytes]; default: what its arrays take."
            ),
            "barriers": _expression("Block barriers it uses; default: one a role that has one."),
            "channels": _map("channel", "What joins its roles, by name."),
            "roles": {**_list("role", "Warps with bodies of their own."), "minItems": 1},
            "body": _list("statement", "What all its threads do."),
        },
        required=required,
    )
    return (
        {**found, "oneOf": [{"required": ["body"]}, {"required": ["roles"]}]} if required else found
    )


def _statement(key: str) -> dict[str, Any]:
    required, optional = STATEMENT_KEYS[key]
    fields = {each: _field(key, each) for each in (key, *required, *optional, "label")}
    found = _object(fields, required=(key, *required))
    if key == "for":
        counted = {"required": ["below"], "not": _any_of("while", "next")}
        other = {"required": ["while", "next"], "not": _any_of("below", "step")}
        found["oneOf"] = [counted, other]
    return found


def _any_of(*keys: str) -> dict[str, Any]:
    return {"anyOf": [{"required": [key]} for key in keys]}


def _field(statement: str, key: str) -> dict[str, Any]:
    """What a key of a statement can hold."""
    return {**_kind(statement, key), "description": _ABOUT[key]}


def _kind(statement: str, key: str) -> dict[str, Any]:
    if key in ("do", "then", "else"):
        return {"type": "array", "items": _ref("statement")}
    if key == "uses" or (key == statement and key in ("store", "atomic")):
        return _ref("uses")
    if (statement, key) in _SPECIAL:
        return _SPECIAL[statement, key]
    names = ("to", "on", "type", "channel", "label")
    if key in names or (key == "from" and statement != "for"):
        return {"type": "string", "pattern": _NAME}
    if key == statement and key not in ("if", "share"):
        return {"type": "string", "pattern": _NAME}
    return _ref("expression")


_SPECIAL: dict[tuple[str, str], dict[str, Any]] = {
    ("let", "let"): {
        "type": "object",
        "propertyNames": {"pattern": _NAME},
        "additionalProperties": _ref("expression"),
        "minProperties": 1,
    },
    ("op", "op"): {"enum": [f"{what}.{pipe}" for what in OPERANDS for pipe in get_args(Pipe)]},
    ("op", "packed"): {"enum": [1, 2, 4]},
    ("barrier", "barrier"): {"enum": list(get_args(Scope))},
    ("mma", "shape"): {
        "type": "array",
        "items": _ref("expression"),
        "minItems": 3,
        "maxItems": 3,
    },
    ("mma", "shared"): {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True},
}
