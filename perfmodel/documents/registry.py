"""Checks: how each claim is computed again, registered by the claim's id.

    @check("fa-kv-intensity")
    def kv_intensity(given):
        return attention_kv_intensity(rows_q=given["br"], element_bytes=given["element_bytes"])

A check is given the claim's inputs and returns what follows from them, in the shape of what the
claim expects. It never sees what is expected. Where a claim gives no inputs of its own, as most
errata do, they are those of other claims, named after the id.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from perfmodel.documents.claims import load_claims

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from perfmodel.documents.claims import Claim

    Inputs = Mapping[str, Any]

MODULES = (
    "amdahl_roofline",
    "occupancy_divergence",
    "memory",
    "scaling",
    "reduce",
    "gemv",
    "attention",
    "gemm",
    "softmax",
    "programming_model",
    "tile_gemm",
    "errata_000",
    "errata_002",
    "errata_003_004",
    "predicted_000",
    "predicted_002",
)
"""The modules of `perfmodel.documents.checks`."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a check found, where a value alone does not say enough.

    A claim that expects a text is decided by what was derived, not by the words: every entry of
    `holds` must be true, `formulas` must equal those that the text states, and `numbers` those that
    it prints, in their order and to the digits printed.
    """

    actual: Any
    """The value, or the derivation as text."""
    because: str = ""
    """Why it is so; for an erratum, what makes the document's figure wrong."""
    holds: Mapping[str, bool] = field(default_factory=dict)
    """Comparisons made on the way, by what they state."""
    formulas: Mapping[str, Any] = field(default_factory=dict)
    """sympy expressions by the name on their left side."""
    numbers: tuple[float, ...] = ()
    """Numbers derived."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """How a claim is computed again."""

    id: str
    borrows: tuple[str, ...]
    """The claims whose inputs are taken as well."""
    function: Callable[[Inputs], Any]

    def inputs(self, claim: Claim) -> dict[str, Any]:
        """What the function is given: the inputs, and what an erratum's document prints."""
        claims = load_claims()
        given: dict[str, Any] = {}
        for name in self.borrows:
            given |= claims[name].inputs
        given |= claim.inputs
        if claim.document_says is not None:
            given["document_says"] = claim.document_says
        return given


_REGISTERED: dict[str, Check] = {}


def check(
    claim_id: str, *borrows: str
) -> Callable[[Callable[[Inputs], Any]], Callable[[Inputs], Any]]:
    """Register a function as the check of a claim.

    Args:
        claim_id: The claim.
        borrows: Claims whose inputs it also needs; the claim's own come before theirs.

    Returns:
        The decorator, which leaves the function as it is.

    Raises:
        ValueError: Another function is registered for the claim.
    """

    def register(function: Callable[[Inputs], Any]) -> Callable[[Inputs], Any]:
        before = _REGISTERED.get(claim_id)
        if before is not None and before.function.__qualname__ != function.__qualname__:
            raise ValueError(f"{claim_id} has two checks")
        _REGISTERED[claim_id] = Check(id=claim_id, borrows=borrows, function=function)
        return function

    return register


@lru_cache(maxsize=1)
def checks() -> Mapping[str, Check]:
    """Every check by the id of its claim."""
    for module in MODULES:
        import_module(f"perfmodel.documents.checks.{module}")
    return MappingProxyType(_REGISTERED)
