"""Document 000, part 5: the Reduce ladder; and the shuffle steps of document 002."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.documents.checks.common import amount
from perfmodel.documents.registry import check
from perfmodel.engines import reduction_tree

if TYPE_CHECKING:
    from perfmodel.documents.registry import Inputs

LAST_STRIDE = 2
"""Where the loop of the shared-memory tree ends; the last addition stands outside."""


@check("reduce-large-grid")
def large_grid(given: Inputs) -> Any:
    """Blocks of one element a thread."""
    return amount("ceil_div(elements, block)", given)


@check("reduce-tree-steps")
def tree_steps(given: Inputs) -> dict[str, Any]:
    """Steps, levels and barriers for each block size."""
    return {
        "loop_steps": [
            reduction_tree.tree_loop_steps(threads=threads, last_stride=LAST_STRIDE)
            for threads in given["block"]
        ],
        "levels": [reduction_tree.tree_levels(values=threads) for threads in given["block"]],
        "barriers": [
            reduction_tree.tree_barriers(threads=threads, last_stride=LAST_STRIDE)
            for threads in given["block"]
        ],
    }


@check("reduce-shared-bytes")
def shared_bytes(given: Inputs) -> list[Any]:
    """One value a thread."""
    return [
        reduction_tree.tree_shared_bytes(values=threads, element_bytes=given["element_bytes"])
        for threads in given["block"]
    ]


@check("reduce-small-passes")
def vectors_per_thread(given: Inputs) -> Any:
    """Vectors that each thread of the one block reads."""
    return amount("ceil_div(elements, block * vector)", given)


@check("reduce-shuffle-steps")
@check("softmax-shuffle-steps")
def shuffle_steps(given: Inputs) -> Any:
    """Levels of a tree over the lanes."""
    return reduction_tree.tree_levels(values=given["warp_size"])


@check("reduce-launches")
def launches(given: Inputs) -> dict[str, int]:
    """Launches of the rungs, as their descriptions have them."""
    del given
    from perfmodel.kernels.loading import load_description

    rungs = load_description("reduce").rungs
    names = {"two_stage": "vector_load", "one_block": "one_block", "last_block": "single_kernel"}
    return {form: len(rungs[name].launches) for form, name in names.items()}
