"""What a block touches equals the sectors that a walk over its threads collects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perfmodel.kernels.counting import count
from perfmodel.kernels.loading import load_description
from perfmodel.kernels.parameters import expression_values, parameter_types, rung_parameters
from perfmodel.kernels.schema import Atomic, Copy, Load, Rung, Store
from perfmodel.kernels.setting import Setting
from tests.kernels import walk as slow
from tests.kernels.against_walk import GEOMETRIES, _as_walked
from tests.kernels.test_library import SMALL

MINI = load_description(Path(__file__).with_name("mini.yaml"))
CASES: list[tuple[Rung, dict[str, Any]]] = [
    *(
        (load_description(name.partition(":")[0]).rungs[name.partition(":")[2]], parameters)
        for name, parameters in SMALL.items()
    ),
    (MINI.rungs["naive"], {}),
    (MINI.rungs["naive"], {"n": 1280, "m": 16, "k": 64}),
]
DEPENDS_ON_THE_BLOCK = {"single_kernel", "fused", "pipelined"}
"""Rungs in which a block's number decides whether block 0 touches something."""


@pytest.mark.parametrize(
    ("rung", "parameters"), CASES, ids=lambda each: getattr(each, "name", None) or "sizes"
)
def test_a_blocks_footprint_equals_the_walk(rung: Rung, parameters: dict[str, Any]) -> None:
    if rung.name in DEPENDS_ON_THE_BLOCK:
        pytest.skip("block 0 is not like the others")
    geometry = GEOMETRIES["32 lanes, sectors"]
    values = rung_parameters(rung, parameters)
    setting = Setting(
        size=1,
        values=expression_values(rung, values),
        types=parameter_types(values),
        geometries=(geometry,),
    )
    compared = 0
    for launch in count(rung, setting):
        for role in launch.roles:
            for site in role.sites.sites:
                if not isinstance(site.statement, Load | Store | Atomic | Copy):
                    continue
                if rung.arrays[site.array or ""].space != "global":
                    continue
                running = {loop.counter: role.sizes[loop.counter] for loop in site.loops}
                (sectors,), _ = role.counter.footprints(site, running, (geometry.sector,))
                walked = slow.unique_sectors(
                    rung, values, _as_walked(geometry), site.position, "block"
                )
                assert sectors == walked, f"{site.statement.place}"
                compared += 1
    assert compared
