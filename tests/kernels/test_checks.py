"""What must hold of a rung with numbers: sizes, loops, and indices that stay in their arrays."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfmodel.errors import DataError, UsageError
from perfmodel.kernels.checks import check_description, first_index_outside, problems, require_sound
from perfmodel.kernels.loading import kernel_names, load_description
from perfmodel.kernels.parameters import rung_parameters
from tests.kernels.sample import SAMPLE, changed, described, line_of
from tests.scheduler.small import small


def first_problem(text: str, rung: str, **given: Any) -> str | None:
    found = described(text).rungs[rung]
    return first_index_outside(found, rung_parameters(found, given), 32)


@pytest.mark.parametrize("warp_width", [32, 64])
@pytest.mark.parametrize("name", kernel_names())
def test_every_shipped_kernel_is_right_for_its_defaults(name: str, warp_width: int) -> None:
    assert check_description(load_description(name), warp_width=warp_width) == []


def test_the_sample_is_right_for_several_sizes() -> None:
    description = described(SAMPLE)
    assert check_description(description) == []
    for m, n in ((1, 2), (33, 128), (1000, 512), (1 << 20, 64)):
        assert check_description(description, {"m": m, "n": n, "type": "fp16"}) == []


def test_a_check_of_a_shipped_rung_takes_milliseconds() -> None:
    rung = load_description("gemm").rungs["tiled"]
    values = rung_parameters(rung, {})
    first_index_outside(rung, values, 32)
    before = time.perf_counter()
    for _ in range(10):
        first_index_outside(rung, values, 32)
    assert (time.perf_counter() - before) / 10 < 0.05


# indices


def test_an_index_that_leaves_its_array_is_shown_with_its_thread() -> None:
    text = changed("row * n + i", "row * n + i + 1")
    line = line_of(text, "- load: x")
    # Block 3 has rows 96 to 127, of which 100 exist: the last is thread 3's.
    assert first_problem(text, "walk") == (
        f"sample.yaml:{line}: load of input: threadIdx (3, 0, 0) of block (3, 0, 0), i = 63: "
        "element 6400 of 6400"
    )


def test_an_index_below_0_is_found() -> None:
    text = changed("row * n + i", "(int)(row * n + i) - 1")
    assert str(first_problem(text, "walk")).endswith(
        "threadIdx (0, 0, 0) of block (0, 0, 0), i = 0: element -1 of 6400"
    )


def test_a_missing_bounds_check_is_found() -> None:
    text = changed('if: "row < m"', 'if: "row < m + 1"')
    found = str(first_problem(text, "walk"))
    assert found.endswith("threadIdx (4, 0, 0) of block (3, 0, 0), i = 0: element 6400 of 6400")
    assert first_problem(text, "walk", m=128) is None  # the grid ends at the last row


def test_the_last_element_of_a_wide_access_counts() -> None:
    text = changed("width: 1", "width: 4")
    assert str(first_problem(text, "walk")).endswith("i = 62: element 6400 of 6400")
    text = changed("width: 1", "width: 4").replace(
        "below: n\n", "below: n\n                step: 4\n", 1
    )
    assert first_problem(text, "walk") is None


def test_an_index_through_lets_branches_and_loops() -> None:
    # As the bounds check of a tile: only lanes that `if` lets through are looked at.
    text = changed(
        'index: "blockIdx.x * n + threadIdx.x"', "index: (threadIdx.x ^ 64) + blockIdx.x * n"
    )
    assert str(first_problem(text, "tree", m=7)).endswith(
        "threadIdx (0, 0, 0) of block (6, 0, 0): element 448 of 448"
    )
    text = changed("threadIdx.x + s\n", "threadIdx.x + s * 2\n")
    assert str(first_problem(text, "tree")).endswith(
        "threadIdx (0, 0, 0) of block (0, 0, 0), s = 32: element 64 of 64"
    )
    assert str(first_problem(text, "tree")).startswith(
        f"sample.yaml:{line_of(text, '- load: q')}: load of part: "
    )


def test_the_other_side_of_a_branch_is_looked_at_with_the_opposite() -> None:
    branch = """\
          - if: "threadIdx.x < 60"
            then: [{load: u, from: part, index: threadIdx.x + 4}]
            else: [{load: u, from: part, index: threadIdx.x - 60}]
