"""Predictions and ladders as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.results.prediction import shared_parameters
from perfmodel.tables.text import WIDTH, percent, table, wrapped
from perfmodel.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from perfmodel.results.prediction import Ladder, LaunchPrediction, Prediction

_FEW = 6
"""Bounds, or unknowns, that are shown."""


def prediction_table(prediction: Prediction) -> str:
    """One prediction in full."""
    title = f"{prediction.kernel}:{prediction.rung} on {prediction.device}"
    lines = [wrapped(f"{title}: {given(prediction.parameters)}", indent="  "), ""]
    lines += [wrapped(each) for each in _notes(prediction)]
    lines += ["", _bounds_table(prediction), "", _levels_table(prediction), ""]
    lines += [wrapped(_launch_line(each), indent="  ") for each in prediction.launches]
    if prediction.unknowns:
        lines += ["", unknowns_table(prediction)]
    lines += [wrapped(f"note: {each}", indent="  ") for each in prediction.warnings]
    return "\n".join(lines)


def given(parameters: Mapping[str, int | str]) -> str:
    """Parameters as they are given on the command line."""
    return ", ".join(f"{name}={value}" for name, value in parameters.items())


def time_with_range(prediction: Prediction) -> str:
    """The time, and its range where it has one."""
    text = format_quantity(prediction.time_s, "s")
    low, high = prediction.time_range_s
    if high - low <= 1e-3 * prediction.time_s:
        return text
    return f"{text} ({format_quantity(low, 's')} .. {format_quantity(high, 's')})"


def _notes(prediction: Prediction) -> list[str]:
    second = (
        f"; next {prediction.second_limiter}, at {1 / prediction.second_limiter_factor:.2g} of it"
        if prediction.second_limiter_factor > 0
        else ""
    )
    return [
        f"{time_with_range(prediction)} ({prediction.caches} L2; {prediction.context})",
        f"limited by {prediction.limiter}{second}",
        f"{format_quantity(prediction.flop_per_s, 'flop/s')} of useful arithmetic",
    ]


def _bounds_table(prediction: Prediction) -> str:
    rows = [
        [each.name, format_quantity(each.time_s, "s"), percent(each.utilization)]
        for each in prediction.bounds[: _FEW + 2]
    ]
    return table(rows, header=["bound", "time", "of the time"], align="lrr")


def _levels_table(prediction: Prediction) -> str:
    rows = [
        [
            each.name,
            format_quantity(each.bytes, "bytes", decimal=True),
            f"{each.intensity_flop_per_byte:.4g}",
            format_quantity(each.bandwidth_bytes_per_s, "bytes/s"),
        ]
        for each in prediction.levels
    ]
    return table(rows, header=["level", "bytes", "FLOP/B", "rate"], align="lrrr")


def _launch_line(launch: LaunchPrediction) -> str:
    grid = "x".join(map(str, launch.grid))
    block = "x".join(map(str, launch.block))
    return (
        f"{launch.name}: {format_quantity(launch.time_s, 's')}, limited by {launch.limiter}; "
        f"grid {grid}, block {block}, {launch.registers_per_thread} registers, "
        f"{launch.shared_bytes_per_block} B shared; {launch.blocks_per_mp} blocks an MP, occupancy "
        f"{percent(launch.occupancy)} ({', '.join(launch.occupancy_limiters)})"
    )


def unknowns_table(prediction: Prediction) -> str:
    """The device values that are ranges, by how far they move the time."""
    rows = [
        [
            each.name,
            f"{each.low:.4g} .. {each.high:.4g}",
            (
                f"{format_quantity(each.time_at_low_s, 's')} .. "
                f"{format_quantity(each.time_at_high_s, 's')}"
            ),
        ]
        for each in prediction.unknowns[:_FEW]
    ]
    return table(rows, header=["unknown (SI or cycles)", "range", "time"], align="lll")


def ladder_table(ladders: Sequence[Ladder]) -> str:
    """Ladders one after the other."""
    return "\n\n".join(_ladder(each) for each in ladders)


def _ladder(ladder: Ladder) -> str:
    rows = [
        [
            ("or " if step.is_alternative else "") + step.rung,
            format_quantity(step.prediction.time_s, "s") if step.prediction else "-",
            _times(step.speedup),
            _times(step.step_speedup) if number else "",
            step.prediction.limiter if step.prediction else "-",
            step.removed,
        ]
        for number, step in enumerate(ladder.steps)
    ]
    predictions = [each for _, each in ladder.running()]
    shared, apart = parameter_lines(predictions, ladder.given)
    title = f"{ladder.kernel} on {ladder.device}: {shared}"
    header = ["rung", "time", "total", "step", "limiter", "what it did"]
    return "\n".join(
        [
            wrapped(title, indent="  "),
            "",
            _narrowed(rows, header),
            *(wrapped(each, indent="  ") for each in (*apart, *ladder_notes(ladder))),
        ]
    )


def _narrowed(rows: Sequence[Sequence[str]], header: Sequence[str]) -> str:
    """A table whose last column becomes lines below it where there is no room for it."""
    text = table(rows, header=header, align="lrrr")
    if max(map(len, text.splitlines())) <= WIDTH:
        return text
    below = [wrapped(f"{row[0]}: {row[-1]}", indent="  ") for row in rows if row[-1]]
    return "\n".join([table([row[:-1] for row in rows], header=header[:-1], align="lrrr"), *below])


def parameter_lines(
    predictions: Sequence[Prediction], named: Collection[str] = ()
) -> tuple[str, list[str]]:
    """The parameters of several predictions of one kernel: what they share, and what not.

    Args:
        predictions: At least one.
        named: Parameters that are shown even where some of the rungs do not have them.

    Returns:
        The values that all share, as they are given on the command line; and a line for each
        parameter that all have with different values, or that is named.
    """
    shared = shared_parameters(predictions)
    rungs = dict.fromkeys(each.rung for each in predictions)
    lines = []
    for name in dict.fromkeys(name for each in predictions for name in each.parameters):
        everywhere = all(name in each.parameters for each in predictions)
        if name in shared or not (everywhere or name in named):
            continue
        groups: dict[str, list[str]] = {}
        for rung, value in dict.fromkeys(
            (each.rung, each.parameters[name]) for each in predictions if name in each.parameters
        ):
            groups.setdefault(f"{name}={value}", []).append(rung)
        largest = max(groups, key=lambda each: len(groups[each]))
        if everywhere and 1 < len(groups[largest]) < len(rungs):
            del groups[largest]
            groups[largest] = ["the other rungs"]
        lines.append("; ".join(f"{', '.join(who)}: {what}" for what, who in groups.items()))
    return given(shared), lines


def ladder_notes(ladder: Ladder) -> list[str]:
    """What is to be said of a ladder's rungs: each warning once, with the rungs it concerns."""
    running = ladder.running()
    concerned: dict[str, list[str]] = {}
    for step, prediction in running:
        for warning in prediction.warnings:
            concerned.setdefault(warning, []).append(step.rung)
    reasons = [f"{each.rung}: cannot run: {each.cannot}" for each in ladder.steps if each.cannot]
    every = len(running)
    notes = [
        f"{'all rungs' if 1 < len(rungs) == every else ', '.join(rungs)}: {warning}"
        for warning, rungs in concerned.items()
    ]
    return [f"note: {each}" for each in (*reasons, *notes)]


def _times(factor: float) -> str:
    return f"{factor:.3g}x" if factor > 0 else "-"
