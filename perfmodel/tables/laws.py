"""Laws and their explanations as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.tables.text import table, wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfmodel.explain import Explanation


def explanation_table(shown: Explanation) -> str:
    """Formula, numbers, result and derivatives."""
    rows = [
        [
            term.name,
            f"{term.value:.6g}",
            _unit(term.unit),
            "" if term.slope is None else f"{term.slope:.4g}",
            "" if term.elasticity is None else f"{term.elasticity:+.3g} %",
        ]
        for term in shown.terms
    ]
    lines = [
        wrapped(shown.title),
        "",
        wrapped(f"formula: {shown.formula}", indent="         "),
        *([] if shown.ruling is None else [wrapped(f"here:    {shown.ruling}", indent=" " * 9)]),
        f"result:  {shown.value:.10g} {_unit(shown.unit)}".rstrip(),
        "",
        table(rows, header=["number", "value", "unit", "slope", "per 1 %"], align="lrlrr"),
        "",
    ]
    if shown.rounded:
        lines.append("The formula rounds to whole numbers, so it has no derivatives.")
    elif shown.terms[0].derivative is None:
        lines.append("Two parts of the formula are equal here: at a kink it has no derivatives.")
    else:
        lines += [
            wrapped(f"d/d {term.name} = {term.derivative}", indent="    ") for term in shown.terms
        ]
    lines.append(wrapped(f"source: {shown.source}", indent="        "))
    return "\n".join(lines)


def laws_table(titles: Mapping[str, str]) -> str:
    """Every law with its first line."""
    width = max(map(len, titles))
    return "\n".join(
        wrapped(f"{name.ljust(width)}  {title}", indent=" " * (width + 2))
        for name, title in titles.items()
    )


def _unit(unit: str) -> str:
    return "" if unit == "-" else unit
