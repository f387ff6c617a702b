"""perfmodel compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from perfmodel.cli import options, output
from perfmodel.cli.apps import CommandWithExamples, command_app

if TYPE_CHECKING:
    from perfmodel.results.prediction import Prediction

app = command_app()

_EXAMPLES = """\
Examples:
  perfmodel compare gemm -d s5000 -d h200
  perfmodel compare attention:fused -d s5000 -d dcu -d h200 -p causal=1
"""


@app.command(cls=CommandWithExamples, epilog=_EXAMPLES)
def compare(
    kernel: Annotated[
        str, typer.Argument(metavar="KERNEL[:RUNG]", help="A kernel, or one rung of it.")
    ],
    device: options.Devices = None,
    param: options.Parameters = None,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
) -> None:
    """A kernel's rungs on several devices side by side."""
    from perfmodel.device.loading import load_device
    from perfmodel.kernels.loading import load_rungs
    from perfmodel.scheduler.prediction import predict
    from perfmodel.tables.whatif import comparison_table

    output.require_one_format(as_json=as_json, as_csv=as_csv)
    description, rungs = load_rungs(kernel)
    given = options.kernel_parameters(param)
    results: list[Prediction] = []
    for each in options.device_names(device):
        for one in rungs:
            own = {n: v for n, v in given.items() if n in one.parameters or len(rungs) == 1}
            results.append(
                predict(description, load_device(each), rung=one.name, parameters=own, ranges=False)
            )
    output.emit(
        [result.to_dict() for result in results],
        table=lambda: comparison_table(results),
        as_json=as_json,
        as_csv=as_csv,
        rows=lambda: [
            {
                "device": result.device,
                "rung": result.rung,
                "time_s": result.time_s,
                "limiter": result.limiter,
                "occupancy": result.occupancy,
            }
            for result in results
        ],
    )
