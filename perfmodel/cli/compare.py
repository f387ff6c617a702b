"""perfmodel compare."""

from __future__ import annotations

from typing import Annotated

import typer

from perfmodel.cli import options, output
from perfmodel.cli.apps import CommandWithExamples, command_app

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
    warm: options.Warm = False,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
) -> None:
    """A kernel's rungs on several devices side by side."""
    from perfmodel.device.loading import load_device
    from perfmodel.scheduler.whatif import compare as analyse
    from perfmodel.tables.whatif import comparison_table

    output.require_one_format(as_json=as_json, as_csv=as_csv)
    given = options.kernel_parameters(param)
    found = analyse(
        kernel,
        [load_device(name) for name in options.device_names(device)],
        parameters=given,
        caches="warm" if warm else "cold",
    )
    output.emit(
        [each.to_dict() for each in found],
        table=lambda: comparison_table(found, given),
        as_json=as_json,
        as_csv=as_csv,
        rows=lambda: [
            {
                "device": each.device,
                "rung": each.rung,
                "time_s": each.prediction.time_s if each.prediction else "",
                "limiter": each.prediction.limiter if each.prediction else "",
                "occupancy": each.prediction.occupancy if each.prediction else "",
                "cannot": each.cannot,
            }
            for each in found
        ],
    )
