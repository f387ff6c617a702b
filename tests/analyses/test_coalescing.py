"""Coalescing on every shipped device against counting bytes lane by lane."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perfmodel
from perfmodel.device.loading import device_names, load_device
from perfmodel.errors import ArgumentError
from tests.analyses.lane_by_lane import Access, accesses, random_indices

if TYPE_CHECKING:
    from perfmodel.analyses.coalescing import Level
    from perfmodel.device.model import Device
    from perfmodel.device.schema import Operation


def expected_of(device: Device, access: Access, level: Level) -> dict[str, Any]:
    """What the public result must hold for one access."""
    line = int(getattr(device, f"{level}_line").value)
    stated = getattr(device, f"{level}_sector")
    widest = int(device.max_access.value)
    pieces = []
    for offset in range(0, access.element_bytes, widest):
        there = tuple(None if a is None else a + offset for a in access.addresses)
        pieces.append(Access(there, min(widest, access.element_bytes - offset)))
    group = device.coalescing_group

    def requests(lanes: float) -> int:
        if lanes >= device.warp_width.value:
            return len(pieces) if access.lanes else 0
        return sum(p.requests(int(lanes), int(device.transaction.value)) for p in pieces)

    used = sum(len(piece.bytes_used()) for piece in pieces)

    def share(size: float) -> float:
        moved = sum(piece.blocks(int(size)) for piece in pieces) * int(size)
        return used / moved if moved else 1.0

    shares = [share(size) for size in (stated.low, stated.value, stated.high)]
    issued = len(pieces) * device.warp_width.value if access.lanes else 0
    lines = sum(piece.blocks(line) for piece in pieces)
    sectors = sum(piece.blocks(int(stated.value)) for piece in pieces)
    return {
        "lanes": access.lanes,
        "instructions": len(pieces),
        "requests": requests(group.value),
        "requests_range": (requests(group.high), requests(group.low)),
        "lines": lines,
        "sectors": sectors,
        "bytes_requested": access.lanes * access.element_bytes,
        "bytes_used": used,
        "bytes_moved": sectors * int(stated.value),
        "efficiency": shares[1],
        "efficiency_range": (min(shares), max(shares)),
        "aligned": all(
            a is None or a % min(widest, access.element_bytes) == 0 for a in access.addresses
        ),
        "address_cycles": max(
            issued / device.address_rate.value,
            lines / device.line_rate.value,
            requests(group.value),
        ),
        "data_cycles": sectors * int(stated.value) / device.l1_bandwidth.value,
    }


@pytest.mark.parametrize("element_bytes", [1, 2, 4, 8, 16, 32, 128])
@pytest.mark.parametrize("name", device_names())
def test_every_device_equals_counting_bytes(name: str, element_bytes: int) -> None:
    device = load_device(name)
    rng = np.random.default_rng(element_bytes)
    base = int(rng.choice([0, 4, 64, 100, 1, 127]))
    indices, active = random_indices(rng, 60, device.warp_width.whole)
    level: Level = "l1" if element_bytes % 3 == 1 else "l2"
    operation: Operation = "store" if element_bytes % 5 == 3 else "load"
    result = perfmodel.coalescing(
        device,
        index=indices,
        element_bytes=element_bytes,
        operation=operation,
        level=level,
        base_bytes=base,
        active=active,
    )
    assert (result.level, result.operation) == (level, operation)
    for row, access in enumerate(accesses(indices, active, element_bytes, base)):
        for field, wanted in expected_of(device, access, level).items():
            found = getattr(result, field)
            if field.endswith("_range"):
                assert (found[0][row], found[1][row]) == pytest.approx(wanted, rel=1e-12)
            elif field == "instructions":
                assert found == wanted
            else:
                assert found[row] == pytest.approx(wanted, rel=1e-12), (field, access)


@pytest.mark.parametrize("name", device_names())
def test_one_access_has_plain_numbers(name: str) -> None:
    device = load_device(name)
    lanes = device.warp_width.whole
    for index, values in (
        ("threadIdx.x", list(range(lanes))),
        ("threadIdx.x * 3 + 1", [lane * 3 + 1 for lane in range(lanes)]),
        ("threadIdx.x ^ 5", [lane ^ 5 for lane in range(lanes)]),
        ("7", [7] * lanes),
    ):
        access = Access(tuple(value * 4 for value in values), 4)
        by_text = perfmodel.coalescing(device, index=index, element_bytes=4)
        by_numbers = perfmodel.coalescing(device, index=values, element_bytes=4)
        for field, wanted in expected_of(device, access, "l1").items():
            assert getattr(by_text, field) == pytest.approx(wanted, rel=1e-12)
            assert getattr(by_numbers, field) == pytest.approx(wanted, rel=1e-12)
        assert isinstance(by_text.lines, int)
        assert isinstance(by_text.efficiency, float)
        assert by_text.to_dict()["addresses"] == [value * 4 for value in values]


class TestTheDocuments:
    """Documents 000 section 3, 002 sections 3 and 4, 003 section 5 and 004 section 4."""

    s5000 = load_device("s5000")
    dcu = load_device("dcu")
    h200 = load_device("h200")

    @pytest.mark.parametrize(
        ("index", "of_8", "of_4"),
        [("threadIdx.x", 4, 8), ("threadIdx.x * 4", 4, 8), ("threadIdx.x * 32", 32, 32)],
    )
    def test_groups_of_8_or_4_lanes_are_merged(self, index: str, of_8: int, of_4: int) -> None:
        result = perfmodel.coalescing(self.s5000, index=index, element_bytes=4)
        assert result.requests == of_8
        assert result.requests_range == (of_8, of_4)
        narrow = self.s5000.what_if(coalescing_group=4)
        assert perfmodel.coalescing(narrow, index=index, element_bytes=4).requests == of_4

    def test_requests_are_of_128_bytes(self) -> None:
        assert self.s5000.transaction.value == 128
        assert (self.s5000.coalescing_group.low, self.s5000.coalescing_group.high) == (4, 8)

    def test_a_stride_of_32_floats_uses_4_of_128_bytes(self) -> None:
        result = perfmodel.coalescing(self.s5000, index="threadIdx.x * 32", element_bytes=4)
        assert (result.lines, result.bytes_moved, result.efficiency) == (32, 4096, 0.03125)

    @pytest.mark.parametrize(
        ("index", "lines", "share"), [("threadIdx.x", 1, 1.0), ("threadIdx.x * 4", 4, 0.25)]
    )
    def test_contiguous_against_a_stride_of_4(self, index: str, lines: int, share: float) -> None:
        result = perfmodel.coalescing(self.s5000, index=index, element_bytes=4)
        assert (result.lines, result.efficiency) == (lines, share)

    def test_1024_bits_in_one_instruction(self) -> None:
        result = perfmodel.coalescing(self.s5000, index="threadIdx.x", element_bytes=128)
        assert result.instructions == 1
        assert self.s5000.max_access.value == 32 * 4
        on_h200 = perfmodel.coalescing(self.h200, index="threadIdx.x", element_bytes=128)
        assert on_h200.instructions == 8

    def test_contiguous_floats_on_nvidia(self) -> None:
        result = perfmodel.coalescing(self.h200, index="threadIdx.x", element_bytes=4)
        assert (result.lines, result.sectors, result.requests) == (1, 4, 1)

    @pytest.mark.parametrize("line", ["64 B", "128 B"])
    def test_softmax_v0_reads_64_rows(self, line: str) -> None:
        device = self.dcu.what_if(l1_line=line, l1_sector=line)
        result = perfmodel.coalescing(device, index="threadIdx.x * 512", element_bytes=2)
        assert (result.lanes, result.lines) == (64, 64)

    @pytest.mark.parametrize(("line", "lines"), [("64 B", 16), ("128 B", 8)])
    def test_softmax_v1_is_16_bytes_apart(self, line: str, lines: int) -> None:
        device = self.dcu.what_if(l1_line=line, l1_sector=line)
        result = perfmodel.coalescing(
            device, index="threadIdx.x * 8 + i", element_bytes=2, parameters={"i": 0}
        )
        assert (result.lines, result.efficiency) == (lines, 0.125)
        assert set(np.diff(result.addresses).tolist()) == {16}

    def test_float4_moves_the_same_lines(self) -> None:
        vector = perfmodel.coalescing(self.h200, index="threadIdx.x", element_bytes=16)
        scalar = perfmodel.coalescing(
            self.h200,
            index="i * 32 + threadIdx.x",
            element_bytes=4,
            parameters={"i": range(4)},
        )
        assert vector.lines == scalar.lines.sum() == 4
        assert vector.instructions / (4 * scalar.instructions) == 0.25

    def test_the_naive_product_of_16_by_16_blocks(self) -> None:
        """A warp reads two floats of A and sixteen neighbours of B."""
        arguments: dict[str, Any] = {
            "element_bytes": 4,
            "block": (16, 16),
            "parameters": {"k": 0, "n": 512},
        }
        of_a = perfmodel.coalescing(self.h200, index="threadIdx.y * n + k", **arguments)
        of_b = perfmodel.coalescing(self.h200, index="k * n + threadIdx.x", **arguments)
        assert (of_a.lines, of_b.lines) == (2, 1)
        assert (of_a.bytes_used, of_b.bytes_used) == (8, 64)

    def test_a_warp_of_a_16_by_16_block_loads_two_rows(self) -> None:
        result = perfmodel.coalescing(
            self.h200,
            index="threadIdx.y * 4096 + threadIdx.x",
            element_bytes=4,
            block=(16, 16),
        )
        assert (result.lines, result.sectors, result.bytes_used) == (2, 4, 128)

    def test_a_tile_of_a_row_major_matrix_four_wide(self) -> None:
        """float4 loads of A take an eighth of 32 lines, of B all of 4."""
        of_a = perfmodel.coalescing(self.s5000, index="threadIdx.x * (4096 / 4)", element_bytes=16)
        of_b = perfmodel.coalescing(self.s5000, index="threadIdx.x", element_bytes=16)
        assert (of_a.lines, of_a.efficiency) == (32, 0.125)
        assert (of_b.lines, of_b.efficiency) == (4, 1.0)


@settings(deadline=None, max_examples=60)
@given(
    name=st.sampled_from(device_names()),
    indices=st.lists(st.integers(0, 5000), min_size=1, max_size=32),
    element_bytes=st.sampled_from([1, 2, 4, 8, 16, 128]),
    base=st.integers(0, 300),
)
def test_what_holds_of_every_access(
    name: str, indices: list[int], element_bytes: int, base: int
) -> None:
    result = perfmodel.coalescing(
        load_device(name), index=indices, element_bytes=element_bytes, base_bytes=base
    )
    per_line = result.line_bytes // result.sector_bytes
    assert 1 <= result.lines <= result.sectors <= result.lines * per_line
    assert 0 < result.efficiency <= 1
    assert result.bytes_used <= result.bytes_requested
    assert result.bytes_used <= result.bytes_moved
    least, most = result.requests_range
    assert least <= result.requests <= most
    assert result.address_cycles >= result.requests
    fewer = perfmodel.coalescing(
        load_device(name),
        index=indices,
        element_bytes=element_bytes,
        base_bytes=base,
        active=len(indices) - 1,
    )
    assert fewer.lines <= result.lines
    assert fewer.sectors <= result.sectors
    assert fewer.bytes_used <= result.bytes_used


def test_parameters_make_accesses_along_their_axes() -> None:
    result = perfmodel.coalescing(
        load_device("h100"),
        index="threadIdx.x * s + o",
        element_bytes=4,
        parameters={"s": [1, 2, 32], "o": [0, 1]},
    )
    assert result.lines.shape == (3, 2)
    for row, stride in enumerate((1, 2, 32)):
        for column, offset in enumerate((0, 1)):
            access = Access(tuple((lane * stride + offset) * 4 for lane in range(32)), 4)
            assert result.lines[row, column] == access.blocks(128)


def test_wide_elements_are_counted_instruction_by_instruction() -> None:
    # 64 bytes a lane in four loads of 16, each of which touches half of every sector it moves.
    h200 = load_device("h200")
    whole = perfmodel.coalescing(h200, index="threadIdx.x", element_bytes=64)
    by_hand = perfmodel.coalescing(
        h200, index="threadIdx.x * 4 + k", element_bytes=16, parameters={"k": range(4)}
    )
    assert (whole.instructions, whole.sectors, whole.efficiency) == (4, 128, 0.5)
    assert whole.sectors == by_hand.sectors.sum()
    assert whole.address_cycles == by_hand.address_cycles.sum()


def test_the_dcu_line_is_a_range_and_so_is_the_efficiency() -> None:
    result = perfmodel.coalescing(load_device("dcu"), index="threadIdx.x * 512", element_bytes=2)
    assert result.efficiency_range == (2 / 128, 2 / 64)


def test_nobody_taking_part_moves_nothing() -> None:
    result = perfmodel.coalescing(
        load_device("s5000"), index="threadIdx.x", element_bytes=4, active="threadIdx.x < 0"
    )
    assert (result.lines, result.requests, result.bytes_moved) == (0, 0, 0)
    assert result.address_cycles == 0
    assert math.isclose(result.efficiency, 1.0)


class TestBadInput:
    """What no access has is refused, with the argument's name."""

    device = load_device("h100")

    def test_operation_and_level(self) -> None:
        with pytest.raises(ArgumentError, match="operation is 'copy': it must be load or store"):
            perfmodel.coalescing(
                self.device,
                index="0",
                element_bytes=4,
                operation="copy",  # type: ignore[arg-type]
            )
        with pytest.raises(ArgumentError, match="level is 'l3': it must be l1 or l2"):
            perfmodel.coalescing(
                self.device,
                index="0",
                element_bytes=4,
                level="l3",  # type: ignore[arg-type]
            )

    def test_an_index_below_zero(self) -> None:
        with pytest.raises(ArgumentError, match="the address of lane 0 is -4"):
            perfmodel.coalescing(self.device, index="(int)threadIdx.x - 1", element_bytes=4)

    def test_a_name_that_is_not_given(self) -> None:
        with pytest.raises(ArgumentError, match="needs a value for stride"):
            perfmodel.coalescing(self.device, index="threadIdx.x * stride", element_bytes=4)