"""
    at = '          - if: "threadIdx.x == 0"\n'
    assert first_problem(SAMPLE.replace(at, branch + at), "tree") is None
    wrong = branch.replace("- 60", "+ 4")
    assert str(first_problem(SAMPLE.replace(at, wrong + at), "tree")).endswith(
        "load of part: threadIdx (60, 0, 0) of block (0, 0, 0): element 64 of 64"
    )


def test_what_c_leaves_undefined_is_an_error_where_a_thread_comes() -> None:
    text = changed("row * n + i", "row / (m - 100) * n + i")
    assert "index of load x from input: " in str(first_problem(text, "walk"))
    assert "division by zero" in str(first_problem(text, "walk"))
    guarded = changed('if: "row < m"', 'if: "row < m && m > 100"').replace(
        "row * n + i", "row / (m - 100) * n + i"
    )
    assert first_problem(guarded, "walk") is None


def test_a_product_beyond_int_is_told() -> None:
    # int arithmetic, as in the source: 65536 rows of 65536 elements.
    text = changed("row * n + i", "(int)row * n + i")
    found = str(first_problem(text, "walk", m=65536, n=65536))
    assert "overflow" in found
    assert (
        first_problem(changed("row * n + i", "1LL * row * n + i"), "walk", m=65536, n=65536) is None
    )


def test_stores_atomics_and_copies_are_looked_at_too() -> None:
    text = changed("index: row\n", "index: row + 1\n")
    assert "store to output: threadIdx (3, 0, 0) of block (3, 0, 0): element 100" in str(
        first_problem(text, "walk")
    )
    atomic = changed(
        "- store: sum\n                to: output\n                index: row",
        "- atomic: sum\n                on: output\n                index: row + 1",
    )
    assert "atomic on output: threadIdx (3, 0, 0)" in str(first_problem(atomic, "walk"))
    copy = changed("index: t * 64, rows: 1", "index: t * 64 + 64 * 99, rows: 2")
    assert "copy from input: threadIdx (0, 0, 0) of block (0, 0, 0), t = 0: element 6400" in str(
        first_problem(copy, "roles")
    )


def test_a_box_fits_its_shared_array() -> None:
    text = changed("rows: 1, row: 64", "rows: 200, row: 64, pitch: 0")
    assert "copy tile: a box of 200 x 64 elements, and tile has 8192" in str(
        first_problem(text, "roles")
    )


def test_both_sides_of_a_branch_on_data_are_looked_at() -> None:
    branch = """\
              - share: "0.5"
                then: [{load: u, from: output, index: row}]
                else: [{load: u, from: output, index: row + %d}]
