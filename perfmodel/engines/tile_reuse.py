"""Tile reuse: how often a value is used for each time it is moved.

A tile of M x N results over a depth K costs 2 M N K floating-point operations and needs (M + N) K
operands, so the intensity at the level that holds the tile is

    2 M N / ((M + N) bytes of an element)

whatever K is. It belongs to a level: M and N are a few for a thread, a hundred for a block,
thousands for all the blocks in flight, and the bytes are those that cross into that level. For a
given area M N it is highest for a square. A device that does hundreds of operations in the time of
one byte therefore needs tiles hundreds of elements wide.

Seen from below it is sharing: each operand that arrives serves a whole row or column of the tile.
An R x C tile fetched together needs R + C operands instead of the 2 R C fetched one by one, a
factor of 2 R C / (R + C). It is the same law whether the cells are threads of a block (a 16 x 16
tile cuts global loads by 16) or blocks in flight (8 x 8 blocks draw 8 times the bandwidth of what
lies below their cache; 64 in one row not even twice).

Attention is two such products with Q resident: only K and V move in the main loop, and the
intensity grows with the rows of Q alone. What tiles cost is shared memory, counted here too.
"""

from typing import NamedTuple

from perfmodel.engines.arithmetic import (
    Number,
    ceil_divide,
    floor_divide,
    is_array,
    is_symbolic,
    require,
    square_root,
)
from perfmodel.errors import ArgumentError


def product_flop(*, rows: Number, columns: Number, depth: Number) -> Number:
    """Floating-point operations of a matrix product, a multiply-add counted as two.

    Equation: ``2 M N K``

    Args:
        rows: M, rows of the result [-], at least 1.
        columns: N, columns of the result [-], at least 1.
        depth: K, the length of the sums [-], at least 1.

    Returns:
        Operations [FLOP].

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Source: document 000, section 5 GEMM 2.

    Example:
        >>> product_flop(rows=16, columns=16, depth=16)  # 2 * 16^3
        8192
    """
    _require_whole(rows=rows, columns=columns, depth=depth)
    return 2 * rows * columns * depth


def operand_bytes(*, rows: Number, columns: Number, depth: Number, element_bytes: Number) -> Number:
    """Bytes of the two operands of a matrix product, each element once.

    Equation: ``(M K + K N) element_bytes``

    Args:
        rows: M, rows of the result [-], at least 1.
        columns: N, columns of the result [-], at least 1.
        depth: K, the length of the sums [-], at least 1.
        element_bytes: Size of an operand [bytes], above 0.

    Returns:
        Compulsory read bytes [bytes].

    Raises:
        ArgumentError: A size is not a whole number of at least 1, or `element_bytes` not above 0.

    Source: document 000, section 5 GEMM 2.

    Example:
        >>> operand_bytes(rows=2, columns=3, depth=4, element_bytes=4)  # (8 + 12) * 4
        80
    """
    _require_whole(rows=rows, columns=columns, depth=depth)
    require("element_bytes", element_bytes, low=0, above_low=True)
    return (rows + columns) * depth * element_bytes


def tile_intensity(*, tile_m: Number, tile_n: Number, element_bytes: Number) -> Number:
    """Operational intensity of a tile of a matrix product at one level, reads only.

    Equation: ``2 M N / ((M + N) element_bytes)``

    Args:
        tile_m: M, rows of what is computed together at that level [-], above 0.
        tile_n: N, columns of it [-], above 0.
        element_bytes: Size of an operand [bytes], above 0.

    Returns:
        The intensity [FLOP/byte] with respect to the bytes that enter the level.

    Raises:
        ArgumentError: An argument is not above 0.

    Validity: each operand enters once for the tile and the result stays inside until the sum is
    done; for short sums see `tile_intensity_with_write`.

    Source: document 000, section 5 GEMM 2; document 003, sections 5 and 6.

    Example:
        >>> tile_intensity(tile_m=128, tile_n=128, element_bytes=4)  # 128 / 4
        32.0
        >>> tile_intensity(tile_m=1, tile_n=1, element_bytes=4)  # 2 FLOP for 8 bytes
        0.25
    """
    require("tile_m", tile_m, low=0, above_low=True)
    require("tile_n", tile_n, low=0, above_low=True)
    require("element_bytes", element_bytes, low=0, above_low=True)
    return 2 * tile_m * tile_n / ((tile_m + tile_n) * element_bytes)


