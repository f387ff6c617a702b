"""The values of a rung's parameters: given ones, defaults, and what must hold of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from perfmodel.errors import DataError, UsageError, quoted
from perfmodel.kernels.fast import compiled
from perfmodel.kernels.schema import ELEMENT_BYTES, LARGEST_PARAMETER, Parameter, Rung
from perfmodel.suggestions import did_you_mean


def rung_parameters(
    rung: Rung, given: Mapping[str, Any], *, warp_width: int | None = None
) -> dict[str, Any]:
    """The parameters given, the rest at their defaults.

    Args:
        rung: The rung.
        given: Values by name: whole numbers, arrays of them, or words where a parameter has words.
        warp_width: Lanes of a warp; without it, constraints that read `warpSize` are not asked.

    Returns:
        A value for every parameter.

    Raises:
        UsageError: A parameter that the rung does not have, or a value it cannot have.
        DataError: Values that break a constraint of the rung.
    """
    title = f"{rung.kernel}:{rung.name}"
    values = parameter_values(title, rung.parameters, given)
    readable = expression_values(rung, values)
    if warp_width is not None:
        readable["warpSize"] = warp_width
    for constraint in rung.constraints:
        if warp_width is None and "warpSize" in constraint.condition.names:
            continue
        try:
            with np.errstate(divide="ignore", invalid="ignore"):
                asked = compiled(constraint.condition.root)(readable)
        except (ArithmeticError, ValueError) as error:
            raise DataError(f"{constraint.place}: that of a constraint: {error}") from None
        holds = np.atleast_1d(np.asarray(asked) != 0)
        if not holds.all():
            place = int(np.argmin(holds))
            read = sorted(constraint.condition.names & readable.keys())
            shown = ", ".join(f"{name} = {_at(readable[name], place)}" for name in read)
            raise DataError(f"{title} with {shown}: {constraint.message}")
    return values


def require_by_name(given: Any) -> None:
    """Refuse parameters that are no values by name.

    Raises:
        UsageError: They are something else.
    """
    if given is not None and not isinstance(given, Mapping):
        raise UsageError(f"the parameters are {quoted(given)}: values by name are wanted")


def parameter_values(
    title: str, parameters: Mapping[str, Parameter], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The parameters given, the rest at their defaults, whatever constraints there are.

    Args:
        title: What has the parameters, for messages.
        parameters: The parameters by name.
        given: Values by name.

    Returns:
        A value for every parameter.

    Raises:
        UsageError: A parameter that there is not, or a value it cannot have.
    """
    require_by_name(given)
    values: dict[str, Any] = {name: each.default for name, each in parameters.items()}
    for name, value in given.items():
        if name not in parameters:
            raise UsageError(
                f"{title} has no parameter {quoted(name)}: {did_you_mean(name, parameters)}"
            )
        values[name] = _value(parameters[name], value)
    return values


def possible(
    rung: Rung, given: Mapping[str, Any], size: int
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which elements of a batch keep all constraints of a rung.

    Args:
        rung: The rung.
        given: Values by name, arrays of `size` elements among them.
        size: Elements of the batch.

    Returns:
        One truth value for each; a constraint that reads `warpSize` is not asked.
    """
    values: dict[str, Any] = {name: each.default for name, each in rung.parameters.items()}
    readable = expression_values(rung, {**values, **given})
    kept = np.ones(size, dtype=bool)
    for constraint in rung.constraints:
        if "warpSize" in constraint.condition.names:
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            kept &= np.asarray(compiled(constraint.condition.root)(readable)) != 0
    return kept


def _at(value: Any, place: int) -> Any:
    if not isinstance(value, np.ndarray) or not value.ndim:
        return value
    return value[place if value.size > 1 else 0]


def _value(parameter: Parameter, value: Any) -> Any:
    if isinstance(parameter.default, str):
        return _one_of(parameter, value)
    if isinstance(value, np.ndarray | list | tuple | range):
        try:
            return _values(parameter, np.asarray(value))
        except (ValueError, OverflowError):
            raise UsageError(
                f"{parameter.name} is {quoted(value)}: a row of whole numbers is wanted"
            ) from None
    if isinstance(value, np.integer):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f"{parameter.name} is {quoted(value)}: a whole number is wanted")
    if parameter.choices:
        return _one_of(parameter, value)
    if not parameter.minimum <= value <= LARGEST_PARAMETER:
        raise UsageError(
            f"{parameter.name} is {quoted(value)}: it must be from {parameter.minimum} to "
            f"{LARGEST_PARAMETER}"
        )
    return value


def _one_of(parameter: Parameter, value: Any) -> Any:
    if not isinstance(value, int | str) or value not in parameter.choices:
        listed = ", ".join(map(str, parameter.choices))
        raise UsageError(f"{parameter.name} is {quoted(value)}: one of {listed} is wanted")
    return value


def _values(parameter: Parameter, array: Any) -> Any:
    if array.dtype.kind not in "iu" or not array.size or array.ndim > 1:
        raise UsageError(f"{parameter.name} holds {array.dtype} values: whole numbers are wanted")
    least, most = int(array.min()), int(array.max())
    array = array.astype(np.int64)
    if least < parameter.minimum or most > LARGEST_PARAMETER:
        raise UsageError(
            f"{parameter.name} holds {least} to {most}: it must be from {parameter.minimum} to "
            f"{LARGEST_PARAMETER}"
        )
    if parameter.choices:
        for each in np.unique(array).tolist():
            _one_of(parameter, each)
    return array


def expression_values(rung: Rung, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What a rung's expressions read: numbers by name, types by the size of an element."""
    found: dict[str, Any] = {}
    for name, value in parameters.items():
        if not isinstance(value, str):
            found[name] = value
        elif value in ELEMENT_BYTES and name in rung.parameters:
            found[f"{name}_bytes"] = ELEMENT_BYTES[value]
    return found


def parameter_types(parameters: Mapping[str, Any]) -> dict[str, str]:
    """The parameters whose values are words."""
    return {name: value for name, value in parameters.items() if isinstance(value, str)}
