"""Where document 000 is wrong: its pseudo-code and its pipeline replayed, its counts made again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from perfmodel.device.loading import load_device
from perfmodel.documents.checks.attention import shared_parts
from perfmodel.documents.checks.common import (
    FLOAT,
    FLOAT4,
    distinct_lines,
    used_share,
    warp_addresses,
)
from perfmodel.documents.checks.occupancy_divergence import taken_by_step
from perfmodel.documents.registry import Finding, check
from perfmodel.engines import divergence, register_bandwidth
from perfmodel.expressions import parse

if TYPE_CHECKING:
    from perfmodel.documents.registry import Inputs


@check("erratum-modulo-idle-warps")
def idle_warps(given: Inputs) -> Finding:
    """Divergent and idle warps of each step of the modulo tree."""
    branch, width = taken_by_step(given), given["warp_size"]
    idle = divergence.idle_warps(taken=branch, warp_width=width).tolist()
    return Finding(
        actual=divergence.divergent_warps(paths=branch, warp_width=width).tolist(),
        because=f"{idle} warps are idle at strides {given['strides']}, and do not diverge",
    )


@check("erratum-smem-index", "gemm-double-buffer-bytes", "erratum-gemm-a-load-coalescing")
def buffer_index(given: Inputs) -> Finding:
    """The printed index over the loop, and the same index taken modulo the number of buffers."""
    import numpy as np

    match = re.fullmatch(r"(\w+)\[(.+)\]", given["document_says"])
    if match is None:
        return Finding(actual="no index", holds={"the document prints an index": False})
    array, printed = match.groups()
    step, buffers = given["tile_k"], given["buffers"]
    loop = np.arange(step, given["k"] + step, step)
    mended = f"({printed}) % {buffers}"

    def buffer(index: str, at: Any) -> Any:
        return parse(index).evaluate({"i": at, "TILE_K": step})

    outside = buffer(printed, loop) >= buffers
    first = int(outside.argmax())
    written, read = buffer(mended, loop), buffer(mended, loop - step)
    return Finding(
        actual=f"{array}[{mended}]",
        because=f"{printed} is {buffer(printed, loop)[first]} in pass {first + 1} of the loop and "
        f"grows to {buffer(printed, loop)[-1]}, with {buffers} buffers",
        formulas={array: parse(mended).symbolic()},
        numbers=(buffers,),
        holds={
            "the printed index leaves the array": bool(outside.any()),
            "it stays outside": bool(outside[first:].all()),
            "the mended index stays inside": bool((written < buffers).all()),
            "a pass never writes the buffer it reads": bool((written != read).all()),
        },
    )


@check("erratum-gemm-load-registers")
def staging_registers(given: Inputs) -> Finding:
    """A thread's share of a tile on its way to shared memory."""
    needed = register_bandwidth.array_registers(
        elements=given["tile"] * given["tile_k"], element_bytes=FLOAT, threads=given["threads"]
    )
    held = given["document_says"] * given["threads"]
    return Finding(
        actual=needed,
        because=f"{given['document_says']} a thread are {held} floats a block; a tile has "
        f"{given['tile'] * given['tile_k']}",
    )


@check("erratum-gemm-a-load-coalescing")
def operand_lines(given: Inputs) -> Finding:
    """Lines of a warp's float4 loads of both operands, row by row of their tiles."""
    vector = FLOAT4 // FLOAT
    found: dict[str, Any] = {}
    for name, row in (("a", given["tile_k"]), ("b", given["tile"])):
        # A lane takes one vector; row after row of the tile, which lies in rows of k elements.
        addresses = warp_addresses(
            "threadIdx.x / vectors * k + threadIdx.x % vectors * vector",
            given,
            element_bytes=given["element_bytes"],
            vectors=row // vector,
            vector=vector,
        )
        size = {
            "access_bytes": vector * given["element_bytes"],
            "line_bytes": given["line_bytes"],
        }
        found[f"lines_{name}"] = distinct_lines(addresses, **size)
        found[f"efficiency_{name}"] = used_share(addresses, **size)
    return Finding(
        actual=found,
        because=f"a row of the tile of A is {given['tile_k'] * given['element_bytes']} bytes, "
        f"and rows lie {given['k'] * given['element_bytes']} bytes apart",
    )


@check("erratum-fa-prefetch-room")
def prefetch_room(given: Inputs) -> Finding:
    """Shared memory once the next K has a buffer of its own."""
    room = load_device(given["device"]).shared_per_mp.whole
    single, double = (shared_parts(given, k_buffers=tiles).total_bytes for tiles in (1, 2))
    return Finding(
        actual=double,
        because=f"one K fills {single} of {room} bytes, a second makes it {double}",
        holds={
            "the document counts one tile of K": single == given["document_says"],
            "the second tile does not fit": single <= room < double,
        },
    )


PROLOGUE = 0
"""The tile of K that is loaded and multiplied before the loop."""
LOADED, ONLY_WHERE, MULTIPLIED = "i + 1", "i > 1", "i"
"""The loop as printed, over i = 1 to the number of tiles less one: the tile of K that a pass loads
and under which condition, and the tile that it multiplies."""


@check("erratum-fa-pipeline-loads")
def pipeline_loads(given: Inputs) -> Finding:
    """Replay the printed schedule: the tiles it multiplies must be those it loads."""
    import numpy as np

    passes = {"i": np.arange(1, given["kv_tiles"])}
    runs = parse(ONLY_WHERE).evaluate(passes)
    loaded = [PROLOGUE, *parse(LOADED).evaluate(passes)[runs].tolist()]
    multiplied = [PROLOGUE, *parse(MULTIPLIED).evaluate(passes).tolist()]
    never = sorted(set(multiplied) - set(loaded))
    useless = sorted(set(loaded) - set(multiplied))
    return Finding(
        actual=multiplied,
        because=f"the listing loads {loaded}: {never} are multiplied but never loaded, "
        f"{useless} are loaded but do not exist",
        holds={
            "the replay loads what the document is said to load": loaded == given["document_says"]
        },
    )