def tile_intensity_with_write(
    *,
    tile_m: Number,
    tile_n: Number,
    depth: Number,
    element_bytes: Number,
    result_bytes: Number,
) -> Number:
    """Operational intensity of a tile of a matrix product, the write of the result counted too.

    Equation: ``2 M N K / ((M + N) K element_bytes + M N result_bytes)``

    Args:
        tile_m: M, rows of what is computed together at that level [-], above 0.
        tile_n: N, columns of it [-], above 0.
        depth: K, the length of the sums [-], above 0.
        element_bytes: Size of an operand [bytes], above 0.
        result_bytes: Bytes moved for each result [bytes], at least 0: its size, or twice that
            where the old value is read as well.

    Returns:
        The intensity [FLOP/byte]; towards that of the reads alone as K grows.

    Raises:
        ArgumentError: An argument is not above 0, or `result_bytes` is below 0.

    Source: document 000, section 5 GEMM 2, with the write added; document 004, section 1.

    Example:
        >>> tile_intensity_with_write(  # n / 6 for a square product in 4-byte types
        ...     tile_m=12, tile_n=12, depth=12, element_bytes=4, result_bytes=4
        ... )
        2.0
    """
    require("tile_m", tile_m, low=0, above_low=True)
    require("tile_n", tile_n, low=0, above_low=True)
    require("depth", depth, low=0, above_low=True)
    require("element_bytes", element_bytes, low=0, above_low=True)
    require("result_bytes", result_bytes, low=0)
    moved_bytes = (tile_m + tile_n) * depth * element_bytes + tile_m * tile_n * result_bytes
    return 2 * tile_m * tile_n * depth / moved_bytes


def shape_efficiency(*, tile_m: Number, tile_n: Number) -> Number:
    """Intensity of a tile over that of the square of the same area.

    Equation: ``2 sqrt(M N) / (M + N)``, the geometric mean of the sides over the arithmetic one:
    below 1 unless M = N.

    Args:
        tile_m: M, rows of the tile [-], above 0.
        tile_n: N, columns of the tile [-], above 0.

    Returns:
        The share of the best intensity [-], at most 1.

    Raises:
        ArgumentError: A side is not above 0.

    Source: document 000, section 5 GEMM 2 (the best block is a square).

    Example:
        >>> shape_efficiency(tile_m=64, tile_n=256)  # 128 / 160
        0.8
    """
    require("tile_m", tile_m, low=0, above_low=True)
    require("tile_n", tile_n, low=0, above_low=True)
    return 2 * square_root(tile_m * tile_n) / (tile_m + tile_n)


def smallest_square_tile(*, target_intensity: Number, element_bytes: Number) -> Number:
    """Side of the smallest square tile whose intensity reaches a target.

    Equation: ``ceil(target_intensity element_bytes)``, as a square of side T has T / element_bytes

    Args:
        target_intensity: The intensity wanted, for example the ridge of a device [FLOP/byte],
            above 0.
        element_bytes: Size of an operand [bytes], above 0.

    Returns:
        The side [-].

    Raises:
        ArgumentError: An argument is not above 0.

    Validity: reads only, as `tile_intensity`. Where a float product lies a rounding above a whole
    number the side is one larger than need be, never smaller.

    Source: document 000, section 5 GEMM 2, solved for the side.

    Example:
        >>> smallest_square_tile(target_intensity=100, element_bytes=2)
        200
    """
    require("target_intensity", target_intensity, low=0, above_low=True)
    require("element_bytes", element_bytes, low=0, above_low=True)
    return ceil_divide(target_intensity * element_bytes, 1)


