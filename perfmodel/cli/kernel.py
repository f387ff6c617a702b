"""perfmodel kernel list, show, check, new and schema."""

import json
from pathlib import Path
from typing import Annotated

import typer

from perfmodel.cli import options, output
from perfmodel.cli.apps import command_app

app = command_app()

Name = Annotated[
    str, typer.Argument(metavar="KERNEL[:RUNG]", help="A kernel or a file, and one of its rungs.")
]


@app.callback()
def kernel() -> None:
    """List, show, check or start kernel descriptions."""


@app.command(name="list")
def list_kernels(as_json: options.AsJson = False, as_csv: options.AsCsv = False) -> None:
    """The shipped kernels with their rungs, worst first; `or` marks one that is no step."""
    from perfmodel.kernels.loading import kernel_names, load_description
    from perfmodel.tables.kernels import kernel_rows, kernels_table

    found = [load_description(name) for name in kernel_names()]
    rows = kernel_rows(found)
    output.emit(
        [rows] if as_json else rows,
        table=lambda: kernels_table(found),
        as_json=as_json,
        as_csv=as_csv,
    )


@app.command()
def show(name: Name, as_json: options.AsJson = False) -> None:
    """A rung written out; the last step of the ladder where none is named."""
    from perfmodel.kernels.loading import load_description, pick_rung, split_name
    from perfmodel.tables.kernels import rung_record, rung_table

    kernel_name, rung_name = split_name(name)
    description = load_description(kernel_name)
    rung = pick_rung(description, rung_name)
    output.emit(
        [rung_record(description, rung)],
        table=lambda: rung_table(description, rung),
        as_json=as_json,
    )


@app.command()
def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME|FILE]...", help="Kernels; by default every shipped one."),
    ] = None,
    device: options.OneDevice = None,
    param: options.Parameters = None,
) -> None:
    """Read descriptions and try them with their parameters; exit code 3 where one is wrong.

    Sizes, constraints and loops are tried, and that every access stays inside its array. The
    device gives the lanes of a warp.
    """
    from perfmodel.device.loading import load_device
    from perfmodel.kernels.checks import problems
    from perfmodel.kernels.loading import kernel_names, load_description
    from perfmodel.wording import counted

    width = load_device(device).warp_width.whole
    given = options.kernel_parameters(param)
    for name in names or kernel_names():
        description = load_description(name)
        found = problems(description, given, warp_width=width)
        if found:
            raise found[0]
        rungs = counted(len(description.rungs), "rung")
        typer.echo(f"{name} agrees: {rungs} with warps of {width} lanes")


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="What the kernel is called.")] = "my_kernel",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write to a new file instead."),
    ] = None,
) -> None:
    """A commented description to start from."""
    from perfmodel.kernels.starting_file import starting_file, write_new

    text = starting_file(name)
    if out is None:
        typer.echo(text, nl=False)
        return
    write_new(out, text)
    typer.echo(f"wrote {out}", err=True)


@app.command()
def schema() -> None:
    """The JSON schema of kernel descriptions, for editors."""
    from perfmodel.kernels.json_schema import json_schema

    typer.echo(json.dumps(json_schema(), indent=2))
