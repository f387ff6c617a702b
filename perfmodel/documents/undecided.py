"""The claims that nothing here decides, each with its reason."""

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


UNDECIDED: Mapping[str, Undecided] = {
    "softmax-half2-alignment": Undecided(
        "not_modelled",
        "the 64 bytes on which the tensor lies are a premise of the document and follow from no "
        "input; that half2 needs 4 is its size",
    ),
    "softmax-ldg": Undecided(
        "not_modelled",
        "a load marked read-only takes another path on this device, of which nothing is known; the "
        "model has one path for global loads",
    ),
    "multigpu-96": Undecided(
        "not_modelled",
        "no times are given; linear within 5 % on 96 devices means a communication share below "
        "5.5e-4 of one device's time (engines.scaling.strong_scaling_share_allowed)",
    ),
    "softmax-accuracy": Undecided("not_modelled", "about numerics, not speed"),
    "softmax-fast-exp": Undecided("not_modelled", "about numerics, not speed"),
    "hipify-share": Undecided("not_modelled", "about a tool, not a kernel"),
}
"""The claims that are outside of what is modelled."""


def undecided(claim: Claim) -> Undecided | None:
    """Why nothing decides a claim; None where a check should."""
    return UNDECIDED.get(claim.id)
