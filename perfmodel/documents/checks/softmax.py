"""Document 002: the Softmax ladder on the DCU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.analyses.coalescing import coalescing
from perfmodel.analyses.warp_access import ELEMENT_BYTES
from perfmodel.device.loading import load_device
from perfmodel.documents.checks.common import HALF, amount
from perfmodel.documents.registry import Finding, check
from perfmodel.engines import online_softmax
from perfmodel.engines.coalescing import instructions_per_lane
from perfmodel.engines.occupancy import warps_per_block

if TYPE_CHECKING:
    from perfmodel.documents.registry import Inputs

ROWS = "batch * heads * seq"
"""Rows of the attention scores: one for each query of each head."""


@check("softmax-shape")
def shape(given: Inputs) -> dict[str, Any]:
    """Rows, and the bytes of the tensor read and written."""
    tensor = amount(f"1LL * {ROWS} * seq * element_bytes", given)
    return {"rows": amount(ROWS, given), "bytes_in": tensor, "bytes_out": tensor}


@check("dcu-layout")
def layout(given: Inputs) -> dict[str, Any]:
    """The device's MPs and schedulers, which are its compute units and SIMDs."""
    device = load_device(given["device"])
    return {
        "compute_units": device.mps.whole,
        "simds_per_compute_unit": device.schedulers.whole,
        "simds": device.mps.whole * device.schedulers.whole,
        "warp_size": device.warp_width.whole,
    }


@check("softmax-v0-lines")
def lines_of_v0(given: Inputs) -> Finding:
    """Lines of one load, for both sizes that a line may have."""
    device = load_device(given["device"])
    counts = {
        int(size): coalescing(
            device.what_if(l1_line=f"{size:g} B"),
            index=given["index"],
            element_bytes=given["element_bytes"],
            active=given["lanes"],
        ).lines
        for size in (device.l1_line.low, device.l1_line.high)
    }
    return Finding(
        actual=min(counts.values()),
        because=f"for lines of {' and '.join(map(str, counts))} bytes",
        holds={"both line sizes give one count": len(set(counts.values())) == 1},
    )


@check("softmax-passes")
def bytes_by_passes(given: Inputs) -> list[Any]:
    """Bytes for each number of reads."""
    return [
        online_softmax.softmax_bytes(
            rows=given["rows"],
            row_elements=given["n"],
            element_bytes=given["element_bytes"],
            input_reads=reads,
        )
        for reads in given["reads"]
    ]


@check("softmax-v0-exp")
def exponentials_of_v0(given: Inputs) -> dict[str, Any]:
    """Exponentials of the form with three passes."""
    form = online_softmax.softmax_form(name="three_passes")
    return {
        "per_element": form.exponentials,
        "total": online_softmax.softmax_exponentials(
            rows=given["rows"],
            row_elements=given["n"],
            exponentials_per_element=form.exponentials,
        ),
    }


@check("softmax-run-per-lane", "dcu-layout")
def run_per_lane(given: Inputs) -> Finding:
    """A lane's share of a row."""
    elements = amount("n / warp_size", given)
    run = elements * given["element_bytes"]
    widest = load_device(given["device"]).max_access.whole
    loads = instructions_per_lane(bytes_per_lane=run, access_bytes=widest, max_access_bytes=widest)
    return Finding(
        actual={"elements": elements, "bytes": run},
        because=f"{loads} of the device's widest loads, {widest} bytes",
        holds={"one of the widest loads, filled": loads * widest == run},
    )


@check("softmax-half2-instructions", "softmax-run-per-lane", "dcu-layout")
def half2_ratios(given: Inputs) -> dict[str, Any]:
    """Loads and conversions of a lane's run, in vectors over one by one."""
    run = amount("n / warp_size", given)

    def loads(width: int) -> Any:
        return instructions_per_lane(
            bytes_per_lane=run * HALF,
            access_bytes=width * HALF,
            max_access_bytes=load_device(given["device"]).max_access.whole,
        )

    def conversions(width: int) -> Any:
        return amount("ceil_div(run, width)", {}, run=run, width=width)

    return {
        "loads": loads(given["width"]) / loads(1),
        "conversions": conversions(given["width"]) / conversions(1),
    }


@check("dcu-load-widths")
def load_widths(given: Inputs) -> dict[str, Any]:
    """The dword and its doublings, up to the device's widest access."""
    dword, widest = ELEMENT_BYTES["int32"], load_device(given["device"]).max_access.whole
    widths = {"global_load_dword": dword}
    words = 2
    while words * dword <= widest:
        widths[f"global_load_dwordx{words}"] = words * dword
        words *= 2
    return widths


@check("softmax-speedup-arithmetic")
def speedups(given: Inputs) -> list[float]:
    """The first time over each of the others."""
    first, *others = given["times_s"]
    return [first / other for other in others]


@check("softmax-wavefronts")
def wavefronts(given: Inputs) -> Any:
    """Warps of a block on the device."""
    return warps_per_block(
        threads_per_block=given["block"],
        warp_width=load_device(given["device"]).warp_width.whole,
    )


@check("softmax-v2-grid")
def grid_of_v2(given: Inputs) -> Any:
    """Blocks for all rows."""
    return amount("ceil_div(rows, rows_per_block)", given)
