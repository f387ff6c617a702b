"""Amdahl's law as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.tables.text import percent, table, wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping


def amdahl_table(shown: Mapping[str, Any]) -> str:
    """Speed-up, limit and the parts, the most rewarding first."""
    rows = [["speed-up", f"{shown['speedup']:.4g} x"], ["limit", f"{shown['limit']:.4g} x"]]
    if shown["gustafson_speedup"] is not None:
        rows.append(["Gustafson, work grown N times", f"{shown['gustafson_speedup']:.4g} x"])
    parts = [
        [
            str(gain["part"] + 1),
            percent(gain["fraction"]),
            f"{gain['speedup_if_alone']:.4g} x",
            f"{gain['speedup_limit']:.4g} x",
            percent(gain["fraction_after"]),
        ]
        for gain in shown["parts"]
    ]
    lines = [
        table(rows),
        "",
        table(
            parts,
            header=["part", "of the time", "alone gives", "at most", "share afterwards"],
            align="rrrrr",
        ),
    ]
    needed = shown["fraction_needed"]
    if needed is not None:
        target = f"{shown['target_speedup']:g} x"
        reach = (
            f"for {target}, {percent(needed)} of the time must be sped up by the largest factor"
            if needed <= 1
            else f"{target} cannot be reached: it is beyond the largest factor given"
        )
        lines += ["", wrapped(reach)]
    return "\n".join(lines)
