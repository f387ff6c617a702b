"""Document 000, part 5: the GEMM ladder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.device.loading import load_device
from perfmodel.documents.checks.common import FLOAT4
from perfmodel.documents.registry import Finding, check
from perfmodel.engines import block_order, register_bandwidth, tile_reuse

if TYPE_CHECKING:
    from perfmodel.documents.registry import Inputs


@check("gemm-intensity-formula")
def intensity_of_a_tile(given: Inputs) -> Any:
    """FLOP over operand bytes of a tile."""
    return tile_reuse.tile_intensity(**given)


@check("gemm-flop")
def flop_and_bytes(given: Inputs) -> dict[str, Any]:
    """FLOP and compulsory reads of a product."""
    sizes = {"rows": given["m"], "columns": given["n"], "depth": given["k"]}
    return {
        "flop": tile_reuse.product_flop(**sizes),
        "read_bytes": tile_reuse.operand_bytes(**sizes, element_bytes=given["element_bytes"]),
    }


@check("gemm-intensity-levels")
def intensity_by_level(given: Inputs) -> dict[str, Any]:
    """The same law with the tile of each level."""
    block = given["block_tile"]
    tiles = {
        "thread": (given["thread_tile"], given["thread_tile"]),
        "block": (block, block),
        "blocks_in_flight": tuple(block * count for count in given["blocks"]),
    }
    return {
        level: tile_reuse.tile_intensity(
            tile_m=rows, tile_n=columns, element_bytes=given["element_bytes"]
        )
        for level, (rows, columns) in tiles.items()
    }


@check("gemm-square-best", "gemm-intensity-formula")
def square_is_best(given: Inputs) -> Finding:
    """The intensity of a tile of fixed area in symbols, and of three shapes in numbers."""
    import sympy

    side, rows, element = sympy.symbols("s m e", positive=True)
    of_shape = tile_reuse.tile_intensity(tile_m=rows, tile_n=side**2 / rows, element_bytes=element)
    of_square = tile_reuse.tile_intensity(tile_m=side, tile_n=side, element_bytes=element)
    lost = sympy.factor(sympy.simplify(of_square - of_shape))
    numerator, denominator = lost.as_numer_denom()
    factor = sympy.simplify(numerator / (rows - side) ** 2)
    tile_m, tile_n, size = given["tile_m"], given["tile_n"], given["element_bytes"]
    shapes = [(tile_m // narrow, tile_n * narrow) for narrow in (1, 2, 4)]
    found = [tile_reuse.tile_intensity(tile_m=m, tile_n=n, element_bytes=size) for m, n in shapes]
    numbers = [n for shape, value in zip(shapes, found, strict=True) for n in (*shape, value)]
    listed = ", ".join(f"{m}x{n} ({v:.4g})" for (m, n), v in zip(shapes, found, strict=True))
    return Finding(
        actual=f"a square of side s less m x s^2/m: {lost}, never below 0; {listed}",
        numbers=tuple(numbers),
        holds={
            "what another shape loses is a square times something positive": bool(
                factor.is_positive and denominator.is_positive
            ),
            "the only extremum is the square": sympy.solve(sympy.diff(of_shape, rows), rows)
            == [side],
            "the first shape is a square": tile_m == tile_n,
            "the square is first": max(found) == found[0],
        },
    )


@check("gemm-registers-tile")
def tile_registers(given: Inputs) -> Finding:
    """Registers for each depth, and the tile that the least budget leaves at each."""
    registers = [
        register_bandwidth.tile_registers(tile_m=given["tm"], tile_n=given["tn"], tile_k=depth)
        for depth in given["tk"]
    ]
    best = [
        register_bandwidth.largest_tile(registers=min(registers), tile_k=depth)
        for depth in given["tk"]
    ]
    areas = [rows * columns for rows, columns in best]
    shallowest = areas[given["tk"].index(min(given["tk"]))]
    shapes = ", ".join(
        f"{rows}x{columns} with tk = {depth}"
        for (rows, columns), depth in zip(best, given["tk"], strict=True)
    )
    return Finding(
        actual=registers,
        because=f"{min(registers)} registers hold at most {shapes}",
        holds={"the least depth keeps the largest tile": shallowest == max(areas)},
    )


@check("gemm-register-read-limit")
def register_read_limit(given: Inputs) -> Any:
    """Share of peak that register reads allow."""
    return register_bandwidth.fma_peak_share(**given)


@check("gemm-smem-bytes-per-cycle")
def shared_demand(given: Inputs) -> dict[str, Any]:
    """What the FMAs ask of shared memory, a thread and an MP."""
    return {"per_thread": _demand(given, 1), "per_mp": _demand(given, given["active_lanes"])}


def _demand(given: Inputs, active_lanes: int) -> Any:
    return register_bandwidth.shared_bytes_per_cycle(
        tile_m=given["thread_tile"],
        tile_n=given["thread_tile"],
        element_bytes=given["element_bytes"],
        active_lanes=active_lanes,
    )


@check("gemm-bank-conflict-limit", "gemm-smem-bytes-per-cycle", "coalescing-line")
def conflict_limit(given: Inputs) -> Any:
    """Share of peak with the device's shared-memory bandwidth, so much of it lost."""
    return register_bandwidth.shared_peak_share(
        needed_bytes_per_cycle=_demand(given, given["active_lanes"]),
        available_bytes_per_cycle=load_device(given["device"]).shared_bandwidth.value,
        shared_efficiency=given["shared_efficiency"],
    )


