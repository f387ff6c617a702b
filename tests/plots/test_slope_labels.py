"""Where labels go along slopes."""

import math

import pytest

from perfmodel.plots.slope_labels import Box, Frame, SlopeLabel, label_slopes, place
from perfmodel.plots.style import add_axes, new_figure


def put(**changed: object) -> Box:
    given: dict[str, object] = {
        "size": (50.0, 8.0),
        "line": (0.0, 300.0),
        "depth": 20.0,
        "other_depths": [],
        "peaks_begin": 300.0,
        "taken": [],
    }
    return place(**{**given, **changed})  # type: ignore[arg-type]  # as the function names them


def test_a_label_starts_above_the_beginning_of_its_line() -> None:
    assert put() == Box(along=(0, 50), across=(22.6, 30.6))


def test_a_label_avoids_a_line_above_by_going_below() -> None:
    assert put(other_depths=[26.0]).across == pytest.approx((9.4, 17.4))


def test_between_two_near_lines_a_label_covers_one() -> None:
    assert put(other_depths=[25.0, 15.0]).across == pytest.approx((22.6, 30.6))


def test_a_label_moves_along_until_it_is_free() -> None:
    box = put(taken=[Box(along=(-5, 100), across=(0, 40))])
    assert box.along == (108, 158)


def test_a_label_prefers_to_end_before_the_peaks() -> None:
    box = put(taken=[Box(along=(0, 10), across=(21, 31))], peaks_begin=60.0)
    assert box.across[1] < 20  # below the line it need not move into the peaks
    assert box.along == (0, 50)


def test_a_label_without_room_lies_at_the_beginning() -> None:
    assert put(taken=[Box(along=(-999, 999), across=(-99, 99))]).along == (0, 50)
    assert put(line=(0.0, 10.0)).along == (0, 50)


def test_the_frame_turns_slopes_level() -> None:
    axes = add_axes(new_figure(5, 4), left=1, bottom=1, width=3, height=2)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(0.01, 10)  # three decades: 72 points each
    axes.set_ylim(1e9, 1e13)  # four decades: 36 points each
    frame = Frame(axes)
    assert frame.angle == pytest.approx(math.atan2(36, 72))
    assert frame.of_data((0.01, 1e9)) == pytest.approx((0, 0), abs=1e-9)
    first, second = frame.of_data((0.1, 2e11)), frame.of_data((1, 2e12))
    assert first[1] == pytest.approx(second[1])
    assert second[0] - first[0] == pytest.approx(math.hypot(36, 72))
    along, across = frame.of_data((0.1, 1e10))
    assert frame.in_axes(along, across) == pytest.approx((1 / 3, 1 / 4))


def test_a_label_lies_along_its_line() -> None:
    axes = add_axes(new_figure(5, 4), left=1, bottom=1, width=3, height=2)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(0.01, 10)
    axes.set_ylim(1e9, 1e13)
    label = SlopeLabel(start=(0.01, 1e10), end=(10, 1e13), text="dram", colour="black")
    label_slopes(axes, [label], taken=[], lowest_peak=1e12)
    (text,) = axes.texts
    assert text.get_rotation() == pytest.approx(math.degrees(math.atan2(36, 72)))
    x, y = text.get_position()
    on_line = y - (0.25 + x * 3 / 4)  # the line enters at a quarter of the height
    assert 0 < on_line < 0.1
