"""How a command prints: a table, JSON or CSV; and how it draws."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from perfmodel.errors import UsageError
from perfmodel.results import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure


def emit(
    results: Sequence[Any],
    *,
    table: Callable[[], str],
    as_json: bool = False,
    as_csv: bool = False,
    rows: Callable[[], Sequence[Mapping[str, Any]]] | None = None,
    without: tuple[str, ...] = (),
) -> None:
    """Print results as a table, as JSON or as CSV.

    One result is a JSON object, several are a list of them.

    Raises:
        UsageError: Both JSON and CSV were asked for.
    """
    require_one_format(as_json=as_json, as_csv=as_csv)
    if as_json:
        shown = [_without(plain(result), without) for result in results]
        typer.echo(json.dumps(shown[0] if len(shown) == 1 else shown, indent=2))
    elif as_csv:
        found = rows() if rows else [_without(plain(result), without) for result in results]
        typer.echo(csv_text(found), nl=False)
    else:
        typer.echo(table())


def require_one_format(*, as_json: bool, as_csv: bool) -> None:
    """Refuse JSON and CSV at once, before anything is drawn or printed.

    Raises:
        UsageError: Both were asked for.
    """
    if as_json and as_csv:
        raise UsageError("--json and --csv: give one of the two")


def draw(figure: Callable[[], Figure], path: Path | None, *, of: int = 1) -> None:
    """Draw to a file where one was asked for.

    Raises:
        UsageError: There are several results and the figure is of one, or it cannot be written.
    """
    if path is None:
        return
    if of > 1:
        raise UsageError("--plot draws one result here: give one --device and one --index")
    from perfmodel.plots.saving import save

    save(figure(), path)
    typer.echo(
        f"wrote {str(path)!r}"[:400] if not str(path).isprintable() else f"wrote {path}", err=True
    )


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV; a cell that is no number or text is written as JSON."""
    import csv
    import io

    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: _cell(value) for key, value in row.items()})
    return buffer.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return " ".join(value)
    return json.dumps(plain(value)) if isinstance(value, list | tuple | dict) else value


def _without(shown: Any, names: tuple[str, ...]) -> Any:
    if not isinstance(shown, dict):
        return shown
    return {key: value for key, value in shown.items() if key not in names}
