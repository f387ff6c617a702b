"""A rung that is written as a change of another, put together with it.

This happens to what is written, before it is read: the rung that results is read and checked as
if all of it had been written out, and every value keeps the line on which it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.kernels.written import Written, mapping, name, sequence, text
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
        rungs: The rungs as written, by name; each a mapping.

    Returns:
        The rungs in the same order, without `launch` and `replace`, none of which leaves anything
        to another.

    Raises:
        DataError: A rung extends one that there is not, or itself through others, or changes what
            the other does not have.
    """
    done: dict[str, Written] = {}
    for rung in rungs:
        _extend(rung, rungs, done, ())
    return {rung: done[rung] for rung in rungs}


def merged(first: Written | None, second: Written | None, what: str) -> Written | None:
    """Two mappings of records as one: a field that the second says again replaces the first's.

    Args:
        first: What is taken over.
        second: What is said again.
        what: What they hold, to begin a message with.

    Raises:
        DataError: One of them is no mapping of mappings.
    """
    if first is None or second is None:
        return first or second
    found = dict(mapping(first, what))
    for key, value in mapping(second, what).items():
        if key in found:
            fields = {**mapping(found[key], f"{what}: {key}"), **mapping(value, f"{what}: {key}")}
            found[key] = Written(fields, value.place)
        else:
            found[key] = value
    return Written(found, second.place)


def merged_constraints(first: Written | None, second: Written | None) -> Written | None:
    """Two lists of constraints as one; one with the same condition replaces the earlier.

    Raises:
        DataError: One of them is no list of mappings.
    """
    if first is None or second is None:
        return first or second
    found = {}
    for item in (*sequence(first, "constraints"), *sequence(second, "constraints")):
        that = mapping(item, "a constraint").get("that")
        found[str(that.value) if that else item.place] = item
    return Written(tuple(found.values()), second.place)


def _extend(
    rung: str, rungs: Mapping[str, Written], done: dict[str, Written], trail: tuple[str, ...]
) -> Written:
    if rung in done:
        return done[rung]
    what = f"rung {rung}"
    own = mapping(rungs[rung], what)
    if "extends" not in own:
        for key in ("launch", "replace"):
            if key in own:
                raise own[key].refuse(f"{what} has {key}, which changes another rung: give extends")
        done[rung] = rungs[rung]
        return done[rung]
    if rung in trail:
        cycle = " -> ".join((*trail[trail.index(rung) :], rung))
        raise own["extends"].refuse(f"{what} extends itself: {cycle}")
    other = text(own["extends"], f"extends of {what}")
    if other not in rungs:
        near = did_you_mean(other, [each for each in rungs if each != rung])
        raise own["extends"].refuse(f"{what} extends {other[:60]}, no rung of this file; {near}")
    base = mapping(_extend(other, rungs, done, (*trail, rung)), what)
    done[rung] = Written(_taken_over(base, own, what), rungs[rung].place)
    return done[rung]


def _taken_over(
    base: Mapping[str, Written], own: Mapping[str, Written], what: str
) -> dict[str, Written]:
    """The fields of a rung with those of the rung it extends."""
    fields = {key: base[key] for key in _INHERITED if key in base} | dict(own)
    for key in ("parameters", "arrays"):
        both = merged(base.get(key), own.get(key), f"{key} of {what}")
        if both is not None:
            fields[key] = both
    constraints = merged_constraints(base.get("constraints"), own.get("constraints"))
    if constraints is not None:
        fields["constraints"] = constraints
    for key in ("replace", "launch"):
        change = fields.pop(key, None)
        if change is None:
            continue
        if "launches" in own:
            raise change.refuse(f"{what} has both launches and {key}: give one of the two")
        if "launches" not in base:
            raise change.refuse(f"{what} has {key}, but the rung it extends has no launches")
        changed = _with_replaced if key == "replace" else _with_fields
        fields["launches"] = changed(fields["launches"], change, what)
    return fields


def _with_fields(launches: Written, change: Written, what: str) -> Written:
    """The launches with single fields of one of them changed, or of several by their names."""
    items = list(sequence(launches, f"launches of {what}"))
    for each in change.value if isinstance(change.value, tuple) else (change,):
        fields = mapping(each, f"launch of {what}")
        at = _launch_meant(items, fields.get("name"), each, what)
        kept = dict(mapping(items[at], f"a launch of {what}"))
        for one, instead in (("body", "roles"), ("roles", "body")):
            if one in fields:
                kept.pop(instead, None)
        items[at] = Written({**kept, **fields}, items[at].place)
    return Written(tuple(items), launches.place)


def _launch_meant(
    launches: list[Written], called: Written | None, change: Written, what: str
) -> int:
    """Which launch a change is of."""
    names = [mapping(each, f"a launch of {what}").get("name") for each in launches]
    known = [str(each.value) if each else "" for each in names]
    if len(launches) == 1 and (called is None or not known[0]):
        return 0
    listed = ", ".join(filter(None, known))
    if called is None:
        raise change.refuse(
            f"{what} has {len(launches)} launches: say by name which one launch changes; "
            f"known: {listed}"
        )
    wanted = name(called, f"name of a launch of {what}")
    if wanted not in known:
        near = did_you_mean(wanted, filter(None, known))
        raise called.refuse(f"{what} changes launch {wanted}, which is not there; {near}")
    return known.index(wanted)


def _with_replaced(launches: Written, change: Written, what: str) -> Written:
    """The launches with labelled statements replaced by others."""
    replacements = mapping(change, f"replace of {what}")
    labels = set(_labels(launches))
    for label, statements in replacements.items():
        sequence(statements, f"replace of {what}: {label}")
        if label not in labels:
            near = did_you_mean(label, labels) if labels else "it has no labels"
            raise statements.refuse(f"{what} replaces {label[:60]}, no label of it; {near}")
    return _rewritten(launches, replacements)


def _label(node: Written) -> str | None:
    """The label of a statement."""
    label = node.value.get("label") if isinstance(node.value, dict) else None
    return label.value if label and isinstance(label.value, str) else None


def _labels(node: Written) -> list[str]:
    """The labels in launches, roles or statements, whatever else is wrong with them."""
    if isinstance(node.value, tuple):
        return [label for item in node.value for label in _labels(item)]
    if not isinstance(node.value, dict):
        return []
    inner = [node.value[key] for key in ("body", "roles", *_INNER_BODIES) if key in node.value]
    label = _label(node)
    return [*([label] if label else []), *(label for each in inner for label in _labels(each))]


def _rewritten(node: Written, replacements: Mapping[str, Written]) -> Written:
    """Launches, roles or statements with the labelled ones replaced."""
    if isinstance(node.value, tuple):
        items: list[Written] = []
        for item in node.value:
            label = _label(item)
            if label is not None and label in replacements:
                items.extend(replacements[label].value)
            else:
                items.append(_rewritten(item, replacements))
        return Written(tuple(items), node.place)
    if not isinstance(node.value, dict):
        return node
    fields = {
        key: _rewritten(each, replacements) if key in ("body", "roles", *_INNER_BODIES) else each
        for key, each in node.value.items()
    }
    return Written(fields, node.place)
