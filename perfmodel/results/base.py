"""What all results have in common: the way to JSON."""

import math
import sys
from dataclasses import dataclass, fields
from typing import Any


def plain(value: Any) -> Any:
    """A value as JSON can hold it: arrays as lists, infinities as null, records as mappings."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray | numpy.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Result):
        return value.to_dict()
    return value


@dataclass(frozen=True, kw_only=True)
class Result:
    """Common to all results: the way to JSON."""

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, ready for JSON."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}
