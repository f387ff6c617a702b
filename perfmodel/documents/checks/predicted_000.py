"""Document 000's rules of thumb, as consequences of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.device.loading import load_device
from perfmodel.documents.checks.predicting import (
    DEVICES,
    batch_seconds,
    in_order,
    limiter,
    microseconds,
    predicted,
    seconds,
)
from perfmodel.documents.registry import Finding, check
from perfmodel.engines import scaling, tile_reuse
from perfmodel.engines.roofline import ridge_point

if TYPE_CHECKING:
    from perfmodel.documents.registry import Inputs


def _step_seconds(before: str, after: str) -> dict[str, tuple[float, float]]:
    """The times of two rungs on each device [s]."""
    return {device: (seconds(before, device), seconds(after, device)) for device in DEVICES}


def _step_finding(times: dict[str, tuple[float, float]], *, holds: dict[str, bool]) -> Finding:
    """What a step from one rung to another brings on each device."""
    return Finding(
        actual={device: round(before / after, 3) for device, (before, after) in times.items()},
        because="; ".join(
            f"{device}: {microseconds(before)} to {microseconds(after)}"
            for device, (before, after) in times.items()
        ),
        holds=holds,
    )


@check("occupancy-hides-latency")
def occupancy_hides_latency(given: Inputs) -> Finding:
    """Time of a streaming kernel over the warps that may be resident."""
    del given
    warps = [8, 16, 32, 64, 96]
    times = batch_seconds(
        "vecadd:naive",
        "s5000",
        parameters={"block": [256] * len(warps)},
        fields={"max_warps_per_mp": warps, "max_threads_per_mp": [32 * each for each in warps]},
    )
    return Finding(
        actual={"warps": warps, "time_us": [round(1e6 * time, 2) for time in times]},
        because=f"8 to 16 warps: {times[0] / times[1]:.2f} times faster; 64 to 96: "
        f"{times[3] / times[4]:.3f} times, where the DRAM rules",
        holds={
            "few warps: the time falls nearly in proportion": times[0] / times[1] > 1.7,
            "many warps: it stays": times[3] / times[4] < 1.1,
        },
    )


@check("ilp-overlap")
def ilp_overlap(given: Inputs) -> Finding:
    """The same tile with and without fragments loaded ahead, where latency rules."""
    del given
    serial = predicted("gemm:register_tile", "h200")
    ahead = predicted("gemm:shared_double_buffer", "h200")
    before, after = (each.launches[0].block_time_s for each in (serial, ahead))
    return Finding(
        actual={"serial_us": round(1e6 * before, 2), "ahead_us": round(1e6 * after, 2)},
        because=f"a block of the 128 x 128 tile takes {microseconds(before)} when each step waits "
        f"for its fragments, {microseconds(after)} when they are loaded a step ahead",
        holds={
            "loads ahead shorten a block": after < before,
            "not below what its busiest resource takes": ahead.launches[0].time_s
            >= ahead.bounds[0].time_s,
        },
    )


@check("warp-specialization")
def warp_specialization(given: Inputs) -> Finding:
    """The specialized rung of attention, and the requests of its loading warp."""
    del given
    times = _step_seconds("attention:fused", "attention:warp_specialized")
    loads = predicted("attention:warp_specialized", "s5000").counts["global_requests"]
    stores = predicted("attention:fused", "s5000").counts["global_requests"]
    return _step_finding(
        times,
        holds={
            "not slower on any device": all(after <= before for before, after in times.values()),
            "the bulk copies leave no load to the warps": loads == stores,
        },
    )


@check("vector-issue-limit")
def vector_issue_limit(given: Inputs) -> Finding:
    """Bounds of vector addition with 4-byte and with 16-byte accesses."""
    del given
    scalar, vector = (predicted(f"vecadd:{rung}", "s5000") for rung in ("naive", "vector_loads"))
    ratio = scalar.bound("load_store").time_s / vector.bound("load_store").time_s
    dram = scalar.bound("dram").time_s / vector.bound("dram").time_s
    return Finding(
        actual={"load_store": ratio, "dram": dram},
        because="the load/store bound falls to a quarter, the DRAM bound stays",
        holds={
            "the load/store bound of scalar loads is 4 times that of float4": abs(ratio - 4) < 1e-9,
            "the DRAM bound is the same": abs(dram - 1) < 1e-9,
        },
    )


@check("vector-sub-word")
def vector_sub_word(given: Inputs) -> Finding:
    """Vector addition element by element for 4-byte and for 2-byte elements of equal bytes."""
    del given
    from perfmodel.scheduler.prediction import predict

    n = 1 << 24
    wide = predict("vecadd:naive", load_device("s5000"), parameters={"n": n}, ranges=False)
    narrow = predict(
        "vecadd:naive",
        load_device("s5000"),
        parameters={"n": 2 * n, "type": "fp16"},
        ranges=False,
    )
    ratio = narrow.counts["global_requests"] / wide.counts["global_requests"]
    return Finding(
        actual={"requests": ratio, "time": round(narrow.time_s / wide.time_s, 3)},
        because=f"at the same bytes twice the requests and {narrow.time_s / wide.time_s:.2f} times "
        f"the time, limited by {narrow.limiter}",
        holds={
            "2-byte accesses are twice as many": ratio == 2,
            "and not faster": narrow.time_s >= wide.time_s,
        },
    )


@check("multigpu-overlap")
def multigpu_overlap(given: Inputs) -> Finding:
    """A step cut into more and more pieces."""
    del given
    compute, transfer = 3.0, 2.0
    times = [
        float(scaling.overlapped_time(compute_s=compute, transfer_s=transfer, pieces=pieces))
        for pieces in (1, 4, 64)
    ]
    return Finding(
        actual={"time": times},
        because="3 s of computing and 2 s of transfer take 5 s one after the other and near 3 s in "
        "64 pieces",
        holds={
            "one piece: the sum": times[0] == compute + transfer,
            "many pieces: towards the larger": times[2] < 1.02 * max(compute, transfer),
        },
    )


@check("multigpu-independent-jobs")
def independent_jobs(given: Inputs) -> Finding:
    """Throughput of separate jobs and of a job that is spread."""
    gpus = given["gpus"]
    separate = float(scaling.independent_jobs_throughput(devices=gpus, job_time_s=1.0))
    spread = [
        float(scaling.spread_job_throughput(devices=gpus, job_time_s=1.0, communication_s=share))
        for share in (0.0, 0.01, 0.1)
    ]
    return Finding(
        actual={"separate": separate, "spread": [round(each, 4) for each in spread]},
        because=f"{gpus} jobs give {separate:g} times one; a job that communicates for 1 % of its "
        f"time on one card gives {spread[1]:.2f}",
        holds={
            "separate jobs give one each": separate == gpus,
            "a spread job gives less once it communicates": spread[1] < gpus,
        },
    )


@check("reduce-shared-vs-register")
def shuffle_over_shared(given: Inputs) -> Finding:
    """The tree in shared memory and the tree of shuffles."""
    del given
    times = _step_seconds("reduce:sequential_tree", "reduce:warp_shuffle")
    return _step_finding(
        times,
        holds={
            f"faster on {device}": shuffle < shared for device, (shared, shuffle) in times.items()
        },
    )


_REDUCE = ("modulo_tree", "sequential_tree", "warp_shuffle", "vector_load")
_SIZES = {"small": 1 << 16, "in the L2": 1 << 20, "beyond the L2": 1 << 26}


@check("reduce-ladder-order")
def reduce_order(given: Inputs) -> Finding:
    """The rungs by size and device, and where one block stops being faster.

    The single kernel of the claim is the one that a single thread block runs: document 000, 2.2,
    step 4.
    """
    del given
    times = {
        (device, regime): [seconds(f"reduce:{rung}", device, n=n) for rung in _REDUCE]
        for device in DEVICES
        for regime, n in _SIZES.items()
    }
    crossing = {device: _crossing(device) for device in DEVICES}
    return Finding(
        actual={
            **{
                f"{device}, {regime}": [round(1e6 * time, 2) for time in each]
                for (device, regime), each in times.items()
            },
            "one block is faster up to": crossing,
        },
        because="; ".join(f"{device}: up to n = {n}" for device, n in crossing.items())
        + " one block is faster than two stages",
        holds={
            **{
                f"the order on {device}, {regime}": in_order(each)
                for (device, regime), each in times.items()
            },
            "a crossover exists on every device": all(
                1 << 12 <= n < 1 << 26 for n in crossing.values()
            ),
        },
    )


def _crossing(device: str) -> int:
    """The greatest power of two at which one block is not slower than two stages."""
    sizes = [1 << power for power in range(12, 27)]
    one = batch_seconds("reduce:one_block", device, parameters={"n": sizes})
    two = batch_seconds("reduce:vector_load", device, parameters={"n": sizes})
    faster = [n for n, alone, staged in zip(sizes, one, two, strict=True) if alone <= staged]
    return max(faster, default=0)


@check("gemv-ladder-order")
def gemv_order(given: Inputs) -> Finding:
    """The rungs by size and device, and what TILE_V costs."""
    del given
    rungs = ("warp_per_row", "vector_loads", "cached_vector")
    times = {
        f"{device}, m = k = {size}": [
            seconds(f"gemv:{rung}", device, m=size, k=size) for rung in rungs
        ]
        for device in DEVICES
        for size in (1024, 4096, 16384)
    }
    loser = predicted("gemv:cached_vector", "h200", m=16384, k=16384)
    tiles = {
        tile: predicted("gemv:cached_vector", "s5000", tile_v=tile)
        .launches[0]
        .shared_bytes_per_block
        for tile in (512, 1024, 2048)
    }
    return Finding(
        actual={case: [round(1e6 * time, 2) for time in each] for case, each in times.items()},
        because="; ".join(
            f"{case}: {', '.join(map(microseconds, each))}" for case, each in times.items()
        )
        + f"; {loser.limiter} limits cached_vector on h200, m = k = 16384, and v comes out of the "
        "L2 without it too",
        holds={
            **{f"each step not slower on {case}": in_order(each) for case, each in times.items()},
            "shared bytes are 4 TILE_V": all(size == 4 * tile for tile, size in tiles.items()),
        },
    )


@check("gemv-split-k")
def split_k(given: Inputs) -> Finding:
    """Several warps a row, over the number of rows."""
    del given
    rows = [16, 64, 256, 1024, 4096, 16384]
    found: dict[str, int] = {}
    for device in DEVICES:
        sizes: dict[str, Any] = {"m": rows, "k": [16384] * len(rows)}
        split = batch_seconds("gemv:split_k", device, parameters=sizes)
        whole = batch_seconds("gemv:vector_loads", device, parameters=sizes)
        faster = [m for m, one, other in zip(rows, split, whole, strict=True) if one < 0.98 * other]
        found[device] = max(faster, default=0)
    return Finding(
        actual=found,
        because="; ".join(f"{device}: faster up to m = {m}" for device, m in found.items()),
        holds={
            "faster with few rows": all(m >= 16 for m in found.values()),
            "and not with many": all(m < 16384 for m in found.values()),
        },
    )


@check("gemv-vs-gemm-thin")
def thin_product(given: Inputs) -> Finding:
    """Batch GEMV against the tiled product, over the columns."""
    columns = [1, 2, 4, 8, 16, 32, 64, 128]
    found: dict[str, int] = {}
    at_given: dict[str, float] = {}
    for device in DEVICES:
        sizes: dict[str, Any] = {"n": columns, "m": [4096] * len(columns)}
        batch = batch_seconds("gemv:batch_gemv", device, parameters=sizes)
        tiled = batch_seconds("gemv:thin_gemm", device, parameters=sizes)
        faster = [n for n, one, other in zip(columns, batch, tiled, strict=True) if one < other]
        found[device] = max(faster, default=0)
        place = columns.index(given["n"])
        at_given[device] = round(tiled[place] / batch[place], 3)
    return Finding(
        actual={"gain at n = 4": at_given, "batch is faster up to": found},
        because="; ".join(f"{device}: batch GEMV up to n = {n}" for device, n in found.items()),
        holds={
            "batch GEMV at n = 4": all(gain > 1 for gain in at_given.values()),
            "the tiled product at large n": all(n < 128 for n in found.values()),
        },
    )


@check("fa-larger-br")
def larger_br(given: Inputs) -> Finding:
    """Bytes below the L1 and registers, over Br."""
    del given
    from perfmodel.errors import DataError

    found: dict[int, float] = {}
    registers: dict[int, int] = {}
    for br in (64, 128, 256):
        try:
            result = predicted("attention:pipelined", "s5000", br=br, bc=64)
        except DataError:
            continue
        found[br] = result.flop / result.level("l2").bytes
        registers[br] = result.launches[0].registers_per_thread
    intensities = list(found.values())
    limit = load_device("s5000").max_registers_per_thread.whole
    wide = predicted("attention:pipelined", "s5000", br=64, bc=16, d=512)
    return Finding(
        actual={"flop_per_byte": {str(br): round(each, 1) for br, each in found.items()}},
        because=f"FLOP a byte from the L2 grow from {intensities[0]:.0f} to {intensities[-1]:.0f}; "
        f"with d = 512 a thread would have {wide.launches[0].registers_per_thread} registers of "
        f"{limit}",
        holds={
            "intensity grows with Br": intensities == sorted(intensities) and len(found) > 1,
            "registers have a limit that a larger tile passes": any(
                "spills" in each for each in wide.warnings
            ),
        },
    )


@check("fa-pipeline-overlap")
def pipeline_overlap(given: Inputs) -> Finding:
    """The pipelined rung against the fused one."""
    del given
    times = _step_seconds("attention:fused", "attention:pipelined")
    return _step_finding(
        times,
        holds={
            f"not slower on {device}": piped <= fused for device, (fused, piped) in times.items()
        },
    )


@check("gemm-needed-intensity")
def needed_intensity(given: Inputs) -> Finding:
    """The ridge of the device, and the tiles that reach 100 FLOP a byte."""
    del given
    device = load_device("s5000")
    ridge = float(
        ridge_point(
            peak_flop_per_s=device.peaks["tensor_fp16"].value,
            bandwidth_bytes_per_s=device.dram_bandwidth.value,
        )
    )
    sides = [
        int(tile_reuse.smallest_square_tile(target_intensity=100, element_bytes=size))
        for size in (4, 2)
    ]
    return Finding(
        actual={"ridge": ridge, "sides": sides},
        because=f"the fp16 ridge of the S5000 lies at {ridge:.4g} FLOP a byte",
        holds={"the ridge is above 100": ridge >= 100, "400 and 200": sides == [400, 200]},
    )


@check("gemm-bound-by-size")
def bound_by_size(given: Inputs) -> Finding:
    """What limits a thin and a square product."""
    del given
    thin = predicted("gemv:batch_gemv", "s5000", n=1)
    square = predicted("gemm:global_double_buffer", "s5000")
    return Finding(
        actual={"thin": thin.limiter, "square": square.limiter},
        because=f"the thin product is limited by {thin.limiter} at "
        f"{thin.bounds[0].utilization:.0%}, the square one by {square.limiter} at "
        f"{square.bounds[0].utilization:.0%}",
        holds={
            "low intensity: a memory level limits": thin.limiter in ("dram", "l2"),
            "high intensity: none does": square.limiter not in ("dram", "l2"),
        },
    )


@check("matmul-tiled-faster")
def tiled_faster(given: Inputs) -> Finding:
    """The tiled product against the naive one at the document's size, by device."""
    n, tile = given["n"], given["tile"]
    gains = {
        device: seconds("gemm:naive", device, m=n, n=n, k=n)
        / seconds("gemm:tiled", device, m=n, n=n, k=n, tile=tile)
        for device in DEVICES
    }
    because = "; ".join(
        f"{device}: {gain:.2f} times, now limited by "
        f"{limiter('gemm:tiled', device, m=n, n=n, k=n, tile=tile)}"
        for device, gain in gains.items()
    )
    return Finding(
        actual={device: round(gain, 3) for device, gain in gains.items()},
        because=because,
        holds={
            **{f"faster on {device}": gain > 1 for device, gain in gains.items()},
            "by at most the tile": all(gain <= tile for gain in gains.values()),
        },
    )


