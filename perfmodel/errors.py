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


def printable(text: str) -> str:
    r"""Text on one line, each control character written as its code.

    Example:
        >>> print(printable("two\nlines"))
        two\nlines
    """
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


_MOST_BITS = 256
"""Python refuses to write an integer of thousands of digits."""


def quoted(text: object, *, most: int = 60) -> str:
    """What a user gave as a message shows it: in quotes, on one line, cut where it is long.

    Args:
        text: What was given.
        most: Characters that are shown.

    Returns:
        Such as `'4096'`; a number that is one already has no quotes.

    Example:
        >>> quoted("4096"), quoted("9" * 5000, most=8)
        ("'4096'", "'99999999...'")
    """
    if isinstance(text, int) and not isinstance(text, bool):
        few = text.bit_length() <= _MOST_BITS
        return str(text) if few else f"a number of {text.bit_length()} bits"
    given = str(text)
    return repr(given if len(given) <= most else f"{given[:most]}...")
