"""perfmodel sensitivity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from perfmodel.cli import options, output
from perfmodel.cli.apps import CommandWithExamples, command_app
from perfmodel.errors import UsageError, quoted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

app = command_app()
OVER = ("unknowns", "fields", "parameters")

_EXAMPLES = """\
Examples:
  perfmodel sensitivity gemv:vector_loads -d s5000
  perfmodel sensitivity gemm:naive -d dcu --over fields --plot tornado.png
"""


@app.command(cls=CommandWithExamples, epilog=_EXAMPLES)
def sensitivity(
    kernel: Annotated[
        str, typer.Argument(metavar="KERNEL[:RUNG]", help="A kernel or a file, and a rung.")
    ],
    device: options.OneDevice = None,
    param: options.Parameters = None,
    over: Annotated[
        str,
        typer.Option(
            help="unknowns: over their ranges; fields: 10 % less and more; "
            "parameters: half and double."
        ),
    ] = "unknowns",
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    plot: options.PlotFile = None,
) -> None:
    """Which device value or kernel parameter moves the time most."""
    from perfmodel.device.loading import load_device
    from perfmodel.results import plain
    from perfmodel.scheduler.prediction import predict
    from perfmodel.scheduler.whatif import elasticities, parameter_effects
    from perfmodel.tables.whatif import sensitivity_table

    output.require_one_format(as_json=as_json, as_csv=as_csv)
    if over not in OVER:
        raise UsageError(f"--over is {quoted(over)}: one of {', '.join(OVER)} is wanted")
    chosen, given = load_device(device), options.kernel_parameters(param)
    result = predict(kernel, chosen, parameters=given)
    found = {
        "unknowns": lambda: result.unknowns,
        "fields": lambda: elasticities(kernel, chosen, parameters=given),
        "parameters": lambda: parameter_effects(kernel, chosen, parameters=given),
    }[over]()

    units = {name: value.unit for name, value in chosen.quantities().items()}

    def figure() -> Figure:
        from perfmodel.plots.tornado import draw_tornado, prepare_tornado

        return draw_tornado(prepare_tornado(result, found, over, units))

    output.draw(figure, plot)
    output.emit(
        [{"prediction": result.to_dict(), "over": over, "values": [plain(each) for each in found]}],
        table=lambda: sensitivity_table(result, found, over, units),
        as_json=as_json,
        as_csv=as_csv,
        rows=lambda: [plain(each) for each in found] or [{"name": "nothing moves the time"}],
    )
