"""perfmodel occupancy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from perfmodel.cli import options, output
from perfmodel.cli.apps import CommandWithExamples, command_app
from perfmodel.errors import UsageError, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from perfmodel.analyses.occupancy import Swept
    from perfmodel.device.model import Device
    from perfmodel.results import OccupancyResult

app = command_app()

_EXAMPLES = """\
Examples:
  perfmodel occupancy -d s5000 --threads 256 --registers 128 --shared 32KiB
  perfmodel occupancy -d s5000 -d h200 --threads 256 --registers 64
  perfmodel occupancy -d h200 --threads 256 --registers 64 --sweep registers
  perfmodel occupancy -d h200 --threads 128 -s 20KiB --carveout 50 --barriers 16
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
    accumulation_registers: Annotated[
        str, typer.Option(metavar="N", help="Accumulation registers of a thread (AMD).")
    ] = "0",
    shared: Annotated[
        str,
        typer.Option(
            "--shared",
            "-s",
            metavar="BYTES",
            help="Shared memory of a block, static and dynamic together: 32KiB.",
        ),
    ] = "0",
    scalar_registers: Annotated[
        str, typer.Option(metavar="N", help="Scalar registers of a warp (AMD, DCU).")
    ] = "0",
    warp_width: Annotated[
        str | None,
        typer.Option(metavar="LANES", help="Width the kernel is compiled for (RDNA: 32 or 64)."),
    ] = None,
    barriers: Annotated[
        str,
        typer.Option(metavar="N", help="Block barriers used; __syncthreads alone is 1."),
    ] = "1",
    carveout: Annotated[
        str | None,
        typer.Option(
            metavar="PERCENT",
            help="Preferred carve-out of shared memory from the L1; without it, the largest "
            "(NVIDIA).",
        ),
    ] = None,
    sweep: Annotated[
        str | None,
        typer.Option(metavar="WHAT", help="Vary threads, registers or shared, all else held."),
    ] = None,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    plot: options.PlotFile = None,
) -> None:
    """Blocks and warps an MP holds, what limits them, and what to give up for one block more."""
    from math import prod

    output.require_one_format(as_json=as_json, as_csv=as_csv)
    if sweep is not None and sweep not in _SWEPT:
        raise UsageError(f"--sweep is {quoted(sweep)}: it must be one of {', '.join(_SWEPT)}")
    from perfmodel.analyses.occupancy import occupancy as analyse
    from perfmodel.device.loading import load_device
    from perfmodel.tables.occupancy import occupancy_table

    devices = [load_device(name) for name in options.device_names(device)]
    if warp_width is not None:
        lanes = options.whole_number(warp_width, "--warp-width")
        devices = [each.with_warp_width(lanes) for each in devices]
    kernel = {
        "threads_per_block": prod(options.shape(threads, "--threads")),
        "registers_per_thread": options.whole_number(registers, "--registers"),
        "accumulation_registers_per_thread": options.whole_number(
            accumulation_registers, "--accumulation-registers"
        ),
        "shared_bytes_per_block": options.byte_size(shared, "--shared"),
        "scalar_registers_per_warp": options.whole_number(scalar_registers, "--scalar-registers"),
    }
    results = [
        analyse(
            each,
            **kernel,
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

    output.draw(figure, plot, of=len(results))
    if sweep is not None:
        _print_sweep(devices, results, sweep, as_json=as_json, as_csv=as_csv)
        return
    output.emit(
        results,
        table=lambda: "\n".join([occupancy_table(results), *_compilers_waves(devices, kernel)]),
        as_json=as_json,
        as_csv=as_csv,
    )


def _compilers_waves(devices: Sequence[Device], kernel: Mapping[str, int]) -> list[str]:
    """What AMD's compiler states of the kernel, to be held beside its own output."""
    from perfmodel.analyses.waves_per_simd import waves_per_simd

    found = [
        waves_per_simd(each, **kernel) for each in devices if each.architecture.startswith("gfx")
    ]
    lines = [
        f"{each.device}: AMD's compiler counts {each.waves_per_simd} of {each.max_waves_per_simd} "
        "waves per SIMD."
        for each in found
    ]
    return ["", *lines] if lines else []


_SWEPT: Mapping[str, Swept] = {
    "threads": "threads_per_block",
    "registers": "registers_per_thread",
    "shared": "shared_bytes_per_block",
}


def _print_sweep(
    devices: Sequence[Device],
    results: Sequence[OccupancyResult],
    over: str,
    *,
    as_json: bool,
    as_csv: bool,
) -> None:
    """The occupancy over all values of one quantity."""
    from perfmodel.analyses.occupancy import sweep
    from perfmodel.tables.occupancy import occupancy_sweep_table

    name = _SWEPT[over]
    swept = [sweep(*pair, name) for pair in zip(devices, results, strict=True)]
    output.emit(
        swept,
        table=lambda: "\n\n".join(occupancy_sweep_table(each, name) for each in swept),
        as_json=as_json,
        as_csv=as_csv,
        rows=lambda: [
            {
                "device": each.device,
                name: value,
                "blocks_per_mp": each.blocks_per_mp[index],
                "active_warps": each.active_warps[index],
                "occupancy": each.occupancy[index],
                "limiters": each.limiters[index],
            }
            for each in swept
            for index, value in enumerate(getattr(each, name).tolist())
        ],
    )
