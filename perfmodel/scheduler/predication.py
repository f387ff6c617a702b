"""Short branches, which compilers do not branch around.

The instructions of a short body are issued under a predicate by every warp that comes to the
branch, those in which no lane passes among them: such a warp still takes the issue slot, the place
in the pipe and, for shared memory, a pass. Longer bodies are jumped over by a warp of which no lane
passes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from perfmodel.kernels.counting import RoleCounts
    from perfmodel.kernels.setting import Amount
    from perfmodel.kernels.sites import Site
    from perfmodel.scheduler.costs import Cost
    from perfmodel.scheduler.fields import Fields

MOST_INSTRUCTIONS: Final = 7
"""Instructions of the longest body that is predicated: nvcc 13 for sm_90 predicates bodies of 2 to
7 multiplications, additions and shared accesses, and branches around 8 and more."""
_BY_INSTRUCTION: Final = ("issue", "load_store", "fp32", "fp16", "fp64", "int32", "registers")
"""What an instruction occupies whether or not any lane of its warp is active."""


def predicate(role: RoleCounts, costs: dict[int, Cost], fields: Fields) -> None:
    """Let statements of short branches cost what all warps that come to the branch issue.

    Args:
        role: The role; its statements' executions are those of warps with an active lane.
        costs: The costs of its statements by position, which are changed.
        fields: The device.
    """
    bodies: dict[int, list[Site]] = {}
    for site in role.sites.sites:
        if site.branch is not None:
            bodies.setdefault(site.branch, []).append(site)
    for branch, body in bodies.items():
        coming = role.tallies[branch].executions
        active = [np.maximum(role.tallies[site.position].executions, 1e-300) for site in body]
        length: Amount = sum(
            (
                costs[site.position].instructions / warps
                for site, warps in zip(body, active, strict=True)
            ),
            0.0,
        )
        for site, warps in zip(body, active, strict=True):
            idle = np.where(length <= MOST_INSTRUCTIONS, np.maximum(coming - warps, 0.0), 0.0)
            if np.any(idle > 0):
                costs[site.position] = _with_idle_warps(costs[site.position], idle, warps, fields)


def _with_idle_warps(cost: Cost, idle: Amount, active: Amount, fields: Fields) -> Cost:
    """A cost with that of warps added in which no lane is active."""
    factor = 1.0 + idle / active
    busy = {
        name: cycles * factor if name in _BY_INSTRUCTION else cycles
        for name, cycles in cost.busy.items()
    }
    if "shared" in busy:
        row = fields["shared_banks"] * fields["shared_bank_width"]
        passes = idle * row / fields["shared_bandwidth"]
        for name in ("shared", "l1_data"):
            if name in busy:
                busy[name] = busy[name] + passes
    return replace(cost, busy=busy, instructions=cost.instructions * factor)
