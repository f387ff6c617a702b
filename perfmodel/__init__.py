"""Analytic GPU performance models: what a device allows, before anything is run.

>>> import perfmodel
>>> result = perfmodel.occupancy(
...     perfmodel.load_device("s5000"), threads_per_block=256, registers_per_thread=128)
>>> result.blocks_per_mp, result.limiters
(4, ('registers',))
"""

from __future__ import annotations

TYPE_CHECKING = False  # the real one is in typing, which takes longer to load than all of this

__version__ = "0.1.0"

_HOMES = {
    "Device": "perfmodel.device.model",
    "load_device": "perfmodel.device.loading",
    "device_names": "perfmodel.device.loading",
    "occupancy": "perfmodel.analyses.occupancy",
    "coalescing": "perfmodel.analyses.coalescing",
    "bank_conflicts": "perfmodel.analyses.bank_conflicts",
    "suggest_layout": "perfmodel.analyses.bank_conflicts",
    "divergence": "perfmodel.analyses.divergence",
    "roofline": "perfmodel.analyses.roofline",
    "waves_per_simd": "perfmodel.analyses.waves_per_simd",
    "predict": "perfmodel.scheduler.prediction",
    "predict_times": "perfmodel.scheduler.prediction",
    "ladder": "perfmodel.scheduler.ladder",
    "validate": "perfmodel.validation.comparison",
}
__all__ = [
    "Device",
    "__version__",
    "bank_conflicts",
    "coalescing",
    "device_names",
    "divergence",
    "ladder",
    "load_device",
    "occupancy",
    "predict",
    "predict_times",
    "roofline",
    "suggest_layout",
    "validate",
    "waves_per_simd",
]

if TYPE_CHECKING:
    from typing import Any

    from perfmodel.analyses.bank_conflicts import bank_conflicts, suggest_layout
    from perfmodel.analyses.coalescing import coalescing
    from perfmodel.analyses.divergence import divergence
    from perfmodel.analyses.occupancy import occupancy
    from perfmodel.analyses.roofline import roofline
    from perfmodel.analyses.waves_per_simd import waves_per_simd
    from perfmodel.device.loading import device_names, load_device
    from perfmodel.device.model import Device
    from perfmodel.scheduler.ladder import ladder
    from perfmodel.scheduler.prediction import predict, predict_times
    from perfmodel.validation.comparison import validate


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import perfmodel` costs nothing."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'perfmodel' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names."""
    return __all__
