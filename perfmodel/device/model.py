"""A device: the fields of its file, with what-if copies."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Self

from perfmodel.device.schema import DeviceFields
from perfmodel.device.values import Value
from perfmodel.errors import UsageError
from perfmodel.suggestions import did_you_mean


class Device(DeviceFields):
    """A device with every field of `perfmodel.device.schema`, each a `Value` with its source."""

    def quantities(self) -> dict[str, Value]:
        """Every value by its name, those of a group as `group.key`.

        Returns:
            Names such as `dram_bandwidth` and `lanes.fp32`, in the order of the schema.

        Example:
            >>> from perfmodel import load_device
            >>> str(load_device("s5000").quantities()["shared_per_mp"])
            '192 KiB'
        """
        found: dict[str, Value] = {}
        _collect("", self, found)
        return found

    def what_if(self, **changes: str | float) -> Self:
        """A validated copy with some values changed.

        Args:
            changes: Field names with new values, in the units of a device file; a value within a
                group is named with its group, as in `**{"lanes.fp32": 256}`.

        Returns:
            The copy; a changed value says in its source what it was.

        Raises:
            UsageError: No such field, or not a value it can have.

        Example:
            >>> from perfmodel import load_device
            >>> str(load_device("s5000").what_if(dram_bandwidth="3.2 TB/s").dram_bandwidth)
            '3.2 TB/s'
        """
        quantities = self.quantities()
        changed = self
        for name, text in changes.items():
            if name not in quantities:
                raise UsageError(
                    f"{self.device} has no value {name[:60]!r}: {did_you_mean(name, quantities)}"
                )
            old = quantities[name]
            raw = {"value": text, "kind": "inferred", "source": f"what-if; was {old} ({old.kind})"}
            try:
                value = old.form.read(raw)
            except ValueError as error:
                raise UsageError(f"{self.device}, {name}: {error}") from None
            changed = _replaced(changed, name.split("."), value)
        return changed

    def __repr__(self) -> str:
        """The name, rather than eighty values."""
        return f"Device({self.device!r}, {self.name!r})"

    __str__ = __repr__


def _collect(name: str, item: Any, found: dict[str, Value]) -> None:
    """Gather the values below an item of a device."""
    if isinstance(item, Value):
        found[name] = item
        return
    members: Mapping[str, Any] = {}
    if isinstance(item, Mapping):
        members = item
    elif is_dataclass(item):
        members = {field.name: getattr(item, field.name) for field in fields(item)}
    for key, member in members.items():
        _collect(f"{name}.{key}" if name else key, member, found)


def _replaced(item: Any, path: list[str], value: Value) -> Any:
    """A copy of an item of a device with the value at `path` replaced."""
    head, *rest = path
    if isinstance(item, Mapping):
        return {**item, head: _replaced(item[head], rest, value) if rest else value}
    new = _replaced(getattr(item, head), rest, value) if rest else value
    return replace(item, **{head: new})
