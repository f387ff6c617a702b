"""From the plain data of a file to a device.

The annotations of the schema say how each field is written; this walks them. It is the only way a
device is made. Whether the data has the right keys at all is asked before, by
`perfmodel.device.validation`.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from perfmodel.device.values import FrozenDict

Record = TypeVar("Record")


def build(record: type[Record], data: Mapping[str, Any]) -> Record:
    """Make a record from plain data.

    Args:
        record: The class of the record, a dataclass whose fields say how they are written.
        data: The fields by name.

    Returns:
        The record.

    Raises:
        ValueError: A value is wrong.
    """
    hints = _hints_of(record)
    return record(**{name: _read(hints[name], raw) for name, raw in data.items()})


def _hints_of(record: type[Any]) -> dict[str, Any]:
    """The annotations of a record's fields, worked out once."""
    if record not in _HINTS:
        hints = get_type_hints(record, include_extras=True)
        _HINTS[record] = {field.name: hints[field.name] for field in fields(record)}
    return _HINTS[record]


_HINTS: dict[type[Any], dict[str, Any]] = {}


def _read(hint: Any, raw: Any) -> Any:
    """Read a raw value as its annotation says."""
    if hasattr(hint, "__metadata__"):
        return hint.__metadata__[0].read(raw)
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        (present,) = (part for part in get_args(hint) if part is not NoneType)
        return None if raw is None else _read(present, raw)
    if origin is Mapping:
        of_key = get_args(hint)[1]
        return FrozenDict({key: _read(of_key, item) for key, item in raw.items()})
    if origin is tuple:
        return tuple(raw)
    if is_dataclass(hint) and isinstance(hint, type):
        return build(hint, raw)
    if origin is not Literal:
        raise TypeError(f"a field written as {hint} cannot be read")
    return raw