def sharing_factor(*, rows: Number, columns: Number) -> Number:
    """How many times fewer operands a rectangle of cells fetches together than one by one.

    Equation: ``2 R C / (R + C)``: R C cells each ask for one operand of A and one of B, and their
    rows share the first, their columns the second.

    Args:
        rows: R, rows of cells [-], at least 1: threads of a tile, or blocks in flight.
        columns: C, columns of cells [-], at least 1.

    Returns:
        The cut in loads, or the bandwidth amplification of a cache between [-]: 1 for one cell, R
        for a square.

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Validity: all the cells work at the same depth of the sum, and what is shared stays in the
    cache or tile until each has used it.

    Source: document 000, section 5 GEMM 3 (block ID swizzle); document 004, section 3.3.

    Example:
        >>> sharing_factor(rows=8, columns=8)  # (64 + 64) / (8 + 8)
        8.0
        >>> round(sharing_factor(rows=1, columns=64), 2)  # (64 + 64) / (1 + 64)
        1.97
    """
    _require_whole(rows=rows, columns=columns)
    return 2 * rows * columns / (rows + columns)


def tile_steps(*, depth: Number, tile_k: Number) -> Number:
    """Steps of a loop that walks a length in tiles.

    Equation: ``ceil(K / TK)``

    Args:
        depth: K, the length walked [-], at least 1.
        tile_k: TK, how much a step takes [-], at least 1.

    Returns:
        Steps [-], the last one perhaps partly filled.

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Source: document 003, section 5; document 000, section 5 GEMV step 3 (v in pieces).

    Example:
        >>> tile_steps(depth=500, tile_k=16)  # 31.25
        32
    """
    _require_whole(depth=depth, tile_k=tile_k)
    return ceil_divide(depth, tile_k)


def tile_barriers(*, depth: Number, tile_k: Number, barriers_per_step: Number) -> Number:
    """Barriers that a block meets while it walks a length in tiles.

    Equation: ``barriers_per_step ceil(K / TK)``

    Args:
        depth: K, the length walked [-], at least 1.
        tile_k: TK, how much a step takes [-], at least 1.
        barriers_per_step: Barriers of a step [-], at least 0: 2 for a single buffer, one before
            the tile is used and one before it is overwritten; 1 for two buffers.

    Returns:
        Barriers [-].

    Raises:
        ArgumentError: An argument is not whole or below its least value.

    Source: document 003, section 5.

    Example:
        >>> tile_barriers(depth=512, tile_k=16, barriers_per_step=2)  # 32 steps
        64
    """
    require("barriers_per_step", barriers_per_step, low=0, whole=True)
    return barriers_per_step * tile_steps(depth=depth, tile_k=tile_k)


def product_shared_bytes(
    *, tile_m: Number, tile_n: Number, tile_k: Number, element_bytes: Number, buffers: Number
) -> Number:
    """Shared memory of a block that holds tiles of both operands of a matrix product.

    Equation: ``buffers (TM + TN) TK element_bytes``

    Args:
        tile_m: TM, rows of the block's tile [-], at least 1.
        tile_n: TN, columns of it [-], at least 1.
        tile_k: TK, the depth of a step [-], at least 1.
        element_bytes: Size of an operand [bytes], at least 1.
        buffers: Copies of each tile [-], at least 1: 2 for a double buffer.

    Returns:
        Shared memory of a block [bytes], without padding.

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Source: document 000, section 5 GEMM 3; document 004, sections 4.3 and 6.

    Example:
        >>> product_shared_bytes(tile_m=16, tile_n=16, tile_k=16, element_bytes=4, buffers=1)
        2048
    """
    _require_whole(tile_m=tile_m, tile_n=tile_n, tile_k=tile_k)
    _require_whole(element_bytes=element_bytes, buffers=buffers)
    return buffers * (tile_m + tile_n) * tile_k * element_bytes


class AttentionShared(NamedTuple):
    """Shared memory of a block of fused attention, part by part."""

    q_bytes: Number
    s_bytes: Number
    kv_bytes: Number
    total_bytes: Number


