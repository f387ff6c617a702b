"""The Typer application of one command."""

from typing import Any

import typer
from typer.core import TyperCommand


class CommandWithExamples(TyperCommand):
    """A command whose epilog is shown line by line, as examples are."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the epilog as it stands."""
        if self.epilog:
            formatter.write("\n")
            for line in self.epilog.splitlines():
                formatter.write(f"{line}\n")


def command_app() -> typer.Typer:
    """A Typer application in the style of all commands."""
    return typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
