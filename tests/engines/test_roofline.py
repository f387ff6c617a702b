"""The roofline against spending the work piece by piece, its corner and its formula."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from perfmodel.engines import roofline as law
from perfmodel.errors import ArgumentError

rates = st.floats(1e3, 1e15)
amounts = st.just(0.0) | st.floats(1e-3, 1e15)  # no denormals, which lose digits


@given(amounts, rates, st.floats(1, 1e15), rates)
def test_the_least_time_is_the_longer_of_two_side_by_side(
    flop: float, peak: float, moved: float, bandwidth: float
) -> None:
    computing, moving = flop / peak, moved / bandwidth
    actual = law.least_time(
        flop=flop, peak_flop_per_s=peak, moved_bytes=moved, bandwidth_bytes_per_s=bandwidth
    )
    assert actual == (computing if computing > moving else moving)
    intensity = law.intensity(flop=flop, moved_bytes=moved)
    roof = law.attainable(
        peak_flop_per_s=peak, bandwidth_bytes_per_s=bandwidth, intensity_flop_per_byte=intensity
    )
    if flop > 0 and roof > 0:
        assert flop / roof == pytest.approx(actual, rel=1e-9)


@given(rates, rates)
def test_the_roofs_meet_at_the_ridge(peak: float, bandwidth: float) -> None:
    ridge = law.ridge_point(peak_flop_per_s=peak, bandwidth_bytes_per_s=bandwidth)

    def attainable(intensity: float) -> float:
        return float(
            law.attainable(
                peak_flop_per_s=peak,
                bandwidth_bytes_per_s=bandwidth,
                intensity_flop_per_byte=intensity,
            )
        )

    assert attainable(ridge) == pytest.approx(peak, rel=1e-12)
    assert attainable(ridge * 2) == peak
    assert attainable(ridge / 2) == pytest.approx(peak / 2, rel=1e-12)
    assert attainable(float("inf")) == peak
    assert attainable(0) == 0


def test_the_examples_of_the_documents() -> None:
    assert law.peak(units=1, flop_per_cycle_per_unit=8, clock_hz=3e9) == 24e9
    gemv = law.intensity(flop=2 * 4096**2, moved_bytes=4 * (4096**2 + 2 * 4096))
    assert gemv == pytest.approx(0.4997559786, rel=1e-9)
    vector_addition = law.intensity(flop=1, moved_bytes=12)
    assert vector_addition == pytest.approx(0.0833333333, rel=1e-8)
    tile = law.intensity(flop=2 * 128 * 128, moved_bytes=(128 + 128) * 4)
    assert tile == 32


def test_a_share_of_the_roof() -> None:
    assert law.share_of_roof(achieved_flop_per_s=1, attainable_flop_per_s=4) == 0.25
    assert law.share_of_roof(achieved_flop_per_s=8, attainable_flop_per_s=4) == 2


LAWS: list[tuple[Callable[..., Any], list[str]]] = [
    (law.attainable, ["peak_flop_per_s", "bandwidth_bytes_per_s", "intensity_flop_per_byte"]),
    (law.ridge_point, ["peak_flop_per_s", "bandwidth_bytes_per_s"]),
    (law.intensity, ["flop", "moved_bytes"]),
    (law.peak, ["units", "flop_per_cycle_per_unit", "clock_hz"]),
    (law.least_time, ["flop", "peak_flop_per_s", "moved_bytes", "bandwidth_bytes_per_s"]),
    (law.share_of_roof, ["achieved_flop_per_s", "attainable_flop_per_s"]),
]


@pytest.mark.parametrize(("function", "names"), LAWS, ids=[f.__name__ for f, _ in LAWS])
def test_arrays_and_symbols_are_the_scalar_law(
    function: Callable[..., Any], names: list[str]
) -> None:
    rng = np.random.default_rng(len(names))
    arrays = {name: rng.uniform(1, 1000, 50) for name in names}
    together = function(**arrays)
    symbols = {name: sympy.Symbol(name, positive=True) for name in names}
    formula = function(**symbols)
    for row in range(50):
        alone = {name: float(values[row]) for name, values in arrays.items()}
        assert function(**alone) == pytest.approx(together[row], rel=1e-14)
        put_in = formula.subs({symbols[name]: value for name, value in alone.items()})
        assert float(put_in) == pytest.approx(together[row], rel=1e-12)


@pytest.mark.parametrize(("function", "names"), LAWS, ids=[f.__name__ for f, _ in LAWS])
def test_numbers_below_zero_and_nan_are_refused(
    function: Callable[..., Any], names: list[str]
) -> None:
    for name in names:
        for wrong in (-1.0, float("nan"), "1"):
            arguments: dict[str, Any] = dict.fromkeys(names, 1.0) | {name: wrong}
            with pytest.raises(ArgumentError, match=f"{name} is"):
                function(**arguments)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (law.attainable, "peak_flop_per_s"),
        (law.attainable, "bandwidth_bytes_per_s"),
        (law.ridge_point, "bandwidth_bytes_per_s"),
        (law.intensity, "moved_bytes"),
        (law.peak, "clock_hz"),
        (law.peak, "units"),
        (law.least_time, "peak_flop_per_s"),
        (law.least_time, "bandwidth_bytes_per_s"),
        (law.share_of_roof, "attainable_flop_per_s"),
    ],
)
def test_what_is_divided_by_may_not_be_zero(function: Callable[..., Any], name: str) -> None:
    names = next(found for each, found in LAWS if each is function)
    with pytest.raises(ArgumentError, match=f"{name} is 0"):
        function(**(dict.fromkeys(names, 1.0) | {name: 0}))
