"""Where document 002 is wrong, and the one figure on which sources differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.analyses.warp_access import ELEMENT_BYTES, warp_access
from perfmodel.device.loading import load_device
from perfmodel.documents.checks.common import (
    FLOAT,
    FLOAT4,
    HALF,
    HALF2,
    amount,
    distinct_lines,
    used_share,
)
from perfmodel.documents.checks.softmax import ROWS
from perfmodel.documents.claims import load_claims
from perfmodel.documents.registry import Finding, check
from perfmodel.engines import online_softmax, reduction_tree
from perfmodel.engines.coalescing import elements_per_access, instructions_per_lane
from perfmodel.engines.occupancy import occupancy, warps_per_block

if TYPE_CHECKING:
    from perfmodel.documents.registry import Inputs


@check("erratum-row-bytes", "softmax-shape")
def row_bytes(given: Inputs) -> Finding:
    """Bytes of one row."""
    row = amount("seq * element_bytes", given)
    return Finding(
        actual=row, because=f"{given['document_says']} are {given['document_says'] // row} rows"
    )


@check("erratum-bandwidth-units", "softmax-shape", "softmax-speedup-arithmetic")
def effective_bandwidth(given: Inputs) -> Finding:
    """Bytes in and out over each time."""
    moved = online_softmax.softmax_bytes(
        rows=amount(ROWS, given),
        row_elements=given["seq"],
        element_bytes=given["element_bytes"],
        input_reads=1,
    )
    return Finding(
        actual=[moved / time for time in given["times_s"]],
        because=f"{moved} bytes are {moved / 2**20:g} MiB, but {moved / 1e6:.4g} MB",
    )


@check("erratum-threads-blocks", "softmax-shape", "softmax-wavefronts")
def threads_and_blocks(given: Inputs) -> Finding:
    """A thread a row: wavefronts, blocks, and the slots they fill."""
    device = load_device(given["device"])
    threads = amount(ROWS, given)
    wavefronts = warps_per_block(threads_per_block=threads, warp_width=device.warp_width.whole)
    filled = occupancy(
        active_warps=wavefronts, max_warps_per_mp=device.mps.whole * device.max_warps_per_mp.whole
    )
    return Finding(
        actual={
            "threads": threads,
            "wavefronts": wavefronts,
            f"blocks_of_{given['block']}": amount(
                "ceil_div(threads, block)", given, threads=threads
            ),
        },
        because=f"the wavefronts fill {filled:.0%} of the device's slots",
    )


@check("erratum-final-kernel-coverage", "softmax-run-per-lane", "dcu-layout")
def covered_elements(given: Inputs) -> Finding:
    """What one half2 a lane covers of a row."""
    lanes = load_device(given["device"]).warp_width.whole
    of_a_lane = elements_per_access(access_bytes=HALF2, element_bytes=given["element_bytes"])
    needed = amount("ceil_div(n, lanes * of_a_lane)", given, lanes=lanes, of_a_lane=of_a_lane)
    return Finding(
        actual=lanes * of_a_lane,
        because=f"a row of {given['n']} needs {needed} half2 a lane",
        holds={"the row is what the document claims": given["n"] == given["document_says"]},
    )


@check("erratum-half2-per-thread", "softmax-run-per-lane", "softmax-wavefronts")
def half2_per_thread(given: Inputs) -> dict[str, Any]:
    """half2 of a thread when a block, and when a wavefront, shares a row."""
    lanes = load_device(given["device"]).warp_width.whole
    return {
        name: amount("n / threads / elements", given, threads=threads, elements=HALF2 // HALF)
        for name, threads in (("row_per_block", given["block"]), ("row_per_wavefront", lanes))
    }


@check("erratum-final-kernel-rows", "softmax-run-per-lane", "softmax-wavefronts")
def rows_of_a_block(given: Inputs) -> dict[str, Any]:
    """Rows of a block, one a wavefront, and those that one half2 a thread covers."""
    lanes = load_device(given["device"]).warp_width.whole
    return {
        "in_code": warps_per_block(threads_per_block=given["block"], warp_width=lanes),
        "one_half2_per_thread": amount("block * elements / n", given, elements=HALF2 // HALF),
    }


@check("erratum-v0-element-type", "softmax-shape", "softmax-speedup-arithmetic")
def element_type(given: Inputs) -> Finding:
    """Bytes of an element that the printed bandwidth and time of v0 amount to, read and written."""
    printed = load_claims()["erratum-bandwidth-units"].document_says[0]
    elements = amount(f"1LL * {ROWS} * seq", given)
    size = printed * given["times_s"][0] / (2 * elements)
    return Finding(
        actual=round(size),
        because=f"{printed / 1e9:g} GB/s over {given['times_s'][0] * 1e3:g} ms are {size:.3g} "
        "bytes for each element read and written",
        holds={
            "the case has elements of that size": round(size) == given["element_bytes"],
            "the listing's float is what the document says": given["document_says"] == FLOAT,
        },
    )


@check("erratum-v1-coalescing")
def lines_of_v1(given: Inputs) -> dict[str, Any]:
    """Stride, lines of either size and the share used, in one step of v1."""
    device = load_device(given["device"])
    access = warp_access(
        device,
        index=given["index"],
        element_bytes=given["element_bytes"],
        active=given["lanes"],
        parameters={"i": given["i"]},
    )
    addresses, size = access.addresses[: given["lanes"]], given["element_bytes"]
    lines = {
        int(line): distinct_lines(addresses, access_bytes=size, line_bytes=int(line))
        for line in (device.l1_line.low, device.l1_line.high)
    }
    return {
        "stride_bytes": int(addresses[1] - addresses[0]),
        **{f"lines_{line}": count for line, count in lines.items()},
        "efficiency": used_share(addresses, access_bytes=size, line_bytes=max(lines)),
    }


@check("erratum-v1-float2", "softmax-run-per-lane")
def bytes_per_load(given: Inputs) -> Finding:
    """Bytes of a lane's run over the trips of the loop as listed, which takes one element each."""
    trips = amount("n / warp_size", given)
    run = amount("n * element_bytes / warp_size", given)
    wide = ELEMENT_BYTES["float2"]
    return Finding(
        actual=run // trips,
        because=f"{trips} trips over {run} bytes; float2 would make it {run // wide} trips",
        holds={"the table's float2 is of the size it says": wide in given["document_says"]},
    )


