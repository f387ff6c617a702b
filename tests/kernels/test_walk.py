"""The walk over all threads, checked by hand on kernels small enough for it."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pytest

from perfmodel.expressions import parse
from perfmodel.kernels.loading import load_description
from tests.kernels.walk import Geometry, Tally, meaning, unique_sectors, walk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from perfmodel.kernels.schema import Rung

    Written = Callable[..., Rung]

GEOMETRY = Geometry(
    warp_width=32,
    line_bytes=128,
    sector_bytes=32,
    l2_sector_bytes=64,
    transaction_bytes=128,
    coalescing_group=8,
    shared_banks=32,
    shared_bank_width=4,
)
PAIRS = replace(GEOMETRY, warp_width=2, coalescing_group=2)

MAKE = "- {op: move.fp32, to: x}\n"
"""A value to store, at position 0."""

HEADER = """
format: 1
kernel: tiny
title: a tiny kernel
source: a test
parameters:
  n: {default: 32, about: elements}
  type: {default: fp32, about: element type, choices: [fp16, fp32]}
pipe: fp32
flop: "1"
compulsory: "1"
arrays:
  a: {type: type, extent: "1048576"}
  b: {type: fp32, extent: "1048576"}
rungs:
  - name: only
    change: Nothing.
    source: a test
