"""Where documents 003 and 004 are wrong about the matrix product."""

from __future__ import annotations

from math import log10, prod, sqrt
from typing import TYPE_CHECKING, Any

from perfmodel.analyses.bank_conflicts import bank_conflicts
from perfmodel.device.loading import device_names, load_device
from perfmodel.documents.checks.common import distinct_lines, thread_numbers, warp_addresses
from perfmodel.documents.checks.memory import vector_ratios
from perfmodel.documents.registry import Finding, check
from perfmodel.engines import tile_reuse
from perfmodel.engines.occupancy import warps_per_block
from perfmodel.engines.register_bandwidth import operand_read_cycles

if TYPE_CHECKING:
    from perfmodel.documents.registry import Inputs


@check("erratum-tiled-n-fold", "matmul-grid")
def fewer_loads(given: Inputs) -> Finding:
    """The cut in loads of a square tile of threads."""
    return Finding(
        actual=tile_reuse.sharing_factor(rows=given["tile"], columns=given["tile"]),
        because=f"the tile is {given['tile']} wide, the matrix {given['n']}",
        holds={"the document's factor is N": given["n"] == given["document_says"]},
    )


@check("erratum-naive-b-strided")
def lines_of_a_step(given: Inputs) -> dict[str, Any]:
    """Lines of A and of B that a warp touches in one step of the naive product, at most."""
    import numpy as np

    indices = {"lines_a": "threadIdx.y * n + i", "lines_b": "i * n + threadIdx.x"}
    steps = np.arange(given["n"])[:, None]
    return {
        name: distinct_lines(
            warp_addresses(index, given, element_bytes=given["element_bytes"], i=steps),
            access_bytes=given["element_bytes"],
            line_bytes=given["line_bytes"],
        )
        for name, index in indices.items()
    }


@check("erratum-shared-latency", "gemm-register-read-limit")
def shared_over_register(given: Inputs) -> Finding:
    """Shared-memory latencies of the NVIDIA files over the cycles of reading registers.

    The files hold no latency of a register; its read takes one cycle without a bank conflict, and
    one a register where all the operands of a multiply-add lie in one bank.
    """
    operands = given["reads_per_fma"]
    devices = [load_device(name) for name in device_names()]
    devices = [device for device in devices if device.vendor == "NVIDIA"]
    low = min(device.shared_latency.low for device in devices)
    high = max(device.shared_latency.high for device in devices)
    reads = [
        operand_read_cycles(register_numbers=numbers, banks=device.register_banks.whole)
        for device in devices
        for numbers in (
            [0],
            [position * device.register_banks.whole for position in range(operands)],
        )
    ]
    least, most = low / max(reads), high / min(reads)
    nearest = 10 ** round(log10(sqrt(least * most)))
    return Finding(
        actual=f"{least:.3g} to {most:.3g} times a register, of the order of {nearest}",
        because=f"shared memory answers in {low:g} to {high:g} cycles on {len(devices)} NVIDIA "
        f"parts, registers are read in {min(reads)} to {max(reads)}",
        numbers=(nearest,),
        holds={"nowhere near a register": least > sqrt(nearest)},
    )


def block_passes(given: Inputs, index: str) -> int:
    """The most passes that a step's access to a tile as wide as the block takes."""
    width, height = given["block"]
    device = load_device(given["device"])
    warps = warps_per_block(threads_per_block=width * height, warp_width=device.warp_width.whole)
    return max(
        int(
            bank_conflicts(
                device,
                index=index,
                element_bytes=given["element_bytes"],
                block=(width, height),
                warp=warp,
                parameters={"i": range(width), "width": width},
            ).passes.max()
        )
        for warp in range(warps)
    )


@check("erratum-bs-transpose")
def passes_of_bs(given: Inputs) -> dict[str, Any]:
    """Passes of reading Bs as written, of reading it by columns, and of the transposed store."""
    return {
        "bs_i_col": block_passes(given, "i * width + threadIdx.x"),
        "bs_col_i": block_passes(given, "threadIdx.x * width + i"),
        "store_tx_ty": block_passes(given, "threadIdx.x * width + threadIdx.y + 0 * i"),
    }


@check("erratum-as-reason")
def addresses_of_as(given: Inputs) -> dict[str, Any]:
    """Addresses and passes of the first warp's read of As in one step."""
    width, height = given["block"]
    result = bank_conflicts(
        load_device(given["device"]),
        index="threadIdx.y * width + i",
        element_bytes=given["element_bytes"],
        block=(width, height),
        parameters={"i": 0, "width": width},
    )
    return {
        "distinct_addresses": len(set(result.addresses[result.active].tolist())),
        "passes": result.passes,
    }


@check("erratum-warp-rows")
def rows_of_a_warp(given: Inputs) -> dict[str, Any]:
    """What the first warp spans of the block, and the lines of its load of A."""
    threads = thread_numbers(given)
    addresses = warp_addresses(
        "threadIdx.y * k + threadIdx.x", given, element_bytes=given["element_bytes"]
    )
    return {
        "tx": len(set(threads["threadIdx.x"].tolist())),
        "ty": len(set(threads["threadIdx.y"].tolist())),
        "lines": distinct_lines(
            addresses, access_bytes=given["element_bytes"], line_bytes=given["line_bytes"]
        ),
    }


@check("erratum-wmma-granularity", "wmma-tile")
def work_of_an_instruction(given: Inputs) -> dict[str, Any]:
    """FLOP of a step of the tile and of a matrix instruction, and the warps that share a tile."""
    tile = given["tile"]
    return {
        "tile_step": tile_reuse.product_flop(rows=tile, columns=tile, depth=tile),
        "instruction": tile_reuse.product_flop(
            rows=given["m"], columns=given["n"], depth=given["k"]
        ),
        "warps_per_tile": warps_per_block(
            threads_per_block=prod(given["block"]), warp_width=given["warp_size"]
        ),
    }


@check("erratum-float4-transactions", "float4-instructions", "coalescing-contiguous-nvidia")
def float4_ratios(given: Inputs) -> Finding:
    """Instructions and transactions of float4 loads against scalar ones."""
    found = vector_ratios(given)
    return Finding(
        actual=found,
        because="the document's quarter is that of the instructions",
        holds={"it is": found["instructions_ratio"] == given["document_says"]},
    )
