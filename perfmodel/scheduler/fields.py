"""A device's numbers as the scheduler reads them: by name, each a number or one a prediction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from perfmodel.errors import DataError
from perfmodel.kernels.setting import Amount

if TYPE_CHECKING:
    from perfmodel.device.model import Device


class Fields(Mapping[str, Amount]):
    """The values of a device by the names of `Device.quantities`, and the device they are of.

    A field that a device does not have is asked for with `get`; asking for it otherwise is an
    error that names it.
    """

    def __init__(self, device: Device, changes: Mapping[str, Any] | None = None) -> None:
        """Take over a device's values, some of them changed."""
        self.device = device
        self._values: dict[str, Amount] = {
            name: value.whole if value.form.whole else value.value
            for name, value in device.quantities().items()
        }
        for name, change in (changes or {}).items():
            before = self._values.get(name)
            single = getattr(change, "size", 0) == 1  # an array of one element is that element
            value = change.item() if single else change
            self._values[name] = _whole(value) if isinstance(before, int) else value

    def __getitem__(self, name: str) -> Amount:
        """The value of a field."""
        try:
            return self._values[name]
        except KeyError:
            raise DataError(
                f"{self.device.device} has no {name}, which this prediction needs: add it to the "
                "device file"
            ) from None

    def get(self, name: str, default: Amount = None) -> Amount:
        """The value of a field, or the default where the device does not have it."""
        return self._values.get(name, default)

    def __contains__(self, name: object) -> bool:
        """Whether the device has a field."""
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        """The names of the fields."""
        return iter(self._values)

    def __len__(self) -> int:
        """The number of fields."""
        return len(self._values)


def _whole(value: Amount) -> Amount:
    """A count as whole numbers, so that it can be divided as one."""
    return value.astype("int64") if hasattr(value, "astype") else int(value)
