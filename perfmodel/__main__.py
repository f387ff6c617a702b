"""`python -m perfmodel` is `perfmodel`: from the first import on, a signal ends it quietly."""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # until signals are caught, nothing is loaded that can wait

if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn


def main() -> None:
    """Run the command line on what the program was called with, and leave with its exit code."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _leave)
    from perfmodel.cli import run

    sys.exit(run())


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """Leave as a program does that a signal ends, but let files that are half written go."""
    del frame
    from contextlib import suppress

    signal.signal(number, signal.SIG_IGN)  # impatience must not stop the clearing up
    with suppress(OSError):  # where nobody reads any more
        os.write(2, b"perfmodel: interrupted\n")
    raise SystemExit(128 + number)


if __name__ == "__main__":
    main()