def attention_shared_bytes(
    *,
    rows_q: Number,
    rows_kv: Number,
    head_dim: Number,
    element_bytes: Number,
    k_buffers: Number = 1,
    v_buffers: Number = 1,
) -> AttentionShared:
    """Shared memory of a block of fused attention.

    Equation: ``(Br d + Br Bc + (k_buffers + v_buffers) Bc d) element_bytes``

    Args:
        rows_q: Br, rows of Q in a block [-], at least 1.
        rows_kv: Bc, rows of K and V in a step [-], at least 1.
        head_dim: d, the length of a head [-], at least 1.
        element_bytes: Size of an element [bytes], at least 1.
        k_buffers: Tiles of K held at once [-], at least 1: 2 where the next is loaded while the
            present one is multiplied.
        v_buffers: Tiles of V held at once [-], at least 1.

    Returns:
        The parts for Q, for S and for K and V, and their sum [bytes].

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Validity: S (or P) passes through shared memory in the same type; a design that keeps P in
    registers saves that part.

    Source: document 000, section 5 FlashAttention (block sizes), with the buffers added that its
    own pipeline needs.

    Example:
        >>> attention_shared_bytes(  # 64 KB each
        ...     rows_q=256, rows_kv=128, head_dim=128, element_bytes=2
        ... )
        AttentionShared(q_bytes=65536, s_bytes=65536, kv_bytes=65536, total_bytes=196608)
    """
    _require_whole(rows_q=rows_q, rows_kv=rows_kv, head_dim=head_dim)
    _require_whole(element_bytes=element_bytes, k_buffers=k_buffers, v_buffers=v_buffers)
    q_bytes = rows_q * head_dim * element_bytes
    s_bytes = rows_q * rows_kv * element_bytes
    kv_bytes = (k_buffers + v_buffers) * rows_kv * head_dim * element_bytes
    return AttentionShared(q_bytes, s_bytes, kv_bytes, q_bytes + s_bytes + kv_bytes)


def attention_kv_intensity(*, rows_q: Number, element_bytes: Number) -> Number:
    """Operational intensity of the main loop of fused attention, where only K and V are loaded.

    Equation: ``4 Br Bc d / (2 Bc d element_bytes) = 2 Br / element_bytes``

    Args:
        rows_q: Br, rows of Q in a block [-], at least 1.
        element_bytes: Size of an element of K and V [bytes], above 0.

    Returns:
        The intensity [FLOP/byte] with respect to the K and V bytes that enter shared memory.

    Raises:
        ArgumentError: `rows_q` is not a whole number of at least 1, or `element_bytes` not above 0.

    Validity: long sequences, where the one load of Q and the one store of O do not count; the
    operations of softmax are not counted.

    Source: document 000, section 5 FlashAttention (block sizes).

    Example:
        >>> attention_kv_intensity(rows_q=256, element_bytes=2)
        256.0
    """
    _require_whole(rows_q=rows_q)
    require("element_bytes", element_bytes, low=0, above_low=True)
    return 2 * rows_q / element_bytes


def attention_score_bytes(*, queries: Number, keys: Number, element_bytes: Number) -> Number:
    """Memory of S and P of one head, where attention is computed as three kernels.

    Equation: ``2 Nq Nk element_bytes``

    Args:
        queries: Nq, rows of Q [-], at least 1.
        keys: Nk, rows of K and V [-], at least 1.
        element_bytes: Size of an element of S and P [bytes], above 0.

    Returns:
        Bytes stored [bytes], each element once.

    Raises:
        ArgumentError: A size is not a whole number of at least 1, or `element_bytes` not above 0.

    Source: document 000, section 5 FlashAttention (memory of the standard form).

    Example:
        >>> attention_score_bytes(queries=1024, keys=1024, element_bytes=2)  # 2 MiB each
        4194304
    """
    _require_whole(queries=queries, keys=keys)
    require("element_bytes", element_bytes, low=0, above_low=True)
    return 2 * queries * keys * element_bytes


def attention_input_output_bytes(
    *, queries: Number, keys: Number, head_dim: Number, element_bytes: Number
) -> Number:
    """Memory of Q, K, V and O of one head: all that fused attention keeps.

    Equation: ``2 (Nq + Nk) d element_bytes``

    Args:
        queries: Nq, rows of Q and O [-], at least 1.
        keys: Nk, rows of K and V [-], at least 1.
        head_dim: d, the length of a head [-], at least 1.
        element_bytes: Size of an element [bytes], above 0.

    Returns:
        Bytes stored [bytes], each element once.

    Raises:
        ArgumentError: A size is not a whole number of at least 1, or `element_bytes` not above 0.

    Validity: inference; training also keeps one sum a row for the backward pass.

    Source: document 000, section 5 FlashAttention.

    Example:
        >>> attention_input_output_bytes(queries=1024, keys=1024, head_dim=128, element_bytes=2)
        1048576
    """
    _require_whole(queries=queries, keys=keys, head_dim=head_dim)
    require("element_bytes", element_bytes, low=0, above_low=True)
    return 2 * (queries + keys) * head_dim * element_bytes


