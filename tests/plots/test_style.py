"""The shared look: spreading labels, contrast, and no window system."""

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perfmodel.plots
from perfmodel.plots import style

FOLDER = Path(perfmodel.plots.__file__).parent


@given(st.lists(st.floats(-5, 15), max_size=12), st.floats(0.1, 0.8))
def test_spread_keeps_order_distance_and_limits(wanted: list[float], gap: float) -> None:
    placed = style.spread(wanted, gap=gap, low=0.0, high=10.0)
    inside = [min(max(value, 0.0), 10.0) for value in wanted]
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    for first, second in pairwise(order):
        assert placed[second] - placed[first] >= gap - 1e-9
    assert all(-1e-9 <= position <= 10 + 1e-9 for position in placed)
    if all(abs(a - b) >= gap for index, a in enumerate(inside) for b in inside[:index]):
        assert placed == pytest.approx(inside)


def test_spread_of_too_many_starts_at_the_low_end() -> None:
    assert style.spread([5, 5, 5], gap=4, low=0.0, high=6) == [0.0, 4.0, 8.0]


def contrast(colour: object) -> float:
    return 1.05 / (style._luminance(colour) + 0.05)


@pytest.mark.parametrize("colour", style.PALETTE)
def test_coloured_text_can_be_read_on_white(colour: str) -> None:
    assert contrast(style.text_colour(colour)) >= 4.5


@pytest.mark.parametrize("colour", ["#CFE3F1", "#F6C667", "#E07B39", "#A8322D", style.BLUE])
def test_text_in_a_cell_can_be_read(colour: str) -> None:
    ink = style.ink_on(colour)
    light, dark = sorted([style._luminance(colour), style._luminance(ink)], reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 3


def test_series_differ_in_grey_too() -> None:
    looks = {(series % len(style.MARKERS), series % len(style.LINE_STYLES)) for series in range(13)}
    assert len(looks) == 13


def test_the_look_does_not_leak() -> None:
    from matplotlib import rcParams

    before = dict(rcParams)
    with style.look():
        assert rcParams["svg.hashsalt"] == "perfmodel"
    assert dict(rcParams) == before


def test_drawing_needs_no_window_and_no_pyplot(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "import perfmodel\n"
        "from perfmodel.analyses.roofline import roofline\n"
        "from perfmodel.plots.bank_map import prepare_bank_map\n"
        "from perfmodel.plots.roofline import draw_roofline, prepare_roofline\n"
        "from perfmodel.plots.saving import save\n"
        "s5000 = perfmodel.load_device('s5000')\n"
        "plot = prepare_roofline([roofline(s5000, kernel='gemv')])\n"
        "assert 'matplotlib' not in sys.modules\n"
        "save(draw_roofline(plot), Path(sys.argv[1]))\n"
        "assert 'matplotlib' in sys.modules\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "plot.png")], check=True)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_nothing_is_ever_shown(path: Path) -> None:
    assert not re.search(r"pyplot|\.show\(", path.read_text("utf-8"))
