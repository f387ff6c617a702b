"""perfmodel validate."""

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
  perfmodel validate -d h200
  perfmodel validate -d h200 --kernel gemv --cases
  perfmodel validate -d h200 --plot h200.png
  perfmodel validate -d h200 --check
"""


@app.command(cls=CommandWithExamples, epilog=_EXAMPLES)
def validate(
    device: options.OneDevice = None,
    kernel: Annotated[
        str | None,
        typer.Option("--kernel", "-k", metavar="NAME", help="Cases of one kernel or operation."),
    ] = None,
    cases: Annotated[bool, typer.Option("--cases", help="List every case.")] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Compare with the errors committed; exit code 1 where they drifted."
        ),
    ] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Commit the errors of now beside the measurements.")
    ] = False,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    plot: options.PlotFile = None,
) -> None:
    """Predictions beside measured times and counters, and their errors."""
    from perfmodel.device.loading import load_device
    from perfmodel.tables.validation import cases_table, validation_table
    from perfmodel.validation.comparison import validate as analyse

    output.require_one_format(as_json=as_json, as_csv=as_csv)
    if (check or record) and kernel:
        raise UsageError("--check and --record take all cases: leave --kernel away")
    (name,) = options.device_names([device] if device else None)
    loaded = load_device(name)
    result = analyse(loaded, kernel=kernel)
    if record:
        from perfmodel.validation.committed import record as commit

        typer.echo(f"errors written to {commit(result)}")
        return
    if check:
        from perfmodel.validation.committed import drifted

        moved = drifted(result)
        typer.echo("\n".join(moved) if moved else f"{loaded.device}: errors are those committed")
        if moved:
            raise typer.Exit(1)
        return

    def figure() -> Figure:
        from perfmodel.plots.validation import draw_validation

        return draw_validation(result)

    output.draw(figure, plot)
    output.emit(
        [result],
        table=lambda: cases_table(result.cases) if cases else validation_table(result),
        as_json=as_json,
        as_csv=as_csv,
        rows=result.rows,
    )