"""
    at = "              - store: sum\n"
    assert first_problem(SAMPLE.replace(at, branch % 0 + at), "walk") is None
    assert "element 100 of 100" in str(first_problem(SAMPLE.replace(at, branch % 1 + at), "walk"))


def test_a_let_without_a_value_is_refused_where_a_thread_comes() -> None:
    at = "              - store: sum\n"
    let = "              - let: {half: row / (m - %d)}\n"
    assert first_problem(SAMPLE.replace(at, let % 5 + at), "walk") is None
    assert "let half: integer division by zero" in str(
        first_problem(SAMPLE.replace(at, let % 100 + at), "walk")
    )


def test_a_copy_takes_its_shared_array_for_itself() -> None:
    text = changed("        registers: 128", "        registers: 128\n        shared: 100")
    assert "shared of launch sample is 100 bytes: its shared arrays take 16384" in str(
        first_problem(text, "roles")
    )
    assert first_problem(text.replace("shared: 100", "shared: 16384"), "roles") is None


def test_roles_are_looked_at_with_their_own_threads() -> None:
    at = "                  - wait: full\n"
    load = at + "                  - {load: y, from: output, index: threadIdx.x - %d}\n"
    assert first_problem(SAMPLE.replace(at, load % 32), "roles", m=128) is None
    assert "load of output: threadIdx (32, 0, 0)" in str(
        first_problem(SAMPLE.replace(at, load % 33).replace("- 33", "- 33 + 0 * t"), "roles", m=128)
    )


def test_lanes_that_leave_a_loop_early_are_left_out() -> None:
    loop = "              - for: i\n                from: threadIdx.x\n"
    text = changed("              - for: i\n", loop)
    assert first_problem(text, "walk") is None
    assert first_problem(text.replace("row * n + i", "row * n + i + 1"), "walk") is not None


def test_a_loop_over_a_shared_value_that_reads_the_block() -> None:
    text = changed("from: n / 2", 'from: "blockIdx.x % 2 == 0 ? n / 2 : n / 4"')
    assert first_problem(text, "tree") is None
    text = changed("from: n / 2", 'from: "blockIdx.x % 2 == 0 ? n / 2 : n"')
    assert str(first_problem(text, "tree")).endswith(
        "load of part: threadIdx (0, 0, 0) of block (1, 0, 0), s = 64: element 64 of 64"
    )


def test_a_loop_whose_bound_reads_an_outer_one() -> None:
    inner = """\
                  - for: j
                    from: i
                    below: n
                    do:
                      - {load: y, from: input, index: "row * n + j - i + %d"}
"""
    at = "                  - load: x\n"
    assert first_problem(SAMPLE.replace(at, inner % 0 + at, 1), "walk") is None
    assert "j = 63: element 6400" in str(
        first_problem(SAMPLE.replace(at, inner % 1 + at, 1), "walk")
    )


def test_what_would_be_too_much_to_look_at_is_refused() -> None:
    loops, indent = "", " " * 18
    names = [f"j{number}" for number in range(8)]
    for name in names:
        loops += f"{indent}- for: {name}\n{indent}  below: n / 4\n{indent}  do:\n"
        indent += "    "
    loops += f'{indent}- {{load: y, from: input, index: "({" + ".join(names)} + row) % n"}}\n'
    at = "                  - load: x\n"
    assert first_problem(SAMPLE.replace(at, loops + at, 1), "walk") is None
    loops = loops.replace("+ row) % n", "- row) % n")
    assert "threads and iterations would have to be looked at" in str(
        first_problem(SAMPLE.replace(at, loops + at, 1), "walk")
    )


# A kernel of one access, against a walk over all that it does.

ONE = """\
format: 1
kernel: one
title: one access
source: made up for tests
parameters: {n: {default: 40, about: elements}}
pipe: fp32
flop: n
compulsory: n
arrays: {a: {type: fp32, extent: n}}
rungs:
  - name: only
    change: None.
    source: made up
    launches:
      - block: [4, 2]
        grid: [3, 2]
        registers: 8
        body:
          - for: i
            from: FROM
            below: BELOW
            do:
              - if: GUARD
                then: [{load: x, from: a, index: INDEX}]
