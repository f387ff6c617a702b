"""perfmodel ladder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from perfmodel.cli import options, output
from perfmodel.cli.apps import CommandWithExamples, command_app
from perfmodel.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

app = command_app()

_EXAMPLES = """\
Examples:
  perfmodel ladder gemm
  perfmodel ladder softmax -d dcu --measured
  perfmodel ladder reduce -d s5000 -d h200 -p n=4194304 --plot reduce.png
"""


@app.command(cls=CommandWithExamples, epilog=_EXAMPLES)
def ladder(
    kernel: Annotated[str, typer.Argument(metavar="KERNEL", help="A shipped kernel or a file.")],
    device: options.Devices = None,
    param: options.Parameters = None,
    alternatives: Annotated[
        bool,
        typer.Option("--alternatives", help="List the versions that are no step as well."),
    ] = False,
    measured: Annotated[
        bool,
        typer.Option(
            "--measured", help="Beside the times that a document measured: softmax on dcu."
        ),
    ] = False,
    warm: options.Warm = False,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    plot: options.PlotFile = None,
) -> None:
    """What each rung of a kernel's ladder brings on a device."""
    from perfmodel.device.loading import load_device
    from perfmodel.scheduler.ladder import ladder as analyse
    from perfmodel.tables.prediction import ladder_table

    output.require_one_format(as_json=as_json, as_csv=as_csv)
    names = options.device_names(device)
    if measured:
        if kernel != "softmax" or names != ["dcu"] or param or alternatives or warm or plot:
            raise UsageError(
                "--measured goes with softmax -d dcu alone: no other ladder of the documents has "
                "measured times, and these have one shape"
            )
        _beside_measured(as_json=as_json, as_csv=as_csv)
        return
    results = [
        analyse(
            kernel,
            load_device(name),
            parameters=options.kernel_parameters(param),
            alternatives=alternatives,
            caches="warm" if warm else "cold",
            ranges=as_json or as_csv or plot is not None,
        )
        for name in names
    ]

    def figure() -> Figure:
        from perfmodel.plots.ladder import draw_ladder, prepare_ladder

        return draw_ladder(prepare_ladder(results))

    output.draw(figure, plot)
    output.emit(
        [result.to_dict() for result in results],
        table=lambda: ladder_table(results),
        as_json=as_json,
        as_csv=as_csv,
        rows=lambda: [
            {
                "device": result.device,
                "kernel": result.kernel,
                "rung": step.rung,
                "time_s": step.prediction.time_s if step.prediction else "",
                "time_low_s": step.prediction.time_range_s[0] if step.prediction else "",
                "time_high_s": step.prediction.time_range_s[1] if step.prediction else "",
                "speedup": step.speedup if step.speedup > 0 else "",
                "step_speedup": step.step_speedup if step.step_speedup > 0 else "",
                "limiter": step.prediction.limiter if step.prediction else "",
                "removed": step.removed,
                "missing_work": step.prediction.missing_work if step.prediction else "",
                "cannot": step.cannot,
            }
            for result in results
            for step in result.steps
        ],
    )


def _beside_measured(*, as_json: bool, as_csv: bool) -> None:
    from perfmodel.device.loading import load_device
    from perfmodel.documents.softmax_ladder import softmax_ladder
    from perfmodel.tables.measured import measured_table

    dcu = load_device("dcu")
    result = softmax_ladder(dcu)
    output.emit(
        [result.to_dict()],
        table=lambda: measured_table(result, dcu),
        as_json=as_json,
        as_csv=as_csv,
        rows=lambda: [each.to_dict() for each in result.rungs],
    )
