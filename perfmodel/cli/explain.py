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
  perfmodel explain gemm:naive -d s5000 -p m=1024
"""


@app.command(cls=CommandWithExamples, epilog=_EXAMPLES)
def explain(
    law: Annotated[
        str | None,
        typer.Argument(
            metavar="[LAW|KERNEL[:RUNG]]",
            help="A law, or a rung whose prediction is taken apart; without one, laws are listed.",
            show_default=False,
        ),
    ] = None,
    device: options.OneDevice = None,
    param: options.Parameters = None,
    as_json: options.AsJson = False,
) -> None:
    """A law, or a prediction: formulas, the numbers put in, and what comes of them."""
    from perfmodel.device.loading import load_device
    from perfmodel.explain import explain as explain_law
    from perfmodel.explain import titles
    from perfmodel.kernels.loading import is_path, kernel_names
    from perfmodel.tables.laws import explanation_table, laws_table

    if law is None:
        if param:
            raise UsageError("-p is for a law: name one, such as amdahl")
        named = titles()
        output.emit([named], table=lambda: laws_table(named), as_json=as_json)
        return
    if ":" in law or is_path(law) or law in kernel_names():
        from perfmodel.scheduler.explanation import explain_prediction
        from perfmodel.tables.explanation import explanation_table as terms_table

        taken_apart = explain_prediction(
            law, load_device(device), parameters=options.kernel_parameters(param)
        )
        output.emit(
            [taken_apart.to_dict()], table=lambda: terms_table(taken_apart), as_json=as_json
        )
        return
    shown = explain_law(law, device=load_device(device), numbers=options.numbers(param))
    output.emit([shown], table=lambda: explanation_table(shown), as_json=as_json)
