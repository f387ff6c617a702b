"""Occupancy against blocks placed on an MP one by one, warp by warp, until one does not fit."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perfmodel
from perfmodel.device.loading import device_names, load_device
from perfmodel.errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from perfmodel.device.model import Device
    from perfmodel.device.values import Value

End = Literal["value", "worst", "best"]

KERNELS = 10_000
"""Random kernels a device."""

PERCENTS = (None, 0, 1, 3, 4, 14, 15, 28, 33, 50, 57, 75, 86, 99, 100)
"""Preferred shares of shared memory, most of them near a step of some device."""

HYPOTHETICAL = {
    "h100, small blocks": ("h100", {"registers_per_block": 32768}),
    "a100, fewer threads than warps hold": ("a100", {"max_threads_per_mp": 1500}),
    "h100, few barriers": ("h100", {"barriers_per_mp": 5, "barrier_free_warps": 3}),
    "s5000, four parts": ("s5000", {"register_partitions": 4, "register_allocation_unit": 256}),
    "v100, odd parts": ("v100", {"register_partitions": 2, "register_allocation_unit": 512}),
    "mi300x, coarse": ("mi300x", {"shared_allocation_unit": "1024 B", "max_blocks_per_mp": 7}),
}


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """What a kernel asks of an MP."""

    threads_per_block: int
    registers_per_thread: int = 0
    shared_bytes_per_block: int = 0
    scalar_registers_per_warp: int = 0
    barriers_per_block: int = 1
    carveout_percent: int | None = None


@dataclass(frozen=True, kw_only=True)
class Mp:
    """An MP as a heap of things that blocks take."""

    warp_width: int
    parts: int
    warp_slots: int
    block_slots: int
    threads: int
    registers: int
    registers_unit: int
    registers_of_a_block: int
    registers_of_a_thread: int
    scalar_registers_of_a_part: int | None
    scalar_registers_unit: int
    scalar_registers_reserved: int
    scalar_registers_of_a_warp: int
    shared: int
    shared_of_a_block: int
    shared_unit: int
    shared_reserved: int
    shared_steps: tuple[int, ...]
    barriers: int | None
    warps_without_barrier: int


def mp_of(device: Device, end: End = "value") -> Mp:
    """The MP of a device; at one end of what is known as a range."""

    def more_is_better(value: Value) -> int:
        return int({"value": value.value, "worst": value.low, "best": value.high}[end])

    def less_is_better(value: Value) -> int:
        return int({"value": value.value, "worst": value.high, "best": value.low}[end])

    scalars = device.scalar_registers_per_partition
    scalars_unit = device.scalar_register_allocation_unit
    scalars_reserved = device.scalar_registers_reserved_per_warp
    scalars_most = device.max_scalar_registers_per_warp
    free = device.barrier_free_warps
    carveouts = device.shared_carveouts
    steps = tuple(int(size) for size in carveouts.values) if carveouts else ()
    return Mp(
        warp_width=int(device.warp_width.value),
        parts=less_is_better(device.register_partitions),
        warp_slots=more_is_better(device.max_warps_per_mp),
        block_slots=more_is_better(device.max_blocks_per_mp),
        threads=more_is_better(device.max_threads_per_mp),
        registers=more_is_better(device.registers_per_mp),
        registers_unit=less_is_better(device.register_allocation_unit),
        registers_of_a_block=more_is_better(device.registers_per_block or device.registers_per_mp),
        registers_of_a_thread=more_is_better(device.max_registers_per_thread),
        scalar_registers_of_a_part=None if scalars is None else more_is_better(scalars),
        scalar_registers_unit=1 if scalars_unit is None else less_is_better(scalars_unit),
        scalar_registers_reserved=0
        if scalars_reserved is None
        else less_is_better(scalars_reserved),
        scalar_registers_of_a_warp=0 if scalars_most is None else more_is_better(scalars_most),
        shared=more_is_better(device.shared_per_mp),
        shared_of_a_block=more_is_better(device.shared_per_block),
        shared_unit=less_is_better(device.shared_allocation_unit),
        shared_reserved=less_is_better(device.shared_reserved_per_block),
        shared_steps=steps,
        barriers=None if device.barriers_per_mp is None else more_is_better(device.barriers_per_mp),
        warps_without_barrier=0 if free is None else more_is_better(free),
    )


@cache
def in_units(wanted: int, unit: int) -> int:
    """Unit added to unit until what is wanted is covered."""
    taken = 0
    while taken < wanted:
        taken += unit
    return taken


@cache
def shared_of_the_mp(mp: Mp, percent: int | None, taken: int) -> int:
    """The size shared memory is set to: the first step that is preferred and holds a block."""
    if percent is None or not mp.shared_steps:
        return mp.shared
    whole_bytes = 0  # the preferred share, cut to whole bytes
    while (whole_bytes + 1024) * 100 <= percent * mp.shared:
        whole_bytes += 1024
    while (whole_bytes + 1) * 100 <= percent * mp.shared:
        whole_bytes += 1
    preferred = next(step for step in mp.shared_steps if step >= whole_bytes)
    if preferred >= taken:
        return preferred
    return next((step for step in mp.shared_steps if step >= taken), mp.shared_steps[-1])


class Placement:
    """Blocks of one kernel on one MP."""

    def __init__(self, mp: Mp, kernel: Kernel) -> None:
        self.mp = mp
        self.kernel = kernel
        self.warps = 0
        lanes = kernel.threads_per_block
        while lanes > 0:
            lanes -= mp.warp_width
            self.warps += 1
        self.registers = in_units(kernel.registers_per_thread * mp.warp_width, mp.registers_unit)
        self.scalars = in_units(kernel.scalar_registers_per_warp, mp.scalar_registers_unit)
        if kernel.scalar_registers_per_warp:
            self.scalars += mp.scalar_registers_reserved
        self.shared = in_units(kernel.shared_bytes_per_block + mp.shared_reserved, mp.shared_unit)
        self.barriers = kernel.barriers_per_block if self.warps > mp.warps_without_barrier else 0
        parts = range(mp.parts)
        self.free_slots = [mp.warp_slots // mp.parts for _ in parts]
        self.free_registers = [mp.registers // mp.parts for _ in parts]
        self.free_scalars = [mp.scalar_registers_of_a_part or 0 for _ in parts]
        self.free_shared = shared_of_the_mp(mp, kernel.carveout_percent, self.shared)
        self.free_barriers = mp.barriers
        self.free_threads = mp.threads
        self.blocks = 0
        self.impossible = self._impossible()
        while self._place():
            self.blocks += 1

    def _impossible(self) -> set[str]:
        """What no block of this kernel can have, however empty the MP."""
        found = set()
        of_parts = [0] * self.mp.parts
        for warp in range(self.warps):
            of_parts[warp % self.mp.parts] += self.registers
        if (
            self.kernel.registers_per_thread > self.mp.registers_of_a_thread
            or max(of_parts) * self.mp.parts > self.mp.registers_of_a_block
        ):
            found.add("registers")
        if (
            self.mp.scalar_registers_of_a_part is not None
            and self.kernel.scalar_registers_per_warp > self.mp.scalar_registers_of_a_warp
        ):
            found.add("scalar_registers")
        if self.shared > self.mp.shared_of_a_block + self.mp.shared_reserved:
            found.add("shared_memory")
        return found

    def _place(self) -> bool:
        """Place one block more, each warp in the part with the most room."""
        if (
            self.impossible
            or self.blocks == self.mp.block_slots
            or self.shared > self.free_shared
            or self.kernel.threads_per_block > self.free_threads
            or (self.free_barriers is not None and self.barriers > self.free_barriers)
        ):
            return False
        slots, registers, scalars = self.free_slots, self.free_registers, self.free_scalars
        taken: list[int] = []
        for _ in range(self.warps):
            chosen = -1
            for part, room in enumerate(slots):
                if (
                    room
                    and registers[part] >= self.registers
                    and scalars[part] >= self.scalars
                    and (chosen < 0 or room > slots[chosen])
                ):
                    chosen = part
            if chosen < 0:
                for part in taken:  # a block is resident as a whole or not at all
                    slots[part] += 1
                    registers[part] += self.registers
                    scalars[part] += self.scalars
                return False
            slots[chosen] -= 1
            registers[chosen] -= self.registers
            scalars[chosen] -= self.scalars
            taken.append(chosen)
        self.free_shared -= self.shared
        self.free_threads -= self.kernel.threads_per_block
        if self.free_barriers is not None:
            self.free_barriers -= self.barriers
        return True

    def limiters(self) -> set[str]:
        """The resources of which too little is left for one block more."""
        short = set(self.impossible)
        for name, free, of_a_warp in (
            ("warps", self.free_slots, 1),
            ("registers", self.free_registers, self.registers),
            ("scalar_registers", self.free_scalars, self.scalars),
        ):
            if not self._all_warps_fit(list(free), of_a_warp):
                short.add(name)
        if self.blocks == self.mp.block_slots:
            short.add("blocks")
        if self.shared > self.free_shared:
            short.add("shared_memory")
        if self.free_barriers is not None and self.barriers > self.free_barriers:
            short.add("barriers")
        if (
            self.mp.threads != self.mp.warp_slots * self.mp.warp_width
            and self.kernel.threads_per_block > self.free_threads
        ):
            short.add("threads")
        return short

    def _all_warps_fit(self, free: list[int], of_a_warp: int) -> bool:
        for _ in range(self.warps):
            most = max(free)
            if most < of_a_warp:
                return False
            free[free.index(most)] -= of_a_warp
        return True


def device_called(name: str) -> Device:
    """A shipped device, or a shipped one with some values changed."""
    if name in HYPOTHETICAL:
        base, changes = HYPOTHETICAL[name]
        return load_device(base).what_if(**changes)  # type: ignore[arg-type]
    return load_device(name)


def random_kernels(device: Device, count: int, seed: int) -> list[Kernel]:
    """Kernels with the edges of every resource over-represented."""
    rng = np.random.default_rng(seed)

    def pick(*choices: NDArray[np.int64] | list[int]) -> list[int]:
        which = rng.integers(0, len(choices), count)
        columns = [rng.choice(np.asarray(choice), count) for choice in choices]
        return [int(columns[column][row]) for row, column in enumerate(which)]

    width, most = device.warp_width.whole, device.max_threads_per_block.whole
    whole_warps = np.arange(width, most + 1, width)
    threads = pick(
        np.arange(1, most + 1),
        whole_warps,
        np.clip(np.concatenate([whole_warps - 1, whole_warps + 1]), 1, most),
        [1, width - 1, width, width + 1, 2 * width, most - 1, most],
    )
    top = device.max_registers_per_thread.whole
    registers = pick(
        np.arange(top + 2),
        [0, 1, top - 1, top, top + 1],
        np.arange(8, min(top, 129), 8),
        np.arange(16, min(top, 80)),
    )
    unit = device.shared_allocation_unit.whole
    block, whole = device.shared_per_block.whole, device.shared_per_mp.whole
    reserved = device.shared_reserved_per_block.whole
    several = np.asarray([whole // blocks - reserved for blocks in range(1, 33)])
    shared = pick(
        np.arange(block + 2),
        [0, 1, unit - 1, unit, unit + 1, block - unit, block - 1, block, block + 1],
        np.clip(np.arange(0, block, 8 * unit) + rng.integers(-1, 2), 0, None),
        np.clip(np.concatenate([several - 1, several, several + 1]), 0, None),
        np.arange(0, 16 * 1024),
    )
    has_scalars = device.scalar_registers_per_partition is not None
    scalars = (
        pick(np.arange(111), [0, 1, 15, 16, 17, 48, 80, 96, 107, 108, 109])
        if has_scalars
        else [0] * count
    )
    barriers = pick([1], [0, 1, 2, 3], np.arange(17))
    percents = rng.integers(0, len(PERCENTS), count)
    return [
        Kernel(
            threads_per_block=threads[row],
            registers_per_thread=registers[row],
            shared_bytes_per_block=shared[row],
            scalar_registers_per_warp=scalars[row],
            barriers_per_block=barriers[row],
            carveout_percent=PERCENTS[percents[row]] if device.shared_carveouts else None,
        )
        for row in range(count)
    ]


def arguments(kernel: Kernel, device: Device) -> dict[str, int | None]:
    named = {field.name: getattr(kernel, field.name) for field in fields(kernel)}
    if device.scalar_registers_per_partition is None:
        del named["scalar_registers_per_warp"]
    return named


def of_batch(device: Device, kernels: list[Kernel]) -> list[tuple[int, set[str], float, float]]:
    """Blocks, limiters and range of each kernel, by the array form of the public function."""
    found: list[tuple[int, set[str], float, float]] = [(0, set(), 0.0, 0.0)] * len(kernels)
    for percent in {kernel.carveout_percent for kernel in kernels}:
        rows = [row for row, kernel in enumerate(kernels) if kernel.carveout_percent == percent]
        columns = {
            name: np.array([getattr(kernels[row], name) for row in rows])
            for name in arguments(kernels[0], device)
            if name != "carveout_percent"
        }
        result = perfmodel.occupancy(device, carveout_percent=percent, **columns)
        assert result.one_block_more is None
        np.testing.assert_array_equal(
            result.active_warps, result.blocks_per_mp * result.warps_per_block
        )
        worst, best = result.occupancy_range
        assert ((worst <= result.occupancy) & (result.occupancy <= best)).all()
        for place, row in enumerate(rows):
            found[row] = (
                int(result.blocks_per_mp[place]),
                set(result.limiters[place]),
                float(worst[place]),
                float(best[place]),
            )
    return found


@pytest.mark.parametrize("name", [*device_names(), *HYPOTHETICAL])
def test_blocks_and_limiters_equal_placing_blocks_one_by_one(name: str) -> None:
    device = device_called(name)
    mp = mp_of(device)
    kernels = random_kernels(
        device, KERNELS if name not in HYPOTHETICAL else KERNELS // 10, seed=len(name)
    )
    seen: dict[str, int] = {}
    for kernel, (blocks, limiters, _, _) in zip(kernels, of_batch(device, kernels), strict=True):
        placement = Placement(mp, kernel)
        assert (blocks, limiters) == (placement.blocks, placement.limiters()), kernel
        for limiter in limiters:
            seen[limiter] = seen.get(limiter, 0) + 1
    resources = {"warps", "blocks", "registers", "shared_memory"}
    if device.scalar_registers_per_partition is not None:
        resources.add("scalar_registers")
    if device.barriers_per_mp is not None:
        resources.add("barriers")
    if device.max_threads_per_mp.value != device.max_warps_per_mp.value * mp.warp_width:
        resources.add("threads")
    assert set(seen) == resources  # each of them did limit some of the kernels


@pytest.mark.parametrize("name", [*device_names(), *HYPOTHETICAL])
def test_the_range_equals_placing_blocks_at_its_ends(name: str) -> None:
    device = device_called(name)
    kernels = random_kernels(device, 400, seed=7)
    slots = device.max_warps_per_mp
    for kernel, (_, _, low, high) in zip(kernels, of_batch(device, kernels), strict=True):
        shares = [
            placed.blocks * placed.warps / of
            for placed, of in (
                (Placement(mp_of(device), kernel), slots.value),
                (Placement(mp_of(device, "worst"), kernel), slots.low),
                (Placement(mp_of(device, "best"), kernel), slots.high),
            )
        ]
        assert low == pytest.approx(min(shares), rel=1e-12), kernel
        assert high == pytest.approx(max(shares), rel=1e-12), kernel
        assert 0 <= low <= high <= 1


@pytest.mark.parametrize("name", [*device_names(), *HYPOTHETICAL])
def test_one_kernel_equals_the_batch_and_one_block_more_holds(name: str) -> None:
    device = device_called(name)
    mp = mp_of(device)
    kernels = random_kernels(device, 300, seed=11)
    offers = 0
    for kernel, (blocks, limiters, low, high) in zip(
        kernels, of_batch(device, kernels), strict=True
    ):
        result = perfmodel.occupancy(device, **arguments(kernel, device))
        assert (result.blocks_per_mp, set(result.limiters)) == (blocks, limiters)
        assert len(result.limiters) == len(limiters)
        assert result.occupancy_range == pytest.approx((low, high), rel=1e-12)
        assert result.occupancy == pytest.approx(
            blocks * result.warps_per_block / result.max_warps, rel=1e-12
        )
        assert isinstance(result.blocks_per_mp, int)
        placement = Placement(mp, kernel)
        assert result.registers_per_warp == placement.registers
        assert result.shared_allocated_bytes == placement.shared
        assert result.shared_setting_bytes == shared_of_the_mp(
            mp, kernel.carveout_percent, placement.shared
        )
        more = result.one_block_more
        if more is None:
            continue
        offers += 1
        assert more.blocks_per_mp == blocks + 1
        given_up = {
            field: value
            for field, value in more.to_dict().items()
            if field not in ("blocks_per_mp", "active_warps") and value is not None
        }
        assert given_up
        changed = replace(kernel, **given_up)
        placed = Placement(mp, changed)
        assert placed.blocks > blocks, kernel
        assert more.active_warps == more.blocks_per_mp * placed.warps
        surely = result.one_block_more_surely
        if surely is not None:
            given_up_surely = {
                field: value
                for field, value in surely.to_dict().items()
                if field not in ("blocks_per_mp", "active_warps") and value is not None
            }
            worst = Placement(mp_of(device, "worst"), replace(kernel, **given_up_surely))
            assert worst.blocks > blocks, kernel
        for field, value in given_up.items():
            assert value < getattr(kernel, field)
            one_less_given_up = replace(changed, **{field: value + 1})
            assert Placement(mp, one_less_given_up).blocks <= blocks, (kernel, field)
    assert offers > 50


def test_nothing_helps_where_the_block_slots_are_full() -> None:
    result = perfmodel.occupancy(load_device("h100"), threads_per_block=32)
    assert result.limiters == ("blocks",)
    assert result.blocks_per_mp == 32
    assert result.one_block_more is None
    assert result.blocks_by["registers"] is None


def test_all_that_binds_is_given_up_and_nothing_else() -> None:
    """2048 threads of 32 registers fill both; with fewer threads the registers suffice."""
    result = perfmodel.occupancy(
        load_device("h100"), threads_per_block=1024, registers_per_thread=32
    )
    assert result.limiters == ("warps", "registers")
    assert result.one_block_more is not None
    assert result.one_block_more.threads_per_block == 21 * 32
    assert result.one_block_more.registers_per_thread is None


class TestTheDocument:
    """Document 000, section 2.1: 131072 registers, 192 KiB and 96 warps an MP of the S5000."""

    device = load_device("s5000")

    def test_by_registers(self) -> None:
        # 32768 registers a block of 8 warps are 128 a thread
        result = perfmodel.occupancy(self.device, threads_per_block=256, registers_per_thread=128)
        assert result.blocks_by["registers"] == 4
        assert result.registers_per_warp * result.warps_per_block == 32768

    def test_by_shared_memory(self) -> None:
        result = perfmodel.occupancy(
            self.device, threads_per_block=256, shared_bytes_per_block=32768
        )
        assert result.blocks_by["shared_memory"] == 6

    def test_active_warps_and_occupancy(self) -> None:
        result = perfmodel.occupancy(
            self.device,
            threads_per_block=256,
            registers_per_thread=128,
            shared_bytes_per_block=32768,
        )
        assert (result.blocks_per_mp, result.active_warps, result.max_warps) == (4, 32, 96)
        assert result.occupancy == pytest.approx(1 / 3, rel=1e-12)
        assert result.limiters == ("registers",)

    def test_registers_fit_the_attention_tile(self) -> None:
        result = perfmodel.occupancy(self.device, threads_per_block=512, registers_per_thread=128)
        assert result.registers_per_warp * result.warps_per_block == 65536
        assert result.blocks_per_mp == 2
        roomiest = perfmodel.occupancy(self.device, threads_per_block=512, registers_per_thread=256)
        assert roomiest.blocks_per_mp == 1

    @pytest.mark.parametrize(("tile_v", "blocks"), [(512, 96), (1024, 48), (2048, 24)])
    def test_tiles_of_v(self, tile_v: int, blocks: int) -> None:
        result = perfmodel.occupancy(
            self.device, threads_per_block=256, shared_bytes_per_block=tile_v * 4
        )
        assert result.blocks_by["shared_memory"] == blocks
        assert result.blocks_per_mp == 12  # 12 blocks of 8 warps fill it first

    def test_the_attention_tile_fills_the_mp(self) -> None:
        of_one = {"threads_per_block": 512, "shared_bytes_per_block": 196608}
        assert perfmodel.occupancy(self.device, **of_one).blocks_per_mp == 1
        of_one["shared_bytes_per_block"] = 229376  # a second buffer of K does not fit
        assert perfmodel.occupancy(self.device, **of_one).blocks_per_mp == 0

    def test_wavefronts_of_the_dcu(self) -> None:
        result = perfmodel.occupancy(load_device("dcu"), threads_per_block=256)
        assert result.warps_per_block == 4
        assert result.max_warps == 40


@settings(deadline=None, max_examples=50)
@given(
    name=st.sampled_from(device_names()),
    threads=st.integers(1, 1024),
    registers=st.integers(0, 255),
    shared=st.integers(0, 65536),
)
def test_asking_for_more_never_gives_more_blocks(
    name: str, threads: int, registers: int, shared: int
) -> None:
    device = load_device(name)
    kernel = Kernel(
        threads_per_block=threads, registers_per_thread=registers, shared_bytes_per_block=shared
    )
    blocks = perfmodel.occupancy(device, **arguments(kernel, device)).blocks_per_mp
    for greedier in (
        replace(kernel, registers_per_thread=registers + 1),
        replace(kernel, shared_bytes_per_block=shared + 1),
        replace(kernel, threads_per_block=min(threads + 1, 1024)),
        replace(kernel, barriers_per_block=2),
    ):
        assert perfmodel.occupancy(device, **arguments(greedier, device)).blocks_per_mp <= blocks


def test_arrays_broadcast_over_each_other() -> None:
    result = perfmodel.occupancy(
        load_device("a100"),
        threads_per_block=np.array([128, 256])[:, None],
        registers_per_thread=np.array([32, 64, 128]),
    )
    assert result.blocks_per_mp.shape == (2, 3)
    assert result.limiters.shape == (2, 3)
    assert result.blocks_per_mp.tolist() == [[16, 8, 4], [8, 4, 2]]


class TestBadInput:
    """What no device can run is refused, with the argument's name."""

    @pytest.mark.parametrize("threads", [0, -1, 1.5, 1025, True, "256", np.array([32, 1025])])
    def test_threads(self, threads: int) -> None:
        with pytest.raises(ArgumentError, match="threads_per_block is"):
            perfmodel.occupancy(load_device("h100"), threads_per_block=threads)

    @pytest.mark.parametrize(
        "name",
        ["registers_per_thread", "shared_bytes_per_block", "barriers_per_block"],
    )
    @pytest.mark.parametrize("amount", [-1, 0.5, float("nan"), float("inf"), "1", None, True])
    def test_amounts(self, name: str, amount: int) -> None:
        arguments_ = {"threads_per_block": 64, name: amount}
        with pytest.raises(ArgumentError, match=r"is .*: it must be"):
            perfmodel.occupancy(load_device("h100"), **arguments_)

    def test_scalar_registers_where_there_are_none(self) -> None:
        with pytest.raises(ArgumentError, match="h100 has no scalar registers"):
            perfmodel.occupancy(
                load_device("h100"), threads_per_block=64, scalar_registers_per_warp=16
            )
        with pytest.raises(ArgumentError, match="scalar_registers_per_warp is -1"):
            perfmodel.occupancy(
                load_device("mi50"), threads_per_block=64, scalar_registers_per_warp=-1
            )

    def test_accumulation_registers_where_there_are_none(self) -> None:
        for asked in (8, np.array([0, 8])):
            with pytest.raises(ArgumentError, match="mi50 has no accumulation registers"):
                perfmodel.occupancy(
                    load_device("mi50"),
                    threads_per_block=64,
                    accumulation_registers_per_thread=asked,
                )
        with pytest.raises(ArgumentError, match="accumulation_registers_per_thread is 257"):
            perfmodel.occupancy(
                load_device("mi100"), threads_per_block=64, accumulation_registers_per_thread=257
            )

    def test_a_carveout_where_there_is_none(self) -> None:
        with pytest.raises(ArgumentError, match="carveout_percent is given"):
            perfmodel.occupancy(load_device("s5000"), threads_per_block=64, carveout_percent=50)

    @pytest.mark.parametrize("percent", [-1, 101, 0.5])
    def test_a_carveout_outside_its_range(self, percent: int) -> None:
        with pytest.raises(ArgumentError, match="carveout_percent is"):
            perfmodel.occupancy(load_device("h100"), threads_per_block=64, carveout_percent=percent)


