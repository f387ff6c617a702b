"""Document 003: vector addition and the two matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.documents.checks.common import amount, useful_work
from perfmodel.documents.registry import check
from perfmodel.engines import tile_reuse
from perfmodel.engines.roofline import intensity

if TYPE_CHECKING:
    from perfmodel.documents.registry import Inputs

BARRIERS_PER_STEP = 2
"""One before a tile is used and one before it is overwritten."""


@check("vecadd-blocks")
def vecadd_blocks(given: Inputs) -> Any:
    """Blocks of one element a thread."""
    return amount("ceil_div(n, block)", given)


@check("vecadd-intensity")
def vecadd_intensity(given: Inputs) -> Any:
    """FLOP over bytes of the closed form."""
    flop, moved = useful_work("vecadd", given)
    return intensity(flop=flop, moved_bytes=moved)


@check("matmul-naive-intensity")
def naive_intensity(given: Inputs) -> Any:
    """One result: its FLOP over its own operands."""
    return intensity(
        flop=tile_reuse.product_flop(rows=1, columns=1, depth=given["n"]),
        moved_bytes=tile_reuse.operand_bytes(
            rows=1, columns=1, depth=given["n"], element_bytes=given["element_bytes"]
        ),
    )


@check("matmul-grid")
def grid(given: Inputs) -> Any:
    """Blocks of one tile each."""
    return amount("ceil_div(n, tile) * ceil_div(n, tile)", given)


@check("matmul-matrix-bytes")
def matrix_bytes(given: Inputs) -> Any:
    """Bytes of a square matrix."""
    return amount("1LL * n * n * element_bytes", given)


@check("matmul-tile-steps")
def tile_steps(given: Inputs) -> dict[str, Any]:
    """Steps along the sum, and their barriers."""
    walk = {"depth": given["n"], "tile_k": given["tile"]}
    return {
        "steps": tile_reuse.tile_steps(**walk),
        "barriers": tile_reuse.tile_barriers(**walk, barriers_per_step=BARRIERS_PER_STEP),
    }


@check("matmul-tiled-intensity")
def tiled_intensity(given: Inputs) -> Any:
    """FLOP over operand bytes of a square tile."""
    return tile_reuse.tile_intensity(
        tile_m=given["tile"], tile_n=given["tile"], element_bytes=given["element_bytes"]
    )
