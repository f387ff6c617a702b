"""perfmodel explain."""

from typing import Annotated

import typer

from perfmodel.cli import options, output
from perfmodel.cli.apps import CommandWithExamples, command_app
from perfmodel.errors import UsageError

app = command_app()

_EXAMPLES = """\
Examples:
  perfmodel explain
  perfmodel explain amdahl -p parallel_fraction=0.9 -p part_speedup=10
  perfmodel explain roofline -d h200 -p intensity_flop_per_byte=0.5
"""


@app.command(cls=CommandWithExamples, epilog=_EXAMPLES)
def explain(
    law: Annotated[
        str | None, typer.Argument(help="A law; without one, all are listed.", show_default=False)
    ] = None,
    device: options.OneDevice = None,
    param: options.Parameters = None,
    as_json: options.AsJson = False,
) -> None:
    """A law: its formula, the numbers put in, the result and the derivatives."""
    from perfmodel.device.loading import load_device
    from perfmodel.explain import explain as explain_law
    from perfmodel.explain import titles
    from perfmodel.tables.laws import explanation_table, laws_table

    if law is None:
        if param:
            raise UsageError("-p is for a law: name one, such as amdahl")
        named = titles()
        output.emit([named], table=lambda: laws_table(named), as_json=as_json)
        return
    shown = explain_law(law, device=load_device(device), numbers=options.numbers(param))
    output.emit([shown], table=lambda: explanation_table(shown), as_json=as_json)
