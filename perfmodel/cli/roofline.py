"""perfmodel roofline."""

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
  perfmodel roofline --kernel gemv
  perfmodel roofline --kernel gemm -d s5000 -d h200 -p m=8192 --pipe tensor_fp16
  perfmodel roofline --kernel softmax -d dcu --time 0.62ms --plot roofline.png
  perfmodel roofline --flop 2e9 --bytes 1e9 -d a100

Kernels and their parameters (-p):
  vecadd     n                    n additions
  reduce     n                    a sum of n elements
  transpose  m n                  [m, n] to [n, m]
  gemv       m k n                [m, k] x [k], or x [k, n]
  gemm       m n k                [m, k] x [k, n]
  attention  batch heads n d      n queries and keys, d a head; causal=1
  softmax    m n                  m rows of n
  all of them: type, by default of the kernel or of --pipe
"""


@app.command(cls=CommandWithExamples, epilog=_EXAMPLES)
def roofline(
    kernel: Annotated[
        str | None,
        typer.Option("--kernel", "-k", help="A shipped kernel, or the file of one."),
    ] = None,
    device: options.Devices = None,
    param: options.Parameters = None,
    pipe: Annotated[
        str | None, typer.Option(help="The peak the arithmetic runs on, such as tensor_fp16.")
    ] = None,
    flop: Annotated[
        str | None, typer.Option(metavar="N", help="FLOP of work of your own, with --bytes.")
    ] = None,
    moved: Annotated[
        str | None, typer.Option("--bytes", metavar="BYTES", help="Bytes of work of your own.")
    ] = None,
    time: Annotated[
        str | None, typer.Option(metavar="TIME", help="A measured time, such as 0.62ms.")
    ] = None,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    plot: options.PlotFile = None,
) -> None:
    """Where a kernel lies under the ceilings of a device, and its least time."""
    from perfmodel.analyses.roofline import roofline as analyse
    from perfmodel.analyses.roofline import roofline_of_amounts
    from perfmodel.device.loading import load_device
    from perfmodel.results import plain
    from perfmodel.tables.roofline import roofline_table

    output.require_one_format(as_json=as_json, as_csv=as_csv)
    own = flop is not None or moved is not None
    if own and param:
        raise UsageError("-p is for --kernel: --flop and --bytes have no parameters")
    if own == (kernel is not None):
        raise UsageError("give --kernel, or --flop and --bytes for work of your own")
    measured = None if time is None else options.duration(time, "--time")
    if measured is not None and device is not None and len(device) > 1:
        raise UsageError("--time belongs to one device: give one -d")
    devices = [load_device(name) for name in options.device_names(device)]
    if kernel is not None:
        results = [
            analyse(
                each,
                kernel=kernel,
                parameters=options.kernel_parameters(param),
                pipe=pipe,
            )
            for each in devices
        ]
    else:
        if flop is None or moved is None:
            raise UsageError("--flop and --bytes: both are needed")
        size = options.quantity(moved, "--bytes", "bytes")
        results = [
            roofline_of_amounts(
                each,
                name="work",
                pipe=pipe or "fp32",
                flop=options.number(flop, "--flop"),
                bytes_compulsory=size,
            )
            for each in devices
        ]

    def figure() -> Figure:
        from perfmodel.plots.roofline import draw_roofline, prepare_roofline

        return draw_roofline(prepare_roofline(results, measured_s=measured))

    output.draw(figure, plot)
    shares = [
        {}
        if measured is None
        else {"measured_time_s": measured, "share_of_roof": result.share_of_roof(measured)}
        for result in results
    ]
    output.emit(
        [{**result.to_dict(), **share} for result, share in zip(results, shares, strict=True)],
        table=lambda: roofline_table(results, measured),
        as_json=as_json,
        as_csv=as_csv,
        rows=lambda: [
            {"device": result.device, "kernel": result.kernel, **plain(point)}
            for result in results
            for point in result.points
        ],
    )