@check("erratum-v1b-row-overrun", "softmax-run-per-lane")
def bytes_of_a_row(given: Inputs) -> Finding:
    """What the lanes read when each takes its run of the row in loads of the width given."""
    run = amount("n * element_bytes / lanes", given)
    loads = instructions_per_lane(
        bytes_per_lane=run,
        access_bytes=given["access_bytes"],
        max_access_bytes=given["access_bytes"],
    )
    listed = amount("lanes * access_bytes * loads_per_lane", given)
    return Finding(
        actual=amount("lanes * access_bytes * loads", given, loads=loads),
        because=f"the listing's {given['loads_per_lane']} loads a lane read {listed} bytes; "
        f"{loads} is enough",
        holds={"the listing reads what the document says": listed == given["document_says"]},
    )


@check("erratum-unroll-trips", "softmax-run-per-lane")
def unroll_trips(given: Inputs) -> dict[str, Any]:
    """Trips of the loops: a vector of four floats, a vector of halves, one element."""
    run = amount("n / lanes", given)
    return {
        "trips_as_printed": amount("run / vector", {}, run=run, vector=FLOAT4 // FLOAT),
        "trips_fp16": amount("run / vector", {}, run=run, vector=FLOAT4 // given["element_bytes"]),
        "trips_v1": run,
    }


@check("erratum-shuffle-offset", "softmax-shuffle-steps")
def shuffle_offsets(given: Inputs) -> dict[str, Any]:
    """Distances of the shuffles of a whole wavefront, and how many reach half of it or further."""
    offsets = reduction_tree.tree_strides(values=given["warp_size"])
    half = given["warp_size"] // 2
    return {
        "offsets": offsets,
        f"of_{half}_or_more": sum(offset >= half for offset in offsets),
    }


@check("erratum-lds-per-simd", "dcu-layout")
def shared_memories(given: Inputs) -> Finding:
    """Shared memories of a compute unit: a block, spread over its SIMDs, can have all of it."""
    device = load_device(given["device"])
    return Finding(
        actual=device.shared_per_mp.whole // device.shared_per_block.whole,
        because=f"one block may have {device.shared_per_block} of the {device.shared_per_mp} of "
        "its compute unit, and its wavefronts lie on several SIMDs",
        holds={"the document counts SIMDs": given["document_says"] == device.schedulers.whole},
    )


@check("disputed-line-size", "dcu-layout")
def line_size(given: Inputs) -> Finding:
    """The line that the device file computes with, and the range it admits."""
    line = load_device(given["device"]).l1_line
    return Finding(
        actual=line.whole,
        because=f"the device file computes with {line}",
        holds={"the document's figure is in the range": line.high == given["document_says"]},
    )
