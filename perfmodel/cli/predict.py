"""perfmodel predict."""

from __future__ import annotations

from typing import Annotated

import typer

from perfmodel.cli import options, output
from perfmodel.cli.apps import CommandWithExamples, command_app

app = command_app()

_EXAMPLES = """\
Examples:
  perfmodel predict gemm:naive
  perfmodel predict softmax -d dcu -p m=65536 -p n=512
  perfmodel predict mine.yaml:fast -d s5000 -p n=8192 --json
"""


@app.command(cls=CommandWithExamples, epilog=_EXAMPLES)
def predict(
    kernel: Annotated[
        str,
        typer.Argument(metavar="KERNEL[:RUNG]", help="A shipped kernel or a file, and a rung."),
    ],
    device: options.Devices = None,
    param: options.Parameters = None,
    warm: options.Warm = False,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
) -> None:
    """The time of a kernel's rung on a device, and what it is made of."""
    from perfmodel.device.loading import load_device
    from perfmodel.results import plain
    from perfmodel.scheduler.prediction import predict as analyse
    from perfmodel.tables.prediction import prediction_table

    output.require_one_format(as_json=as_json, as_csv=as_csv)
    results = [
        analyse(
            kernel,
            load_device(name),
            parameters=options.kernel_parameters(param),
            caches="warm" if warm else "cold",
        )
        for name in options.device_names(device)
    ]
    output.emit(
        [result.to_dict() for result in results],
        table=lambda: "\n\n".join(map(prediction_table, results)),
        as_json=as_json,
        as_csv=as_csv,
        rows=lambda: [
            {
                "device": result.device,
                "kernel": result.kernel,
                "rung": result.rung,
                "predicted_time_s": result.time_s,
                **plain(bound),
            }
            for result in results
            for bound in result.bounds
        ],
    )