@check("gemm-threads")
def covered(given: Inputs) -> Any:
    """Results of a block."""
    return register_bandwidth.covered_elements(
        threads=given["threads"], tile_m=given["thread_tile"], tile_n=given["thread_tile"]
    )


@check("gemm-double-buffer-bytes")
def double_buffer_bytes(given: Inputs) -> Any:
    """Shared memory of the buffered tiles."""
    return tile_reuse.product_shared_bytes(
        tile_m=given["tile"],
        tile_n=given["tile"],
        tile_k=given["tile_k"],
        element_bytes=given["element_bytes"],
        buffers=given["buffers"],
    )


@check("gemm-shared-loads-per-k")
def shared_loads(given: Inputs) -> dict[str, Any]:
    """Loads and FMAs of one step."""
    sides = {"tile_m": given["thread_tile"], "tile_n": given["thread_tile"]}
    return {
        "loads": register_bandwidth.shared_loads(
            **sides, element_bytes=given["element_bytes"], access_bytes=given["access_bytes"]
        ),
        "fma": register_bandwidth.tile_fma(**sides, tile_k=1),
    }


@check("gemm-pseudo-registers")
def declared_registers(given: Inputs) -> Any:
    """Registers of the arrays of float4 that a thread declares."""
    return sum(
        register_bandwidth.array_registers(elements=count, element_bytes=FLOAT4)
        for count in given["float4"].values()
    )


@check("gemm-swizzle-reuse")
@check("gemm-linear-reuse")
def shared_operands(given: Inputs) -> Any:
    """Bandwidth amplification of a rectangle of blocks."""
    return tile_reuse.sharing_factor(rows=given["rows"], columns=given["columns"])


@check("gemm-swizzle-order")
def swizzle_order(given: Inputs) -> Any:
    """Every block of the serpentine order."""
    return block_order.serpentine_order(
        grid_rows=given["grid_y"],
        grid_columns=given["grid_x"],
        strip_width=given["macro_tile_x"],
        strips_of_rows=given["switch"],
    ).tolist()


@check("gemm-swizzle-10x10-reuse")
def reuse_of_orders(given: Inputs) -> dict[str, Any]:
    """Amplification of the first blocks in flight, in both orders."""
    grid = dict(zip(("grid_rows", "grid_columns"), given["grid"], strict=True))
    orders = {
        "swizzled": block_order.serpentine_order(**grid, strip_width=given["macro_tile_x"]),
        "row_order": block_order.row_order(**grid),
    }
    return {
        name: block_order.blocks_amplification(blocks=order[: given["blocks"]])
        for name, order in orders.items()
    }
