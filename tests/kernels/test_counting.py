"""Counts equal a walk over all threads, and a batch equals single predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfmodel.errors import DataError
from perfmodel.kernels.counting import count
from perfmodel.kernels.loading import load_description
from perfmodel.kernels.parameters import expression_values, parameter_types, rung_parameters
from perfmodel.kernels.patterns import TALLIES
from perfmodel.kernels.setting import Setting
from tests.kernels.against_walk import GEOMETRIES, differences

if TYPE_CHECKING:
    from collections.abc import Mapping

MINI = load_description(Path(__file__).with_name("mini.yaml"))
FEW = {
    "tree": [{"n": 1000, "block": 64}, {"n": 96, "block": 128}, {"n": 200, "block": 40}],
    "naive": [{}, {"n": 1280, "m": 16, "k": 64}, {"m": 5, "k": 3, "tile": 4}],
    "stride": [{}, {"n": 999, "block": 96}, {"n": 10}],
}


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("rung", MINI.rungs)
def test_equal_to_the_walk(rung: str, geometry: str) -> None:
    for parameters in FEW[rung]:
        assert differences(MINI.rungs[rung], parameters, GEOMETRIES[geometry]) == []


@given(
    n=st.integers(40, 700),
    m=st.integers(1, 30),
    k=st.integers(1, 40),
    tile=st.integers(1, 9),
    geometry=st.sampled_from(sorted(GEOMETRIES)),
)
def test_partial_blocks_of_any_size(n: int, m: int, k: int, tile: int, geometry: str) -> None:
    parameters = {"n": n, "m": m, "k": k, "tile": tile}
    assert differences(MINI.rungs["naive"], parameters, GEOMETRIES[geometry]) == []


@given(n=st.integers(1, 500), block=st.integers(1, 80))
def test_lanes_that_leave_a_loop_early(n: int, block: int) -> None:
    parameters = {"n": n, "block": block}
    assert differences(MINI.rungs["stride"], parameters, GEOMETRIES["64 lanes"]) == []


def _setting(rung: str, parameters: Mapping[str, object], size: int) -> Setting:
    values = rung_parameters(MINI.rungs[rung], parameters)
    return Setting(
        size=size,
        values=expression_values(MINI.rungs[rung], values),
        types=parameter_types(values),
        geometries=(GEOMETRIES["32 lanes, sectors"],),
    )


@pytest.mark.parametrize("rung", MINI.rungs)
def test_a_batch_equals_single_counts(rung: str) -> None:
    n = np.array([1000, 640, 96, 1000, 1280])
    block = np.array([64, 64, 32, 128, 96])
    tile = np.array([8, 8, 4, 2, 8])
    batch = count(MINI.rungs[rung], _setting(rung, {"n": n, "block": block, "tile": tile}, 5))
    for place in range(5):
        own = {"n": int(n[place]), "block": int(block[place]), "tile": int(tile[place])}
        alone = count(MINI.rungs[rung], _setting(rung, own, 1))
        for ours, theirs in zip(batch, alone, strict=True):
            for position, tallies in ours.roles[0].tallies.items():
                for name in TALLIES:
                    value = np.broadcast_to(getattr(tallies, name), (5,))[place]
                    wanted = getattr(theirs.roles[0].tallies[position], name)
                    assert value == pytest.approx(wanted, rel=1e-12, abs=1e-12), (position, name)


ENDLESS = """\
format: 1
kernel: endless
title: a loop without an end
source: made up for tests
pipe: fp32
flop: 1
compulsory: 4
parameters: {n: {default: 64, about: elements}}
arrays: {a: {type: fp32, extent: n}}
rungs:
  - name: one
    change: none
    source: made up for tests
    launches:
      - block: [64]
        grid: [1]
        registers: 16
        body:
          - for: s
            from: 1
            while: "s > 0"
            next: "s + 1"
            do:
              - {load: x, from: a, index: "0"}
"""


def test_a_loop_without_an_end_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "endless.yaml"
    file.write_text(ENDLESS)
    rung = load_description(file).rungs["one"]
    geometry = GEOMETRIES["64 lanes"]
    setting = Setting(size=1, values={"n": 64}, types={}, geometries=(geometry,))
    with pytest.raises(DataError, match=r"endless\.yaml:19: the loop over s goes on"):
        count(rung, setting)
