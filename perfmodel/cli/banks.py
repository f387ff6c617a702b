"""perfmodel banks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from perfmodel.cli import options, output
from perfmodel.cli.apps import CommandWithExamples, command_app
from perfmodel.errors import UsageError, quoted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

app = command_app()

_EXAMPLES = """\
Examples:
  perfmodel banks -d s5000 --index "threadIdx.x * 32" --type float --suggest
  perfmodel banks -i "threadIdx.x * 32 + c" -i "c * 32 + threadIdx.x" \\
      -p c=0..31 --suggest
  perfmodel banks -d h200 -i "threadIdx.x % 8 * 8 + threadIdx.x / 8" \\
      --matrices 4 --suggest
  perfmodel banks -d mi300x -i "threadIdx.x" --type float4 --plot banks.png
"""


@app.command(cls=CommandWithExamples, epilog=_EXAMPLES)
def banks(
    index: options.Indices,
    element_type: options.ElementType = "float",
    device: options.Devices = None,
    block: options.Block = None,
    warp: options.WarpNumber = 0,
    base: options.Base = "0",
    active: options.Active = None,
    store: options.Store = False,
    swizzle: Annotated[
        str | None,
        typer.Option(metavar="MASK:SHIFT", help="Apply address ^ ((address & MASK) >> SHIFT)."),
    ] = None,
    matrices: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="A matrix load or store (ldmatrix) of 1, 2 or 4 matrices; the index gives rows.",
        ),
    ] = None,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="Find the smallest padding and XOR swizzle.")
    ] = False,
    row: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="Elements of a row, for padding; by default found in the index."
        ),
    ] = None,
    param: options.ValuesOrRanges = None,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    plot: options.PlotFile = None,
) -> None:
    """Passes of a warp's shared-memory access, and the layout that frees it."""
    from perfmodel.analyses.bank_conflicts import bank_conflicts, suggest_layout
    from perfmodel.device.loading import load_device
    from perfmodel.tables.access import bank_conflict_table

    output.require_one_format(as_json=as_json, as_csv=as_csv)
    if row is not None and not suggest:
        raise UsageError("--row is for --suggest: add it")
    if suggest and swizzle is not None:
        raise UsageError("--suggest and --swizzle: the one looks for what the other gives")
    devices = [load_device(name) for name in options.device_names(device)]
    if len(index) > 1 and len(devices) > 1:
        raise UsageError("several --index and several --device: repeat one of the two")
    size = options.element_bytes("16" if matrices is not None else element_type)
    shape = options.shape(block, "--block")
    values = options.parameters(param)
    options.require_used(values, [*index, active or ""])
    operation = "store" if store else "load"
    results = [
        bank_conflicts(
            each,
            index=expression,
            element_bytes=size,
            operation=operation,  # type: ignore[arg-type]  # one of the two by construction
            block=shape,
            warp=warp,
            base_bytes=options.byte_size(base, "--base"),
            active=options.active_lanes(active),
            parameters=values,
            swizzle=_mask_and_shift(swizzle),
            matrices=matrices,
        )
        for each in devices
        for expression in index
    ]
    layouts = [
        suggest_layout(
            each,
            indices=index,
            element_bytes=size,
            row_elements=None if row is None else options.whole_number(row, "--row"),
            operation=operation,  # type: ignore[arg-type]  # one of the two by construction
            block=shape,
            base_bytes=options.byte_size(base, "--base"),
            active=options.active_lanes(active),
            parameters=values,
            matrices=matrices,
        )
        for each in (devices if suggest else ())
    ]

    def figure() -> Figure:
        from perfmodel.plots.bank_map import draw_bank_map, prepare_bank_map

        return draw_bank_map(prepare_bank_map(results[0]))

    output.draw(figure, plot, of=len(results))
    by_device = {layout.device: {"suggestion": layout.to_dict()} for layout in layouts}
    output.emit(
        [{**result.to_dict(), **by_device.get(result.device, {})} for result in results],
        table=lambda: bank_conflict_table(results, layouts),
        as_json=as_json,
        as_csv=as_csv,
        without=("addresses", "active", "groups"),
    )


def _mask_and_shift(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    mask, colon, shift = text.partition(":")
    try:
        found = (int(mask, 0), int(shift, 0)) if text.isascii() else (-1, -1)
    except ValueError:
        found = (-1, -1)
    if not colon or min(found) < 0 or max(found[0].bit_length(), found[1]) > 40:
        raise UsageError(f"--swizzle is {quoted(text)}: write mask:shift, such as 0xf80:5")
    return found
