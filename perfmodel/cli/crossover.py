"""perfmodel crossover."""

from __future__ import annotations

from typing import Annotated

import typer

from perfmodel.cli import options, output
from perfmodel.cli.apps import CommandWithExamples, command_app

app = command_app()

_EXAMPLES = """\
Examples:
  perfmodel crossover reduce:one_block reduce:vector_load --over n --from 2^12 \\
    --to 2^28
  perfmodel crossover gemv:batch_gemv gemv:thin_gemm --over n --from 1 --to 128
"""


@app.command(cls=CommandWithExamples, epilog=_EXAMPLES)
def crossover(
    first: Annotated[str, typer.Argument(metavar="KERNEL:RUNG", help="A rung.")],
    second: Annotated[str, typer.Argument(metavar="KERNEL:RUNG", help="Another.")],
    over: Annotated[str, typer.Option(metavar="NAME", help="The parameter that grows.")],
    low: Annotated[str, typer.Option("--from", metavar="N", help="Its least value.")],
    high: Annotated[str, typer.Option("--to", metavar="N", help="Its greatest; 2^28 is a power.")],
    device: options.OneDevice = None,
    param: options.Parameters = None,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
) -> None:
    """Where one rung becomes faster than another as a parameter grows."""
    from perfmodel.device.loading import load_device
    from perfmodel.results import plain
    from perfmodel.scheduler.whatif import crossovers
    from perfmodel.tables.whatif import crossover_table

    output.require_one_format(as_json=as_json, as_csv=as_csv)
    found = crossovers(
        first,
        second,
        load_device(device),
        over=over,
        low=_size(low, "--from"),
        high=_size(high, "--to"),
        parameters=options.kernel_parameters(param),
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


def _size(text: str, name: str) -> int:
    """A whole number, which may be written as a power of two: 2^28."""
    base, caret, power = text.strip().partition("^")
    if caret and base == "2" and power.isdecimal() and int(power) < 63:
        return 1 << int(power)
    return options.parameter_value(text, name)
