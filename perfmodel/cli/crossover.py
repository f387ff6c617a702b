"""perfmodel crossover."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from perfmodel.cli import options, output
from perfmodel.cli.apps import CommandWithExamples, command_app
from perfmodel.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfmodel.device.model import Device

app = command_app()
_MOST_TOGETHER = 2

_EXAMPLES = """\
Examples:
  perfmodel crossover reduce:one_block reduce:vector_load --over n \\
    --from 256 --to 2^28
  perfmodel crossover gemv:batch_gemv gemv:thin_gemm --over n --from 1 --to 128
  perfmodel crossover gemv:cached_vector --best tile_v
  perfmodel crossover attention:fused --best br=64,128,256 --best bc
"""


@app.command(cls=CommandWithExamples, epilog=_EXAMPLES)
def crossover(
    first: Annotated[str, typer.Argument(metavar="KERNEL:RUNG", help="A rung.")],
    second: Annotated[
        str | None,
        typer.Argument(
            metavar="KERNEL:RUNG", help="Another; left out with --best.", show_default=False
        ),
    ] = None,
    over: Annotated[
        str | None, typer.Option(metavar="NAME", help="The parameter that grows.")
    ] = None,
    best: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=N,N,...]",
            help="A parameter whose best value is looked for; two are tried together.",
        ),
    ] = None,
    low: Annotated[
        str | None, typer.Option("--from", metavar="N", help="Its least value; 2^10 is a power.")
    ] = None,
    high: Annotated[
        str | None, typer.Option("--to", metavar="N", help="Its greatest; 2^28 is a power.")
    ] = None,
    device: options.OneDevice = None,
    param: options.Parameters = None,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
) -> None:
    """Where one rung becomes faster than another, or the best value of a parameter."""
    from perfmodel.device.loading import load_device

    output.require_one_format(as_json=as_json, as_csv=as_csv)
    ends = (_end(low, "--from"), _end(high, "--to"))
    given = options.kernel_parameters(param)
    if best is not None:
        if second is not None or over is not None:
            raise UsageError("--best is for one rung, without --over: leave the other out")
        _print_best(first, load_device(device), best, ends, given, as_json=as_json, as_csv=as_csv)
        return
    if second is None or over is None or ends[0] is None or ends[1] is None:
        raise UsageError("give two rungs with --over, --from and --to, or one rung with --best")
    from perfmodel.results import plain
    from perfmodel.scheduler.crossover import crossovers
    from perfmodel.tables.whatif import crossover_table

    found = crossovers(
        first,
        second,
        load_device(device),
        over=over,
        low=ends[0],
        high=ends[1],
        parameters=given,
    )
    output.emit(
        [found.to_dict()],
        table=lambda: crossover_table(found),
        as_json=as_json,
        as_csv=as_csv,
        rows=lambda: (
            [plain(each) for each in found.crossings]
            or [{"faster_throughout": found.faster_at_low}]
        ),
    )


def _print_best(
    rung: str,
    device: Device,
    wanted: list[str],
    ends: tuple[int | None, int | None],
    given: Mapping[str, int | str],
    *,
    as_json: bool,
    as_csv: bool,
) -> None:
    """The fastest of all values of one or two parameters."""
    from perfmodel.scheduler.crossover import best_values, doublings
    from perfmodel.tables.whatif import best_table

    if len(wanted) > _MOST_TOGETHER:
        raise UsageError(f"--best is given {len(wanted)} times: at most two parameters are tried")
    choices: dict[str, tuple[int, ...]] = {}
    for each in wanted:
        name, equals, values = (part.strip() for part in each.partition("="))
        if name in choices:
            raise UsageError(f"--best {name} is given twice: give it once")
        if name in given:
            raise UsageError(f"-p {name}: its best value is looked for; leave it out")
        choices[name] = (
            tuple(options.parameter_value(value, f"--best {name}") for value in values.split(","))
            if equals
            else doublings(rung, name, low=ends[0], high=ends[1])
        )
    found = best_values(rung, device, choices, parameters=given)
    output.emit(
        [found.to_dict()],
        table=lambda: best_table(found),
        as_json=as_json,
        as_csv=as_csv,
        rows=lambda: [
            {
                **each.values,
                "time_s": "" if each.cannot else each.time_s,
                "limiter": each.limiter,
                "occupancy": each.occupancy,
                "cannot": each.cannot,
            }
            for each in found.trials
        ],
    )


def _end(text: str | None, name: str) -> int | None:
    return None if text is None else options.parameter_value(text, name)
