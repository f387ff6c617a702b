"""What the analyses return: typed, frozen, with SI units in the names.

Tables, plots and JSON read these and nothing else. A result computed from arrays holds arrays in
the same fields. Each result's module is imported when the result is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perfmodel.results.access import (
        BankConflictResult,
        CoalescingResult,
        DivergenceResult,
        LayoutSuggestion,
        Padding,
        Swizzle,
    )
    from perfmodel.results.base import Result, plain
    from perfmodel.results.occupancy import OccupancyResult, OneBlockMore, WavesPerSimdResult
    from perfmodel.results.roofline import Ceiling, RooflinePoint, RooflineResult
    from perfmodel.results.tiling import BlockOrderResult, RegisterTileResult, ScalingResult

_HOMES = {
    "OneBlockMore": "occupancy",
    "OccupancyResult": "occupancy",
    "WavesPerSimdResult": "occupancy",
    "CoalescingResult": "access",
    "BankConflictResult": "access",
    "Padding": "access",
    "Swizzle": "access",
    "LayoutSuggestion": "access",
    "DivergenceResult": "access",
    "Ceiling": "roofline",
    "RooflinePoint": "roofline",
    "RooflineResult": "roofline",
    "BlockOrderResult": "tiling",
    "RegisterTileResult": "tiling",
    "ScalingResult": "tiling",
    "Result": "base",
    "plain": "base",
}
__all__ = [
    "BankConflictResult",
    "BlockOrderResult",
    "Ceiling",
    "CoalescingResult",
    "DivergenceResult",
    "LayoutSuggestion",
    "OccupancyResult",
    "OneBlockMore",
    "Padding",
    "RegisterTileResult",
    "Result",
    "RooflinePoint",
    "RooflineResult",
    "ScalingResult",
    "Swizzle",
    "WavesPerSimdResult",
    "plain",
]


def __getattr__(name: str) -> Any:
    """Import a result's module when the result is first asked for."""
    if name in _HOMES:
        return getattr(import_module(f"perfmodel.results.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'perfmodel.results' has no attribute {name!r}")
