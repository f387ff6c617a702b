"""perfmodel scaling."""

from typing import Annotated

import typer

from perfmodel.cli import options, output
from perfmodel.cli.apps import CommandWithExamples, command_app
from perfmodel.errors import UsageError

app = command_app()

_EXAMPLES = """\
Examples:
  perfmodel scaling --speeds 1,1,2,2
  perfmodel scaling --devices 96 --communication 0.0005
  perfmodel scaling -d h200 --devices 8 --all-reduce 1GB --latency 5us
"""

_MOST_DEVICES = 1 << 16


@app.command(cls=CommandWithExamples, epilog=_EXAMPLES)
def scaling(
    speeds: Annotated[
        str | None,
        typer.Option(metavar="S,S,...", help="Relative speeds of unequal devices."),
    ] = None,
    devices: Annotated[
        int | None,
        typer.Option(help="Number of equal devices.", min=1, max=_MOST_DEVICES),
    ] = None,
    communication: Annotated[
        str,
        typer.Option(metavar="C", help="Communication over one device's time for all the work."),
    ] = "0",
    all_reduce: Annotated[
        str | None, typer.Option(metavar="BYTES", help="Size of an array to sum: 1GB.")
    ] = None,
    link: Annotated[
        str | None, typer.Option(help="The link for it; default the widest of the device.")
    ] = None,
    latency: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Time of an empty message over the link: 5us."),
    ] = None,
    device: options.OneDevice = None,
    as_json: options.AsJson = False,
) -> None:
    """Several devices: shares of the work, communication, ring all-reduce."""
    from perfmodel.analyses.scaling import scaling as analyse
    from perfmodel.device.loading import load_device
    from perfmodel.tables.tiling import scaling_table

    if (speeds is None) == (devices is None):
        raise UsageError("give --speeds for unequal devices, or --devices for equal ones")
    if all_reduce is None and (link is not None or latency is not None):
        raise UsageError("--link and --latency are for --all-reduce: add it")
    given = (
        [1.0] * (devices or 1)
        if speeds is None
        else [options.number(text, "--speeds") for text in speeds.split(",")]
    )
    result = analyse(
        load_device(device),
        speeds=given,
        communication_share=options.number(communication, "--communication"),
        message_bytes=None if all_reduce is None else options.byte_size(all_reduce, "--all-reduce"),
        link=link,
        link_latency_s=None if latency is None else options.duration(latency, "--latency"),
    )
    output.emit([result], table=lambda: scaling_table(result), as_json=as_json)
