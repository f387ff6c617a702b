"""The errors a user can cause, each with the exit code the command line gives it.

    PerfmodelError
    ├── UsageError      exit 2: an argument or option is wrong
    │   └── ArgumentError   (also a ValueError) a law was given a number it does not hold for
    └── DataError       exit 3: a file or an expression is wrong

A message is one line: what is wrong, where, and what would be right.
"""


class PerfmodelError(Exception):
    """Anything a user can cause; shown on one line and never with a traceback."""

    exit_code: int = 1


class UsageError(PerfmodelError):
    """An argument or an option that cannot be used."""

    exit_code = 2


class ArgumentError(UsageError, ValueError):
    """A number outside the range in which a law holds."""


class DataError(PerfmodelError):
    """A file or an expression that cannot be used."""

    exit_code = 3
