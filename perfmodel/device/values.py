"""One value of a device: a number, its range, what kind of knowledge it is, and its source.

    {value: 1600 GB/s, kind: inferred, source: "640 bit x 20 Gb/s / 8"}
    {value: 300 cycles, range: 200 .. 480 cycles, kind: assumed, source: "measured relatives"}

kind is `published` (the vendor, or a document this project implements), `measured` (somebody ran
it), `inferred` (computed from other values; the source shows the arithmetic) or `assumed` (a gap:
a range and its reason are then compulsory).

How a value of a field is written is an annotation on the field (`Written` and its kin). It reads
the written form itself, and tells pydantic how to validate and describe it; pydantic is imported
only when a file is validated.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from perfmodel.errors import DataError, quoted
from perfmodel.suggestions import did_you_mean
from perfmodel.units import format_quantity, parse_quantity, parse_range

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema

Kind = Literal["published", "measured", "inferred", "assumed"]

_SHORTEST_SOURCE = 3
_PROVENANCE: Mapping[str, Any] = {
    "kind": {"enum": list(get_args(Kind))},
    "source": {"type": "string", "minLength": _SHORTEST_SOURCE},
}


class FrozenDict(dict[Any, Any]):
    """A mapping that cannot be changed, so that no caller changes a device that others share."""

    def _refuse(self, *_: object, **__: object) -> Any:
        raise TypeError("a device cannot be changed: what_if makes a changed copy")

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = pop = popitem = clear = setdefault = _refuse

    def __reduce__(self) -> tuple[type["FrozenDict"], tuple[dict[Any, Any]]]:
        """Pickle as the plain mapping."""
        return FrozenDict, (dict(self),)

    def __hash__(self) -> int:  # type: ignore[override]
        """Equal mappings have the same keys."""
        return hash(frozenset(self))


class _Written(ABC):
    """How something is written in a file, and the bridge from that to pydantic."""

    @abstractmethod
    def read(self, raw: Any) -> Any:
        """Turn the written form into a record; a ValueError says what is wrong with it."""

    @abstractmethod
    def json_schema(self) -> dict[str, Any]:
        """The written form as a JSON schema."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: "GetCoreSchemaHandler"
    ) -> "CoreSchema":
        """Let pydantic read the written form with the form's own reader."""
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(
        self, schema: "CoreSchema", handler: "GetJsonSchemaHandler"
    ) -> dict[str, Any]:
        """Describe the written form for editors."""
        return self.json_schema()


@dataclass(frozen=True)
class Written(_Written):
    """A number with its unit: the dimension, and what numbers it may be."""

    unit: str
    whole: bool = False
    positive: bool = True
    most: float = 1e30
    """Beyond this a value is a mistake: no device has it, and sweeps over it would not end."""
    least: float = 0.0
    """Below this a value has no meaning."""

    def read(self, raw: Any) -> "Value":
        """Read `{value: ..., range: ..., kind: ..., source: ...}`.

        Args:
            raw: What the file holds.

        Returns:
            The value.

        Raises:
            ValueError: Something of it is wrong; the message says what would be right.

        Example:
            >>> str(Written("cycles").read({"value": "300 cycles", "range": "200 .. 480 cycles",
            ...                             "kind": "assumed", "source": "measured relatives"}))
            '300 cycles (200 cycles .. 480 cycles)'
        """
        fields = _fields(raw, ("value", "kind", "source"), optional=("range",))
        value = _parsed(parse_quantity, fields["value"], self.unit)
        low = high = value
        if "range" in fields:
            low, high = _parsed(parse_range, fields["range"], self.unit)
        elif fields["kind"] == "assumed":
            raise ValueError("an assumed value needs a range: add 'range: low .. high'")
        if not low <= value <= high:
            raise ValueError(f"the value {value:g} is outside its range {low:g} .. {high:g}")
        if low < 0 or (self.positive and low == 0):
            raise ValueError(f"{low:g} is not {'above 0' if self.positive else '0 or more'}")
        if low < self.least:
            raise ValueError(f"{low:g} is too little: at least {self.least:g}")
        if high > self.most:
            raise ValueError(f"{high:g} is more than any device has: at most {self.most:g}")
        if self.whole and not all(number.is_integer() for number in (value, low, high)):
            raise ValueError(f"{value:g} is not a whole number")
        return Value(
            value=value,
            low=low,
            high=high,
            kind=fields["kind"],
            source=fields["source"],
            form=self,
        )

    def json_schema(self) -> dict[str, Any]:
        """The written form as a JSON schema."""
        bare = self.unit in ("count", "ratio")
        return {
            "type": "object",
            "additionalProperties": False,
            "required": ["value", "kind", "source"],
            "properties": {
                "value": {
                    "type": ["number", "string"] if bare else "string",
                    "description": f"a quantity in {self.unit}",
                },
                "range": {"type": "string", "description": "low .. high, with the unit"},
                **_PROVENANCE,
            },
            "if": {"properties": {"kind": {"const": "assumed"}}},
            "then": {"required": ["range"]},
        }