def warp_groups(*, threads: Number, warps_per_group: Number, warp_width: Number) -> Number:
    """Groups of warps in a block, each of which issues tensor instructions together.

    Equation: ``threads / (warps_per_group warp_width)``

    Args:
        threads: Threads of the block [-], a multiple of a group's.
        warps_per_group: Warps that share a tensor instruction [-], at least 1.
        warp_width: Lanes of a warp [-], at least 1.

    Returns:
        Groups [-].

    Raises:
        ArgumentError: An argument is not a whole number of at least 1, or a group is left partly
            filled.

    Source: document 000, section 5 FlashAttention (squads of the tensor unit).

    Example:
        >>> warp_groups(threads=512, warps_per_group=4, warp_width=32)
        4
    """
    _require_whole(threads=threads, warps_per_group=warps_per_group, warp_width=warp_width)
    return _divide_evenly("threads", threads, warps_per_group * warp_width)


def rows_per_warp_group(*, rows: Number, groups: Number) -> Number:
    """Rows of a tile that each group of warps owns.

    Equation: ``rows / groups``

    Args:
        rows: Rows of the tile [-], a multiple of `groups`.
        groups: Groups of warps [-], at least 1.

    Returns:
        Rows of a group [-]: the M that its tensor instruction must have.

    Raises:
        ArgumentError: An argument is not a whole number of at least 1, or the rows do not divide.

    Source: document 000, section 5 FlashAttention (64 rows a squad).

    Example:
        >>> rows_per_warp_group(rows=256, groups=4)
        64
    """
    _require_whole(rows=rows, groups=groups)
    return _divide_evenly("rows", rows, groups)


class CachedVector(NamedTuple):
    """What a block of a matrix-vector product does with the vector it keeps in shared memory."""

    uses_per_element: Number
    bytes_per_block: Number
    pieces: Number
    shared_bytes: Number


def cached_vector(
    *, depth: Number, tile_v: Number, rows_per_block: Number, element_bytes: Number
) -> CachedVector:
    """Traffic and cost of the vector of a matrix-vector product, cached in pieces of TILE_V.

    Equation: uses ``R``, bytes ``K element_bytes``, pieces ``ceil(K / TILE_V)``, shared memory
    ``TILE_V element_bytes``: the piece changes how often the block stops, not what it loads.

    Args:
        depth: K, the length of the vector [-], at least 1.
        tile_v: TILE_V, elements of a piece [-], at least 1.
        rows_per_block: R, rows of the matrix that a block owns [-], at least 1.
        element_bytes: Size of an element [bytes], at least 1.

    Returns:
        Uses of an element for each load of it [-], bytes of v that a block loads [bytes], pieces
        [-], and shared memory of a block [bytes].

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Validity: all the rows of the block walk the same piece together. The document has reuse rise
    with TILE_V; by these counts it rises with the rows of a block.

    Source: document 000, section 5 GEMV step 3, with the counts made by us.

    Example:
        >>> cached_vector(depth=4096, tile_v=1024, rows_per_block=8, element_bytes=4)
        CachedVector(uses_per_element=8, bytes_per_block=16384, pieces=4, shared_bytes=4096)
    """
    _require_whole(depth=depth, tile_v=tile_v)
    _require_whole(rows_per_block=rows_per_block, element_bytes=element_bytes)
    return CachedVector(
        uses_per_element=rows_per_block,
        bytes_per_block=depth * element_bytes,
        pieces=ceil_divide(depth, tile_v),
        shared_bytes=tile_v * element_bytes,
    )


def _require_whole(**counts: Number) -> None:
    for name, count in counts.items():
        require(name, count, low=1, whole=True)


def _divide_evenly(name: str, total: Number, parts: Number) -> Number:
    """The quotient of a division that must leave nothing; a plain fraction of symbols."""
    if is_symbolic(total) or is_symbolic(parts):
        return total / parts
    left = total % parts
    if left.any() if is_array(left) else left:
        raise ArgumentError(f"{name} is {total}: it must be a multiple of {parts}")
    return floor_divide(total, parts)
