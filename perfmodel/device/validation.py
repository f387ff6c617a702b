"""Whether the plain data of a file is a device's: known keys, none missing, values of their kind.

A file that comes from outside is validated before it is read. The shipped files were validated
when they were tested, so that loading one does not wait for pydantic.
"""

from dataclasses import fields
from functools import lru_cache
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from perfmodel.device import schema
from perfmodel.errors import DataError, quoted
from perfmodel.located_yaml import Document, Location
from perfmodel.suggestions import did_you_mean

_KEYS_OF_GROUPS: dict[str, tuple[str, ...]] = {
    "lanes": get_args(schema.Pipe),
    "tensor_flop_per_cycle": get_args(schema.TensorType),
    "peaks": get_args(schema.Peak),
    "achievable_peaks": get_args(schema.Peak),
    "shared_lane_groups": (*get_args(schema.Operation), *get_args(schema.AccessWidth)),
}


@lru_cache(maxsize=1)
def adapter() -> TypeAdapter[schema.DeviceFields]:
    """Pydantic's view of the schema."""
    return TypeAdapter(schema.DeviceFields)


def validate(document: Document) -> None:
    """Refuse a file that is no device's.

    Args:
        document: What the file holds.

    Raises:
        DataError: One line: the file, the line, what is wrong and what would be right, and how
            many faults there are beyond the first.
    """
    try:
        adapter().validate_python(document.data)
    except ValidationError as error:
        faults = error.errors(include_url=False)
    else:
        return

    def order(fault: Any) -> tuple[bool, int]:
        # What is missing comes last: a key that is misspelt is the cause of one that is missing.
        place = document.lines.get(_location(fault), len(document.lines))
        return fault["type"] == "missing", place

    location, message = _describe(min(faults, key=order))
    name = ".".join(str(part) for part in location)
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    raise DataError(f"{document.place(location)}: {name + ': ' if name else ''}{message}{more}")


def _location(fault: Any) -> Location:
    return tuple(part for part in fault["loc"] if part != "[key]")


def _describe(fault: Any) -> tuple[Location, str]:
    """Where a fault stands, and what is wrong and what would be right."""
    location = _location(fault)
    kind = fault["type"]
    name = str(location[-1]) if location else ""
    if kind == "unexpected_keyword_argument":
        known = _known_keys(location[:-1])
        return location, f"unknown key {quoted(name)}: {did_you_mean(name, known)}"
    if kind == "missing":
        of = "link" if len(location) > 1 else "device file"
        return location[:-1], f"{name!r} is missing: every {of} needs it"
    if kind == "literal_error":
        if "[key]" in fault["loc"]:
            known = _KEYS_OF_GROUPS[str(location[0])]
            return location, f"unknown key {quoted(name)}: {did_you_mean(name, known)}"
        given = quoted(fault["input"])
        return location, f"{given} is not allowed: it must be {fault['ctx']['expected']}"
    message = str(fault["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    if kind == "value_error":
        return location, message
    return location, f"{quoted(fault['input'])} is not allowed: it should be {message}"


def _known_keys(parent: Location) -> tuple[str, ...]:
    record = schema.Link if parent and parent[0] == "links" else schema.DeviceFields
    return tuple(field.name for field in fields(record))