@check("shared-over-global-bandwidth")
def shared_over_global(given: Inputs) -> Finding:
    """Bandwidth of shared memory over that of the DRAM, from the device files."""
    del given
    ratios = {}
    for name in ("v100", "a100", "h100", "h200", "rtx4090", "s5000", "dcu"):
        device = load_device(name)
        shared = device.shared_bandwidth.value * device.mps.value * device.clock.value
        ratios[name] = shared / device.dram_bandwidth.value
    return Finding(
        actual={name: round(ratio, 2) for name, ratio in ratios.items()},
        because=", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()),
        holds={f"10 to 100 on {name}": 10 <= ratio <= 100 for name, ratio in ratios.items()},
    )


@check("double-buffer-overlap")
def double_buffer_overlap(given: Inputs) -> Finding:
    """A block's time with one buffer and with two, where latency rules and where it does not."""
    del given
    times = {
        device: [
            predicted(f"gemm:{rung}", device).launches[0].block_time_s
            for rung in ("shared_double_buffer", "global_double_buffer")
        ]
        for device in DEVICES
    }
    return Finding(
        actual={device: [round(1e6 * time, 2) for time in each] for device, each in times.items()},
        because="; ".join(
            f"{device}: a block {microseconds(one)} to {microseconds(two)}, the kernel "
            f"{microseconds(seconds('gemm:shared_double_buffer', device))} to "
            f"{microseconds(seconds('gemm:global_double_buffer', device))}"
            for device, (one, two) in times.items()
        ),
        holds={f"a block is faster on {device}": two < one for device, (one, two) in times.items()},
    )


@check("tensor-over-vector")
def tensor_over_vector(given: Inputs) -> Finding:
    """Tensor peak over vector peak, from the device files, and the predicted gain."""
    del given
    ratios = {}
    for name in ("v100", "a100", "h100", "s5000"):
        device = load_device(name)
        ratios[name] = device.peaks["tensor_fp16"].value / device.peaks["fp32"].value
    gain = seconds("gemm:block_swizzle", "s5000") / seconds("gemm:tensor", "s5000")
    return Finding(
        actual={**{name: round(each, 1) for name, each in ratios.items()}, "gemm": round(gain, 1)},
        because=f"the tensor rung of the GEMM is predicted {gain:.1f} times faster on the S5000",
        holds={
            "peaks": all(each > 5 for each in ratios.values()),
            "and the rung": gain > 5,
        },
    )
