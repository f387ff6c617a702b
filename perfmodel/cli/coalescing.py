"""perfmodel coalescing."""

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
  perfmodel coalescing -d s5000 --index "threadIdx.x * 32" --type float
  perfmodel coalescing -d h200 -d dcu -i "threadIdx.y * k + threadIdx.x" \\
      --block 16x16 -p k=4096
  perfmodel coalescing -d h200 -i "threadIdx.x + 1" -t float4 --plot lines.png
"""


@app.command(cls=CommandWithExamples, epilog=_EXAMPLES)
def coalescing(
    index: options.Indices,
    element_type: options.ElementType = "float",
    device: options.Devices = None,
    block: options.Block = None,
    warp: options.WarpNumber = 0,
    base: options.Base = "0",
    active: options.Active = None,
    store: options.Store = False,
    level: Annotated[str, typer.Option(help="Memory level whose lines count: l1 or l2.")] = "l1",
    param: options.ValuesOrRanges = None,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    plot: options.PlotFile = None,
) -> None:
    """Requests, lines, sectors and bytes of one global access of a warp."""
    from perfmodel.analyses.coalescing import coalescing as analyse
    from perfmodel.device.loading import load_device
    from perfmodel.tables.access import coalescing_table

    output.require_one_format(as_json=as_json, as_csv=as_csv)
    devices = [load_device(name) for name in options.device_names(device)]
    if len(index) > 1 and len(devices) > 1:
        raise UsageError("several --index and several --device: repeat one of the two")
    values = options.parameters(param)
    options.require_used(values, [*index, active or ""])
    results = [
        analyse(
            each,
            index=expression,
            element_bytes=options.element_bytes(element_type),
            operation="store" if store else "load",
            level=level,  # type: ignore[arg-type]  # checked by the analysis
            block=options.shape(block, "--block"),
            warp=warp,
            base_bytes=options.byte_size(base, "--base"),
            active=options.active_lanes(active),
            parameters=values,
        )
        for each in devices
        for expression in index
    ]

    def figure() -> Figure:
        from perfmodel.plots.coalescing_map import draw_coalescing_map, prepare_coalescing_map

        return draw_coalescing_map(prepare_coalescing_map(results[0]))

    output.draw(figure, plot, of=len(results))
    output.emit(
        results,
        table=lambda: coalescing_table(results),
        as_json=as_json,
        as_csv=as_csv,
        without=("addresses", "active"),
    )