@pytest.mark.parametrize(
    "kind", ["uint8", "int8", "uint16", "uint32", "uint64", "int32", "float64"]
)
def test_the_type_of_an_array_changes_nothing(kind: str) -> None:
    device = load_device("s5000")
    result = perfmodel.occupancy(
        device,
        threads_per_block=np.array([96, 64], kind),
        registers_per_thread=np.array([32], kind),
        shared_bytes_per_block=[1024, 0],
    )
    one = perfmodel.occupancy(
        device, threads_per_block=96, registers_per_thread=32, shared_bytes_per_block=1024
    )
    assert result.blocks_per_mp[0] == one.blocks_per_mp
    assert result.occupancy[0] == one.occupancy


@pytest.mark.parametrize("wrong", [np.array([True]), np.array(["1"]), [[1], [2, 3]], np.array([])])
def test_arrays_of_anything_else_are_refused(wrong: Any) -> None:
    with pytest.raises(ArgumentError):
        perfmodel.occupancy(load_device("s5000"), threads_per_block=wrong)


def test_more_warp_slots_never_make_an_occupancy_above_one() -> None:
    device = load_device("k100-ai")
    for threads in (64, 256, 1024):
        low, high = perfmodel.occupancy(device, threads_per_block=threads).occupancy_range
        assert 0 <= low <= high <= 1
