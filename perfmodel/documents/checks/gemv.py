"""Document 000, part 5: the GEMV ladder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.analyses.occupancy import occupancy
from perfmodel.device.loading import load_device
from perfmodel.documents.checks.common import useful_work
from perfmodel.documents.registry import Finding, check
from perfmodel.engines.coalescing import instructions_per_lane
from perfmodel.engines.roofline import intensity
from perfmodel.engines.tile_reuse import cached_vector

if TYPE_CHECKING:
    from perfmodel.documents.registry import Inputs
    from perfmodel.engines.tile_reuse import CachedVector
    from perfmodel.results import OccupancyResult


@check("gemv-intensity")
def gemv_intensity(given: Inputs) -> Any:
    """FLOP over compulsory bytes of the closed form."""
    flop, moved = useful_work("gemv", given)
    return intensity(flop=flop, moved_bytes=moved)


@check("gemv-loads-per-lane", "coalescing-line")
def loads_per_lane(given: Inputs) -> list[Any]:
    """Loads of a lane's share of a row, for each width of the access."""
    share = given["k"] * given["element_bytes"] // given["warp_size"]
    return [
        instructions_per_lane(
            bytes_per_lane=share,
            access_bytes=width,
            max_access_bytes=load_device(given["device"]).max_access.whole,
        )
        for width in given["access_bytes"]
    ]


def pieces_of_v(given: Inputs) -> list[CachedVector]:
    """What a block does with v, for each TILE_V."""
    return [
        cached_vector(
            depth=given["k"],
            tile_v=tile,
            rows_per_block=given["rows_per_block"],
            element_bytes=given["element_bytes"],
        )
        for tile in given["tile_v"]
    ]


def occupancies(given: Inputs, *, warps_per_block: int) -> list[OccupancyResult]:
    """Occupancy of a block that holds a piece of v, for each TILE_V."""
    device = load_device(given["device"])
    return [
        occupancy(
            device,
            threads_per_block=warps_per_block * device.warp_width.whole,
            shared_bytes_per_block=piece.shared_bytes,
        )
        for piece in pieces_of_v(given)
    ]


@check("gemv-tile-v-bytes", "erratum-tile-v")
def tile_v_bytes(given: Inputs) -> dict[str, Any]:
    """Bytes of a piece, and the blocks that shared memory holds."""
    return {
        "bytes": [piece.shared_bytes for piece in pieces_of_v(given)],
        "blocks_by_shared": [
            result.blocks_by["shared_memory"] for result in occupancies(given, warps_per_block=1)
        ],
    }


@check("erratum-tile-v")
def tile_v_effects(given: Inputs) -> Finding:
    """What TILE_V changes, and what it leaves as it is."""
    pieces = pieces_of_v(given)
    results = occupancies(given, warps_per_block=given["warps_per_block"])
    by_warps = {result.blocks_by["warps"] for result in results}
    return Finding(
        actual={
            "uses_per_element": [piece.uses_per_element for piece in pieces],
            "v_bytes_per_block": [piece.bytes_per_block for piece in pieces],
            "pieces": [piece.pieces for piece in pieces],
            "blocks_by_shared": [result.blocks_by["shared_memory"] for result in results],
            "blocks_by_warps": by_warps.pop(),
        },
        because="neither the uses of an element nor the occupancy depends on TILE_V here",
        holds={
            "one number of blocks by warps": not by_warps,
            "occupancy does not fall": len({result.occupancy for result in results}) == 1,
        },
    )
