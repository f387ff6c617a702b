"""Document 000, part 4: several GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.documents.registry import check
from perfmodel.engines import scaling

if TYPE_CHECKING:
    from perfmodel.documents.registry import Inputs


@check("multigpu-split")
def split(given: Inputs) -> dict[str, Any]:
    """Shares by speed, and their gain."""
    return {
        "shares": scaling.split_shares(speeds=given["speeds"]),
        "gain_over_equal": scaling.gain_over_equal_split(speeds=given["speeds"]),
    }
