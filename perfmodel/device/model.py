"""A device: the fields of its file, with what-if copies.

Some values of a file follow from others: a peak from multiprocessors, lanes and clock. A what-if
copy that changes one changes what follows from it in proportion, unless that is set as well.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from perfmodel.device.schema import DeviceFields
from perfmodel.device.values import FrozenDict, Value
from perfmodel.errors import UsageError, quoted
from perfmodel.suggestions import did_you_mean

if TYPE_CHECKING:
    import pandas as pd


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
        return dict(self._quantities)

    @cached_property
    def _quantities(self) -> Mapping[str, Value]:
        found: dict[str, Value] = {}
        _collect("", self, found)
        return found

    def what_if(self, **changes: str | float) -> Self:
        """A validated copy with some values changed.

        Args:
            changes: Field names with new values, in the units of a device file; a value within a
                group is named with its group, as in `**{"lanes.fp32": "256 /cycle"}`.

        Returns:
            The copy; a changed value, and one that follows from it, says in its source what it
            was.

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
                    f"{self.device} has no value {quoted(name)}: {did_you_mean(name, quantities)}"
                )
            old = quantities[name]
            raw = {"value": text, "kind": "inferred", "source": f"what-if; was {old} ({old.kind})"}
            try:
                value = old.form.read(raw)
            except ValueError as error:
                raise UsageError(f"{self.device}, {name}: {error}") from None
            changed = _replaced(changed, name.split("."), value)
        for name, factors in self._follows().items():
            if name not in changes:
                changed = _followed(self, changed, name, factors)
        return changed

    def with_warp_width(self, lanes: int) -> Self:
        """The device as it is for a kernel compiled for warps of another width.

        Args:
            lanes: Lanes of a warp: `warp_width` or `alternative_warp_width`.

        Returns:
            A copy, or the device itself where that is its width already. Groups of lanes served
            together are of one width alone, so the copy has none.

        Raises:
            UsageError: The device has no warps of that width.

        Example:
            >>> from perfmodel import load_device
            >>> wave64 = load_device("rx7900xtx").with_warp_width(64)
            >>> wave64.warp_width.whole, wave64.max_threads_per_mp.whole
            (64, 4096)
        """
        if lanes == self.warp_width.whole:
            return self
        other = self.alternative_warp_width
        if other is None or lanes != other.whole:
            either = "" if other is None else f" or {other.whole}"
            raise UsageError(
                f"{self.device} has warps of {self.warp_width.whole}{either} lanes, not of {lanes}"
            )
        return replace(self.what_if(warp_width=str(lanes)), shared_lane_groups=FrozenDict())

    def _follows(self) -> dict[str, tuple[str, ...]]:
        """The values that follow from others, each with its factors, in an order to work in."""
        tensor_clock = "tensor_clock" if self.tensor_clock else "clock"
        follows: dict[str, tuple[str, ...]] = {
            "max_threads_per_mp": ("max_warps_per_mp", "warp_width"),
            "shared_bandwidth": ("shared_banks", "shared_bank_width"),
            "dram_bandwidth": ("dram_bus_width", "dram_data_rate"),
            "dram_bandwidth_achievable": ("dram_bandwidth",),
            "dram_read_bandwidth": ("dram_bandwidth",),
            "dram_write_bandwidth": ("dram_bandwidth",),
        }
        for peak in self.peaks:
            operand = peak.removeprefix("tensor_")
            follows[f"peaks.{peak}"] = (
                ("mps", f"lanes.{peak}", "clock")
                if operand == peak
                else ("mps", f"tensor_flop_per_cycle.{operand}", tensor_clock)
            )
        for peak in self.achievable_peaks:
            follows[f"achievable_peaks.{peak}"] = (f"peaks.{peak}",)
        return follows

    def to_frame(self) -> "pd.DataFrame":
        """One row a value, in the SI unit that its row names.

        Example:
            >>> from perfmodel import load_device
            >>> float(load_device("s5000").to_frame().loc["shared_per_mp", "value"])
            196608.0
        """
        import pandas as pd

        from perfmodel.tables.devices import value_rows

        return pd.DataFrame(value_rows(self)).set_index("name")

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        from perfmodel.tables.html import device_html

        return device_html(self)

    def __repr__(self) -> str:
        """The name, rather than eighty values."""
        return f"Device({self.device!r}, {self.name!r})"

    __str__ = __repr__


def _followed(old: Device, new: Any, name: str, factors: tuple[str, ...]) -> Any:
    """The new device with one value scaled as its factors were."""
    before, after = old.quantities(), new.quantities()
    if name not in before:
        return new
    ratio = 1.0
    for factor in factors:
        if factor in before:
            ratio *= after[factor].value / before[factor].value
    if ratio == 1:
        return new
    was = before[name]
    scaled = replace(
        was,
        value=was.value * ratio,
        low=was.low * ratio,
        high=was.high * ratio,
        kind="inferred",
        source=f"follows {' x '.join(factors)} of a what-if; was {was} ({was.kind})",
    )
    return _replaced(new, name.split("."), scaled)


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
        return FrozenDict({**item, head: _replaced(item[head], rest, value) if rest else value})
    new = _replaced(getattr(item, head), rest, value) if rest else value
    return replace(item, **{head: new})