@dataclass(frozen=True, kw_only=True)
class Value:
    """A number of a device, in SI units or cycles, with its range, kind and source."""

    value: float
    """The number to compute with."""
    low: float
    """The least it may be; the value itself where no range is given."""
    high: float
    """The most it may be."""
    kind: Kind
    """published, measured, inferred or assumed."""
    source: str
    """Where the number is from, or the arithmetic it was inferred by, or why it is assumed."""
    form: Written = field(repr=False)
    """How it is written: its dimension, and what numbers it may be."""

    @property
    def unit(self) -> str:
        """The dimension, one of `perfmodel.units.DIMENSIONS`."""
        return self.form.unit

    @property
    def whole(self) -> int:
        """The value as a whole number, for counts and byte sizes."""
        return int(self.value)

    @property
    def is_exact(self) -> bool:
        """Whether the value has no range."""
        return self.low == self.high

    def __str__(self) -> str:
        """The value with its unit, and its range where it has one."""
        text = format_quantity(self.value, self.unit)
        if self.is_exact:
            return text
        low, high = (format_quantity(end, self.unit) for end in (self.low, self.high))
        return f"{text} ({low} .. {high})"


@dataclass(frozen=True, kw_only=True)
class LaneGroups:
    """Which lanes of a warp are served together by shared memory, for one access width."""

    groups: tuple[tuple[int, ...], ...]
    """The lanes of each group, in the order in which the groups are served."""
    kind: Kind
    """published, measured, inferred or assumed."""
    source: str
    """Where the groups are from."""


@dataclass(frozen=True)
class WrittenLaneGroups(_Written):
    """Lane groups as text: `0-3 20-23 | 4-7 16-19`, groups parted by bars."""

    def read(self, raw: Any) -> LaneGroups:
        """Read `{groups: ..., kind: ..., source: ...}`.

        Args:
            raw: What the file holds.

        Returns:
            The groups.

        Raises:
            ValueError: Not lanes or runs of lanes, or not every lane once.
        """
        fields = _fields(raw, ("groups", "kind", "source"))
        groups = tuple(_lanes(part) for part in str(fields["groups"]).split("|"))
        every = sorted(lane for group in groups for lane in group)
        if every != list(range(len(every))) or not all(groups):
            raise ValueError("the groups must hold every lane of the warp once")
        return LaneGroups(groups=groups, kind=fields["kind"], source=fields["source"])

    def json_schema(self) -> dict[str, Any]:
        """The written form as a JSON schema."""
        return {
            "type": "object",
            "additionalProperties": False,
            "required": ["groups", "kind", "source"],
            "properties": {
                "groups": {"type": "string", "examples": ["0-3 20-23 | 4-7 16-19"]},
                **_PROVENANCE,
            },
        }


@dataclass(frozen=True, kw_only=True)
class CarveOuts:
    """The sizes of shared memory that an L1 and shared memory of one body can be split into."""

    values: tuple[float, ...]
    """The sizes, ascending [bytes]."""
    kind: Kind
    """published, measured, inferred or assumed."""
    source: str
    """Where the sizes are from."""


@dataclass(frozen=True)
class WrittenCarveOuts(_Written):
    """Carve-outs as a list of sizes with units."""

    def read(self, raw: Any) -> CarveOuts:
        """Read `{values: [...], kind: ..., source: ...}`.

        Args:
            raw: What the file holds.

        Returns:
            The carve-outs.

        Raises:
            ValueError: Not a list of ascending sizes.
        """
        fields = _fields(raw, ("values", "kind", "source"))
        if not isinstance(fields["values"], list) or not fields["values"]:
            raise ValueError("values must be a list of sizes such as [0 KiB, 64 KiB]")
        sizes = tuple(_parsed(parse_quantity, size, "bytes") for size in fields["values"])
        if list(sizes) != sorted(set(sizes)) or sizes[0] < 0:
            raise ValueError("the sizes must ascend from 0 on")
        if not all(size.is_integer() for size in sizes):
            raise ValueError("the sizes must be whole numbers of bytes")
        return CarveOuts(values=sizes, kind=fields["kind"], source=fields["source"])

    def json_schema(self) -> dict[str, Any]:
        """The written form as a JSON schema."""
        return {
            "type": "object",
            "additionalProperties": False,
            "required": ["values", "kind", "source"],
            "properties": {
                "values": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                **_PROVENANCE,
            },
        }


