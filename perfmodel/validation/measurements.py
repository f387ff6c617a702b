"""Measured times and counters that predictions are compared with.

They lie inside the wheel as `perfmodel/measurements`, and in a checkout in `validation`: times of
this project's own kernels with counters beside them (`cuda`), and times that others published
(`public`), a file a device each.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from perfmodel.errors import DataError, UsageError, quoted
from perfmodel.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OURS, PUBLIC = "cuda", "public"
TIMES, COUNTERS = "_times.csv", "_counters.csv"
_CASE = ("kernel", "rung", "parameters")


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """A measured case."""

    kernel: str
    rung: str
    parameters: Mapping[str, int | str]
    time_s: float
    """A launch alone that finds nothing of its data in the caches."""
    operation: str
    """What it is grouped under: the kernel, or the operation that others measured."""
    ours: bool = False
    """Whether this project measured it."""
    waited: bool = False
    """Whether its time has in it that one call was waited for."""
    library: bool = False
    """Whether its insides are unknown, so that it is a bound on what the best rung needs."""
    counters: Mapping[str, float] = field(default_factory=dict)
    """Amounts and shares of sustained peaks [%], where they were counted."""

    @property
    def name(self) -> str:
        """The rung as `predict` takes it."""
        return f"{self.kernel}:{self.rung}"

    @property
    def held_out(self) -> bool:
        """Whether it was kept from any work on the model: some size of it is no power of two."""
        sizes = [each for each in self.parameters.values() if isinstance(each, int)]
        return any(size & (size - 1) for size in sizes)


def folder() -> Path:
    """Where the measurements lie.

    Raises:
        DataError: The installation lacks them.
    """
    package = Path(__file__).parents[1]
    for place in (package / "measurements", package.parent / "validation"):
        if (place / OURS).is_dir():
            return place
    raise DataError(f"no measurements in or beside {package}: install perfmodel again")


def measured_devices() -> tuple[str, ...]:
    """The devices of which there are measurements."""
    place = folder()
    ours = [each.name.removesuffix(TIMES) for each in (place / OURS).glob(f"*{TIMES}")]
    public = [each.stem for each in (place / PUBLIC).glob("*.csv")]
    return tuple(sorted({*ours, *public}))


@lru_cache(maxsize=8)
def measurements(device: str) -> tuple[Measurement, ...]:
    """The measurements of a device.

    Args:
        device: Its name.

    Returns:
        This project's own, then those that others published.

    Raises:
        UsageError: There are none; it names the devices that have some.
        DataError: A file is wrong.

    Example:
        >>> case = measurements("h200")[0]
        >>> case.name, case.parameters["n"]
        ('vecadd:naive', 65536)
    """
    known = measured_devices()
    if device not in known:
        raise UsageError(f"{device} has no measurements: {did_you_mean(device, known)}")
    place = folder()
    found = [*_own(place / OURS, device), *_published(place / PUBLIC / f"{device}.csv")]
    return tuple(found)


def _own(place: Path, device: str) -> Iterator[Measurement]:
    counted = {
        tuple(row[name] for name in _CASE): {
            name: _number(row, name, where) for name in row if name not in _CASE and row[name]
        }
        for row, where in _rows(place / f"{device}{COUNTERS}", _CASE)
    }
    for row, where in _rows(place / f"{device}{TIMES}", (*_CASE, "cold_us")):
        yield Measurement(
            kernel=row["kernel"],
            rung=row["rung"],
            parameters=_parameters(row["parameters"], where),
            time_s=_positive(row, "cold_us", where) * 1e-6,
            operation=row["kernel"],
            ours=True,
            counters=counted.get(tuple(row[name] for name in _CASE), {}),
        )


def _published(path: Path) -> Iterator[Measurement]:
    for row, where in _rows(path, ("operation", *_CASE, "time_us", "waited", "library")):
        for name in ("waited", "library"):
            if row[name] not in ("yes", "no"):
                raise DataError(f"{where}: {name} is {quoted(row[name])}: yes or no is wanted")
        yield Measurement(
            kernel=row["kernel"],
            rung=row["rung"],
            parameters=_parameters(row["parameters"], where),
            time_s=_positive(row, "time_us", where) * 1e-6,
            operation=row["operation"],
            waited=row["waited"] == "yes",
            library=row["library"] == "yes",
        )


def _rows(path: Path, needed: tuple[str, ...]) -> Iterator[tuple[dict[str, str], str]]:
    """The rows of a file, each with where it stands; none where there is no file."""
    if not path.exists():
        return
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        missing = [name for name in needed if name not in (reader.fieldnames or ())]
        if missing:
            raise DataError(f"{path}:1: no column {missing[0]}: the first line names the columns")
        for row in reader:
            where = f"{path}:{reader.line_num}"
            if None in row or None in row.values():
                wanted = len(reader.fieldnames or ())
                raise DataError(f"{where}: not as many cells as the {wanted} columns")
            yield row, where


def _parameters(text: str, where: str) -> dict[str, int | str]:
    found: dict[str, int | str] = {}
    for part in filter(None, text.split(";")):
        name, equals, value = part.partition("=")
        if not equals or not name or not value:
            raise DataError(f"{where}: parameters are {quoted(text)}: n=1024;type=fp32 is wanted")
        found[name] = int(value) if value.isdecimal() else value
    return found


def _number(row: Mapping[str, str], name: str, where: str) -> float:
    try:
        return float(row[name])
    except ValueError:
        raise DataError(f"{where}: {name} is {quoted(row[name])}: a number is wanted") from None


def _positive(row: Mapping[str, str], name: str, where: str) -> float:
    value = _number(row, name, where)
    if not 0 < value < float("inf"):
        raise DataError(f"{where}: {name} is {quoted(row[name])}: a time above 0 is wanted")
    return value
