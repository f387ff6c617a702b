"""A tile with a halo that a block loads together: every block counted, against doing it by hand."""

from __future__ import annotations

import numpy as np
import pytest

from perfmodel import load_device
from perfmodel.scheduler.evaluation import evaluate
from perfmodel.scheduler.fields import Fields
from tests.scheduler.small import small

HALO = small(
    halo="""
- let: {x0: blockIdx.x * 64, y0: "blockIdx.x / 5 * 4"}
- for: k
  from: threadIdx.x
  below: 66 * 6
  step: block
  do:
    - let: {ty: k / 66, tx: k % 66}
    - if: "x0 + tx < steps && y0 + ty < 41"
      then: [{load: v, from: a, index: "(y0 + ty) * steps + x0 + tx"}]
"""
)


@pytest.mark.parametrize("row", [320, 301, 300, 66])
def test_executions_and_sectors_are_those_of_all_blocks(row: int) -> None:
    block, blocks = 128, 64
    values = {"n": block * blocks, "block": block, "steps": row}
    launch = evaluate(HALO.rungs["halo"], values, Fields(load_device("h200"))).launches[0]
    (role,) = launch.counts.roles
    tallies = next(each for each in role.tallies.values() if np.any(each.sectors))
    sectors = executions = 0
    for number in range(blocks):
        x0, y0 = number * 64, number // 5 * 4
        for first in range(0, 66 * 6, block):
            for warp in range(first, first + block, 32):
                k = np.arange(warp, warp + 32)
                k = k[k < 66 * 6]
                ty, tx = k // 66, k % 66
                held = (x0 + tx < row) & (y0 + ty < 41)
                touched = ((y0 + ty) * row + x0 + tx)[held] * 4 // 32
                executions += bool(held.any())
                sectors += len(np.unique(touched))
    assert float(tallies.executions) == executions
    assert float(tallies.sectors) == sectors
