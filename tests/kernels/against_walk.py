"""The fast counts held against the walk over all threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.kernels.counting import count
from perfmodel.kernels.geometry import Geometry
from perfmodel.kernels.parameters import expression_values, parameter_types, rung_parameters
from perfmodel.kernels.schema import Copy, Rung
from perfmodel.kernels.setting import Setting
from tests.kernels import walk as slow

if TYPE_CHECKING:
    from collections.abc import Mapping

AMOUNTS = (
    "executions",
    "lanes",
    "lines",
    "sectors",
    "l2_sectors",
    "requests",
    "passes",
    "ideal_passes",
    "divergent",
)

GEOMETRIES = {
    "32 lanes, sectors": Geometry(
        warp_width=32,
        line=128,
        sector=32,
        l2_line=128,
        l2_sector=32,
        transaction=32,
        coalescing_group=32,
        max_access=16,
        shared_banks=32,
        shared_bank_width=4,
    ),
    "64 lanes": Geometry(
        warp_width=64,
        line=64,
        sector=64,
        l2_line=128,
        l2_sector=64,
        transaction=64,
        coalescing_group=64,
        max_access=16,
        shared_banks=32,
        shared_bank_width=4,
    ),
    "groups of 8 lanes": Geometry(
        warp_width=32,
        line=128,
        sector=128,
        l2_line=128,
        l2_sector=128,
        transaction=128,
        coalescing_group=8,
        max_access=128,
        shared_banks=32,
        shared_bank_width=4,
    ),
}


def differences(rung: Rung, given: Mapping[str, Any], geometry: Geometry) -> list[str]:
    """Where the counts differ from the walk; empty where nowhere."""
    parameters = rung_parameters(rung, given)
    setting = Setting(
        size=1,
        values=expression_values(rung, parameters),
        types=parameter_types(parameters),
        geometries=(geometry,),
    )
    walked = slow.walk(rung, parameters, _as_walked(geometry))
    statements = list(rung.statements())
    found: list[str] = []
    for launch in count(rung, setting):
        for role in launch.roles:
            for position, tallies in role.tallies.items():
                statement = statements[position]
                skipped = {"lanes", "requests", "lines"} if isinstance(statement, Copy) else set()
                for name in AMOUNTS:
                    ours, theirs = getattr(tallies, name), getattr(walked[position], name)
                    if name not in skipped and abs(ours - theirs) > 1e-9 * max(1.0, abs(theirs)):
                        what = type(statement).__name__
                        found.append(f"{statement.place} {what} {name}: {ours} for {theirs}")
    return found


def _as_walked(geometry: Geometry) -> slow.Geometry:
    return slow.Geometry(
        warp_width=geometry.warp_width,
        line_bytes=geometry.line,
        sector_bytes=geometry.sector,
        l2_sector_bytes=geometry.l2_sector,
        transaction_bytes=geometry.transaction,
        coalescing_group=geometry.coalescing_group,
        shared_banks=geometry.shared_banks,
        shared_bank_width=geometry.shared_bank_width,
        widest_access_bytes=geometry.max_access,
        widest_shared_access_bytes=16,
    )
