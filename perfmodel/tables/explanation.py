"""A prediction's terms as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.tables.prediction import given
from perfmodel.tables.text import wrapped
from perfmodel.units import format_quantity

if TYPE_CHECKING:
    from perfmodel.scheduler.explanation import Explanation

_MOST = 8


def explanation_table(explanation: Explanation) -> str:
    """Each term with its formula, then how they were combined."""
    result = explanation.prediction
    lines = [
        wrapped(
            f"{result.kernel}:{result.rung} on {result.device}: {given(result.parameters)}",
            indent="  ",
        ),
        "",
    ]
    for term in explanation.terms[:_MOST]:
        lines.append(
            wrapped(
                f"{term.name:<13} {format_quantity(term.time_s, 's'):>9} = {term.formula}",
                indent=" " * 26,
            )
        )
        lines.append(wrapped(f"{'':14}{term.field}: {term.kind}, {term.source}", indent=" " * 14))
    lines += ["", *(wrapped(each, indent="  ") for each in explanation.combination)]
    lines += [
        wrapped(
            f"{each.name}: {each.blocks_per_mp} blocks an MP, limited by "
            f"{', '.join(each.occupancy_limiters)}; {each.warps_per_block} warps a block",
            indent="  ",
        )
        for each in result.launches
    ]
    started = len(result.launches)
    lines.append(
        f"with {started} launch{'es' if started > 1 else ''}: {format_quantity(result.time_s, 's')}"
    )
    return "\n".join(lines)