"""


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """A rung of one launch, from its body or its roles."""

    def write(
        body: str, *, block: str = "[32]", grid: str = "[1]", shared: str = "", other: str = ""
    ) -> Rung:
        lines = [
            HEADER + (f"    arrays: {{{shared}}}" if shared else ""),
            "    launches:",
            f"      - block: {block}",
            f"        grid: {grid}",
            "        registers: 16",
            *([f"        {other}"] if other else []),
            "        roles:" if body.startswith("\n- name:") else "        body:",
            *(f"          {line}" for line in body.strip().splitlines()),
        ]
        path = tmp_path / "tiny.yaml"
        path.write_text("\n".join(lines), encoding="utf-8")
        return load_description(path).rungs["only"]

    return write


def said(tally: Tally) -> dict[str, float]:
    """What is not zero."""
    return {name: amount for name, amount in asdict(tally).items() if amount}


def test_lanes_side_by_side_share_a_line(written: Written) -> None:
    rung = written('- {load: x, from: a, index: "threadIdx.x"}')
    assert said(walk(rung, {}, GEOMETRY)[0]) == {
        "executions": 1,
        "lanes": 32,
        "instructions": 1,
        "lines": 1,
        "sectors": 4,
        "l2_sectors": 2,
        "requests": 4,  # one for each 8 lanes
        "bytes_requested": 128,
    }


def test_a_word_names_the_size_of_an_element(written: Written) -> None:
    rung = written('- {load: x, from: a, index: "threadIdx.x * type_bytes"}')
    half = walk(rung, {"type": "fp16"}, GEOMETRY)[0]
    assert (half.bytes_requested, half.sectors, half.lines) == (64, 4, 1)


@pytest.mark.parametrize(("stride", "lines", "requests"), [(1, 1, 4), (4, 4, 4), (32, 32, 32)])
def test_strides_of_the_document(written: Written, stride: int, lines: int, requests: int) -> None:
    rung = written(f'- {{load: x, from: a, index: "threadIdx.x * {stride}"}}')
    tally = walk(rung, {}, GEOMETRY)[0]
    assert (tally.lines, tally.requests) == (lines, requests)


def test_an_access_off_its_line_touches_one_more(written: Written) -> None:
    rung = written(MAKE + '- {store: x, to: a, index: "threadIdx.x + 1"}')
    tally = walk(rung, {}, GEOMETRY)[1]
    assert (tally.lines, tally.sectors, tally.l2_sectors, tally.requests) == (2, 5, 3, 5)


def test_a_wide_access_is_one_or_several(written: Written) -> None:
    rung = written('- {load: x, from: a, index: "threadIdx.x * 8", width: 8}')
    whole = walk(rung, {}, GEOMETRY)[0]
    assert (whole.instructions, whole.lines, whole.sectors) == (1, 8, 32)
    halves = walk(rung, {}, replace(GEOMETRY, widest_access_bytes=16))[0]
    assert (halves.instructions, halves.lines, halves.sectors) == (2, 16, 64)
    assert whole.bytes_requested == halves.bytes_requested == 1024


def test_atomics_on_one_element(written: Written) -> None:
    rung = written(MAKE + '- {atomic: x, on: b, index: "0"}')
    tally = walk(rung, {}, GEOMETRY)[1]
    assert (tally.lanes, tally.lines, tally.requests, tally.bytes_requested) == (32, 1, 4, 128)


@pytest.mark.parametrize(
    ("index", "passes"),
    [
        ("threadIdx.x", 1),
        ("0", 1),
        ("threadIdx.x * 2", 2),
        ("threadIdx.x * 32", 32),
        ("threadIdx.x * 33", 1),
        ("threadIdx.x / 16 * 32", 2),
    ],
)
def test_passes_of_words(written: Written, index: str, passes: int) -> None:
    rung = written(
        MAKE + f'- {{store: x, to: tile, index: "{index}"}}',
        shared='tile: {type: fp32, extent: "1056", space: shared}',
    )
    assert said(walk(rung, {}, GEOMETRY)[1]) == {
        "executions": 1,
        "lanes": 32,
        "instructions": 1,
        "passes": passes,
        "ideal_passes": 1,
        "bytes_requested": 128,
    }


def test_a_narrow_element_takes_a_bank(written: Written) -> None:
    rung = written(
        MAKE + '- {store: x, to: tile, index: "threadIdx.x"}',
        block="[64]",
        shared='tile: {type: fp16, extent: "64", space: shared}',
    )
    tally = walk(rung, {}, replace(GEOMETRY, warp_width=64))[1]
    assert (tally.passes, tally.ideal_passes, tally.bytes_requested) == (2, 2, 128)


def test_wide_shared_accesses_go_by_groups_of_lanes(written: Written) -> None:
    index = "threadIdx.x % 8 * 4 + threadIdx.x / 8 % 2 * 512"
    rung = written(
        MAKE + f'- {{store: x, to: tile, index: "{index}", width: 4}}',
        shared='tile: {type: fp32, extent: "1056", space: shared}',
    )
    tally = walk(rung, {}, GEOMETRY)[1]
    assert (tally.passes, tally.ideal_passes) == (4, 4)
    # Lanes 0 to 3 and 8 to 11 together want two words of each of sixteen banks.
    pairs = [[*range(4 * k, 4 * k + 4), *range(4 * k + 8, 4 * k + 12)] for k in (0, 1, 4, 5)]
    asked = []

    def groups(operation: str, size: int) -> list[list[int]]:
        asked.append((operation, size))
        return pairs

    other = walk(rung, {}, replace(GEOMETRY, shared_groups=groups))[1]
    assert (other.passes, other.ideal_passes) == (8, 4)
    assert asked == [("store", 16)]


def test_a_shared_access_wider_than_one_can_be(written: Written) -> None:
    rung = written(
        MAKE + '- {store: x, to: tile, index: "threadIdx.x * 8", width: 8}',
        shared='tile: {type: fp32, extent: "256", space: shared}',
    )
    whole = walk(rung, {}, GEOMETRY)[1]
    assert (whole.instructions, whole.passes, whole.ideal_passes) == (1, 8, 8)
    # Eight lanes that skip every other 16 bytes want two words of each bank that they want.
    halves = walk(rung, {}, replace(GEOMETRY, widest_shared_access_bytes=16))[1]
    assert (halves.instructions, halves.passes, halves.ideal_passes) == (2, 16, 8)


def test_shared_arrays_start_aligned(written: Written) -> None:
    # At byte 6, right behind the first, every lane's element would lie in two words.
    body = """
- {store: x, to: first, index: "0"}
- {store: x, to: second, index: "threadIdx.x"}
"""
    shared = (
        'first: {type: fp16, extent: "3", space: shared}, '
        'second: {type: fp32, extent: "32", space: shared}'
    )
    assert walk(written(MAKE + body, shared=shared), {}, GEOMETRY)[2].passes == 1


TREE = """
- let: {tid: "threadIdx.x"}
- {op: move.fp32, to: y}
- {store: y, to: partial, index: tid}
- barrier: block
- for: s
  from: START
  while: "WHILE"
  next: "NEXT"
  do:
    - if: "PREDICATE"
      then:
        - {load: x, from: partial, index: "tid + s"}
        - {op: add.fp32, to: y, uses: [x]}
    - barrier: block
