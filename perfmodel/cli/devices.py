"""perfmodel devices."""

from perfmodel.cli import options, output
from perfmodel.cli.apps import command_app

app = command_app()


@app.command()
def devices(as_json: options.AsJson = False, as_csv: options.AsCsv = False) -> None:
    """The devices known, with what they are compared by first."""
    from perfmodel.device.loading import device_names, load_device
    from perfmodel.tables.devices import device_rows, devices_table

    found = [load_device(name) for name in device_names()]
    output.emit(
        [device_rows(found)] if as_json else device_rows(found),
        table=lambda: devices_table(found),
        as_json=as_json,
        as_csv=as_csv,
    )
