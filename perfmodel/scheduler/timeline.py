"""How long one block takes by itself: statements in order, waiting only where they must.

A block's warps run the same statements, so they are followed together. A statement is issued when
the one before it has been; it starts when the values it uses are there, is served by each resource
it needs for as long as all warps of the block keep it busy, and what it makes can be used a latency
later. Nothing else waits: a load whose value is not used yet runs under whatever comes next. What
overlaps is therefore read off the description, as the hardware's scoreboard would.

A loop is followed until it repeats itself, and then extended: every clock of the state (when the
next statement can be issued, when each resource is free, when each value is there) goes on growing
as it did in the last iteration followed. Roles that are joined by channels are followed side by
side, iteration by iteration.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from perfmodel.kernels.affine import THREAD_NAMES, reads
from perfmodel.kernels.fast import compiled
from perfmodel.kernels.schema import (
    Barrier,
    Copy,
    If,
    Load,
    Operation,
    Shuffle,
    Signal,
    Use,
)
from perfmodel.kernels.sites import BLOCK_NAMES, Scope, Site
from perfmodel.scheduler.costs import DEVICE_RESOURCES, PIPES, Cost

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from perfmodel.expressions.nodes import Node
    from perfmodel.kernels.counting import LaunchCounts, RoleCounts
    from perfmodel.kernels.setting import Amount

_FOLLOWED = 2
"""Iterations of a loop that are followed at least: the first, and one that is like the rest."""
_BY_SCHEDULER = ("issue", *PIPES, "registers")
_BELOW_L1 = ("l2_port", "store_port", "in_flight", *DEVICE_RESOURCES)
"""Resources that a barrier does not wait for: a load may be under way across it."""


@dataclass
class _State:
    """The clocks of a role: issue, resources, values."""

    issue: Amount = 0.0
    free: dict[str, Amount] = field(default_factory=dict)
    values: dict[str, Amount] = field(default_factory=dict)
    history: dict[str, list[Amount]] = field(default_factory=dict)
    """Values at the end of earlier iterations of the loop around, the last one first."""
    used: dict[str, Amount] = field(default_factory=dict)
    """Cycles that each resource has been at work."""

    def clocks(self) -> dict[tuple[str, str], Amount]:
        """Every clock by kind and name."""
        return {
            ("issue", ""): self.issue,
            **{("free", name): each for name, each in self.free.items()},
            **{("value", name): each for name, each in self.values.items()},
            **{("used", name): each for name, each in self.used.items()},
        }

    def set(self, clocks: Mapping[tuple[str, str], Amount]) -> None:
        """Take over clocks."""
        for (kind, name), each in clocks.items():
            if kind == "issue":
                self.issue = each
            elif kind == "free":
                self.free[name] = each
            elif kind == "used":
                self.used[name] = each
            else:
                self.values[name] = each

    def end(self) -> Amount:
        """When everything is done."""
        last = self.issue
        for each in (*self.free.values(), *self.values.values()):
            last = _later(last, each)
        return last


@dataclass(frozen=True)
class _Step:
    """A statement as the timeline needs it: for one execution by a block."""

    site: Site
    busy: Mapping[str, Amount]
    cost: Cost
    presence: Amount
    """Share of the executions of its surroundings in which a block executes it at all."""


def block_time(
    counts: LaunchCounts,
    costs: Mapping[int, Cost],
    loop_costs: Mapping[str, Cost],
    *,
    schedulers: Amount,
    heaviest: bool = False,
    once: bool = False,
    beside: Amount = 1,
    of_device: Amount = 1,
) -> Amount:
    """Cycles that a block takes on a multiprocessor it has to itself, or that several take in step.

    Args:
        counts: The launch.
        costs: The costs of its statements over the launch, by position.
        loop_costs: Those of its loops beside their bodies, by counter.
        schedulers: Of a multiprocessor; each has a part of the pipes and issues for its own warps.
        heaviest: Follow the block that has most to do instead of the average one: it takes every
            branch that depends on its number alone, and makes the most iterations.
        once: Follow one iteration of every loop alone.
        beside: Blocks of a multiprocessor that ask for the same at the same time of what lies
            below the L1.
        of_device: What a loop without barriers waits for resources of the whole device, over what
            it would with one multiprocessor's share of them. Its warps ask one after another, so
            that others leave it more than a share; where barriers keep warps in step, all
            multiprocessors ask at once.

    Returns:
        The cycles from its first instruction until everything is done.
    """
    followed = _Followed(
        counts,
        costs,
        loop_costs,
        schedulers=schedulers,
        heaviest=heaviest,
        once=once,
        beside=beside,
        of_device=of_device,
    )
    return followed.run()


def share_of_one_turn(counts: LaunchCounts, costs: Mapping[int, Cost]) -> Amount:
    """The share of a launch's instructions that one iteration of every loop has.

    Iterations that are interleaved count as one, as they do in `block_time`.

    Args:
        counts: The launch.
        costs: The costs of its statements over the launch, by position.

    Returns:
        The share, at most 1.
    """
    every: Amount = 1e-300
    once: Amount = 0.0
    for role in counts.roles:
        for site in role.sites.sites:
            instructions = costs[site.position].instructions
            share: Amount = 1.0
            for loop in site.loops:
                unroll = compiled(loop.statement.unroll.root)(counts.names)
                trips = _later(1.0 * role.trips[loop.counter], 1.0)
                share = share * _sooner(1.0 * unroll / trips, 1.0)
            every = every + instructions
            once = once + instructions * share
    return once / every


def blocks_differ(counts: LaunchCounts) -> bool:
    """Whether some blocks of a launch have more to do than others, by their number alone."""
    return any(
        _by_block(guard)
        for role in counts.roles
        for site in role.sites.sites
        for guard in site.guards
    )


def _by_block(guard: Node) -> bool:
    """Whether a predicate depends on the block's number, and not on the thread's."""
    read = reads(guard)
    return bool(read & frozenset(BLOCK_NAMES)) and not read & THREAD_NAMES


class _Followed:
    def __init__(
        self,
        counts: LaunchCounts,
        costs: Mapping[int, Cost],
        loop_costs: Mapping[str, Cost],
        *,
        schedulers: Amount,
        heaviest: bool,
        once: bool,
        beside: Amount,
        of_device: Amount,
    ) -> None:
        self.counts = counts
        self.schedulers = schedulers
        self.heaviest = heaviest
        self.once = once
        self.beside = beside
        self.of_device = of_device
        self.free_running = {
            site.position
            for role in counts.roles
            for item in role.sites.root.items
            if isinstance(item, Scope) and _runs_freely(item)
            for site in item.sites
        }
        self.single = all(np.ndim(cost.latency) == 0 for cost in costs.values()) and not any(
            np.ndim(each) for cost in costs.values() for each in cost.busy.values()
        )
        self.costs = costs
        self.loop_costs = loop_costs
        self.free: dict[str, Amount] = {}
        self.steps: dict[int, _Step] = {}
        self.turns: dict[str, dict[str, Amount]] = {}
        self.committed: dict[str, list[Amount]] = {}
        self.released: dict[str, list[Amount]] = {}
        self.stages = {
            channel.name: compiled(channel.stages.root)(counts.names)
            for channel in counts.launch.channels
        }

    def run(self) -> Amount:
        """Follow all roles to their end."""
        if len(self.counts.roles) == 1:
            role = self.counts.roles[0]
            state = _State(free=self.free)
            self._items(role, role.sites.root.items, state)
            return state.end()
        return self._roles()

    def _roles(self) -> Amount:
        """Roles side by side: what stands before, in and after the main loop of each."""
        used: dict[str, Amount] = {}
        states = [_State(free=self.free, used=used) for _ in self.counts.roles]
        split = [_around_main_loop(role.sites.root) for role in self.counts.roles]
        order = sorted(
            range(len(states)), key=lambda number: not _produces(self.counts.roles[number])
        )
        for number in order:
            self._items(self.counts.roles[number], split[number][0], states[number])
        loops = [(number, split[number][1]) for number in order if split[number][1] is not None]
        if loops:
            most = max(int(np.max(stages)) for stages in self.stages.values()) if self.stages else 1
            trips: Amount = 0.0
            for number, scope in loops:
                assert scope is not None
                assert scope.loop is not None
                trips = _later(trips, self._trips(self.counts.roles[number], scope))

            def iteration(turn: int) -> None:
                for number, scope in loops:
                    assert scope is not None
                    role, state = self.counts.roles[number], states[number]
                    self._once(role, scope, state, turn)

            self._repeat(iteration, states, trips, most + 2 + _FOLLOWED)
        for number in order:
            self._items(self.counts.roles[number], split[number][2], states[number])
        last = states[0].end()
        for state in states[1:]:
            last = _later(last, state.end())
        return last

    def _items(
        self,
        role: RoleCounts,
        items: Sequence[Site | Scope],
        state: _State,
        copies: Amount = 1,
        turn: int = 0,
    ) -> None:
        for item in items:
            if isinstance(item, Site):
                self._statement(role, item, state, copies, turn)
            else:
                self._loop(role, item, state, copies)

    def _loop(self, role: RoleCounts, scope: Scope, state: _State, copies: Amount) -> None:
        assert scope.loop is not None
        trips = self._trips(role, scope) * copies
        unroll: Amount = 1
        if not scope.is_interrupted:
            wanted = compiled(scope.loop.statement.unroll.root)(self.counts.names)
            unroll = _sooner(1.0 * wanted, _later(1.0 * trips, 1.0))
        turns = trips / unroll

        def iteration(turn: int) -> None:
            self._once(role, scope, state, turn, unroll)

        self._repeat(iteration, [state], turns, _FOLLOWED + scope.furthest_use)

    def _trips(self, role: RoleCounts, scope: Scope) -> Amount:
        """Iterations of a loop in the block that is followed."""
        assert scope.loop is not None
        guard = scope.loop.guard
        if self.heaviest and guard is not None and _by_block(guard):
            return role.sizes[scope.loop.counter]
        return role.trips[scope.loop.counter]

    def _once(
        self, role: RoleCounts, scope: Scope, state: _State, turn: int, copies: Amount = 1
    ) -> None:
        """One iteration of a loop, or several interleaved."""
        assert scope.loop is not None
        made = scope.made
        before = {name: state.values[name] for name in made if name in state.values}
        for name in made:
            state.history.setdefault(name, []).insert(0, before.get(name, 0.0))
            del state.history[name][8:]
        if scope.loop.counter in self.loop_costs:
            once = self._per_execution(role, scope).get("issue", 0.0)
            state.issue = state.issue + once * copies
        self._items(role, scope.items, state, copies, turn)

    def _per_execution(self, role: RoleCounts, scope: Scope) -> dict[str, Amount]:
        """The costs of a loop beside its body, for one iteration of a block."""
        assert scope.loop is not None
        known = self.turns.get(scope.loop.counter)
        if known is None:
            times: Amount = self.counts.blocks
            first = next(iter(scope.sites), None)
            for loop in first.loops if first else ():
                times = times * _later(role.trips[loop.counter], 1e-9)
                if loop is scope.loop:
                    break
            busy = self.loop_costs[scope.loop.counter].busy
            known = {name: each / times for name, each in busy.items()}
            self.turns[scope.loop.counter] = known
        return known

    def _repeat(
        self,
        iteration: Callable[[int], None],
        states: Sequence[_State],
        turns: Amount,
        followed: int,
    ) -> None:
        """Follow some iterations, then let every clock go on as it did in the last of them."""
        if self.once:
            turns, followed = _sooner(1.0 * turns, 1.0), 1
        if isinstance(turns, float | int) and turns == 1:
            iteration(0)
            return
        previous = [state.clocks() for state in states]
        growth: list[dict[tuple[str, str], Amount]] = [{} for _ in states]
        for turn in range(followed):
            part = _sooner(_later(turns - turn, 0.0), 1.0)
            if not _any(part > 0):
                return
            iteration(turn)
            for number, state in enumerate(states):
                now = state.clocks()
                growth[number] = {
                    key: each - previous[number].get(key, 0.0) for key, each in now.items()
                }
                if _any(part < 1):
                    now = {
                        key: previous[number].get(key, 0.0) + growth[number][key] * part
                        for key in now
                    }
                    state.set(now)
                previous[number] = now
        rest = _later(turns - followed, 0.0)
        if not _any(rest > 0):
            return
        moved: set[int] = set()
        for number, state in enumerate(states):
            steady = _steady(growth[number])
            shared = id(state.free) in moved
            state.set(
                {
                    key: each + rest * steady[key]
                    for key, each in state.clocks().items()
                    if not (shared and key[0] in ("free", "used"))
                }
            )
            moved.add(id(state.free))

    def _statement(
        self, role: RoleCounts, site: Site, state: _State, copies: Amount, turn: int
    ) -> None:
        step = self._step(role, site)
        statement = site.statement
        match statement:
            case Barrier():
                self._barrier(step, state)
                return
            case Signal():
                self._signal(statement, step, state, turn)
                return
        start: Amount = state.issue
        for use in site.uses:
            start = _later(start, self._ready(use, state))
        own = site.makes
        recurrent = own is not None and any(use.name == own for use in site.uses)
        chain = self._chain(site) * (copies if recurrent else 1)
        latency = step.cost.latency_of(copies)
        served, done = _served(step, start, copies, state)
        issued = start + step.busy.get("issue", 0.0) * copies
        last = served + latency * (chain - 1)
        if isinstance(statement, Operation | Shuffle):
            # What follows in the warp is issued after the last of them, which waits for the others
            # of its chain and for its turn at the pipe.
            issued = _later(issued, _later(last, done))
        elif isinstance(statement, If):
            issued = issued + latency  # nothing goes on before it is known where
        waited = _later(issued, _later(done, last))
        state.issue = state.issue + (issued - state.issue) * step.presence
        arrives = waited + latency
        if isinstance(statement, Load):
            # Where serving the warps takes longer than an answer, the first go on meanwhile.
            spare = _later((done - served - latency) * (1 - 1 / role.warps), 0.0)
            arrives = arrives - _sooner(latency, spare)
        ready = state.issue + (arrives - state.issue) * step.presence
        if own is not None:
            state.values[own] = ready
            if isinstance(statement, Copy) and statement.channel is not None:
                state.values[f"copied {statement.channel}"] = ready

    def _chain(self, site: Site) -> Amount:
        match site.statement:
            case Operation(chain=chain):
                return compiled(chain.root)(self.counts.names)
            case Shuffle(count=count):
                return compiled(count.root)(self.counts.names)
            case _:
                return 1

    def _barrier(self, step: _Step, state: _State) -> None:
        arrived = state.issue
        for name, each in state.free.items():
            if name not in _BELOW_L1:
                arrived = _later(arrived, each)
        for name, each in state.values.items():
            if name.startswith("stored "):
                arrived = _later(arrived, each)
        passed = arrived + step.cost.latency
        state.issue = state.issue + (passed - state.issue) * step.presence

    def _signal(self, statement: Signal, step: _Step, state: _State, turn: int) -> None:
        name = statement.channel
        stages = self.stages[name]
        committed = self.committed.setdefault(name, [])
        released = self.released.setdefault(name, [])
        match statement.step:
            case "acquire":
                if np.any(turn >= stages) and released:
                    place = np.clip(turn - np.asarray(stages), 0, len(released) - 1)
                    ready = _picked(released, place)
                    free = np.where(turn >= np.asarray(stages), ready, 0.0)
                    state.issue = _later(state.issue, free)
            case "commit":
                ready = _later(state.values.get(f"copied {name}", 0.0), state.issue)
                ready = _later(ready, state.values.get("stored", 0.0))
                committed.append(ready + step.cost.latency)
            case "wait":
                if committed:
                    place = min(turn, len(committed) - 1)
                    state.issue = _later(state.issue, committed[place])
            case "release":
                done = state.issue
                for resource, each in state.free.items():
                    if resource not in _BELOW_L1:
                        done = _later(done, each)
                released.append(done + step.cost.latency)

    def _ready(self, use: Use, state: _State) -> Amount:
        if use.distance == 0:
            return state.values.get(use.name, 0.0)
        past = state.history.get(use.name, [])
        return past[use.distance - 1] if len(past) >= use.distance else 0.0

    def _step(self, role: RoleCounts, site: Site) -> _Step:
        known = self.steps.get(site.position)
        if known is None:
            known = self.steps[site.position] = self._new_step(role, site)
        return known

    def _new_step(self, role: RoleCounts, site: Site) -> _Step:
        cost = self.costs[site.position]
        times: Amount = self.counts.blocks
        for loop in site.loops:
            times = times * _later(role.trips[loop.counter], 1e-9)
        executions = role.tallies[site.position].executions
        presence = np.minimum(1.0, executions / times)
        divided = _later(times * presence, 1e-300)
        if self.heaviest and any(map(_by_block, site.guards)):
            presence = presence * 0.0 + 1.0
        # A scheduler works for its own warps alone: the one with most of them is the last to end.
        uneven = -(-role.warps // self.schedulers) * self.schedulers / role.warps
        busy = {}
        for name, cycles in cost.busy.items():
            factor: Amount = self.beside if name in _BELOW_L1 else 1.0
            if name in _BY_SCHEDULER:
                factor = uneven
            elif name in DEVICE_RESOURCES and site.position in self.free_running:
                factor = self.beside * self.of_device
            busy[name] = cycles / divided * factor
        if self.single:
            busy = {name: float(each) for name, each in busy.items()}
            presence = float(presence)
        return _Step(site=site, busy=busy, cost=cost, presence=presence)


def _served(step: _Step, start: Amount, copies: Amount, state: _State) -> tuple[Amount, Amount]:
    """Give a statement its turn at each resource: when the last begins, and when all have ended."""
    served = done = start
    for name, once in step.busy.items():
        if name == "issue":
            continue
        cycles = once * copies
        begin = _later(start, state.free.get(name, 0.0))
        state.free[name] = begin + cycles
        if isinstance(step.site.statement, Copy) and name == "shared":
            begin = start  # what a copy brings goes in between the accesses of the warps
        state.used[name] = state.used.get(name, 0.0) + cycles * step.presence
        served = _later(served, begin)
        done = _later(done, begin + cycles)
    return served, done


def _runs_freely(scope: Scope) -> bool:
    """Whether no warp waits for another in a loop, so that each goes on as soon as it can."""
    return not any(isinstance(site.statement, Barrier | Signal) for site in scope.sites)


def _later(first: Amount, second: Amount) -> Amount:
    """The greater of two times; single numbers without NumPy, which is slow for them."""
    if isinstance(first, float) and isinstance(second, float):
        return first if first >= second else second
    return np.maximum(first, second)


def _sooner(first: Amount, second: Amount) -> Amount:
    """The lesser of two times."""
    if isinstance(first, float) and isinstance(second, float):
        return first if first <= second else second
    return np.minimum(first, second)


def _any(truth: Amount) -> bool:
    """Whether something holds for any prediction of the batch."""
    return truth if isinstance(truth, bool) else bool(np.any(truth))


def _steady(
    growth: Mapping[tuple[str, str], Amount],
) -> dict[tuple[str, str], Amount]:
    """How far each clock moves in an iteration once the first ones are forgotten.

    In the first iterations a resource may still be catching up. In the long run it moves with the
    issue of instructions, or by its own work where that takes longer.
    """
    period = _later(growth["issue", ""], 0.0)
    longest = period
    for (kind, _), each in growth.items():
        if kind == "used":
            longest = _later(longest, each)
    found: dict[tuple[str, str], Amount] = {}
    for (kind, name), each in growth.items():
        limit = longest
        if kind == "free":
            limit = _later(period, growth.get(("used", name), 0.0))
        moved = _later(each, 0.0)
        found[kind, name] = moved if kind in ("issue", "used") else _sooner(moved, limit)
    return found


def _picked(times: Sequence[Amount], place: Any) -> Amount:
    if np.ndim(place) == 0:
        return times[int(place)]
    stacked = np.stack(np.broadcast_arrays(*times))
    if stacked.ndim == 1:
        return stacked[place]
    return stacked[place, np.arange(stacked.shape[1])]


def _produces(role: RoleCounts) -> bool:
    return any(
        isinstance(site.statement, Signal) and site.statement.step == "commit"
        for site in role.sites.sites
    )


def _around_main_loop(
    root: Scope,
) -> tuple[list[Site | Scope], Scope | None, list[Site | Scope]]:
    """What stands before, in and after the first loop that has a step on a channel."""
    for number, item in enumerate(root.items):
        if isinstance(item, Scope) and any(
            isinstance(site.statement, Signal) for site in item.sites
        ):
            return root.items[:number], item, root.items[number + 1 :]
    return root.items, None, []
