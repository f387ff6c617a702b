"""What several checks share: amounts, types, and the addresses of a warp that no device has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.analyses.warp_access import ELEMENT_BYTES
from perfmodel.engines import coalescing
from perfmodel.expressions import parse

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from perfmodel.documents.registry import Inputs

HALF, HALF2, FLOAT, FLOAT4 = (ELEMENT_BYTES[name] for name in ("half", "half2", "float", "float4"))
"""Bytes of the types that the documents use."""


def amount(expression: str, given: Inputs, **more: Any) -> Any:
    """An amount in C, evaluated over the inputs; a plain number, or a list of them."""
    return parse(expression).evaluate({**given, **more}).tolist()


def useful_work(kernel: str, given: Inputs) -> tuple[float, float]:
    """FLOP and compulsory bytes of a shipped kernel, its other parameters at their defaults."""
    from perfmodel.kernels.fast import compiled
    from perfmodel.kernels.loading import load_description

    description = load_description(kernel)
    numbers = {
        name: each.default
        for name, each in description.parameters.items()
        if not isinstance(each.default, str)
    }
    numbers |= {name: given[name] for name in numbers if name in given}
    numbers["type_bytes"] = given["element_bytes"]
    flop, moved = (
        float(compiled(each.root)(numbers)) for each in (description.flop, description.compulsory)
    )
    return flop, moved


def warp_addresses(
    index: str, given: Inputs, *, element_bytes: int, **more: Any
) -> NDArray[np.int64]:
    """Byte addresses of the first warp of a block, for a claim that gives no device.

    Args:
        index: The index in elements, over threadIdx, the inputs and `more`.
        given: The inputs, with `warp_size` and, where the block is not one warp, `block`.
        element_bytes: Bytes of an element of the index [bytes].
        more: Further names of the index.
    """
    import numpy as np

    return np.asarray(parse(index).evaluate({**given, **thread_numbers(given), **more})) * (
        element_bytes
    )


def thread_numbers(given: Inputs) -> dict[str, NDArray[np.int64]]:
    """The threadIdx of each lane of the first warp."""
    import numpy as np

    lanes = np.arange(given["warp_size"])
    width = given["block"][0] if "block" in given else given["warp_size"]
    return {"threadIdx.x": lanes % width, "threadIdx.y": lanes // width}


def distinct_lines(addresses: NDArray[np.int64], *, access_bytes: int, line_bytes: int) -> int:
    """Distinct lines that the lanes touch; of several accesses, the most that one touches."""
    import numpy as np

    return int(
        coalescing.distinct_blocks(
            addresses=addresses,
            active=np.ones(addresses.shape, dtype=bool),
            element_bytes=access_bytes,
            block_bytes=line_bytes,
        ).max()
    )


def used_share(addresses: NDArray[np.int64], *, access_bytes: int, line_bytes: int) -> float:
    """Share of the lines touched that the lanes use."""
    import numpy as np

    used = coalescing.bytes_used(
        addresses=addresses,
        active=np.ones(addresses.shape, dtype=bool),
        element_bytes=access_bytes,
    )
    lines = distinct_lines(addresses, access_bytes=access_bytes, line_bytes=line_bytes)
    return float(coalescing.efficiency(bytes_used=int(used), bytes_moved=lines * line_bytes))
