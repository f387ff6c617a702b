"""perfmodel amdahl."""

from typing import Annotated

import typer

from perfmodel.cli import options, output
from perfmodel.cli.apps import CommandWithExamples, command_app
from perfmodel.errors import UsageError

app = command_app()

_EXAMPLES = """\
Examples:
  perfmodel amdahl --parallel 0.8 --speedup inf
  perfmodel amdahl --parallel 0.5 --speedup 2 --parallel 0.3 --speedup 10
  perfmodel amdahl --parallel 0.8 --speedup 4 --target 3
"""


@app.command(cls=CommandWithExamples, epilog=_EXAMPLES)
def amdahl(
    parallel: Annotated[
        list[str],
        typer.Option("--parallel", "-f", metavar="P", help="Share of the time; repeat for parts."),
    ],
    speedup: Annotated[
        list[str], typer.Option("--speedup", "-s", metavar="N", help="Speed-up of that share.")
    ],
    target: Annotated[
        str | None, typer.Option(metavar="S", help="Speed-up wanted of the whole.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """What a speed-up of one or several parts brings to the whole."""
    from perfmodel.engines import amdahl as law
    from perfmodel.tables.amdahl import amdahl_table

    fractions = [options.number(text, "--parallel") for text in parallel]
    factors = [options.number(text, "--speedup") for text in speedup]
    if len(fractions) != len(factors):
        raise UsageError("give one --speedup for each --parallel")
    gains = law.what_to_attack_first(fractions=fractions, part_speedups=factors)
    wanted = None if target is None else options.number(target, "--target")
    shown = {
        "speedup": law.speedup_of_parts(fractions=fractions, part_speedups=factors),
        "limit": law.speedup_limit(parallel_fraction=min(sum(fractions), 1.0)),
        "gustafson_speedup": law.scaled_speedup(
            parallel_fraction=fractions[0], processors=factors[0]
        )
        if len(fractions) == 1 and 1 <= factors[0] < float("inf")
        else None,
        "fraction_needed": None
        if wanted is None
        else law.fraction_needed(target_speedup=wanted, part_speedup=max(factors)),
        "target_speedup": wanted,
        "parts": [vars(gain) for gain in gains],
    }
    output.emit([shown], table=lambda: amdahl_table(shown), as_json=as_json)
