"""perfmodel divergence."""

from typing import Annotated

import typer

from perfmodel.cli import options, output
from perfmodel.cli.apps import CommandWithExamples, command_app

app = command_app()

_EXAMPLES = """\
Examples:
  perfmodel divergence --predicate "threadIdx.x % 2 == 0" --block 256
  perfmodel divergence -d dcu --predicate "tid % (2 * stride) == 0" \\
      --block 256 -p stride=4
"""


@app.command(cls=CommandWithExamples, epilog=_EXAMPLES)
def divergence(
    predicate: Annotated[
        str,
        typer.Option("--predicate", metavar="EXPRESSION", help="The condition, as in the source."),
    ],
    device: options.Devices = None,
    block: options.Block = None,
    param: options.Values = None,
    as_json: options.AsJson = False,
) -> None:
    """How a branch splits the warps of a block."""
    from perfmodel.analyses.divergence import divergence as analyse
    from perfmodel.device.loading import load_device
    from perfmodel.tables.access import divergence_table

    values = options.single_parameters(param)
    options.require_used(values, [predicate])
    results = [
        analyse(
            load_device(name),
            predicate=predicate,
            block=options.shape(block, "--block"),
            parameters=values,
        )
        for name in options.device_names(device)
    ]
    output.emit(
        results,
        table=lambda: "\n\n".join(map(divergence_table, results)),
        as_json=as_json,
        without=("taken",),
    )
