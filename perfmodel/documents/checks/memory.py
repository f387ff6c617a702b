"""Document 000, part 3: coalescing, vector access and bank conflicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.analyses.bank_conflicts import bank_conflicts, suggest_layout
from perfmodel.analyses.coalescing import coalescing
from perfmodel.analyses.warp_access import ELEMENT_BYTES
from perfmodel.device.loading import load_device
from perfmodel.documents.checks.common import FLOAT
from perfmodel.documents.registry import Finding, check
from perfmodel.engines import bank_conflicts as banks
from perfmodel.engines.coalescing import elements_per_access, instructions_per_lane

if TYPE_CHECKING:
    from perfmodel.documents.registry import Inputs

BITS_PER_BYTE = 8


@check("coalescing-line")
def coalescing_unit(given: Inputs) -> dict[str, Any]:
    """The device's transaction, and the ends of the size of a merged group."""
    device = load_device(given["device"])
    group = device.coalescing_group
    return {
        "transaction_bytes": device.transaction.whole,
        "group_threads": [int(group.low), int(group.high)],
    }


@check("coalescing-group-requests")
def group_requests(given: Inputs) -> dict[str, Any]:
    """Requests for each index, with groups of each size."""
    found = {}
    for group in given["group_threads"]:
        device = load_device(given["device"]).what_if(coalescing_group=group)
        found[f"group_of_{group}"] = [
            coalescing(device, index=index, element_bytes=given["element_bytes"]).requests
            for index in given["index"]
        ]
    return found


@check("coalescing-stride-32")
def strided_efficiency(given: Inputs) -> Any:
    """Bytes used over bytes moved."""
    return coalescing(load_device(given["device"]), **_access(given)).efficiency


@check("coalescing-contiguous-vs-4")
def contiguous_against_strided(given: Inputs) -> dict[str, Any]:
    """Lines and efficiency of each index."""
    device = load_device(given["device"])
    results = [
        coalescing(device, index=index, element_bytes=given["element_bytes"])
        for index in given["index"]
    ]
    return {
        "lines": [result.lines for result in results],
        "efficiency": [result.efficiency for result in results],
    }


@check("vector-128-bit")
def elements_of_a_vector(given: Inputs) -> dict[str, Any]:
    """Elements of each type in one access."""
    return {
        name: elements_per_access(
            access_bytes=given["bits"] // BITS_PER_BYTE, element_bytes=ELEMENT_BYTES[name]
        )
        for name in ("float", "half", "int8")
    }


@check("vector-1024-bit")
def widest_access(given: Inputs) -> dict[str, Any]:
    """The device's widest access, and what it carries."""
    widest = load_device(given["device"]).max_access.whole
    return {
        "max_access_bytes": widest,
        "float": elements_per_access(access_bytes=widest, element_bytes=FLOAT),
    }


@check("vector-instruction-count", "coalescing-line")
def vector_ratios(given: Inputs) -> dict[str, Any]:
    """One vector load of a warp against as many scalar loads as it has elements."""
    device, width = load_device(given["device"]), given["width"]
    vector = coalescing(device, index="threadIdx.x", element_bytes=width * FLOAT)
    scalar = coalescing(
        device,
        index="step * warpSize + threadIdx.x",
        element_bytes=FLOAT,
        parameters={"step": range(width)},
    )
    return {
        "instructions_ratio": _instructions(given, width * FLOAT) / _instructions(given, FLOAT),
        "transactions_ratio": vector.lines / int(scalar.lines.sum()),
    }


@check("float4-instructions", "coalescing-contiguous-nvidia")
def vector_instructions(given: Inputs) -> Any:
    """Load instructions for the same bytes, vector over scalar."""
    return _instructions(given, given["width"] * FLOAT) / _instructions(given, FLOAT)


def _instructions(given: Inputs, access_bytes: int) -> Any:
    """Instructions of a lane that moves one vector, with accesses of a width."""
    return instructions_per_lane(
        bytes_per_lane=given["width"] * FLOAT,
        access_bytes=access_bytes,
        max_access_bytes=load_device(given["device"]).max_access.whole,
    )


@check("bank-two-way")
@check("bank-full")
@check("bank-free")
@check("bank-broadcast")
def passes(given: Inputs) -> Any:
    """Passes of one access."""
    return bank_conflicts(load_device(given["device"]), **_access(given)).passes


@check("bank-column-padding")
def padded_passes(given: Inputs) -> dict[str, Any]:
    """Passes of a column for each padding."""
    result = bank_conflicts(
        load_device(given["device"]),
        **_access(given),
        parameters={"pad": given["pad"], "c": given["c"]},
    )
    return {"passes": result.passes.tolist()}


@check("bank-column-swizzle")
def swizzled_tile(given: Inputs) -> Finding:
    """A mask and a shift derived for rows and columns together, and the tile's extent with them."""
    import numpy as np

    rows, columns = given["tile"]
    element = given["element_bytes"]
    found = suggest_layout(
        load_device(given["device"]),
        indices=[f"line * {columns} + threadIdx.x", f"threadIdx.x * {columns} + line"],
        element_bytes=element,
        row_elements=columns,
        parameters={"line": range(rows)},
    ).swizzle
    if found is None:
        return Finding(actual="no swizzle", because="no mask and shift free rows and columns")
    moved = banks.swizzled(
        addresses=np.arange(rows * columns, dtype=np.int64) * element,
        mask=found.mask,
        shift=found.shift,
    )
    row, column = found.passes
    return Finding(
        actual={
            "passes_row": row,
            "passes_column": column,
            "extra_bytes": int(moved.max()) + element - rows * columns * element,
        },
        because=f"mask {found.mask:#x}, shift {found.shift}; every row and column enumerated",
        holds={"no two elements meet": len(np.unique(moved)) == rows * columns},
    )


def _access(given: Inputs) -> dict[str, Any]:
    return {"index": given["index"], "element_bytes": given["element_bytes"]}
