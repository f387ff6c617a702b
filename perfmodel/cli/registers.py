"""perfmodel registers."""

from typing import Annotated

import typer

from perfmodel.cli import options, output
from perfmodel.cli.apps import CommandWithExamples, command_app
from perfmodel.errors import UsageError, quoted

app = command_app()

_EXAMPLES = """\
Examples:
  perfmodel registers --tile 8x8
  perfmodel registers --tile 8x8 --buffers 2 -d s5000 -d h200 -d dcu
  perfmodel registers --tile 4x4 --shared-efficiency 0.5
"""


@app.command(cls=CommandWithExamples, epilog=_EXAMPLES)
def registers(
    tile: Annotated[
        str, typer.Option("--tile", metavar="MxN", help="Elements of C that a thread owns.")
    ] = "8x8",
    device: options.Devices = None,
    tile_k: Annotated[
        int, typer.Option("--tile-k", help="Steps of k held in registers.", min=1)
    ] = 1,
    threads: Annotated[int, typer.Option("--threads", help="Threads of a block.", min=1)] = 256,
    buffers: Annotated[
        int, typer.Option("--buffers", help="Copies of the operands; 2: double buffer.", min=1)
    ] = 1,
    shared_efficiency: Annotated[
        str, typer.Option(help="Share of shared-memory bandwidth that bank conflicts leave.")
    ] = "1",
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
) -> None:
    """Register budget and register bandwidth of a thread's tile of an fp32 matrix product."""
    from perfmodel.analyses.tiling import register_tile
    from perfmodel.device.loading import load_device
    from perfmodel.tables.tiling import register_tile_table

    sizes = options.shape(tile, "--tile")
    if len(sizes) != 2:
        raise UsageError(f"--tile is {quoted(tile)}: give rows and columns, such as 8x8")
    results = [
        register_tile(
            load_device(name),
            tile_m=sizes[0],
            tile_n=sizes[1],
            tile_k=tile_k,
            threads_per_block=threads,
            fragment_buffers=buffers,
            shared_efficiency=options.number(shared_efficiency, "--shared-efficiency"),
        )
        for name in options.device_names(device)
    ]
    output.emit(results, table=lambda: register_tile_table(results), as_json=as_json, as_csv=as_csv)