@dataclass(frozen=True)
class WrittenText(_Written):
    """Text of a limited length, and where it is a name, of a name's letters."""

    longest: int
    shortest: int = 2
    pattern: str = ""

    def read(self, raw: Any) -> str:
        """Read text.

        Args:
            raw: What the file holds.

        Returns:
            The text.

        Raises:
            ValueError: No text, one that is too short or too long, or no name.
        """
        if not isinstance(raw, str) or not self.shortest <= len(raw) <= self.longest:
            raise ValueError(
                f"{quoted(raw)} is not text of {self.shortest} to {self.longest} characters"
            )
        if not raw.replace("\n", " ").isprintable():
            raise ValueError(f"{raw[:40]!a} holds characters that cannot be printed")
        if not re.fullmatch(self.pattern or ".*", raw, re.DOTALL):
            raise ValueError(
                f"{quoted(raw)} is no name: use lower-case letters, digits and . _ - only"
            )
        return raw

    def json_schema(self) -> dict[str, Any]:
        """The written form as a JSON schema."""
        pattern = {"pattern": f"^{self.pattern}$"} if self.pattern else {}
        lengths = {"minLength": self.shortest, "maxLength": self.longest}
        return {"type": "string", **lengths, **pattern}


def _fields(
    raw: Any, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> Mapping[str, Any]:
    """The parts of a written value, each known, none missing, with kind and source in order."""
    if not isinstance(raw, dict):
        raise ValueError(f"{quoted(raw)} stands alone: write {{{': ..., '.join(required)}: ...}}")
    for name in raw:
        if name not in required and name not in optional:
            near = did_you_mean(str(name), (*required, *optional))
            raise ValueError(f"unknown key {quoted(name)}: {near}")
    for name in required:
        if name not in raw:
            raise ValueError(f"{name!r} is missing: every value needs {', '.join(required)}")
    if raw["kind"] not in get_args(Kind):
        raise ValueError(f"kind is {quoted(raw['kind'])}: it must be {', '.join(get_args(Kind))}")
    source = raw["source"]
    if not isinstance(source, str) or len(source.strip()) < _SHORTEST_SOURCE:
        raise ValueError("source is empty: say where the value is from")
    return raw


def _parsed(parse: Any, raw: Any, unit: str) -> Any:
    """Parse with the units table, its errors turned into what pydantic gives a place to."""
    try:
        return parse(raw, unit)
    except DataError as error:
        raise ValueError(str(error)) from None


def _lanes(text: str) -> tuple[int, ...]:
    """Lanes and runs of lanes, such as `0-3 20-23`."""
    lanes: list[int] = []
    for run in text.split():
        first, dash, last = run.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(run) > 7:
            raise ValueError(f"{quoted(run)} is no lane or run of lanes such as 0-3")
        lanes.extend(range(int(first), int(last or first) + 1))
    return tuple(lanes)


Bytes = Annotated[Value, Written("bytes", whole=True, most=2**50)]
SharedBytes = Annotated[Value, Written("bytes", whole=True, most=2**30)]
SharedBytesOrNone = Annotated[Value, Written("bytes", whole=True, positive=False, most=2**30)]
Bits = Annotated[Value, Written("bits", whole=True)]
BytesPerSecond = Annotated[Value, Written("bytes/s", least=1, most=1e24)]
BitsPerSecond = Annotated[Value, Written("bits/s", least=1, most=1e24)]
BytesPerCycle = Annotated[Value, Written("bytes/cycle", least=1e-6, most=1e12)]
Hertz = Annotated[Value, Written("hz", least=1, most=1e15)]
Seconds = Annotated[Value, Written("s", least=1e-15, most=1e6)]
Cycles = Annotated[Value, Written("cycles")]
FlopPerSecond = Annotated[Value, Written("flop/s", least=1, most=1e24)]
FlopPerCycle = Annotated[Value, Written("flop/cycle")]
PerCycle = Annotated[Value, Written("1/cycle", least=1e-6, most=1e12)]
Exponent = Annotated[Value, Written("ratio", most=100, least=1)]
Count = Annotated[Value, Written("count", whole=True, most=2**24)]
FewOrNone = Annotated[Value, Written("count", whole=True, positive=False, most=4096)]
Few = Annotated[Value, Written("count", whole=True, most=4096)]
Name = Annotated[str, WrittenText(40, pattern=r"[a-z0-9][a-z0-9._-]*")]
Groups = Annotated[LaneGroups, WrittenLaneGroups()]
Splits = Annotated[CarveOuts, WrittenCarveOuts()]
