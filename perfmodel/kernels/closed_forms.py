"""FLOP and bytes of the five kernels in closed form, read from closed_forms.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from perfmodel.errors import DataError, UsageError
from perfmodel.expressions import parse
from perfmodel.located_yaml import read_file
from perfmodel.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

_LARGEST_PARAMETER = 1 << 31


@dataclass(frozen=True, kw_only=True)
class Amounts:
    """What a kernel computes and moves for given parameters."""

    flop: float
    bytes_requested: float
    bytes_compulsory: float


@dataclass(frozen=True, kw_only=True)
class ClosedForm:
    """A kernel's amounts as expressions of its parameters."""

    name: str
    title: str
    source: str
    parameters: Mapping[str, int]
    pipe: str
    flop: str
    requested: str
    compulsory: str

    def with_defaults(self, parameters: Mapping[str, int]) -> dict[str, int]:
        """The parameters given, the rest at their defaults.

        Raises:
            UsageError: A parameter that the kernel does not have, or that is not a whole number
                of at least 1.
        """
        for name, value in parameters.items():
            if name not in self.parameters:
                raise UsageError(
                    f"{self.name} has no parameter {name!r}: {did_you_mean(name, self.parameters)}"
                )
            if isinstance(value, bool) or not isinstance(value, int):
                raise UsageError(f"{name} is {value!r}: it must be a whole number of at least 1")
            if not 1 <= value < _LARGEST_PARAMETER:
                raise UsageError(
                    f"{name} is {value}: it must be from 1 to {_LARGEST_PARAMETER - 1}"
                )
        return {**self.parameters, **parameters}

    def amounts(self, parameters: Mapping[str, int]) -> Amounts:
        """The amounts for these parameters; those not given have their defaults."""
        values = self.with_defaults(parameters)
        return Amounts(
            flop=float(parse(self.flop).evaluate(values)),
            bytes_requested=float(parse(self.requested).evaluate(values)),
            bytes_compulsory=float(parse(self.compulsory).evaluate(values)),
        )


@lru_cache(maxsize=1)
def closed_forms() -> Mapping[str, ClosedForm]:
    """Every kernel by name."""
    document = read_file(Path(__file__).with_name("closed_forms.yaml"))
    return {
        name: ClosedForm(name=name, **{key: _text(value) for key, value in fields.items()})
        for name, fields in document.data["kernels"].items()
    }


def _text(value: Any) -> Any:
    """Everything but the parameters is text; an amount such as `n` alone reads as such anyway."""
    return MappingProxyType(value) if isinstance(value, dict) else str(value)


def closed_form(name: str) -> ClosedForm:
    """A kernel by name.

    Args:
        name: Such as gemv.

    Returns:
        The kernel.

    Raises:
        DataError: No such kernel; the message lists the known ones.

    Example:
        >>> closed_form("gemv").amounts({"m": 2, "k": 3}).flop  # 2 x 2 x 3
        12.0
    """
    known = closed_forms()
    if name not in known:
        raise DataError(f"no kernel {name[:60]!r}: {did_you_mean(name, known)}")
    return known[name]
