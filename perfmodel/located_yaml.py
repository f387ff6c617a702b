"""YAML from a stranger: read as plain data, with the line of every value, and nothing executed.

Only mappings with text keys, lists, text, numbers, booleans and null are let through. Tags that
would construct objects, aliases (which can explode), duplicate keys, text that is not UTF-8 and
files beyond `LARGEST_FILE_BYTES` are refused, each with file and line.
"""

import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfmodel.errors import DataError

LARGEST_FILE_BYTES = 1 << 20
DEEPEST_NESTING = 32

_PLAIN_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null")
)

Location = tuple[str | int, ...]
"""Where a value stands: the keys and indices that lead to it."""


@dataclass(frozen=True)
class Document:
    """What a file holds, and on which line each value stands."""

    origin: str
    data: dict[str, Any]
    lines: Mapping[Location, int]

    def place(self, location: Location) -> str:
        """`file:line` of a value, or of the nearest value around it."""
        while location and location not in self.lines:
            location = location[:-1]
        return f"{self.origin}:{self.lines.get(location, 1)}"


def read_file(path: Path) -> Document:
    """Read a YAML file.

    Args:
        path: The file.

    Returns:
        Its data and lines.

    Raises:
        DataError: The file cannot be read, is too large, is not UTF-8 or is no plain YAML mapping.
    """
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise DataError(f"{path}: no regular file: a pipe or a device cannot be read as one")
        with path.open("rb") as stream:
            raw = stream.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    if len(raw) > LARGEST_FILE_BYTES:
        raise DataError(f"{path}: larger than {LARGEST_FILE_BYTES} bytes: no such file needs that")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}:{line}: not UTF-8: save the file as UTF-8") from None
    return read_text(text, origin=str(path))


def read_text(text: str, *, origin: str) -> Document:
    """Read YAML text.

    Args:
        text: The text.
        origin: What to call it in messages, usually the file's path.

    Returns:
        Its data and lines.

    Raises:
        DataError: As `read_file`.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        node = yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise DataError(f"{origin}:{line}: not valid YAML: {error.problem}") from None
    except (yaml.YAMLError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else "nested too deeply"
        raise DataError(f"{origin}: not valid YAML: {reason}") from None
    if not isinstance(node, yaml.MappingNode):
        raise DataError(f"{origin}:1: a mapping is wanted: lines of the form 'key: value'")
    builder = _Builder(origin, loader)
    data = builder.build(node, ())
    return Document(origin=origin, data=data, lines=builder.lines)


class _Builder:
    """Turns YAML nodes into plain data and remembers their lines."""

    def __init__(self, origin: str, loader: Any) -> None:
        self.origin = origin
        self.lines: dict[Location, int] = {}
        self._constructor = loader("")
        self._seen: set[int] = set()

    def build(self, node: Any, location: Location) -> Any:
        import yaml

        if id(node) in self._seen:  # its mark is the anchor's, so the key around it is named
            place = Document(origin=self.origin, data={}, lines=self.lines).place(location)
            raise DataError(f"{place}: aliases (*name) are not allowed: write the value out")
        self._seen.add(id(node))
        self.lines.setdefault(location, node.start_mark.line + 1)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if len(location) >= DEEPEST_NESTING:
            raise self._refuse(node, f"nested deeper than {DEEPEST_NESTING} levels")
        if isinstance(node, yaml.SequenceNode):
            self._require_tag(node, "seq")
            return [self.build(item, (*location, index)) for index, item in enumerate(node.value)]
        self._require_tag(node, "map")
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, str) or key == "<<" or len(key) > 100 or not key.isprintable():
                raise self._refuse(key_node, "a key must be plain text, and short")
            if key in result:
                raise self._refuse(key_node, f"{key} stands twice: keep one of the two")
            self.lines[(*location, key)] = key_node.start_mark.line + 1
            result[key] = self.build(value_node, (*location, key))
        return result

    def _scalar(self, node: Any) -> Any:
        if node.tag not in _PLAIN_TAGS:
            if node.tag == "tag:yaml.org,2002:timestamp":
                return node.value  # a date is kept as it is written
            raise self._refuse(node, f"the tag {node.tag} is not allowed: write plain values")
        if node.tag.endswith(":int") and len(node.value) > 40:
            raise self._refuse(node, "a number of that many digits is not allowed")
        try:
            return self._constructor.construct_object(node)
        except (ValueError, LookupError, ArithmeticError, TypeError):
            shown = ascii(node.value[:40])
            raise self._refuse(node, f"{shown} is not a value of its kind") from None

    def _require_tag(self, node: Any, name: str) -> None:
        if node.tag != f"tag:yaml.org,2002:{name}":
            raise self._refuse(node, f"the tag {node.tag} is not allowed: write plain values")

    def _refuse(self, node: Any, reason: str) -> DataError:
        return DataError(f"{self.origin}:{node.start_mark.line + 1}: {reason}")
