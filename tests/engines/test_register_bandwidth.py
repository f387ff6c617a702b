"""Register bandwidth against counting reads, bytes and registers one by one."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from perfmodel.engines import register_bandwidth as rb
from perfmodel.errors import ArgumentError

sides = st.integers(1, 32)


def test_register_reads_cap_the_peak() -> None:
    # Claim gemm-register-read-limit.
    share = rb.fma_peak_share(reads_per_cycle=1, reads_per_fma=3)
    assert share == pytest.approx(0.3333333333, rel=1e-9)
    assert rb.fma_peak_share(reads_per_cycle=3, reads_per_fma=3) == 1
    assert rb.fma_peak_share(reads_per_cycle=4, reads_per_fma=3) == 1


@given(st.integers(1, 8), st.integers(1, 8))
def test_the_share_equals_issuing_instructions(ports: int, reads: int) -> None:
    fmas, cycles, ready = 1000, 0, 0
    issued = 0
    while issued < fmas:
        cycles += 1
        ready += ports
        if ready >= reads:  # at most one FMA a cycle
            ready = min(ready - reads, reads)
            issued += 1
    share = rb.fma_peak_share(reads_per_cycle=ports, reads_per_fma=reads)
    assert fmas / cycles == pytest.approx(share, rel=0.02)


def test_shared_memory_feeds_an_8_by_8_tile() -> None:
    # Claim gemm-smem-bytes-per-cycle.
    tile = {"tile_m": 8, "tile_n": 8, "element_bytes": 4}
    assert rb.shared_bytes_per_cycle(**tile, active_lanes=1) == 1.0
    assert rb.shared_bytes_per_cycle(**tile, active_lanes=128) == 128.0


@given(sides, sides, st.sampled_from([1, 2, 4, 8]), st.integers(1, 256))
def test_bytes_per_cycle_equal_the_walk_over_the_tile(
    m: int, n: int, element_bytes: int, lanes: int
) -> None:
    operands = set()
    cycles = 0
    for i in range(m):
        for j in range(n):
            operands |= {("a", i), ("b", j)}
            cycles += 1
    expected = lanes * len(operands) * element_bytes / cycles
    actual = rb.shared_bytes_per_cycle(
        tile_m=m, tile_n=n, element_bytes=element_bytes, active_lanes=lanes
    )
    assert actual == pytest.approx(expected, rel=1e-12)
    assert rb.tile_fma(tile_m=m, tile_n=n, tile_k=1) == cycles


@given(sides, sides)
def test_a_larger_tile_never_asks_for_more(m: int, n: int) -> None:
    def demand(tile_m: int) -> float:
        return float(
            rb.shared_bytes_per_cycle(tile_m=tile_m, tile_n=n, element_bytes=4, active_lanes=1)
        )

    assert demand(m + 1) <= demand(m)


def test_bank_conflicts_halve_the_peak() -> None:
    # Claim gemm-bank-conflict-limit.
    bandwidth = {"needed_bytes_per_cycle": 128, "available_bytes_per_cycle": 128}
    assert rb.shared_peak_share(**bandwidth, shared_efficiency=0.5) == 0.5
    assert rb.shared_peak_share(**bandwidth, shared_efficiency=1) == 1


@given(st.floats(1, 1e3), st.floats(1, 1e3), st.floats(0.01, 1))
def test_the_shared_share_is_a_share(needed: float, available: float, efficiency: float) -> None:
    share = rb.shared_peak_share(
        needed_bytes_per_cycle=needed,
        available_bytes_per_cycle=available,
        shared_efficiency=efficiency,
    )
    assert 0 < share <= 1
    assert share * needed <= efficiency * available * (1 + 1e-12)


def test_loads_of_one_step() -> None:
    # Claim gemm-shared-loads-per-k.
    loads = rb.shared_loads(tile_m=8, tile_n=8, element_bytes=4, access_bytes=16)
    assert (loads, rb.tile_fma(tile_m=8, tile_n=8, tile_k=1)) == (4, 64)


@given(sides, sides, st.sampled_from([1, 2, 4, 8]), st.sampled_from([4, 8, 16]))
def test_loads_equal_taking_pieces_off(m: int, n: int, element_bytes: int, access: int) -> None:
    loads = 0
    for side in (m, n):
        left = side * element_bytes
        while left > 0:
            left -= access
            loads += 1
    actual = rb.shared_loads(tile_m=m, tile_n=n, element_bytes=element_bytes, access_bytes=access)
    assert actual == loads


def test_threads_cover_the_block() -> None:
    # Claim gemm-threads.
    assert rb.covered_elements(threads=256, tile_m=8, tile_n=8) == 16384 == 128 * 128


def test_registers_of_a_tile() -> None:
    # Claim gemm-registers-tile.
    actual = [rb.tile_registers(tile_m=8, tile_n=8, tile_k=k) for k in (1, 8)]
    assert actual == [80, 192]


def test_registers_of_the_printed_kernel() -> None:
    # Claims gemm-pseudo-registers and erratum-gemm-load-registers.
    tile = {"tile_m": 8, "tile_n": 8, "tile_k": 1, "fragment_buffers": 2}
    staged = rb.array_registers(elements=128 * 4, element_bytes=4, threads=256)
    assert staged == 2
    assert rb.tile_registers(**tile, staging_registers=8 + 8) == 112
    assert rb.tile_registers(**tile, staging_registers=2 * staged) == 100
    float4_arrays = {"c": 16, "a": 4, "b": 4, "load_a": 2, "load_b": 2}
    printed = [
        rb.array_registers(elements=count, element_bytes=16) for count in float4_arrays.values()
    ]
    assert sum(printed) == 112


@given(st.integers(1, 400), st.integers(1, 8))
def test_the_largest_tiles_equal_trying_all(registers: int, tile_k: int) -> None:
    fitting = [
        (m, n)
        for m in range(1, registers + 1)
        for n in range(m, registers // m + 1)
        if m * n + (m + n) * tile_k <= registers
    ]
    square = rb.largest_square_tile(registers=registers, tile_k=tile_k)
    assert square == max((m for m, n in fitting if m == n), default=0)
    rows, columns = rb.largest_tile(registers=registers, tile_k=tile_k)
    assert rows * columns == max((m * n for m, n in fitting), default=0)
    if fitting:
        assert (rows, columns) in fitting
        ties = [(m, n) for m, n in fitting if m * n == rows * columns]
        assert rows == max(m for m, _ in ties)


@given(st.integers(1, 1000), st.integers(1, 16))
def test_depth_one_keeps_the_largest_tile(registers: int, tile_k: int) -> None:
    # Claim gemm-registers-tile: at a fixed budget TK = 1 leaves most for C.
    best_rows, best_columns = rb.largest_tile(registers=registers, tile_k=1)
    rows, columns = rb.largest_tile(registers=registers, tile_k=tile_k)
    assert rows * columns <= best_rows * best_columns


def test_registers_of_attention() -> None:
    # Claims fa-accumulator-registers, fa-registers-fit and fa-extra-p-registers.
    registers = rb.attention_accumulator_registers(
        rows_q=256, rows_kv=128, head_dim=128, threads=512
    )
    assert registers == 128
    assert rb.block_registers(threads=512, registers_per_thread=registers) == 65536
    assert rb.registers_available_per_thread(registers_per_mp=131072, threads=512) == 256
    extra = [
        rb.array_registers(elements=256 * 128, element_bytes=size, threads=512) for size in (2, 4)
    ]
    assert extra == [32, 64]


@given(st.integers(1, 256), st.integers(1, 256), st.integers(1, 256), st.integers(1, 1024))
def test_accumulators_shrink_with_more_threads(br: int, bc: int, d: int, threads: int) -> None:
    def registers(count: int) -> int:
        return int(
            rb.attention_accumulator_registers(rows_q=br, rows_kv=bc, head_dim=d, threads=count)
        )

    assert registers(threads + 1) <= registers(threads)
    assert registers(threads) * threads >= br * bc + br * d


@given(st.integers(1, 500), st.integers(1, 16), st.integers(1, 40), st.integers(1, 3))
def test_array_registers_equal_dealing_out(
    elements: int, element_bytes: int, threads: int, buffers: int
) -> None:
    dealt = [0] * threads
    for element in range(elements):
        dealt[element % threads] += element_bytes
    expected = buffers * math.ceil(max(dealt) / 4)
    actual = rb.array_registers(
        elements=elements, element_bytes=element_bytes, threads=threads, buffers=buffers
    )
    assert actual == expected


def cycles_by_queues(registers: list[int], banks: int, reads_per_bank: int) -> int:
    """The obvious way: a queue for each bank, emptied cycle by cycle."""
    queues: list[set[int]] = [set() for _ in range(banks)]
    for register in registers:
        queues[register % banks].add(register)
    cycles = 0
    while any(queues):
        cycles += 1
        for queue in queues:
            for _ in range(min(reads_per_bank, len(queue))):
                queue.pop()
    return cycles


@given(st.lists(st.integers(0, 40), min_size=1, max_size=5), st.integers(1, 8), st.integers(1, 2))
def test_operand_cycles_equal_emptying_the_banks(
    registers: list[int], banks: int, reads_per_bank: int
) -> None:
    actual = rb.operand_read_cycles(
        register_numbers=registers, banks=banks, reads_per_bank=reads_per_bank
    )
    assert actual == cycles_by_queues(registers, banks, reads_per_bank)


def test_operand_cycles_of_many_instructions() -> None:
    instructions = np.array([[0, 4, 8], [0, 1, 2], [5, 5, 9], [3, 3, 3]])
    actual = rb.operand_read_cycles(register_numbers=instructions, banks=4)
    expected = [cycles_by_queues(list(row), 4, 1) for row in instructions.tolist()]
    np.testing.assert_array_equal(actual, expected)
    assert expected == [3, 1, 2, 1]


def test_arrays_go_element_by_element() -> None:
    m = np.array([1, 4, 8, 16])
    np.testing.assert_array_equal(
        rb.tile_registers(tile_m=m, tile_n=8, tile_k=2),
        [rb.tile_registers(tile_m=int(one), tile_n=8, tile_k=2) for one in m],
    )
    np.testing.assert_allclose(
        rb.shared_bytes_per_cycle(tile_m=m, tile_n=8, element_bytes=2, active_lanes=64),
        [
            rb.shared_bytes_per_cycle(tile_m=int(one), tile_n=8, element_bytes=2, active_lanes=64)
            for one in m
        ],
        rtol=1e-15,
    )
    budgets = np.arange(1, 300)
    np.testing.assert_array_equal(
        rb.largest_square_tile(registers=budgets, tile_k=3),
        [rb.largest_square_tile(registers=int(one), tile_k=3) for one in budgets],
    )
    np.testing.assert_array_equal(
        rb.array_registers(elements=m, element_bytes=2, threads=3), [1, 1, 2, 3]
    )
    np.testing.assert_array_equal(
        rb.fma_peak_share(reads_per_cycle=np.array([1.5, 6.0]), reads_per_fma=3), [0.5, 1.0]
    )


def test_symbols_give_the_formula() -> None:
    m, n, k, size, lanes = sympy.symbols("m n k s l", positive=True, integer=True)
    registers = rb.tile_registers(tile_m=m, tile_n=n, tile_k=k)
    assert sympy.expand(registers - (m * n + m * k + n * k)) == 0
    demand = rb.shared_bytes_per_cycle(tile_m=m, tile_n=n, element_bytes=size, active_lanes=lanes)
    assert sympy.simplify(demand - lanes * size * (1 / m + 1 / n)) == 0
    side = rb.largest_square_tile(registers=m, tile_k=k)
    assert side.subs({m: 80, k: 1}) == 8
    loads = rb.shared_loads(tile_m=m, tile_n=n, element_bytes=4, access_bytes=16)
    assert loads.subs({m: 8, n: 9}) == 5
    share = rb.fma_peak_share(reads_per_cycle=m, reads_per_fma=n)
    assert share.subs({m: 1, n: 3}) == sympy.Rational(1, 3)
    accumulators = rb.attention_accumulator_registers(
        rows_q=m, rows_kv=n, head_dim=k, threads=lanes
    )
    assert accumulators.subs({m: 256, n: 128, k: 128, lanes: 512}) == 128


LAWS: list[tuple[Callable[..., Any], dict[str, float]]] = [
    (rb.fma_peak_share, {"reads_per_cycle": 1, "reads_per_fma": 3}),
    (rb.tile_fma, {"tile_m": 8, "tile_n": 8, "tile_k": 1}),
    (
        rb.shared_bytes_per_cycle,
        {"tile_m": 8, "tile_n": 8, "element_bytes": 4, "active_lanes": 128},
    ),
    (
        rb.shared_peak_share,
        {
            "needed_bytes_per_cycle": 128,
            "available_bytes_per_cycle": 128,
            "shared_efficiency": 0.5,
        },
    ),
    (rb.shared_loads, {"tile_m": 8, "tile_n": 8, "element_bytes": 4, "access_bytes": 16}),
    (rb.covered_elements, {"threads": 256, "tile_m": 8, "tile_n": 8}),
    (rb.tile_registers, {"tile_m": 8, "tile_n": 8, "tile_k": 1, "fragment_buffers": 2}),
    (rb.largest_square_tile, {"registers": 80, "tile_k": 1}),
    (rb.largest_tile, {"registers": 80, "tile_k": 1}),
    (
        rb.array_registers,
        {"elements": 64, "element_bytes": 4, "threads": 1, "buffers": 1, "register_bytes": 4},
    ),
    (
        rb.attention_accumulator_registers,
        {"rows_q": 256, "rows_kv": 128, "head_dim": 128, "threads": 512},
    ),
    (rb.block_registers, {"threads": 512, "registers_per_thread": 128}),
    (rb.registers_available_per_thread, {"registers_per_mp": 131072, "threads": 512}),
]


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "8", True, None])
@pytest.mark.parametrize(
    ("law", "arguments", "name"),
    [(law, arguments, name) for law, arguments in LAWS for name in arguments],
)
def test_a_quantity_that_cannot_be_is_refused(
    law: Callable[..., Any], arguments: dict[str, float], name: str, bad: object
) -> None:
    with pytest.raises(ArgumentError, match=rf"^{name} is {bad!r}: it must be"):
        law(**{**arguments, name: bad})


def test_counts_must_be_whole() -> None:
    with pytest.raises(ArgumentError, match=r"tile_m is 2\.5: it must be a whole number"):
        rb.tile_registers(tile_m=2.5, tile_n=8, tile_k=1)
    with pytest.raises(ArgumentError, match="staging_registers is -1"):
        rb.tile_registers(tile_m=2, tile_n=8, tile_k=1, staging_registers=-1)
    with pytest.raises(ArgumentError, match=r"shared_efficiency is 1\.5"):
        rb.shared_peak_share(
            needed_bytes_per_cycle=1, available_bytes_per_cycle=1, shared_efficiency=1.5
        )


@pytest.mark.parametrize("bad", [5, "012", None, np.int64(3)])
def test_operands_that_are_no_list_are_refused(bad: object) -> None:
    with pytest.raises(ArgumentError, match="give the registers of an instruction"):
        rb.operand_read_cycles(register_numbers=bad, banks=4)


@pytest.mark.parametrize("bad", [[-1], [1.5], [math.nan], ["1"], [True], np.array([[0, -2]])])
def test_a_register_that_cannot_be_is_refused(bad: object) -> None:
    with pytest.raises(ArgumentError, match="register_numbers is"):
        rb.operand_read_cycles(register_numbers=bad, banks=4)


@pytest.mark.parametrize("empty", [[], np.empty((3, 0), dtype=int)])
def test_an_instruction_without_operands_is_refused(empty: object) -> None:
    with pytest.raises(ArgumentError, match="register_numbers is empty"):
        rb.operand_read_cycles(register_numbers=empty, banks=4)


@pytest.mark.parametrize("name", ["banks", "reads_per_bank"])
@pytest.mark.parametrize("bad", [0, 1.5, math.nan, True, "4"])
def test_banks_must_be_whole(name: str, bad: Any) -> None:
    arguments: dict[str, Any] = {"banks": 4, "reads_per_bank": 1, name: bad}
    with pytest.raises(ArgumentError, match=f"{name} is"):
        rb.operand_read_cycles(register_numbers=[0], **arguments)
