"""Document 000, part 1: Amdahl's law and the roofline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.device.loading import load_device
from perfmodel.documents.registry import Finding, check
from perfmodel.engines import amdahl, roofline

if TYPE_CHECKING:
    from perfmodel.documents.registry import Inputs


@check("amdahl-limit")
@check("amdahl-formula")
def amdahl_speedup(given: Inputs) -> float:
    """Amdahl's law, of which the limit is the case of an infinite speed-up of the part."""
    return float(amdahl.speedup(**given))


@check("roofline-peak-example")
def peak(given: Inputs) -> float:
    """The peak of one unit."""
    return float(
        roofline.peak(
            units=1, flop_per_cycle_per_unit=given["flop_per_cycle"], clock_hz=given["clock_hz"]
        )
    )


@check("roofline-ridge", "coalescing-line")
def ridge(given: Inputs) -> Finding:
    """The laws over symbols, and on both sides of the ridge of a device in numbers."""
    import sympy

    pi, beta, intensity = sympy.symbols("pi beta I", positive=True)
    ceilings = {"peak_flop_per_s": pi, "bandwidth_bytes_per_s": beta}
    formulas: dict[str, Any] = {
        "I_max": roofline.ridge_point(**ceilings),
        "P": roofline.attainable(**ceilings, intensity_flop_per_byte=intensity),
    }
    device = load_device(given["device"])
    own = {
        "peak_flop_per_s": device.peaks["fp32"].value,
        "bandwidth_bytes_per_s": device.dram_bandwidth.value,
    }
    meeting = roofline.ridge_point(**own)

    def performance(at: float) -> float:
        return float(roofline.attainable(**own, intensity_flop_per_byte=at))

    left, right = meeting / 2, meeting * 2
    return Finding(
        actual="; ".join(f"{name} = {formula}" for name, formula in formulas.items()),
        because=f"the fp32 ridge of {device.device} lies at {meeting:.4g} FLOP/byte",
        formulas=formulas,
        holds={
            "left of the ridge the bandwidth rules": performance(left)
            == own["bandwidth_bytes_per_s"] * left,
            "right of the ridge the peak rules": performance(right) == own["peak_flop_per_s"],
        },
    )
