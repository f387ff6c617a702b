"""From an index, as text or as numbers, to the address of every lane of a warp.

An expression is evaluated for the lanes of one warp of a block of a given shape: lane l of warp w
is thread t = w x width + l, with threadIdx.x = t % blockDim.x and so on, as on every device here.
Beside the built-in names of CUDA, MUSA and HIP (`threadIdx.x`, `hipThreadIdx_x`, ...) an expression
may say `tid` for t, `lane` or `lane_id` for l, and `warp` or `warp_id` for w. A parameter of the
same name takes precedence. A parameter given as several values makes as many accesses, along the
leading axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from math import prod
from typing import TYPE_CHECKING, Any

from perfmodel.engines.arithmetic import require
from perfmodel.errors import ArgumentError, quoted
from perfmodel.expressions import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from perfmodel.device.model import Device

ELEMENT_BYTES: Mapping[str, int] = {
    "char": 1, "int8": 1, "uint8": 1, "int8_t": 1, "uint8_t": 1, "fp8": 1, "bool": 1,
    "short": 2, "int16": 2, "int16_t": 2, "uint16_t": 2, "half": 2, "__half": 2, "fp16": 2,
    "bf16": 2, "bfloat16": 2, "__nv_bfloat16": 2, "char2": 2,
    "int": 4, "unsigned": 4, "int32": 4, "uint32": 4, "int32_t": 4, "uint32_t": 4, "float": 4,
    "fp32": 4, "tf32": 4, "half2": 4, "__half2": 4, "char4": 4, "uchar4": 4, "short2": 4,
    "double": 8, "fp64": 8, "int64": 8, "uint64": 8, "int64_t": 8, "uint64_t": 8, "long": 8,
    "size_t": 8, "float2": 8, "int2": 8, "uint2": 8, "half4": 8, "short4": 8,
    "float4": 16, "int4": 16, "uint4": 16, "double2": 16, "longlong2": 16, "half8": 16,
}  # fmt: skip
"""Bytes of the element types that commands take by name; int4 is CUDA's vector of four int."""

LARGEST_ADDRESS = 2**56
"""Beyond this no device has memory; it keeps sums of addresses far from the end of int64."""

MOST_ACCESSES = 1 << 18
"""Accesses evaluated at once."""


@dataclass(frozen=True, kw_only=True)
class WarpAccess:
    """Addresses of a warp's lanes; shape (..., lanes)."""

    addresses: NDArray[np.int64]
    active: NDArray[np.bool_]
    element_bytes: int


def warp_access(
    device: Device,
    *,
    index: str | Sequence[int] | NDArray[Any],
    element_bytes: int,
    block: tuple[int, ...] = (),
    warp: int = 0,
    base_bytes: int = 0,
    active: str | int | Sequence[bool] | NDArray[Any] | None = None,
    parameters: Mapping[str, int | Sequence[int]] | None = None,
) -> WarpAccess:
    """The addresses that a warp's lanes access.

    Args:
        device: The device, whose warp width counts.
        index: An index expression in elements, or an index for each lane (last axis).
        element_bytes: Bytes that each lane accesses [bytes].
        block: Shape of the block [threads]; by default one warp.
        warp: Which warp of the block.
        base_bytes: Address of element 0 [bytes], for arrays that are not aligned.
        active: A predicate, the number of leading lanes that take part, or one flag a lane.
        parameters: Values of the named parameters, and of blockIdx.x and the like; a sequence
            makes as many accesses.

    Returns:
        Addresses and active lanes.

    Raises:
        ArgumentError: A number is outside its range.
        ExpressionError: The expression is wrong or names what is not given.
    """
    import numpy as np

    width = device.warp_width.whole
    _require_sizes(element_bytes, base_bytes)
    names, present = lane_names(device, block=block, warp=warp, parameters=parameters or {})
    if isinstance(index, str):
        indices = evaluate(index, names)
        if indices.dtype.kind not in "iub":
            raise ArgumentError(f"index {index!r} gives fractions: an index must be an integer")
        indices = np.broadcast_to(indices, np.broadcast_shapes(indices.shape, (width,)))
    else:
        indices, present = _given_indices(index, width, present)
    if indices.size > MOST_ACCESSES * width:
        raise ArgumentError(f"{indices.size} indices: at most {MOST_ACCESSES * width} at once")
    taking_part = _active(active, names, present, indices.shape)
    used = np.where(taking_part, indices, 0)
    if used.size and max(abs(int(used.min())), abs(int(used.max()))) > LARGEST_ADDRESS // 256:
        raise ArgumentError(f"an index of {int(used.max())} is beyond any memory")
    return WarpAccess(
        addresses=used.astype(np.int64) * element_bytes + base_bytes,
        active=taking_part,
        element_bytes=element_bytes,
    )


def evaluate(text: str, names: Mapping[str, Any]) -> NDArray[Any]:
    """Evaluate an expression, a name without a value being the caller's oversight.

    Raises:
        ArgumentError: The expression names a parameter that was not given.
        ExpressionError: The expression is wrong.
    """
    expression = parse(text)
    missing = sorted(expression.names - names.keys())
    if missing:
        near = get_close_matches(missing[0], names, n=1, cutoff=0.7)
        hint = f"did you mean {near[0]}? otherwise " if near else ""
        raise ArgumentError(
            f"{quoted(text)} needs a value for {', '.join(missing)}: {hint}give it as a parameter, "
            f"such as -p {missing[0]}=1"
        )
    return expression.evaluate(names)


