"""A prediction's terms as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfmodel.tables.prediction import given
from perfmodel.tables.text import WIDTH, percent, wrapped
from perfmodel.units import format_quantity
from perfmodel.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfmodel.results.prediction import LaunchPrediction
    from perfmodel.scheduler.explanation import (
        Combination,
        Explanation,
        LaunchExplanation,
        Part,
        Quantity,
        Term,
    )

_MOST = 8
"""Terms of a launch that are shown in full."""
_ENDLESS = 1 << 24
"""From so many blocks on a resource is no limit."""


def explanation_table(explanation: Explanation) -> str:
    """Each term with its formula, how they were combined, and where the numbers are from."""
    result = explanation.prediction
    title = f"{result.kernel}:{result.rung} on {result.device}: {given(result.parameters)}"
    by_name = {each.name: each for each in explanation.quantities}
    lines = [
        wrapped(title, indent="  "),
        "",
        f"{_seconds(result.time_s)} ({result.caches} L2), limited by {result.limiter}",
        wrapped(_sum(explanation), indent="  "),
    ]
    for launch, predicted in zip(explanation.launches, result.launches, strict=True):
        lines += ["", *_launch(launch, predicted, by_name)]
    lines += ["", "Device values put in, in SI units and cycles:"]
    for each in explanation.quantities:
        stated = f"{each.name}  {each.text}"
        source = each.source
        if len(stated) + len(each.kind) < WIDTH:
            stated = f"{stated.ljust(WIDTH - len(each.kind) - 1)} {each.kind}"
        else:
            source = f"{each.kind}: {source}"
        lines += [wrapped(stated, indent="  "), wrapped(f"    {source}", indent="    ")]
    lines += [wrapped(f"note: {each}", indent="  ") for each in result.warnings]
    return "\n".join(lines)


def _sum(explanation: Explanation) -> str:
    times = [_seconds(each.combination.time_s) for each in explanation.launches]
    number = len(times)
    return (
        f"= {' + '.join(times)} + {counted(number, 'launch', 'launches')} x "
        f"{_seconds(explanation.launch_time_s / number)} (kernel_launch)"
    )


def _launch(
    launch: LaunchExplanation, predicted: LaunchPrediction, by_name: Mapping[str, Quantity]
) -> list[str]:
    most, held = launch.most_blocks, launch.blocks_per_mp
    allowed = ", ".join(
        f"{name} {number}" for name, number in launch.allowed_blocks.items() if number < _ENDLESS
    )
    threads = predicted.block[0] * predicted.block[1] * predicted.block[2]
    lines = [
        wrapped(
            f"{launch.name}: {_seconds(launch.combination.time_s)}; "
            f"{counted(launch.blocks, 'block')} of {counted(threads, 'thread')}, "
            f"{counted(predicted.registers_per_thread, 'register')} a thread, "
            f"{predicted.shared_bytes_per_block} B of shared memory a block",
            indent="  ",
        ),
        wrapped(
            f"  occupancy {percent(predicted.occupancy)}: {counted(held, 'block')} of "
            f"{counted(predicted.warps_per_block, 'warp')} an MP, limited by "
            f"{', '.join(predicted.occupancy_limiters)}; allowed by {allowed}",
            indent="    ",
        ),
        wrapped(
            f"  the busiest of {counted(launch.mps, 'MP')} has ceil({launch.blocks} / "
            f"{launch.mps}) = {counted(most, 'block')}, in ceil({most} / {held}) = "
            f"{counted(launch.rounds, 'round')}; a round is the blocks it holds at once",
            indent="    ",
        ),
        "",
    ]
    for term in launch.terms[:_MOST]:
        lines += _term(term, by_name)
    rest = ", ".join(each.name for each in launch.terms[_MOST:])
    lines += [wrapped(f"less: {rest}", indent="  ")] if rest else []
    return [*lines, "", *_combination(launch.combination)]


def _term(term: Term, by_name: Mapping[str, Quantity]) -> list[str]:
    lines = [f"{term.name}: {_seconds(term.time_s)}, {percent(term.utilization)} of the launch"]
    for number, part in enumerate(term.parts):
        lines += [
            wrapped(f"  {'+' if number else '='} {_formula(part)}", indent=" " * 6),
            wrapped(f"  = {_numbers(part, by_name)}", indent=" " * 6),
        ]
    return lines


def _formula(part: Part) -> str:
    share = " x blocks of the busiest MP / blocks" if part.share != (1, 1) else ""
    times = "".join(f" x {name}" for name in part.times)
    return f"{part.what}{share}{times}{''.join(f' / {name}' for name in part.divided_by)}"


def _numbers(part: Part, by_name: Mapping[str, Quantity]) -> str:
    share = f" x {part.share[0]} / {part.share[1]}" if part.share != (1, 1) else ""
    times = "".join(f" x {by_name[name].value:.5g}" for name in part.times)
    rates = "".join(f" / {by_name[name].value:.5g}" for name in part.divided_by)
    return f"{part.amount:.5g}{share}{times}{rates} = {_seconds(part.time_s)}"


def _combination(terms: Combination) -> list[str]:
    lesser = "the first" if terms.blended_s <= terms.in_turn_s else "the second"
    lines = [
        "Together: min((L^n + B^n)^(1/n), W + B), at least the greater of L and B",
        wrapped(
            f"  L = {_seconds(terms.latency_s)} (latency), B = {_seconds(terms.busy_s)} "
            f"({terms.busy}), W = {_seconds(terms.waiting_s)} (latency not beside B), "
            f"n = {terms.sharpness:.4g} (saturation_sharpness)",
            indent="    ",
        ),
        wrapped(
            f"  min({_seconds(terms.blended_s)}, {_seconds(terms.in_turn_s)}), {lesser}: "
            f"{_seconds(terms.time_s - terms.ramp_s - terms.tail_s)}",
            indent="    ",
        ),
    ]
    later = {
        "ramp: resident blocks ask for the same at the same time at first": terms.ramp_s,
        "tail: the block with most to do ends after the others": terms.tail_s,
    }
    lines += [
        wrapped(f"  + {_seconds(each)} ({why})", indent="    ")
        for why, each in later.items()
        if each > 0
    ]
    if terms.ramp_s + terms.tail_s > 0:
        lines.append(f"  = {_seconds(terms.time_s)}")
    return lines


def _seconds(time: float) -> str:
    return format_quantity(time, "s")
