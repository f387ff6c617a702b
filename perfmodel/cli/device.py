"""perfmodel device show, check and schema."""

import json
from typing import Annotated

import typer

from perfmodel.cli import options, output
from perfmodel.cli.apps import command_app

app = command_app()

Name = Annotated[
    str | None,
    typer.Argument(metavar="[NAME|FILE]", help="Device name, alias or file.", show_default=False),
]


@app.callback()
def device() -> None:
    """Show, check or describe device files."""


@app.command()
def show(name: Name = None, as_json: options.AsJson = False, as_csv: options.AsCsv = False) -> None:
    """Every value of a device with its range, kind and source."""
    from perfmodel.device.loading import load_device
    from perfmodel.tables.devices import device_table, value_rows

    found = load_device(name)
    rows = value_rows(found)
    output.emit(
        [{"device": found.device, "name": found.name, "about": found.about, "values": rows}],
        table=lambda: device_table(found),
        as_json=as_json,
        as_csv=as_csv,
        rows=lambda: rows,
    )


@app.command()
def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME|FILE]...", help="Devices; by default every shipped one."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Recompute what can be recomputed; exit code 1 where two numbers disagree."""
    from perfmodel.device.checks import check_device
    from perfmodel.device.loading import device_names, load_device
    from perfmodel.tables.devices import check_rows, checks_table

    found = [(name, check_device(load_device(name))) for name in names or device_names()]
    output.emit([check_rows(found)], table=lambda: checks_table(found), as_json=as_json)
    if not all(check.agrees for _, checks in found for check in checks):
        raise typer.Exit(1)


@app.command()
def schema() -> None:
    """The JSON schema of device files, for editors."""
    from perfmodel.device.json_schema import json_schema

    typer.echo(json.dumps(json_schema(), indent=2))