"""


def tree(**parts: str) -> str:
    body = TREE
    for name, text in parts.items():
        body = body.replace(name.upper(), text)
    return body


def test_the_modulo_tree_diverges_wherever_it_works(written: Written) -> None:
    body = tree(start="1", WHILE="s < blockDim.x", NEXT="s * 2", predicate="tid % (2 * s) == 0")
    shared = 'partial: {type: fp32, extent: "8", space: shared}'
    tallies = walk(written(body, block="[8]", shared=shared), {}, PAIRS)
    let, _, _, _, loop, branch, load, add, barrier = tallies.values()
    assert said(let) == {"executions": 4, "lanes": 8}
    assert said(loop) == {"executions": 12, "lanes": 24}  # 4 warps, 3 iterations
    assert said(branch) == {"executions": 12, "lanes": 24, "divergent": 4 + 2 + 1}
    assert (load.executions, load.lanes) == (4 + 2 + 1, 4 + 2 + 1)
    assert (load.passes, load.bytes_requested) == (7, 28)
    assert said(add) == {"executions": 7, "lanes": 7, "amount": 7}
    assert said(barrier) == {"executions": 12, "lanes": 24}


def test_the_sequential_tree_diverges_in_its_last_step(written: Written) -> None:
    body = tree(start="blockDim.x / 2", WHILE="s > 0", NEXT="s / 2", predicate="tid < s")
    shared = 'partial: {type: fp32, extent: "8", space: shared}'
    tallies = walk(written(body, block="[8]", shared=shared), {}, PAIRS)
    assert tallies[5].divergent == 1
    assert (tallies[7].executions, tallies[7].lanes) == (2 + 1 + 1, 7)  # 7/8 of the slots


def test_both_sides_of_a_branch_run(written: Written) -> None:
    body = """
- if: "threadIdx.x < 31"
  then:
    - {op: add.fp32, count: 3}
  else:
    - {op: mul.fp32, count: n}
- {op: fma.fp32}
"""
    branch, then, otherwise, after = walk(written(body, block="[64]"), {"n": 5}, GEOMETRY).values()
    assert said(branch) == {"executions": 2, "lanes": 64, "divergent": 1}
    assert said(then) == {"executions": 1, "lanes": 31, "amount": 3}
    assert said(otherwise) == {"executions": 2, "lanes": 33, "amount": 10}
    assert said(after) == {"executions": 2, "lanes": 64, "amount": 2}


def test_a_branch_on_data_has_a_weight(written: Written) -> None:
    body = """
- share: "0.25"
  then:
    - {load: x, from: a, index: "threadIdx.x"}
    - share: "0.5"
      then: [{op: add.fp32}]
  else:
    - {shuffle: x, count: 5}
"""
    branch, load, inner, add, shuffle = walk(written(body, block="[64]"), {}, GEOMETRY).values()
    assert said(branch) == {"executions": 2, "lanes": 64}
    assert (load.executions, load.lanes, load.lines, load.bytes_requested) == (0.5, 16, 0.5, 64)
    assert said(inner) == {"executions": 0.5, "lanes": 16}
    assert said(add) == {"executions": 0.25, "lanes": 8, "amount": 0.25}
    assert said(shuffle) == {"executions": 1.5, "lanes": 48, "amount": 7.5}


def test_a_last_block_is_partial(written: Written) -> None:
    body = """
- let: {i: "blockIdx.x * blockDim.x + threadIdx.x"}
- if: "i < n"
  then: [{load: x, from: a, index: "i"}]
"""
    rung = written(body, block="[64]", grid='["ceil_div(n, blockDim.x)"]')
    let, branch, load = walk(rung, {"n": 100}, GEOMETRY).values()  # 64, then 32 and 4
    assert said(let) == {"executions": 4, "lanes": 128}
    assert said(branch) == {"executions": 4, "lanes": 128, "divergent": 1}
    assert (load.executions, load.lanes, load.lines, load.sectors) == (4, 100, 4, 13)
    assert load.requests == 13


def test_a_last_warp_is_partial(written: Written) -> None:
    rung = written("- {op: add.fp32}", block="[40]", grid="[2, 3, 1]")
    assert said(walk(rung, {}, GEOMETRY)[0]) == {"executions": 12, "lanes": 240, "amount": 12}


def test_threads_are_numbered_x_first(written: Written) -> None:
    body = """