def lane_names(
    device: Device,
    *,
    block: tuple[int, ...],
    warp: int | None,
    parameters: Mapping[str, int | Sequence[int]],
) -> tuple[dict[str, Any], NDArray[np.bool_]]:
    """What the names of an expression stand for, lane by lane; and which lanes exist.

    With `warp` None, the last axis holds all threads of the block, filled up to whole warps.
    """
    import numpy as np

    width = device.warp_width.whole
    shape = tuple(block) or (width,)
    if len(shape) > 3 or any(not isinstance(size, int) or size < 1 for size in shape):
        raise ArgumentError(f"block is {shape}: give one to three sizes of at least 1")
    threads = prod(shape)
    if threads > device.max_threads_per_block.value:
        raise ArgumentError(
            f"block is {'x'.join(map(str, shape))}, {threads} threads: {device.device} allows at "
            f"most {device.max_threads_per_block.whole}"
        )
    warps = -(-threads // width)
    if warp is not None and not isinstance(warp, int):
        raise ArgumentError(f"warp is {warp!r:.40}: it must be a whole number")
    if warp is not None and not 0 <= warp < warps:
        raise ArgumentError(f"warp is {warp}: the block has warps 0 to {warps - 1}")
    thread = np.arange(warps * width) if warp is None else warp * width + np.arange(width)
    present = thread < threads
    thread = np.where(present, thread, 0)
    x, y, z = (*shape, 1, 1)[:3]
    built_in = {
        "threadIdx": (thread % x, thread // x % y, thread // (x * y)),
        "blockDim": (x, y, z),
        "blockIdx": (0, 0, 0),
        "gridDim": (1, 1, 1),
    }
    names: dict[str, Any] = {"warpSize": width, "tid": thread}
    names |= dict.fromkeys(("lane", "lane_id"), thread % width)
    names |= dict.fromkeys(("warp", "warp_id"), thread // width)
    for base, values in built_in.items():
        for axis, value in zip("xyz", values, strict=True):
            names[f"{base}.{axis}"] = value
            names[_hip_name(base, axis)] = np.asarray(value, dtype=np.uint32)
    axes = _parameter_axes(parameters)
    # A parameter of a built-in name holds for its other spelling as well.
    for base in built_in:
        for axis in "xyz":
            spellings = (f"{base}.{axis}", _hip_name(base, axis))
            for one, other in (spellings, spellings[::-1]):
                if one in axes and other not in axes:
                    names[other] = axes[one]
    return names | axes, present


def _hip_name(base: str, axis: str) -> str:
    """HIP's older spelling of a built-in name, such as hipThreadIdx_x."""
    return f"hip{base[0].upper()}{base[1:]}_{axis}"


def _parameter_axes(parameters: Mapping[str, int | Sequence[int]]) -> dict[str, Any]:
    """Each parameter with several values on an axis of its own before the lanes."""
    import numpy as np

    several = {
        name: tuple(value) for name, value in parameters.items() if not isinstance(value, int)
    }
    accesses = prod(map(len, several.values()))
    if accesses > MOST_ACCESSES:
        raise ArgumentError(
            f"the parameters {', '.join(several)} make {accesses} accesses: "
            f"at most {MOST_ACCESSES} at once"
        )
    axes: dict[str, Any] = {name: v for name, v in parameters.items() if isinstance(v, int)}
    for axis, (name, values) in enumerate(several.items()):
        shape = [1] * (len(several) + 1)
        shape[axis] = len(values)
        axes[name] = np.asarray(values).reshape(shape)
    return axes


def _given_indices(
    index: Any, width: int, present: NDArray[np.bool_]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    import numpy as np

    indices = np.asarray(index)
    if indices.dtype.kind not in "iu" or indices.ndim == 0 or not 1 <= indices.shape[-1] <= width:
        raise ArgumentError(
            f"index is an array of {indices.dtype} with shape {indices.shape}: give up to {width} "
            "integers, one a lane"
        )
    return indices, present[: indices.shape[-1]]


def _active(
    active: Any, names: Mapping[str, Any], present: NDArray[np.bool_], shape: tuple[int, ...]
) -> NDArray[np.bool_]:
    import numpy as np

    lanes = shape[-1]
    if active is None:
        chosen: NDArray[Any] = np.ones(lanes, dtype=bool)
    elif isinstance(active, str):
        chosen = evaluate(active, names) != 0
    elif isinstance(active, int) and not isinstance(active, bool):
        if not 0 <= active <= lanes:
            raise ArgumentError(f"active is {active}: there are {lanes} lanes")
        chosen = np.arange(lanes) < active
    else:
        chosen = np.asarray(active)
        if chosen.dtype.kind != "b" or chosen.shape[-1:] != (lanes,):
            raise ArgumentError(f"active has shape {chosen.shape}: give {lanes} flags, one a lane")
    return np.broadcast_to(chosen & present, np.broadcast_shapes(shape, chosen.shape))


def _require_sizes(element_bytes: int, base_bytes: int) -> None:
    for name, size in (("element_bytes", element_bytes), ("base_bytes", base_bytes)):
        if not isinstance(size, int):
            raise ArgumentError(f"{name} is {size!r:.40}: it must be a whole number")
    require("element_bytes", element_bytes, low=1, whole=True)
    if element_bytes < 1 or element_bytes > 128 or element_bytes & (element_bytes - 1):
        raise ArgumentError(f"element_bytes is {element_bytes}: it must be 1, 2, 4, ... or 128")
    require("base_bytes", base_bytes, low=0, high=LARGEST_ADDRESS, whole=True)
