"""Accesses that lie a distance apart, against the sets of sectors that blocks touch."""

from __future__ import annotations

import numpy as np
import pytest

from perfmodel import device_names, load_device
from perfmodel.scheduler.evaluation import evaluate
from perfmodel.scheduler.fields import Fields
from tests.scheduler.small import small

LINE = "blockIdx.x * blockDim.x + threadIdx.x"
OFFSETS = {
    "neighbours": ((0, 0), (0, 1), (0, 2)),
    "rows": ((0, 0), (1, 0), (2, 0)),
    "cross": ((1, 0), (1, 1), (2, 0), (1, -1), (0, 0)),
    "once_more": ((0, 0), (0, 5), (0, 0)),
}
"""Rows of `steps` elements, and elements, from the thread's own."""
BODIES = {
    name: "".join(
        f'- {{load: x{place}, from: a, index: "{LINE} + {rows} * steps + {elements}"}}\n'
        for place, (rows, elements) in enumerate(offsets)
    )
    + f'- {{store: x0, to: c, index: "{LINE}"}}\n'
    for name, offsets in OFFSETS.items()
}
STENCILS = small(
    **BODIES,
    at_the_border=f"""
- {{load: x0, from: a, index: "{LINE}"}}
- {{load: x1, from: a, index: "min({LINE} + 1, n - 1)"}}
- {{store: x0, to: c, index: "{LINE}"}}
""",
    different_steps=f"""
- for: i
  below: 4
  do:
    - {{load: x0, from: a, index: "i * n + {LINE}"}}
    - {{load: x1, from: a, index: "2 * i * n + {LINE}"}}
""",
    shifted=f"""
- {{load: x0, from: a, index: "{LINE} + 1"}}
- {{store: x0, to: c, index: "{LINE} + 1"}}
""",
    once=f"""
- {{load: x0, from: a, index: "{LINE}"}}
- {{op: add.fp32, to: y, uses: [x0, x0]}}
- {{store: y, to: c, index: "{LINE}"}}
""",
    twice=f"""
- {{load: x0, from: a, index: "{LINE}"}}
- {{load: x1, from: a, index: "{LINE}"}}
- {{op: add.fp32, to: y, uses: [x0, x1]}}
- {{store: y, to: c, index: "{LINE}"}}
""",
)


def dram_of_a(rung: str, values: dict[str, int], device: str = "h200", **changes: float) -> float:
    found = evaluate(STENCILS.rungs[rung], values, Fields(load_device(device), changes))
    return float(found.launches[0].traffic.by_array["a", "load"].dram)


@pytest.mark.parametrize("device", ["h200", "s5000", "dcu"])
@pytest.mark.parametrize("block", [48, 256])
@pytest.mark.parametrize("rung", OFFSETS)
def test_all_that_blocks_touch_comes_from_dram_once(rung: str, block: int, device: str) -> None:
    values = {"n": block << 10, "block": block, "steps": 40 * block}
    thread = np.arange(values["n"])
    touched = np.concatenate(
        [thread + rows * values["steps"] + elements for rows, elements in OFFSETS[rung]]
    )
    sector = load_device(device).quantities()["l2_sector"].whole
    distinct = len(np.unique(touched * 4 // sector)) * sector
    assert dram_of_a(rung, values, device) == pytest.approx(distinct, rel=0.02)


@pytest.mark.parametrize("rung", ["neighbours", "cross", "once_more"])
def test_however_large_the_array_is(rung: str) -> None:
    values = {"n": 1 << 28, "block": 256, "steps": 1 << 13}
    assert dram_of_a(rung, values) == pytest.approx(4 << 28, rel=0.08)


def test_where_nothing_stays_each_fetches_for_itself() -> None:
    values = {"n": 1 << 20, "block": 256, "steps": 1 << 13}
    alone = dram_of_a("once", values, l1_size=1.0, l2_size=1.0)
    assert dram_of_a("rows", values, l1_size=1.0, l2_size=1.0) == pytest.approx(3 * alone, rel=1e-3)


def test_a_clamp_at_the_border_is_no_distance() -> None:
    values = {"n": 1 << 26, "block": 256, "steps": 1}
    assert dram_of_a("at_the_border", values) == pytest.approx(4 << 26, rel=0.01)


def test_accesses_that_move_apart_share_nothing() -> None:
    """Planes 0, 1, 2, 3 and 0, 2, 4, 6 are taken as eight: too many rather than too few."""
    plane = 4 << 26
    found = dram_of_a("different_steps", {"n": 1 << 26, "block": 256, "steps": 1})
    assert 6 * plane <= found <= 8 * plane * (1 + 1e-9)


@pytest.mark.parametrize("device", device_names())
def test_a_load_that_is_not_needed_makes_nothing_faster(device: str) -> None:
    for n in (1 << 12, 1 << 18, 1 << 26):
        values = {"n": n, "block": 256, "steps": 1}
        once, twice = (
            float(evaluate(STENCILS.rungs[rung], values, Fields(load_device(device))).time_s)
            for rung in ("once", "twice")
        )
        assert twice >= once * (1 - 1e-9)


def test_a_batch_shares_as_single_predictions_do() -> None:
    steps = np.array([1, 64, 4096, 1 << 15])
    batch = evaluate(
        STENCILS.rungs["rows"],
        {"n": 1 << 22, "block": 128, "steps": steps},
        Fields(load_device("s5000")),
        size=len(steps),
    )
    single = [
        float(
            evaluate(
                STENCILS.rungs["rows"],
                {"n": 1 << 22, "block": 128, "steps": int(each)},
                Fields(load_device("s5000")),
            ).time_s
        )
        for each in steps
    ]
    assert batch.time_s == pytest.approx(single, rel=1e-9)


def test_a_batch_of_whole_and_broken_sectors_is_its_single_predictions() -> None:
    """Blocks of 4, 32 and 48 elements; those of 4 share sectors with their neighbours."""
    blocks = np.array([4, 32, 48, 256])
    for rung in ("shifted", "neighbours"):
        batch = evaluate(
            STENCILS.rungs[rung],
            {"n": 3 << 20, "block": blocks, "steps": 1},
            Fields(load_device("s5000")),
            size=len(blocks),
        )
        for place, block in enumerate(blocks.tolist()):
            alone = evaluate(
                STENCILS.rungs[rung],
                {"n": 3 << 20, "block": block, "steps": 1},
                Fields(load_device("s5000")),
            )
            assert batch.time_s[place] == pytest.approx(float(alone.time_s), rel=1e-9)
            moved = alone.launches[0].traffic.by_array
            for key, traffic in batch.launches[0].traffic.by_array.items():
                dram = np.broadcast_to(traffic.dram, (len(blocks),))[place]
                assert dram == pytest.approx(float(moved[key].dram), rel=1e-9)
