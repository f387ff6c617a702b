"""The tornado of a prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from perfmodel import load_device, predict
from perfmodel.plots.tornado import draw_tornado, prepare_tornado
from perfmodel.results.prediction import Sensitivity
from perfmodel.scheduler.whatif import elasticities, parameter_effects

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

S5000 = load_device("s5000")
UNITS = {name: value.unit for name, value in S5000.quantities().items()}


def test_changes_are_shares_of_the_time_and_ends_have_units() -> None:
    result = predict("gemm:naive", S5000)
    prepared = prepare_tornado(result, result.unknowns, "unknowns", UNITS)
    first = result.unknowns[0]
    assert prepared.names[0] == first.name == "line_rate"
    assert prepared.changes[0] == pytest.approx(
        [100 * (time / result.time_s - 1) for time in (first.time_at_low_s, first.time_at_high_s)]
    )
    assert prepared.ends[prepared.names.index("clock")] == ("1.5 GHz", "1.7 GHz")


def test_what_could_not_be_seen_is_left_out() -> None:
    result = predict("gemm:naive", S5000)
    prepared = prepare_tornado(result, result.unknowns, "unknowns", UNITS)
    assert "l1_latency" in {each.name for each in result.unknowns}
    assert "l1_latency" not in prepared.names


@pytest.mark.parametrize("rung", ["gemm:naive", "gemv:vector_loads", "reduce:sequential_tree"])
@pytest.mark.parametrize("over", ["unknowns", "fields", "parameters"])
def test_labels_do_not_collide(
    rung: str, over: str, assert_readable: Callable[[Figure], None]
) -> None:
    result = predict(rung, S5000)
    found = {
        "unknowns": lambda: result.unknowns,
        "fields": lambda: elasticities(rung, S5000),
        "parameters": lambda: parameter_effects(rung, S5000),
    }[over]()
    assert_readable(draw_tornado(prepare_tornado(result, found, over, UNITS)))


def test_both_ends_on_one_side_share_a_label(
    assert_readable: Callable[[Figure], None], texts_of: Callable[[Figure], list[str]]
) -> None:
    result = predict("gemm:naive", S5000, ranges=False)
    time = result.time_s
    worse = Sensitivity(
        name="bk", low=8, high=32, value=16, time_at_low_s=1.2 * time, time_at_high_s=1.5 * time
    )
    better = Sensitivity(
        name="bm", low=64, high=256, value=128, time_at_low_s=0.7 * time, time_at_high_s=0.8 * time
    )
    figure = draw_tornado(prepare_tornado(result, [better, worse], "parameters", {}))
    assert_readable(figure)
    assert {"32, inside 8", "64, inside 256"} <= set(texts_of(figure))


def test_nothing_to_draw_is_said(texts_of: Callable[[Figure], list[str]]) -> None:
    result = predict("gemm:naive", S5000, ranges=False)
    figure = draw_tornado(prepare_tornado(result, [], "unknowns", UNITS))
    assert "nothing moves it" in texts_of(figure)
