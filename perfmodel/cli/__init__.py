"""The command line: one file a command, each imported only when it is called for.

A command parses its options, calls one public function and prints one result. Errors are one
line on stderr; the exit code is 2 for a wrong use, 3 for a wrong file or expression.
"""

import os
import sys
from importlib import import_module
from typing import Any

# Scanning installed packages for pydantic plug-ins costs more than most answers do.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

import typer
from typer.core import TyperGroup

from perfmodel.errors import PerfmodelError, UsageError, printable

UsageException: Any = typer.BadParameter.__base__
"""What the command line raises for a wrong use; Typer gives it no public name."""

COMMANDS = {
    "occupancy": "blocks and warps an MP holds, what limits them, what to give up for one more",
    "coalescing": "requests, lines and bytes of a warp's global access",
    "banks": "passes of a warp's shared-memory access, and the layout that frees it",
    "divergence": "how a branch splits the warps of a block",
    "predict": "the time of a kernel's rung, its bounds, its limiter, its unknowns",
    "ladder": "what each rung of a kernel's ladder brings on a device",
    "compare": "a kernel's rungs on several devices side by side",
    "whatif": "times before and after a change of the device",
    "sensitivity": "which device value or kernel parameter moves the time most",
    "crossover": "where one rung becomes faster than another; the best value of a parameter",
    "roofline": "where a kernel lies under the ceilings of a device",
    "registers": "register budget and register bandwidth of a thread tile",
    "swizzle": "block orders and the reuse each gives to the blocks in flight",
    "amdahl": "what a speed-up of a part brings to the whole",
    "scaling": "several devices: shares, communication, all-reduce",
    "explain": "a law: its formula, the numbers put in, the derivatives",
    "kernel": "list, show, check or start kernel descriptions",
    "devices": "the devices known",
    "device": "show, check or describe device files",
    "verify": "the documents' figures against the models",
    "validate": "predictions beside measured times and counters, and their errors",
}
"""Every command with its one-line help, in the order in which they are listed."""


class LazyGroup(TyperGroup):
    """A group that knows its commands by name and imports one when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands in their order."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, imported now; None where there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"perfmodel.cli.{cmd_name}")
        command = typer.main.get_command(module.app)
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


app = typer.Typer(
    cls=LazyGroup,
    help="Analytic GPU performance models: what a device allows, before anything is run.",
    epilog="Devices: perfmodel devices. Options of a command: perfmodel occupancy --help.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from perfmodel import __version__

        typer.echo(f"perfmodel {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    del version


def run(arguments: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: What follows the program's name; by default what it was called with.

    Returns:
        The exit code: 0; 1 where a check failed; 2 for a wrong use; 3 for wrong data; 70 for a
        mistake in perfmodel itself.
    """
    try:
        given = sys.argv[1:] if arguments is None else arguments
        if sys.stdout is None:
            return _fail("there is no standard output to write to", UsageError.exit_code)
        _let_any_name_be_printed()
        code = app(args=given or ["--help"], prog_name="perfmodel", standalone_mode=False)
        sys.stdout.flush()
    except PerfmodelError as error:
        return _fail(error, error.exit_code)
    except UsageException as error:
        context = error.ctx
        where = context.command_path.removeprefix("perfmodel").strip() if context else ""
        said = " ".join(error.format_message().split())
        return _fail(f"{where}: {said}" if where else said, UsageError.exit_code)
    except (BrokenPipeError, SystemExit) as leaving:
        if isinstance(leaving, SystemExit) and leaving.code != _TYPER_READER_LEFT:
            raise
        return _reader_left()
    except MemoryError:
        return _fail("too large for this machine's memory: ask for less at once", 2)
    except OSError as error:
        return _fail(f"cannot read or write: {error.strerror or error}", 2)
    except Exception as error:  # noqa: BLE001  the last resort: a mistake of ours is one line too
        return _fail(f"a mistake in perfmodel, please report it: {error!r}", INTERNAL_ERROR)
    return code if isinstance(code, int) else 0


def _let_any_name_be_printed() -> None:
    """A character that the terminal's encoding lacks is written as its code."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


INTERNAL_ERROR = 70
"""Exit code of a mistake in perfmodel itself."""

_TYPER_READER_LEFT = 1
"""The code that Typer leaves with where standard output is closed at its other end."""
_LONGEST_LINE = 400
_LONGEST_WORD = 160


def _reader_left() -> int:
    """The reader has seen enough, as with `perfmodel devices | head -1`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _fail(error: object, code: int) -> int:
    """Say what is wrong on one line, which neither it nor a word of it makes endless."""
    words = (
        word if len(word) <= _LONGEST_WORD else f"{word[: _LONGEST_WORD // 4]}...{word[-10:]}"
        for word in printable(str(error).strip()).split(" ")
    )
    line = " ".join(words)
    if len(line) > _LONGEST_LINE:
        line = f"{line[:_LONGEST_LINE]} ..."
    if sys.stderr is not None:
        sys.stderr.write(f"perfmodel: {line}\n")
    return code
