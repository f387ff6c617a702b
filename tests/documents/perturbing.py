"""Changing one place of nested data at a time."""

import re
from collections.abc import Iterator
from typing import Any

DEVICES = ("s5000", "dcu", "h200")


def leaves(data: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every leaf with the keys and indices that lead to it."""
    if isinstance(data, dict | list):
        for key, item in data.items() if isinstance(data, dict) else enumerate(data):
            yield from leaves(item, (*place, key))
    else:
        yield place, data


def replaced(data: Any, place: tuple[Any, ...], leaf: Any) -> Any:
    """A copy with another leaf."""
    if not place:
        return leaf
    copy = dict(data) if isinstance(data, dict) else list(data)
    copy[place[0]] = replaced(data[place[0]], place[1:], leaf)
    return copy


def wrong_leaf(leaf: Any) -> Any:
    """What a leaf of an expected figure must not be."""
    if isinstance(leaf, bool):
        return not leaf
    if isinstance(leaf, int | float):
        return leaf * 1.01 if leaf else 0.01
    number = re.search(r"\d+(\.\d+)?", leaf)
    if number is None:
        return f"{leaf} 7"
    return f"{leaf[: number.start()]}{float(number[0]) + 1:g}{leaf[number.end() :]}"


def other_inputs(given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The inputs with one number doubled or moved by one, or another device."""
    for place, leaf in leaves(given):
        if place[0] == "document_says":
            continue
        others: list[Any]
        if place == ("device",):
            others = [name for name in DEVICES if name != leaf]
        elif isinstance(leaf, bool):
            others = [not leaf]
        elif isinstance(leaf, int | float):
            others = [leaf * 2, leaf + 1, leaf - 1]
        else:
            continue
        for other in others:
            yield replaced(given, place, other)
