"""The occupancy laws against filling an MP piece by piece."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from perfmodel.engines import occupancy as law
from perfmodel.errors import ArgumentError

whole = st.integers(1, 64)
CARVEOUTS = (0, 8192, 16384, 32768, 65536, 98304)


def pieces_in(room: int, piece: int) -> int:
    """How often a piece can be taken out of the room."""
    taken = 0
    while room >= piece:
        room -= piece
        taken += 1
    return taken


def filled_up(amount: int, unit: int) -> int:
    """Units taken until the amount is covered."""
    taken = 0
    while taken < amount:
        taken += unit
    return taken


def blocks_of_warps(room_of_parts: list[int], warps: int, of_a_warp: int) -> int:
    """Blocks whose warps find room in the parts, each warp in the part with the most room."""
    blocks = 0
    while True:
        for _ in range(warps):
            most = max(room_of_parts)
            if most < of_a_warp:
                return blocks
            room_of_parts[room_of_parts.index(most)] -= of_a_warp
        blocks += 1


@given(st.integers(1, 2048), st.sampled_from([1, 2, 32, 64]))
def test_warps_equal_dealing_threads_out(threads: int, width: int) -> None:
    warps = len({thread // width for thread in range(threads)})
    assert law.warps_per_block(threads_per_block=threads, warp_width=width) == warps


@given(whole, st.integers(1, 200))
def test_blocks_by_warps_equal_filling_the_slots(warps: int, slots: int) -> None:
    actual = law.blocks_by_warps(warps_per_block=warps, max_warps_per_mp=slots)
    assert actual == pieces_in(slots, warps)


@given(st.integers(0, 512), st.sampled_from([1, 2, 32, 64]), st.integers(1, 512))
def test_registers_of_a_warp_are_whole_units(registers: int, width: int, unit: int) -> None:
    actual = law.registers_per_warp(
        registers_per_thread=registers, warp_width=width, register_allocation_unit=unit
    )
    assert actual == filled_up(registers * width, unit)


@given(
    registers=st.integers(1, 300),
    warps=whole,
    width=st.sampled_from([32, 64]),
    parts=st.sampled_from([1, 2, 4]),
    unit=st.sampled_from([1, 256, 512]),
    file=st.sampled_from([32768, 65536, 131072]),
)
def test_blocks_by_registers_equal_placing_warps_in_the_parts(
    registers: int, warps: int, width: int, parts: int, unit: int, file: int
) -> None:
    of_a_warp = filled_up(registers * width, unit)
    expected = blocks_of_warps([file // parts] * parts, warps, of_a_warp)
    most_of_a_block = max(
        sum(1 for warp in range(warps) if warp % parts == part) for part in range(parts)
    )
    if registers > 255 or most_of_a_block * of_a_warp > file // parts:
        expected = 0
    actual = law.blocks_by_registers(
        registers_per_thread=registers,
        warps_per_block=warps,
        warp_width=width,
        registers_per_mp=file,
        register_partitions=parts,
        register_allocation_unit=unit,
        registers_per_block=file,
        max_registers_per_thread=255,
    )
    assert actual == expected


def test_registers_of_a_block_have_a_limit_of_their_own() -> None:
    """5 warps in 4 parts count as 8, each 1024: one block where 8192 are allowed, none below."""

    def blocks(registers_per_block: int) -> int:
        return int(
            law.blocks_by_registers(
                registers_per_thread=32,
                warps_per_block=5,
                warp_width=32,
                registers_per_mp=65536,
                register_partitions=4,
                register_allocation_unit=256,
                registers_per_block=registers_per_block,
                max_registers_per_thread=255,
            )
        )

    assert blocks(8192) == 64 // 5
    assert blocks(8191) == 0


def test_a_kernel_without_registers_is_not_limited_by_them() -> None:
    arguments: dict[str, Any] = {
        "warps_per_block": 8,
        "warp_width": 32,
        "registers_per_mp": 65536,
        "register_partitions": 4,
        "register_allocation_unit": 256,
        "registers_per_block": 65536,
        "max_registers_per_thread": 255,
    }
    assert law.blocks_by_registers(registers_per_thread=0, **arguments) == law.NO_LIMIT
    assert law.blocks_by_registers(registers_per_thread=1, **arguments) == 32
    assert law.blocks_by_registers(registers_per_thread=255, **arguments) == 1
    assert law.blocks_by_registers(registers_per_thread=256, **arguments) == 0


@given(st.integers(1, 110), whole, st.sampled_from([1, 4]), st.sampled_from([0, 16]))
def test_blocks_by_scalar_registers_equal_placing_warps(
    scalars: int, warps: int, parts: int, reserved: int
) -> None:
    expected = blocks_of_warps([800] * parts, warps, filled_up(scalars, 16) + reserved)
    actual = law.blocks_by_scalar_registers(
        scalar_registers_per_warp=scalars,
        warps_per_block=warps,
        scalar_registers_per_partition=800,
        register_partitions=parts,
        scalar_register_allocation_unit=16,
        scalar_registers_reserved_per_warp=reserved,
        max_scalar_registers_per_warp=102,
    )
    assert actual == (expected if scalars <= 102 else 0)


def test_a_kernel_without_scalar_registers_is_not_limited_by_them() -> None:
    actual = law.blocks_by_scalar_registers(
        scalar_registers_per_warp=0,
        warps_per_block=4,
        scalar_registers_per_partition=800,
        register_partitions=4,
        scalar_register_allocation_unit=16,
        scalar_registers_reserved_per_warp=16,
        max_scalar_registers_per_warp=102,
    )
    assert actual == law.NO_LIMIT


@given(st.integers(0, 5000), st.sampled_from([0, 1, 1024]), st.sampled_from([1, 128, 256, 512]))
def test_shared_memory_is_taken_in_whole_units(shared: int, reserved: int, unit: int) -> None:
    actual = law.shared_allocated(
        shared_bytes_per_block=shared,
        shared_reserved_bytes_per_block=reserved,
        shared_allocation_unit_bytes=unit,
    )
    assert actual == filled_up(shared + reserved, unit)


@given(st.integers(0, 98304), st.integers(0, 100))
def test_the_setting_is_the_first_step_that_serves(allocated: int, percent: int) -> None:
    wanted = percent * 98304 // 100
    first = next(step for step in CARVEOUTS if step >= wanted)
    expected = next(step for step in CARVEOUTS if step >= max(allocated, first))
    actual = law.shared_setting(
        shared_allocated_bytes=allocated,
        shared_bytes_per_mp=98304,
        carveout_bytes=CARVEOUTS,
        carveout_percent=percent,
    )
    assert actual == expected


@pytest.mark.parametrize(
    ("percent", "setting"),
    # 8 % of 98304 is 7864, 9 % is 8847: the steps of 8192 and of 16384
    [(0, 0), (1, 8192), (8, 8192), (9, 16384), (33, 32768), (34, 65536), (67, 98304), (100, 98304)],
)
def test_the_setting_at_the_edges_of_the_steps(percent: int, setting: int) -> None:
    actual = law.shared_setting(
        shared_allocated_bytes=0,
        shared_bytes_per_mp=98304,
        carveout_bytes=CARVEOUTS,
        carveout_percent=percent,
    )
    assert actual == setting


@pytest.mark.parametrize(("percent", "setting"), [(1, 10), (2, 20), (3, 1001)])
def test_the_preferred_share_is_cut_to_whole_bytes(percent: int, setting: int) -> None:
    """1 % of 1001 bytes is 10.01 bytes, for which a step of 10 serves."""
    actual = law.shared_setting(
        shared_allocated_bytes=0,
        shared_bytes_per_mp=1001,
        carveout_bytes=(0, 10, 20, 1001),
        carveout_percent=percent,
    )
    assert actual == setting


def test_without_a_preference_or_without_steps_all_of_it_is_shared() -> None:
    for arguments in (
        {"carveout_bytes": CARVEOUTS, "carveout_percent": None},
        {"carveout_bytes": (), "carveout_percent": 10},
        {},
    ):
        setting = law.shared_setting(
            shared_allocated_bytes=100,
            shared_bytes_per_mp=98304,
            **arguments,
        )
        assert setting == 98304


def test_more_than_the_largest_step_leaves_the_largest_step() -> None:
    arguments: dict[str, Any] = {
        "shared_bytes_per_mp": 98304,
        "carveout_bytes": CARVEOUTS,
        "carveout_percent": 50,
    }
    assert law.shared_setting(shared_allocated_bytes=98305, **arguments) == 98304
    sizes = np.array([0, 49152, 65536, 65537, 98305])
    settings_found = law.shared_setting(shared_allocated_bytes=sizes, **arguments)
    assert settings_found.tolist() == [65536, 65536, 65536, 98304, 98304]


@given(st.integers(1, 70000), st.integers(0, 65536))
def test_blocks_by_shared_equal_taking_it_away(allocated: int, setting: int) -> None:
    actual = law.blocks_by_shared(
        shared_allocated_bytes=allocated,
        shared_setting_bytes=setting,
        shared_limit_bytes_per_block=60000,
    )
    assert actual == (0 if allocated > 60000 else setting // allocated)


def test_shared_memory_at_its_edges() -> None:
    def blocks(allocated: int, limit: int = 65536) -> int:
        return int(
            law.blocks_by_shared(
                shared_allocated_bytes=allocated,
                shared_setting_bytes=65536,
                shared_limit_bytes_per_block=limit,
            )
        )

    assert blocks(0) == law.NO_LIMIT
    assert blocks(32768) == 2
    assert blocks(32769) == 1
    assert blocks(65536) == 1
    assert blocks(65537, limit=65537) == 0
    assert blocks(1, limit=0) == 0


@given(st.integers(0, 20), whole, st.integers(1, 64), st.integers(0, 4))
def test_blocks_by_barriers_equal_handing_them_out(
    barriers: int, warps: int, of_mp: int, free_warps: int
) -> None:
    taken = 0 if warps <= free_warps else barriers
    expected = law.NO_LIMIT if taken == 0 else pieces_in(of_mp, taken)
    actual = law.blocks_by_barriers(
        barriers_per_block=barriers,
        warps_per_block=warps,
        barriers_per_mp=of_mp,
        barrier_free_warps=free_warps,
    )
    assert actual == expected


LAWS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (law.warps_per_block, {"threads_per_block": np.arange(1, 200), "warp_width": 32}),
    (law.blocks_by_warps, {"warps_per_block": np.arange(1, 80), "max_warps_per_mp": 64}),
    (
        law.registers_per_warp,
        {
            "registers_per_thread": np.arange(256),
            "warp_width": 32,
            "register_allocation_unit": 256,
        },
    ),
    (
        law.blocks_by_registers,
        {
            "registers_per_thread": np.arange(300),
            "warps_per_block": np.arange(300) % 33 + 1,
            "warp_width": 32,
            "registers_per_mp": 65536,
            "register_partitions": 4,
            "register_allocation_unit": 256,
            "registers_per_block": 32768,
            "max_registers_per_thread": 255,
        },
    ),
    (
        law.blocks_by_scalar_registers,
        {
            "scalar_registers_per_warp": np.arange(110),
            "warps_per_block": np.arange(110) % 17 + 1,
            "scalar_registers_per_partition": 800,
            "register_partitions": 4,
            "scalar_register_allocation_unit": 16,
            "scalar_registers_reserved_per_warp": 16,
            "max_scalar_registers_per_warp": 102,
        },
    ),
    *(
        (
            law.registers_with_accumulators,
            {
                "registers_per_thread": np.arange(300) % 257,
                "accumulation_registers_per_thread": np.arange(300) % 7 * 40,
                "accumulation_register_alignment": alignment,
            },
        )
        for alignment in (None, 4)
    ),
    (
        law.scalar_registers_taken,
        {
            "scalar_registers_per_warp": np.arange(110),
            "scalar_register_allocation_unit": 16,
            "scalar_registers_reserved_per_warp": 16,
        },
    ),
    (
        law.warps_of_a_part,
        {"registers_of_a_part": 16384, "registers_per_warp": np.arange(0, 17000, 256)},
    ),
    (
        law.warps_on_the_fullest_part,
        {
            "blocks_per_mp": np.arange(41),
            "warps_per_block": np.arange(41) % 17 + 1,
            "register_partitions": 4,
        },
    ),
    (
        law.shared_allocated,
        {
            "shared_bytes_per_block": np.arange(0, 3000, 7),
            "shared_reserved_bytes_per_block": 1024,
            "shared_allocation_unit_bytes": 128,
        },
    ),
    (
        law.shared_setting,
        {
            "shared_allocated_bytes": np.arange(0, 98304, 777),
            "shared_bytes_per_mp": 98304,
            "carveout_bytes": CARVEOUTS,
            "carveout_percent": 30,
        },
    ),
    (
        law.blocks_by_shared,
        {
            "shared_allocated_bytes": np.arange(0, 98304, 777),
            "shared_setting_bytes": 65536,
            "shared_limit_bytes_per_block": 49152,
        },
    ),
    (
        law.blocks_by_barriers,
        {
            "barriers_per_block": np.arange(40) % 18,
            "warps_per_block": np.arange(40) % 3 + 1,
            "barriers_per_mp": 16,
            "barrier_free_warps": 1,
        },
    ),
    (law.occupancy, {"active_warps": np.arange(65), "max_warps_per_mp": 64}),
]


@pytest.mark.parametrize(("function", "arguments"), LAWS, ids=[f.__name__ for f, _ in LAWS])
def test_arrays_go_element_by_element(
    function: Callable[..., Any], arguments: dict[str, Any]
) -> None:
    together = function(**arguments)
    rows = next(value.size for value in arguments.values() if isinstance(value, np.ndarray))
    for row in range(rows):
        alone = function(
            **{
                name: int(value[row]) if isinstance(value, np.ndarray) else value
                for name, value in arguments.items()
            }
        )
        assert not isinstance(alone, np.generic)
        assert together[row] == alone


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 255), st.integers(1, 32))
def test_symbols_give_the_formula(registers: int, warps: int) -> None:
    r, w = sympy.symbols("r w", positive=True, integer=True)
    formula = law.registers_per_warp(
        registers_per_thread=r, warp_width=32, register_allocation_unit=256
    )
    assert formula == 256 * sympy.ceiling(r / 8)
    assert formula.subs(r, registers) == law.registers_per_warp(
        registers_per_thread=registers, warp_width=32, register_allocation_unit=256
    )
    threads = law.warps_per_block(threads_per_block=32 * w - 1, warp_width=32)
    assert threads.subs(w, warps) == warps
    shared = law.shared_allocated(
        shared_bytes_per_block=r,
        shared_reserved_bytes_per_block=1024,
        shared_allocation_unit_bytes=128,
    )
    assert shared.subs(r, registers) == filled_up(registers + 1024, 128)
    assert law.occupancy(active_warps=w, max_warps_per_mp=64) == w / 64


WRONG: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (law.warps_per_block, {"threads_per_block": 0, "warp_width": 32}, "threads_per_block is 0"),
    (law.warps_per_block, {"threads_per_block": 1, "warp_width": 0}, "warp_width is 0"),
    (
        law.blocks_by_warps,
        {"warps_per_block": 1.5, "max_warps_per_mp": 8},
        "warps_per_block is 1.5",
    ),
    (
        law.registers_per_warp,
        {"registers_per_thread": -1, "warp_width": 32, "register_allocation_unit": 1},
        "registers_per_thread is -1",
    ),
    (
        law.shared_allocated,
        {
            "shared_bytes_per_block": -1,
            "shared_reserved_bytes_per_block": 0,
            "shared_allocation_unit_bytes": 1,
        },
        "shared_bytes_per_block is -1",
    ),
    (
        law.shared_setting,
        {
            "shared_allocated_bytes": 0,
            "shared_bytes_per_mp": 98304,
            "carveout_bytes": CARVEOUTS,
            "carveout_percent": 101,
        },
        "carveout_percent is 101: it must be a whole number of at least 0 and at most 100",
    ),
    (
        law.blocks_by_shared,
        {
            "shared_allocated_bytes": -1,
            "shared_setting_bytes": 1,
            "shared_limit_bytes_per_block": 1,
        },
        "shared_allocated_bytes is -1",
    ),
    (
        law.blocks_by_barriers,
        {
            "barriers_per_block": 1,
            "warps_per_block": 1,
            "barriers_per_mp": 0,
            "barrier_free_warps": 0,
        },
        "barriers_per_mp is 0",
    ),
    (law.occupancy, {"active_warps": -1, "max_warps_per_mp": 64}, "active_warps is -1"),
    (law.occupancy, {"active_warps": 1, "max_warps_per_mp": 0}, "max_warps_per_mp is 0"),
]


@pytest.mark.parametrize(("function", "arguments", "message"), WRONG)
def test_numbers_outside_the_law_are_refused(
    function: Callable[..., Any], arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        function(**arguments)


def test_the_example_of_the_document() -> None:
    """Document 000, section 2.1: 32 of 96 warps."""
    assert law.occupancy(active_warps=32, max_warps_per_mp=96) == pytest.approx(1 / 3, rel=1e-12)
