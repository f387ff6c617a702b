"""A rung written as a change of another, written out.

Done on what is written, before anything is read, so that every statement keeps the file and line
where it really stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.kernels.written import Written, mapping, sequence
from perfmodel.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

RUNG_KEYS = (
    "source",
    "extends",
    "alternative_to",
    "parameters",
    "constraints",
    "arrays",
    "launches",
    "launch",
    "replace",
)
"""What a rung can have beside its name and its change."""
_INHERITED = ("source", "launches")
_INNER_BODIES = ("do", "then", "else")


def extended(rungs: Mapping[str, Written]) -> dict[str, Written]:
    """All rungs of a file with what they take over from others.

    Args:
        rungs: The rungs as written, by name.

    Returns:
        The rungs in the same order, none of which leaves anything to another.

    Raises:
        DataError: A rung extends one that does not exist, or itself in the end; a label or a
            launch that it changes does not exist.
    """
    done: dict[str, Written] = {}
    for name in rungs:
        _write_out(name, rungs, done, ())
    return {name: done[name] for name in rungs}


def _write_out(
    name: str, rungs: Mapping[str, Written], done: dict[str, Written], path: tuple[str, ...]
) -> Written:
    if name in done:
        return done[name]
    node = rungs[name]
    own = dict(mapping(node, f"rung {name}"))
    if "extends" not in own:
        for key in ("replace", "launch"):
            if key in own:
                raise own[key].refuse(f"{key} changes another rung: say which with extends")
        done[name] = node
        return node
    if name in path:
        circle = " -> ".join((*path[path.index(name) :], name))
        raise own["extends"].refuse(f"rung {name} extends itself in the end: {circle}")
    other = own["extends"].value
    if other not in rungs:
        known = did_you_mean(str(other), [each for each in rungs if each != name])
        raise own["extends"].refuse(f"rung {name} extends {other!r}, no rung: {known}")
    base = mapping(_write_out(other, rungs, done, (*path, name)), "a rung")
    done[name] = Written(_taken_over(own, base), node.place)
    return done[name]


def _taken_over(own: dict[str, Written], base: Mapping[str, Written]) -> dict[str, Written]:
    """A rung's fields with those of the rung it extends."""
    for key in _INHERITED:
        if key not in own and key in base:
            own[key] = base[key]
    for key in ("parameters", "arrays"):
        both = merged(base.get(key), own.get(key), key)
        if both is not None:
            own[key] = both
    constraints = merged_constraints(base.get("constraints"), own.get("constraints"))
    if constraints is not None:
        own["constraints"] = constraints
    if "launch" in own:
        own["launches"] = _with_changed_launch(own["launches"], own.pop("launch"))
    if "replace" in own:
        own["launches"] = _with_replaced(own["launches"], own.pop("replace"))
    return own


def merged(first: Written | None, second: Written | None, what: str) -> Written | None:
    """Two mappings as one; what the second says again replaces what the first says."""
    if first is None or second is None:
        return second if first is None else first
    return Written({**mapping(first, what), **mapping(second, what)}, second.place)


def merged_constraints(first: Written | None, second: Written | None) -> Written | None:
    """Two lists of constraints as one; one with the same condition replaces the earlier."""
    if first is None or second is None:
        return second if first is None else first
    later = sequence(second, "constraints")
    again = {_condition(each) for each in later}
    kept = [each for each in sequence(first, "constraints") if _condition(each) not in again]
    return Written((*kept, *later), second.place)


def _condition(node: Written) -> Any:
    fields = node.value if isinstance(node.value, dict) else {}
    return fields["that"].value if "that" in fields else None


def _with_changed_launch(launches: Written, change: Written) -> Written:
    """The launches with single fields of one of them changed."""
    fields = mapping(change, "launch")
    every = sequence(launches, "launches")
    wanted = fields.get("name")
    chosen = [
        place for place, each in enumerate(every) if wanted is None or _name(each) == wanted.value
    ]
    if len(chosen) != 1:
        known = ", ".join(str(_name(each)) for each in every)
        raise change.refuse(f"launch changes one launch: give the name of it; known: {known}")
    changed = [
        Written({**mapping(each, "a launch"), **fields}, each.place) if place in chosen else each
        for place, each in enumerate(every)
    ]
    return Written(tuple(changed), launches.place)


def _name(launch: Written) -> Any:
    fields = mapping(launch, "a launch")
    return fields["name"].value if "name" in fields else "main"


def _with_replaced(launches: Written, change: Written) -> Written:
    """The launches with the labelled statements replaced."""
    replacing = mapping(change, "replace")
    replacer = _Replacer(replacing)
    every = [replacer.launch(each) for each in sequence(launches, "launches")]
    for label, node in replacing.items():
        if label not in replacer.used:
            known = did_you_mean(label, replacer.labels) if replacer.labels else "none is labelled"
            raise node.refuse(f"no statement is labelled {label!r}: {known}")
    return Written(tuple(every), launches.place)


class _Replacer:
    """Puts statements in the place of labelled ones."""

    def __init__(self, replacing: Mapping[str, Written]) -> None:
        self.replacing = replacing
        self.used: set[str] = set()
        self.labels: set[str] = set()

    def launch(self, node: Written) -> Written:
        """A launch, or a role, with its body changed."""
        fields = dict(mapping(node, "a launch"))
        if "body" in fields:
            fields["body"] = self.body(fields["body"])
        if "roles" in fields:
            roles = tuple(self.launch(each) for each in sequence(fields["roles"], "roles"))
            fields["roles"] = Written(roles, fields["roles"].place)
        return Written(fields, node.place)

    def body(self, node: Written) -> Written:
        """A list of statements, those inside them included."""
        found: list[Written] = []
        for statement in sequence(node, "a body"):
            if not isinstance(statement.value, dict):
                found.append(statement)
                continue
            label = statement.value["label"].value if "label" in statement.value else None
            if isinstance(label, str):
                self.labels.add(label)
            if label in self.replacing:
                self.used.add(label)
                found += sequence(self.replacing[label], f"replace {label}")
                continue
            inner = {
                key: self.body(each) if key in _INNER_BODIES else each
                for key, each in statement.value.items()
            }
            found.append(Written(inner, statement.place))
        return Written(tuple(found), node.place)
