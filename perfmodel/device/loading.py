"""How a device file is found and read.

A shipped device is asked for by its name or an alias; a file of the user's own by its path.
Shipped files lie inside the wheel as `perfmodel/hardware_specs`; in a checkout, and so in an
editable install, beside the package.
"""

import os
from functools import lru_cache
from pathlib import Path

from perfmodel.device.model import Device
from perfmodel.device.reading import build
from perfmodel.errors import DataError, UsageError, quoted
from perfmodel.located_yaml import read_file
from perfmodel.suggestions import did_you_mean

DEFAULT_DEVICE = "s5000"
DEVICE_VARIABLE = "PERFMODEL_DEVICE"


def default_device_name() -> str:
    """The device that is meant when none is named: PERFMODEL_DEVICE, or the S5000."""
    return os.environ.get(DEVICE_VARIABLE) or DEFAULT_DEVICE


def specs_directory() -> Path:
    """The folder of the shipped device files.

    Returns:
        The folder inside the installed package, or the one beside it in a checkout.

    Raises:
        DataError: Neither exists, so the installation is damaged.
    """
    package = Path(__file__).parents[1]
    for folder in (package / "hardware_specs", package.parent / "hardware_specs"):
        if folder.is_dir():
            return folder
    raise DataError(f"no hardware_specs folder in or beside {package}: install perfmodel again")


def device_names() -> list[str]:
    """The names of the shipped devices, sorted."""
    return sorted(path.stem for path in specs_directory().glob("*.yaml"))


def load_device(name: str | Path | None = None) -> Device:
    """Load a device by name, alias or path.

    Args:
        name: A shipped device's name or alias, or the path of a file (anything with a slash, or
            ending in .yaml or .yml); by default PERFMODEL_DEVICE, or the S5000.

    Returns:
        The device.

    Raises:
        UsageError: No such device; the message lists the known ones.
        DataError: A file that is not there or is wrong; the message gives file and line.

    Example:
        >>> load_device("s5000").warp_width.whole
        32
    """
    text = str(name) if name is not None else default_device_name()
    if text.endswith((".yaml", ".yml")) or "/" in text or os.sep in text:
        return read_device(Path(text))
    return _load_shipped(text.lower())


def as_device(device: Device | str) -> Device:
    """The device that is meant by one, or by its name, alias or path.

    Args:
        device: A device, or what `load_device` takes.

    Returns:
        The device.

    Raises:
        UsageError: Neither a device nor a name of one.
        DataError: As `load_device`.

    Example:
        >>> as_device("mtt-s5000").device
        's5000'
    """
    if isinstance(device, Device):
        return device
    if isinstance(device, str | Path):
        return load_device(device)
    raise UsageError(
        f"the device is {quoted(device)}: a name such as 'h200', or load_device('h200'), is wanted"
    )


def read_device(path: Path) -> Device:
    """Read and validate a device file.

    Args:
        path: The file.

    Returns:
        The device.

    Raises:
        DataError: The file is wrong; the message gives its name and line.
    """
    from perfmodel.device.checks import contradictions
    from perfmodel.device.validation import validate

    document = read_file(path)
    validate(document)
    device = build(Device, document.data)
    for contradiction in contradictions(device):
        field = contradiction.partition(":")[0].partition(".")[0].partition(",")[0]
        raise DataError(f"{document.place((field,))}: {contradiction}")
    return device


@lru_cache(maxsize=64)
def _load_shipped(name: str) -> Device:
    if name in device_names():
        return build(Device, read_file(specs_directory() / f"{name}.yaml").data)
    by_alias = _aliases()
    if name in by_alias:
        return _load_shipped(by_alias[name])
    near = did_you_mean(name, [*device_names(), *by_alias], listed=device_names())
    raise UsageError(f"no device {quoted(name)}: {near}")


@lru_cache(maxsize=1)
def _aliases() -> dict[str, str]:
    """Every alias of the shipped devices, read without validating the files."""
    found: dict[str, str] = {}
    for device in device_names():
        data = read_file(specs_directory() / f"{device}.yaml").data
        found |= {str(alias).lower(): device for alias in data.get("aliases") or ()}
    return found
