"""Document 004: the matrix product seen from one tile."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from perfmodel.analyses.bank_conflicts import bank_conflicts
from perfmodel.analyses.coalescing import coalescing
from perfmodel.device.loading import load_device
from perfmodel.documents.registry import check
from perfmodel.engines import tile_reuse
from perfmodel.engines.occupancy import warps_per_block

if TYPE_CHECKING:
    from perfmodel.documents.registry import Inputs


@check("tile-reuse-16")
def tile_reuse_factor(given: Inputs) -> Any:
    """The cut in loads of a square tile of threads."""
    return tile_reuse.sharing_factor(rows=given["tile"], columns=given["tile"])


@check("naive-loads-per-thread")
def naive_loads(given: Inputs) -> Any:
    """Operands of one result, counted as elements."""
    return tile_reuse.operand_bytes(rows=1, columns=1, depth=given["k"], element_bytes=1)


@check("tile-shared-bytes")
@check("double-buffer-shared-bytes")
def shared_bytes(given: Inputs) -> Any:
    """Shared memory of square tiles, so many buffers of each."""
    return tile_reuse.product_shared_bytes(
        tile_m=given["tile"],
        tile_n=given["tile"],
        tile_k=given["tile"],
        element_bytes=given["element_bytes"],
        buffers=given.get("buffers", 1),
    )


@check("tile-threads")
def warps_of_a_tile(given: Inputs) -> Any:
    """Warps of a block of several dimensions."""
    return warps_per_block(threads_per_block=prod(given["block"]), warp_width=given["warp_size"])


@check("block-size-warps")
def warps_of_blocks(given: Inputs) -> list[Any]:
    """Warps of each block size."""
    return [
        warps_per_block(threads_per_block=threads, warp_width=given["warp_size"])
        for threads in given["block"]
    ]


@check("coalescing-contiguous-nvidia")
def contiguous_lines(given: Inputs) -> dict[str, Any]:
    """Lines and sectors of one load."""
    result = coalescing(
        load_device(given["device"]), index=given["index"], element_bytes=given["element_bytes"]
    )
    return {"lines": result.lines, "sectors": result.sectors}


@check("as-column-conflicts")
def passes_of_as(given: Inputs) -> Any:
    """Passes of one step's read of As."""
    return bank_conflicts(
        load_device(given["device"]),
        index=given["index"],
        element_bytes=given["element_bytes"],
        active=given["lanes"],
        parameters={"i": given["i"]},
    ).passes


@check("wmma-tile")
def matrix_instruction_flop(given: Inputs) -> Any:
    """FLOP of one matrix instruction."""
    return tile_reuse.product_flop(rows=given["m"], columns=given["n"], depth=given["k"])


@check("gemm-order")
def square_intensity(given: Inputs) -> Any:
    """A square product that reads both operands and writes its result once."""
    return tile_reuse.tile_intensity_with_write(
        tile_m=given["n"],
        tile_n=given["n"],
        depth=given["n"],
        element_bytes=given["element_bytes"],
        result_bytes=given["element_bytes"],
    )
