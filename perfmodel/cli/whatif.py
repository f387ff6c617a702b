"""perfmodel whatif."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from perfmodel.cli import options, output
from perfmodel.cli.apps import CommandWithExamples, command_app
from perfmodel.errors import UsageError, quoted

if TYPE_CHECKING:
    from perfmodel.results.prediction import Attempt

app = command_app()

_EXAMPLES = """\
Examples:
  perfmodel whatif -d s5000 --set dram_bandwidth=3.2TB/s --kernel gemv
  perfmodel whatif -d dcu --set l1_size=32KiB --set line_rate=2/cycle -k softmax
"""


@app.command(cls=CommandWithExamples, epilog=_EXAMPLES)
def whatif(
    kernel: Annotated[
        str,
        typer.Option("--kernel", "-k", metavar="KERNEL[:RUNG]", help="A kernel, or one rung."),
    ],
    change: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="FIELD=VALUE",
            help="A device value with its unit, 2^15 B or 1.8 GHz; repeat for several.",
        ),
    ],
    device: options.OneDevice = None,
    param: options.Parameters = None,
    warm: options.Warm = False,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
) -> None:
    """Times before and after a change of the device, and which bound took over."""
    from perfmodel.device.loading import load_device
    from perfmodel.scheduler.whatif import what_if
    from perfmodel.tables.whatif import whatif_table

    output.require_one_format(as_json=as_json, as_csv=as_csv)
    chosen = load_device(device)
    given = options.kernel_parameters(param)
    found = what_if(
        kernel,
        chosen,
        _changes(change),
        parameters=given,
        caches="warm" if warm else "cold",
    )
    output.emit(
        [{**each.to_dict(), "speedup": each.speedup} for each in found],
        table=lambda: whatif_table(kernel, chosen.device, found, given),
        as_json=as_json,
        as_csv=as_csv,
        rows=lambda: [
            {
                "device": chosen.device,
                "rung": each.rung,
                **_side("before", each.before),
                **_side("after", each.after),
                "speedup": each.speedup if each.speedup > 0 else "",
            }
            for each in found
        ],
    )


def _side(name: str, attempt: Attempt) -> dict[str, float | str]:
    """The columns of one side of a change."""
    prediction = attempt.prediction
    return {
        f"{name}_s": prediction.time_s if prediction else "",
        f"limiter_{name}": prediction.limiter if prediction else "",
        f"cannot_{name}": attempt.cannot,
    }


def _changes(pairs: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not name or not value:
            raise UsageError(f"--set {quoted(pair)}: write field=value, such as clock=1.8GHz")
        if name in found:
            raise UsageError(f"--set {name} is given twice: give it once")
        found[name] = options.written_out(value)
    return found
