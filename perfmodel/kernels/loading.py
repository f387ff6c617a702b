"""How a kernel description is found and read.

A shipped kernel is asked for by its name, a file of the user's own by its path. Shipped files lie
in `perfmodel/kernels/library`.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from perfmodel.errors import UsageError, quoted
from perfmodel.kernels.reading import read_description
from perfmodel.located_yaml import read_file
from perfmodel.suggestions import did_you_mean

if TYPE_CHECKING:
    from perfmodel.kernels.schema import Description, Rung


def library_directory() -> Path:
    """The folder of the shipped descriptions."""
    return Path(__file__).with_name("library")


def kernel_names() -> list[str]:
    """The names of the shipped kernels, sorted."""
    return sorted(path.stem for path in library_directory().glob("*.yaml"))


def is_path(name: str) -> bool:
    """Whether a name means a file of the user's own: it has a slash, or ends in .yaml or .yml."""
    return name.endswith((".yaml", ".yml")) or "/" in name or os.sep in name


def load_description(name: str | Path) -> Description:
    """Load the description of a kernel by name or path.

    Args:
        name: A shipped kernel's name, or the path of a file (anything with a slash, or ending in
            .yaml or .yml).

    Returns:
        The kernel with all its rungs.

    Raises:
        UsageError: No such kernel; the message lists the known ones.
        DataError: A file that is not there or is wrong; the message gives file and line.
    """
    if not isinstance(name, str | Path):
        raise UsageError(
            f"the kernel is {quoted(name)}: a name such as 'gemm:tiled', or a file, is wanted"
        )
    if isinstance(name, Path) or is_path(name):
        return read_description(read_file(Path(name)))
    return _load_shipped(name)


def load_rung(name: str | Path) -> Rung:
    """Load one rung of a kernel.

    Args:
        name: A kernel or a file, and after a colon the rung: `gemm:naive`, `my.yaml:naive`. Without
            a rung the last step of the ladder is meant.

    Returns:
        The rung.

    Raises:
        UsageError: As `load_description`, or the kernel has no such rung.
        DataError: As `load_description`.
    """
    kernel, rung = split_name(str(name))
    description = load_description(kernel)
    return pick_rung(description, rung)


def load_rungs(name: str | Path) -> tuple[Description, tuple[Rung, ...]]:
    """Load a kernel with the rungs that a name means.

    Args:
        name: A kernel or a file, and after a colon a rung; without one all steps of the ladder are
            meant.

    Returns:
        The kernel and its rungs.

    Raises:
        UsageError: As `load_rung`.
        DataError: As `load_rung`.

    Example:
        >>> [rung.name for rung in load_rungs("vecadd")[1]]
        ['naive', 'vector_loads']
    """
    kernel, rung = split_name(str(name))
    description = load_description(kernel)
    if rung is None:
        return description, tuple(description.ladder())
    return description, (pick_rung(description, rung),)


def pick_rung(description: Description, rung: str | None) -> Rung:
    """A rung of a description by its name; the last step of the ladder where none is named.

    Raises:
        UsageError: It has no such rung.
    """
    if rung is None:
        return description.ladder()[-1]
    if rung not in description.rungs:
        near = did_you_mean(rung, description.rungs)
        raise UsageError(f"{description.kernel} has no rung {quoted(rung)}: {near}")
    return description.rungs[rung]


def split_name(name: str) -> tuple[str, str | None]:
    """The kernel or file of a name, and the rung after its last colon.

    Example:
        >>> split_name("gemm:naive"), split_name("here/my.yaml")
        (('gemm', 'naive'), ('here/my.yaml', None))
    """
    kernel, colon, rung = name.rpartition(":")
    if not colon or os.sep in rung or "/" in rung:  # the colon belongs to the path
        return name, None
    return kernel, rung


@lru_cache(maxsize=64)
def _load_shipped(name: str) -> Description:
    known = kernel_names()
    if name not in known:
        near = did_you_mean(name, known) if known else "none is shipped"
        raise UsageError(f"no kernel {quoted(name)}: {near}")
    return read_description(read_file(library_directory() / f"{name}.yaml"))