- {load: x, from: a, index: "threadIdx.y * 1024 + threadIdx.x"}
- {load: y, from: a, index: "threadIdx.z * 1024 + threadIdx.x * 4 + threadIdx.y"}
"""
    rows, planes = walk(written(body, block="[8, 4, 2]"), {}, GEOMETRY).values()
    assert (rows.executions, rows.lines) == (2, 8)
    assert (planes.executions, planes.lines) == (2, 2)


def test_lanes_leave_a_strided_loop_one_by_one(written: Written) -> None:
    body = """
- for: i
  from: "blockIdx.x * blockDim.x + threadIdx.x"
  below: n
  step: "blockDim.x * gridDim.x"
  do: [{load: x, from: a, index: "i"}]
"""
    rung = written(body, block="[32]", grid="[2]")
    loop, load = walk(rung, {"n": 140}, GEOMETRY).values()
    # 64 a step: block 0 reads 0.., 64.., and the 12 from 128; block 1 reads 32.. and 96..
    assert said(loop) == {"executions": 5, "lanes": 140}
    assert (load.executions, load.lanes, load.lines, load.sectors) == (5, 140, 5, 18)


def test_trip_counts_that_read_the_block_and_the_outer_loop(written: Written) -> None:
    body = """
- for: i
  below: "blockIdx.x + 1"
  unroll: 2
  do:
    - for: j
      from: i
      below: "3"
      do: [{op: add.fp32}]
"""
    outer, inner, add = walk(written(body, grid="[3]"), {}, GEOMETRY).values()
    assert outer.executions == 1 + 2 + 3
    assert inner.executions == add.amount == 3 + (3 + 2) + (3 + 2 + 1)


def test_a_let_is_of_its_iteration(written: Written) -> None:
    body = """
- for: i
  below: "4"
  do:
    - let: {j: "i * i", k: "j % 2"}
    - if: "k == 1"
      then: [{load: x, from: a, index: "j * 32"}]
"""
    tallies = walk(written(body), {}, GEOMETRY)
    assert (tallies[4].executions, tallies[4].lines) == (2, 2)
    assert unique_sectors(written(body), {}, GEOMETRY, 4, "grid") == 2  # of elements 32 and 288


ROLES = """
- name: producer
  warps: 1
  registers: 24
  body:
    - for: i
      below: "3"
      do:
        - acquire: full
        - {copy: tile, from: a, index: "i * 8", rows: 4, row: 16, pitch: n, channel: full}
        - commit: full
- name: consumer
  warps: 2
  registers: 40
  body:
    - for: i
      below: "3"
      do:
        - wait: full
        - {mma: acc, uses: [acc, tile], shape: [64, 16, 8], type: fp16, warps: 2, count: 2}
        - release: full
    - {store: acc, to: b, index: "threadIdx.x / 64 * 1024"}
"""


def test_roles_take_the_warps_in_their_order(written: Written) -> None:
    rung = written(
        ROLES,
        block="[96]",
        grid="[2]",
        shared='tile: {type: type, extent: "64", space: shared}',
        other="channels: {full: {stages: 2}}",
    )
    tallies = walk(rung, {"n": 32, "type": "fp16"}, GEOMETRY)
    assert said(tallies[1]) == {"executions": 6, "lanes": 192}
    # Rows of 32 bytes every 64 bytes: from byte 0 and 32 in one sector, from byte 16 in two.
    assert said(tallies[2]) == {
        "executions": 6,
        "lines": 24,
        "sectors": 2 * 4 * (1 + 2 + 1),
        "l2_sectors": 24,
        "bytes_requested": 6 * 4 * 32,
    }
    mma = tallies[6]
    assert (mma.executions, mma.lanes, mma.amount) == (12, 384, 24)
    assert mma.flop == 2 * 64 * 16 * 8 * 2 * 6  # one group of two warps, three times in two blocks
    store = tallies[8]
    assert (store.executions, store.lanes, store.lines) == (4, 128, 4)
    assert unique_sectors(rung, {}, GEOMETRY, 8, "block") == 2  # threads 32 to 63, and the rest
    assert unique_sectors(rung, {"type": "fp16"}, GEOMETRY, 2, "grid") == 8


def test_a_copy_is_one_box_however_many_warps_come_to_it(written: Written) -> None:
    body = """
