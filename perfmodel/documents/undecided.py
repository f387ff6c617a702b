"""The claims that nothing here decides yet, or ever, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfmodel.documents.claims import Claim


@dataclass(frozen=True)
class Undecided:
    """Why a claim is not decided."""

    status: Literal["pending", "not_modelled"]
    """pending: a part of the model is missing; not_modelled: outside of what is modelled."""
    reason: str


PREDICTED = Undecided("pending", "waits for the scheduler")
"""The reason of every measured figure and rule of thumb that has no other."""

UNDECIDED: Mapping[str, Undecided] = {
    "reduce-launches": Undecided(
        "pending", "waits for the description of the Reduce kernels, which states their launches"
    ),
    "softmax-half2-alignment": Undecided(
        "not_modelled",
        "the 64 bytes on which the tensor lies are a premise of the document and follow from no "
        "input; that half2 needs 4 is its size",
    ),
    "softmax-accuracy": Undecided("not_modelled", "about numerics, not speed"),
    "softmax-fast-exp": Undecided("not_modelled", "about numerics, not speed"),
    "hipify-share": Undecided("not_modelled", "about a tool, not a kernel"),
}
"""The claims that are waiting for something of their own, or are outside of what is modelled."""


def undecided(claim: Claim) -> Undecided | None:
    """Why nothing decides a claim; None where a check should.

    A measured figure and a rule of thumb wait for a prediction to be compared with.
    """
    if claim.id in UNDECIDED:
        return UNDECIDED[claim.id]
    return PREDICTED if claim.kind in ("measured", "advice") else None
