"""perfmodel swizzle."""

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
  perfmodel swizzle --grid 10x10 --macro 8
  perfmodel swizzle --grid 64x64 --macro 8 --resident 112
  perfmodel swizzle --grid 10x10 --macro 8 --order serpentine --plot order.png
"""


@app.command(cls=CommandWithExamples, epilog=_EXAMPLES)
def swizzle(
    grid: Annotated[
        str, typer.Option("--grid", metavar="ROWSxCOLUMNS", help="Blocks of the grid.")
    ],
    macro: Annotated[
        int, typer.Option("--macro", help="Width of a macro tile, or rows of a group.", min=1)
    ] = 8,
    resident: Annotated[
        int | None,
        typer.Option(help="Blocks resident together; default macro x macro.", min=1),
    ] = None,
    order: Annotated[
        str, typer.Option(help="The order that is drawn: row, serpentine or grouped.")
    ] = "serpentine",
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    plot: options.PlotFile = None,
) -> None:
    """Block orders, and the reuse each gives to the blocks resident together."""
    from perfmodel.analyses.tiling import block_orders
    from perfmodel.tables.tiling import block_orders_table

    output.require_one_format(as_json=as_json, as_csv=as_csv)
    sizes = options.shape(grid, "--grid")
    if len(sizes) != 2:
        raise UsageError(f"--grid is {quoted(grid)}: give rows and columns, such as 10x10")
    rows, columns = sizes
    orders = block_orders(
        rows=rows, columns=columns, macro=macro, resident_blocks=resident or macro * macro
    )
    names = [each.order for each in orders]
    if order not in names:
        raise UsageError(f"--order is {quoted(order)}: it must be one of {', '.join(names)}")

    def figure() -> Figure:
        from perfmodel.plots.block_order import draw_block_order, prepare_block_order

        chosen = orders[names.index(order)]
        return draw_block_order(
            prepare_block_order(
                chosen.visits,
                rows=rows,
                columns=columns,
                title=f"{order} order",
                resident_blocks=chosen.resident_blocks,
            )
        )

    output.draw(figure, plot)
    output.emit(
        [{"orders": orders}],
        table=lambda: block_orders_table(orders, order),
        as_json=as_json,
        as_csv=as_csv,
        rows=lambda: [
            {"order": each.order, "visit": number, "row": row, "column": column}
            for each in orders
            for number, (row, column) in enumerate(each.visits.tolist())
        ],
    )