- if: "threadIdx.x / 32 >= blockIdx.x"
  then:
    - {copy: tile, from: a, index: "threadIdx.x + 1", rows: 2, row: 8, pitch: 64}
"""
    shared = 'tile: {type: fp32, extent: "16", space: shared}'
    rung = written(body, block="[128]", grid="[4]", shared=shared)
    copy = walk(rung, {}, GEOMETRY)[1]
    # The first warp that comes to it issues it with its first lane's index, 1 from a line's start.
    assert (copy.executions, copy.bytes_requested) == (4, 4 * 64)
    assert (copy.sectors, copy.lines) == (4 * 4, 4 * 2)
    assert unique_sectors(rung, {}, GEOMETRY, 1, "grid") == 2 * 6  # elements 1 to 168 in parts


def test_launches_follow_one_another(written: Written) -> None:
    body = '- {load: x, from: a, index: "threadIdx.x"}\n- {load: y, from: b, index: "0"}'
    one = written(body, block="[64]")
    (first,) = one.launches
    (other,) = written("- {op: add.fp32}", grid="[n]").launches
    both = replace(one, launches=(other, first, other))
    tallies = walk(both, {"n": 3}, GEOMETRY)
    assert [tally.executions for tally in tallies.values()] == [3, 2, 2, 3]
    assert unique_sectors(both, {}, GEOMETRY, 1, "block") == 8


def test_unique_sectors_of_a_block_and_of_the_grid(written: Written) -> None:
    body = """
- for: i
  below: "4"
  do: [{load: x, from: a, index: "blockIdx.x * 16 + threadIdx.x + i * 8"}]
"""
    rung = written(body, grid="[3]")
    assert walk(rung, {}, GEOMETRY)[1].sectors == 3 * 4 * 4
    assert unique_sectors(rung, {}, GEOMETRY, 1, "block") == 7  # 56 elements
    assert unique_sectors(rung, {}, GEOMETRY, 1, "grid") == 11  # 88
    with pytest.raises(ValueError, match="accesses no global array"):
        unique_sectors(rung, {}, GEOMETRY, 0, "grid")


def test_what_cannot_be_walked_is_refused(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = '- {for: s, from: 0, while: "s < n", next: "s + 1", do: [{op: add.fp32}]}'
    rung = written(body, block="[1]")
    with pytest.raises(ValueError, match="no parameter block"):
        walk(rung, {"block": 1}, GEOMETRY)
    monkeypatch.setattr("tests.kernels.walk.MOST_ITERATIONS", 10)
    assert walk(rung, {"n": 9}, GEOMETRY)[0].executions == 9
    with pytest.raises(ValueError, match="the loop over s does not end"):
        walk(rung, {"n": 10}, GEOMETRY)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("7 % -2", 1),
        ("ceil_div(7, 2)", 4),
        ("5 & 3 | 8 ^ 1", 9),
        ("1 << 4 >> 2", 4),
        ("~5", -6),
        ("n > 0 && 8 / n > 1", 1),
        ("n == 0 || 8 / n > 4", 0),
        ("n == 3 ? 10 : 1 / 0", 10),
        ("0 && 1 / 0", 0),
        ("1 || 1 / 0", 1),
        ("!n + !0", 1),
        ("(int)2.75", 2),
        ("(unsigned)-1", 4294967295),
        ("(char)200", -56),
        ("(bool)n", 1),
        ("popcount(-1)", 32),
        ("__popc(255)", 8),
        ("__popcll(-1)", 64),
        ("min(n, 2) + max(n, 9) + abs(-4)", 15),
        ("(int)log2(8)", 3),
        ("1.0 / 4", 0.25),
        ("threadIdx.x / warpSize * n", 6),
    ],
)
def test_expressions_mean_what_they_mean_in_c(text: str, value: float) -> None:
    names: dict[str, Any] = {"n": 3, "threadIdx.x": 64, "warpSize": 32}
    assert meaning(parse(text))(names) == value
    assert parse(text).evaluate(names) == value
