"""perfmodel verify."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from perfmodel.cli import options, output
from perfmodel.cli.apps import command_app
from perfmodel.errors import UsageError, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

app = command_app()

_EXAMPLES = """\b
Examples:
  perfmodel verify
  perfmodel verify --kind erratum
  perfmodel verify --document 002 --status disagrees
  perfmodel verify erratum-smem-index --details
"""


@app.command(epilog=_EXAMPLES)
def verify(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Claims; by default all.", show_default=False),
    ] = None,
    document: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Claims of one document, such as 000.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(help="closed_form, measured, advice, disputed or erratum."),
    ] = None,
    status: Annotated[
        str | None,
        typer.Option(help="Show only: pass, fail, recorded, disagrees, not_modelled or pending."),
    ] = None,
    details: Annotated[bool, typer.Option("--details", help="All that is known of each.")] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Commit what is predicted now beside the claims.")
    ] = False,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
) -> None:
    """Compute the documents' figures again; exit code 1 where a claim fails."""
    from perfmodel.documents.claims import KINDS, load_claims
    from perfmodel.documents.verification import STATUSES
    from perfmodel.documents.verification import verify as decide
    from perfmodel.tables.verify import COLUMNS, claim_rows, claims_table

    if record:
        _record()
        return
    claims = load_claims()
    _require_known("--document", document, {claim.document for claim in claims.values()})
    _require_known("--kind", kind, KINDS)
    _require_known("--status", status, STATUSES)
    asked = dict.fromkeys(ids) if ids else claims
    results = decide(
        name
        for name in asked
        if name not in claims
        or (document in (None, claims[name].document) and kind in (None, claims[name].kind))
    )
    shown = [result for result in results if status in (None, result.status)]
    if as_csv and not as_json and not shown:
        typer.echo(",".join(COLUMNS))
    else:
        output.emit(
            [{"claims": claim_rows(shown)}],
            table=lambda: claims_table(shown, total=results, details=details),
            as_json=as_json,
            as_csv=as_csv,
            rows=lambda: claim_rows(shown),
        )
    if any(result.status == "fail" for result in results):
        raise typer.Exit(1)


def _record() -> None:
    """Write the predictions file of a checkout."""
    from perfmodel.documents.verification import PREDICTIONS, record_predictions

    checkout = PREDICTIONS.parents[2]
    if not (checkout / "pyproject.toml").is_file():
        raise UsageError("--record is for a checkout of perfmodel: this one is installed")
    typer.echo(f"{record_predictions()} predictions written to {PREDICTIONS.name}")


def _require_known(option: str, given: str | None, known: Iterable[str]) -> None:
    """Refuse a filter that no claim could meet."""
    from perfmodel.suggestions import did_you_mean

    names = list(known)
    if given is not None and given not in names:
        raise UsageError(f"{option} is {quoted(given)}: {did_you_mean(given, names)}")
