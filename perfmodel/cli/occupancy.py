"""perfmodel occupancy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from perfmodel.cli import options, output
from perfmodel.cli.apps import CommandWithExamples, command_app

if TYPE_CHECKING:
    from matplotlib.figure import Figure

app = command_app()

_EXAMPLES = """\
Examples:
  perfmodel occupancy -d s5000 --threads 256 --registers 128 --shared 32KiB
  perfmodel occupancy -d s5000 -d h200 --threads 256 --registers 64
  perfmodel occupancy -d h200 --threads 16x16 -r 40 --plot occupancy.png
"""


@app.command(cls=CommandWithExamples, epilog=_EXAMPLES)
def occupancy(
    threads: Annotated[
        str, typer.Option("--threads", "-n", metavar="N|XxY", help="Threads of a block.")
    ],
    device: options.Devices = None,
    registers: Annotated[
        str, typer.Option("--registers", "-r", metavar="N", help="Registers of a thread.")
    ] = "0",
    shared: Annotated[
        str,
        typer.Option("--shared", "-s", metavar="BYTES", help="Shared memory of a block: 32KiB."),
    ] = "0",
    scalar_registers: Annotated[
        str, typer.Option(metavar="N", help="Scalar registers of a warp (AMD, DCU).")
    ] = "0",
    barriers: Annotated[str, typer.Option(metavar="N", help="Block barriers used.")] = "1",
    carveout: Annotated[
        str | None,
        typer.Option(metavar="PERCENT", help="Preferred share of shared memory (NVIDIA)."),
    ] = None,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    plot: options.PlotFile = None,
) -> None:
    """Blocks and warps an MP holds, what limits them, and what to give up for one block more."""
    from math import prod

    from perfmodel.analyses.occupancy import occupancy as analyse
    from perfmodel.device.loading import load_device
    from perfmodel.tables.occupancy import occupancy_table

    devices = [load_device(name) for name in options.device_names(device)]
    results = [
        analyse(
            each,
            threads_per_block=prod(options.shape(threads, "--threads")),
            registers_per_thread=options.whole_number(registers, "--registers"),
            shared_bytes_per_block=options.byte_size(shared, "--shared"),
            scalar_registers_per_warp=options.whole_number(scalar_registers, "--scalar-registers"),
            barriers_per_block=options.whole_number(barriers, "--barriers"),
            carveout_percent=None
            if carveout is None
            else options.whole_number(carveout, "--carveout"),
        )
        for each in devices
    ]

    def figure() -> Figure:
        from perfmodel.plots.occupancy import draw_occupancy, prepare_occupancy

        return draw_occupancy(prepare_occupancy(devices[0], results[0]))

    output.draw(figure, plot)
    output.emit(results, table=lambda: occupancy_table(results), as_json=as_json, as_csv=as_csv)
