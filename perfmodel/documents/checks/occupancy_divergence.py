"""Document 000, part 2: occupancy and divergence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.analyses.occupancy import occupancy
from perfmodel.device.loading import load_device
from perfmodel.documents.registry import check
from perfmodel.engines import divergence
from perfmodel.expressions import parse

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from perfmodel.documents.registry import Inputs
    from perfmodel.results import OccupancyResult


def resident(given: Inputs) -> OccupancyResult:
    """Occupancy of a block of so many warps, registers and bytes; a warp alone by default."""
    device = load_device(given["device"])
    threads = given.get("warps_per_block", 1) * device.warp_width.whole
    return occupancy(
        device,
        threads_per_block=threads,
        registers_per_thread=given.get("registers_per_block", 0) // threads,
        shared_bytes_per_block=given.get("shared_per_block_bytes", 0),
    )


@check("occupancy-by-registers")
def blocks_by_registers(given: Inputs) -> Any:
    """Blocks that the register file holds."""
    return resident(given).blocks_by["registers"]


@check("occupancy-by-shared")
def blocks_by_shared(given: Inputs) -> Any:
    """Blocks that shared memory holds."""
    return resident(given).blocks_by["shared_memory"]


@check("occupancy-active-warps")
def active_warps(given: Inputs) -> Any:
    """Warps of the blocks that fit."""
    return resident(given).active_warps


@check("occupancy-ratio")
def occupancy_ratio(given: Inputs) -> Any:
    """Active warps over the warp slots."""
    return resident(given).occupancy


def taken(given: Inputs, **names: Any) -> NDArray[np.bool_]:
    """Whether each thread takes the branch; `threads` of them, or one warp."""
    import numpy as np

    threads = np.arange(given.get("threads", given["warp_size"]))
    values = {"tid": threads, "threadIdx.x": threads, **names}
    chosen: NDArray[np.bool_] = parse(given["predicate"]).evaluate(values) != 0
    return chosen


def taken_by_step(given: Inputs) -> NDArray[np.bool_]:
    """The same for every stride of a loop, one row a step."""
    import numpy as np

    return np.stack([taken(given, stride=stride) for stride in given["strides"]])


@check("divergence-31-1")
def serial_paths(given: Inputs) -> int:
    """Ways of a single warp."""
    return int(divergence.serial_paths(paths=taken(given), warp_width=given["warp_size"]).item())


@check("divergence-even-odd")
def lanes_on_each_path(given: Inputs) -> dict[str, Any]:
    """Ways of a single warp, and the lanes on each."""
    lanes = divergence.path_lanes(paths=taken(given), warp_width=given["warp_size"])
    return {"serial_paths": serial_paths(given), "active_lanes": lanes[0, ::-1].tolist()}


@check("divergence-time-sum")
def divergent_time(given: Inputs) -> Any:
    """The sum of the branches."""
    return divergence.divergent_time(path_times=given["branch_cycles"])


@check("divergence-reduce-modulo")
def modulo_tree(given: Inputs) -> dict[str, Any]:
    """Every step of the modulo tree."""
    branch, width = taken_by_step(given), given["warp_size"]
    lanes = divergence.active_lanes(taken=branch, warp_width=width).sum(axis=-1)
    working = divergence.active_warps(taken=branch, warp_width=width)
    return {
        "divergent_warps": divergence.divergent_warps(paths=branch, warp_width=width).tolist(),
        "active_lanes_per_active_warp": (lanes / working).tolist(),
        "simd_efficiency": divergence.simd_efficiency(taken=branch, warp_width=width),
    }


@check("divergence-reduce-sequential")
def sequential_tree(given: Inputs) -> dict[str, Any]:
    """Every step of the sequential tree."""
    branch, width = taken_by_step(given), given["warp_size"]
    return {
        "divergent_warps": divergence.divergent_warps(paths=branch, warp_width=width).tolist(),
        "active_warps": divergence.active_warps(taken=branch, warp_width=width).tolist(),
        "simd_efficiency": divergence.simd_efficiency(taken=branch, warp_width=width),
    }