"""
TERMS = ("threadIdx.x", "threadIdx.y", "blockIdx.x", "blockIdx.y", "i")


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(-3, 4), min_size=5, max_size=5),
    st.integers(-4, 12),
    st.sampled_from(["0", "1", "(int)threadIdx.x"]),
    st.integers(0, 5),
    st.lists(st.integers(-2, 2), min_size=5, max_size=5),
)
def test_an_index_is_refused_exactly_where_a_thread_leaves_the_array(
    factors: list[int], offset: int, start: str, below: int, guard: list[int]
) -> None:
    """Blocks and iterations are so few that all of them are looked at."""
    index = " + ".join(f"{f} * (int){t}" for f, t in zip(factors, TERMS, strict=True))
    asked = " + ".join(f"{f} * (int){t}" for f, t in zip(guard, TERMS, strict=True)) + " >= 0"
    text = ONE.replace("INDEX", f'"{index} + {offset}"').replace("GUARD", f'"{asked}"')
    text = text.replace("FROM", f'"{start}"').replace("BELOW", str(below))
    outside = []
    for z in np.ndindex(2, 3, 2, 4):  # block y, block x, thread y, thread x
        first = z[3] if start == "(int)threadIdx.x" else int(start)
        for i in range(first, below):
            at = (z[3], z[2], z[1], z[0], i)
            element = offset + sum(f * t for f, t in zip(factors, at, strict=True))
            if sum(f * t for f, t in zip(guard, at, strict=True)) >= 0 and not 0 <= element < 40:
                outside.append((at, element))
    found = first_index_outside(described(text).rungs["only"], {"n": 40}, 32)
    if not outside:
        assert found is None
        return
    shown = {
        f"threadIdx ({x}, {y}, 0) of block ({bx}, {by}, 0), i = {i}: element {element} of 40"
        for (x, y, bx, by, i), element in outside
    }
    assert str(found).partition("load of a: ")[2] in shown


# sizes and loops


@pytest.mark.parametrize(
    ("rung", "old", "new", "message"),
    [
        ("walk", "extent: m}", "extent: m - 104}", "extent of output is -4: at least 0 is wanted"),
        (
            "walk",
            "registers: 24",
            "registers: n - n",
            "registers of launch sample is 0: at least 1",
        ),
        (
            "walk",
            "[block]",
            "[block, 0]",
            "block of launch sample is 32 x 0 x 1: each size is from 1",
        ),
        ("walk", "[block]", "[block, 64]", "block of launch sample has 2048 threads: at most 1024"),
        (
            "walk",
            '["ceil_div(m, block)"]',
            "[m / 1000]",
            "grid of launch sample is 0 x 1 x 1: each",
        ),
        ("walk", "unroll: 4", "unroll: 0", "unroll of for i is 0: at least 1 is wanted"),
        ("walk", "width: 1", "width: n / 10", "width of load x from input is 6: 1, 2, 4, 8 or 16"),
        (
            "walk",
            "below: n\n",
            "below: n\n                step: n - 64\n",
            "for i never ends: its step",
        ),
        (
            "walk",
            "below: n\n",
            "below: 1LL << 50\n",
            "for i has 1125899906842624 iterations: at most",
        ),
        (
            "walk",
            "- op: move.fp32",
            "- op: move.fp32\n                count: 0 - n",
            "count of op move",
        ),
        (
            "walk",
            "- op: move.fp32",
            "- op: move.fp32\n                chain: 0",
            "chain of op move.fp32",
        ),
        ("walk", '- if: "row < m"', "- share: n", "share is 64.0: from 0 to 1 is wanted"),
        (
            "walk",
            "registers: 24",
            "registers: 24\n        shared: 0 - 1",
            "shared of launch sample is -1",
        ),
        (
            "tree",
            "registers: 16",
            "registers: 16\n        shared: 255",
            "shared of launch sum is 255 bytes: its shared arrays take 256",
        ),
        ("tree", "next: s / 2", "next: s * 1", "for s never ends: after 32 comes 32 again"),
        ("tree", "next: s / 2", "next: s * 2", "for s: "),
        ("tree", "next: s / 2", "next: (s + 1) % 1000 + 1", "for s does not end within 1000000"),
        ("roles", "stages: 2", "stages: 0", "stages of channel full is 0: at least 1"),
        (
            "roles",
            "warps: 1\n",
            "warps: 2\n",
            "the roles of launch sample have 6 warps, its block of 160",
        ),
        ("roles", "warps: 1\n", "warps: 0\n", "warps of role producer is 0: at least 1 is wanted"),
        (
            "roles",
            "type: fp16, warps: 4",
            "type: fp16, warps: 8",
            "warps of mma acc is 8: only 4 warps",
        ),
        ("roles", "shape: [64,", "shape: [0,", "shape of mma acc is 0: at least 1 is wanted"),
        ("roles", "rows: 1,", "rows: 0,", "rows of copy tile is 0: at least 1 is wanted"),
        ("walk", "row * n + i", "row * n + i / 2.0", "index of load x from input is 0.5: a whole"),
    ],
)
def test_a_number_that_cannot_be_is_refused(rung: str, old: str, new: str, message: str) -> None:
    place, said = str(first_problem(changed(old, new), rung)).split(": ", 1)
    assert place.startswith("sample.yaml:")
    assert said.startswith(message)


def test_a_loop_of_no_iteration_is_none_to_refuse() -> None:
    assert first_problem(changed("below: n\n", "below: n - 64\n"), "walk") is None
    assert first_problem(changed("from: n / 2", "from: n - 64"), "tree") is None


# a whole description


def test_every_rung_that_is_wrong_is_told_with_its_first_fault() -> None:
    text = SAMPLE.replace("row * n + i", "row * n + i + 1").replace("next: s / 2", "next: s * 2")
    found = check_description(described(text))
    assert len(found) == 2
    assert found[0].endswith("element 6400 of 6400 (rung walk)")
    assert found[1].endswith("(rung tree)")


def test_a_constraint_that_is_broken_is_told_in_its_words() -> None:
    found = check_description(described(SAMPLE), {"n": 65})
    assert found[0] == "sample:walk with n = 65: n must be even (rung walk)"


def test_flop_and_traffic_are_not_below_0() -> None:
    text = changed("flop: 1LL * m * n", "flop: m - 101")
    assert check_description(described(text))[0] == (
        "sample.yaml: flop is -1: at least 0 is wanted (rung walk)"
    )
    (first, *_) = problems(
        described(changed("flop: 1LL * m * n", "flop: m / (m - 100)")), {}, warp_width=32
    )
    assert "flop: " in str(first)
    assert "division by zero" in str(first)


def test_parameters_that_no_rung_has_are_refused() -> None:
    with pytest.raises(UsageError, match="sample has no parameter 'blok': did you mean block"):
        check_description(described(SAMPLE), {"blok": 1})
    assert check_description(described(SAMPLE), {"block": 64}) == []


def test_a_constraint_may_read_the_width_of_a_warp() -> None:
    text = changed('that: "n % 2 == 0"', 'that: "n % warpSize == 0"')
    assert check_description(described(text), {"n": 64}, warp_width=64) == []
    assert len(check_description(described(text), {"n": 32}, warp_width=64)) == 3


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("registers: 24", "registers: 100000000", "at most 65536 is believed"),
        ("unroll: 4", "unroll: 1000000000", "unroll of for i is 1000000000: at most 65536"),
        ("unroll: 4", 'unroll: "1LL << 60"', "at most 65536"),
        (
            "op: add.fp32",
            'count: "1LL << 60"\n                    op: add.fp32',
            "at most 2147483647",
        ),
        ("flop: 1LL * m * n", "flop: 1e300 * m * n", "flop is 6.4e+303: at most"),
        ("compulsory: ", "compulsory: 1e300 * ", "compulsory is"),
        ("extent: 1LL * m * n", 'extent: "1LL << 60"', "extent of input is"),
        ("registers: 24", 'registers: 24\n        shared: "1LL << 40"', "at most 1073741824"),
    ],
)
def test_an_amount_that_no_device_can_mean_is_refused(old: str, new: str, said: str) -> None:
    assert old in SAMPLE
    (found, *_) = check_description(described(SAMPLE.replace(old, new, 1)))
    assert said in found


def test_a_nest_that_would_take_days_is_refused() -> None:
    nested = small(
        nest="""
- for: i
  below: 1 << 30
  do:
  - for: j
    below: 1 << 30
    do: [{op: add.fp32, to: z}]
""",
    )
    with pytest.raises(DataError, match=r"for j has 1152921504606846976 iterations within the loo"):
        require_sound(nested.rungs["nest"], rung_parameters(nested.rungs["nest"], {}), 32)
