"""Descriptions as they are read, and every way in which one is refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from perfmodel.errors import DataError, UsageError
from perfmodel.expressions import ExpressionError
from perfmodel.kernels.loading import (
    kernel_names,
    load_description,
    load_rung,
    pick_rung,
    split_name,
)
from perfmodel.kernels.schema import (
    Barrier,
    Copy,
    For,
    If,
    Let,
    Load,
    Mma,
    Operation,
    Signal,
    Store,
    Use,
)
from tests.kernels.sample import SAMPLE, changed, described, line_of

if TYPE_CHECKING:
    from pathlib import Path


def test_a_description_holds_what_is_written() -> None:
    found = described(SAMPLE)
    assert (found.kernel, found.title, found.pipe) == ("sample", "sums of rows", "fp32")
    assert found.flop.text == "1LL * m * n"
    assert list(found.rungs) == ["walk", "tree", "roles"]
    assert [rung.name for rung in found.ladder()] == ["walk", "tree"]
    assert found.parameters["n"].minimum == 2
    assert found.parameters["type"].choices == ("fp32", "fp16")
    assert list(found.rungs["walk"].parameters) == ["m", "n", "type", "block"]
    assert found.rungs["walk"].constraints[0].message == "n must be even"
    assert found.rungs["tree"].arrays["part"].space == "shared"
    assert found.rungs["walk"].arrays.keys() == {"input", "output"}


def test_statements_are_read_in_their_order_with_defaults() -> None:
    rung = described(SAMPLE).rungs["walk"]
    statements = list(rung.statements())
    assert [type(each) for each in statements] == [
        *(Let, If, Operation, For, Load, Operation, Store)
    ]
    loop, load, add = statements[3:6]
    assert isinstance(loop, For)
    assert (loop.start.text, loop.step and loop.step.text, loop.following) == ("0", "1", None)
    assert loop.condition.text == "i < (n)"
    assert isinstance(load, Load)
    assert load.width.text == "1"
    assert isinstance(add, Operation)
    assert (add.what, add.pipe, add.count.text, add.packed) == ("add", "fp32", "1", 1)
    assert add.uses == (Use(name="sum"), Use(name="x"))
    assert add.place == f"sample.yaml:{line_of(SAMPLE, '- op: add.fp32')}"


def test_a_launch_has_one_role_of_all_threads_unless_it_says_otherwise() -> None:
    (launch,) = described(SAMPLE).rungs["tree"].launches
    (role,) = launch.roles
    assert (launch.name, role.name, role.warps) == ("sum", "all", None)
    assert [size.text for size in launch.block] == ["n", "1", "1"]
    assert launch.barriers.text == "1"
    assert launch.shared is None
    assert described(SAMPLE).rungs["walk"].launches[0].name == "sample"
    assert described(SAMPLE).rungs["walk"].launches[0].barriers.text == "0"


def test_roles_and_channels_are_read() -> None:
    (launch,) = described(SAMPLE).rungs["roles"].launches
    producer, consumer = launch.roles
    assert (producer.registers.text, consumer.registers.text) == ("24", "128")
    assert launch.channels[0].stages.text == "2"
    copy = next(
        each for each in described(SAMPLE).rungs["roles"].statements() if type(each) is Copy
    )
    assert (copy.to, copy.array, copy.pitch.text, copy.channel) == ("tile", "input", "64", "full")
    mma = next(each for each in described(SAMPLE).rungs["roles"].statements() if type(each) is Mma)
    assert (mma.m.text, mma.k.text, mma.shared_operands) == ("64", "16", ("a", "b"))
    steps = [
        each.step for each in described(SAMPLE).rungs["roles"].statements() if type(each) is Signal
    ]
    assert steps == ["acquire", "commit", "wait", "release"]


def test_values_are_read_with_their_distance_and_several_lets_are_several_statements() -> None:
    text = changed("uses: [sum, x]", "uses: [sum@1, x @ 2]")
    add = [each for each in described(text).rungs["walk"].statements() if type(each) is Operation][
        1
    ]
    assert add.uses == (Use(name="sum", distance=1), Use(name="x", distance=2))
    text = changed("- let: {row:", '- let: {tid: threadIdx.x, base: "tid * 2", row:')
    lets = [each for each in described(text).rungs["walk"].statements() if type(each) is Let]
    assert [each.name for each in lets] == ["tid", "base", "row"]


def test_a_store_can_have_several_values_or_none() -> None:
    text = changed("- store: sum", "- store: [sum, x]")
    assert _stores(text)[0].uses == (Use(name="sum"), Use(name="x"))
    assert _stores(changed("- store: sum", "- store: []"))[0].uses == ()


def _stores(text: str) -> list[Store]:
    return [each for each in described(text).rungs["walk"].statements() if type(each) is Store]


def test_an_atomic_may_give_what_was_there_before() -> None:
    old = "- store: sum\n                to: output"
    new = "- atomic: sum\n                on: output\n                to: before"
    found = list(described(changed(old, new)).rungs["walk"].statements())[-1]
    assert getattr(found, "to", None) == "before"
    assert getattr(found, "uses", None) == (Use(name="sum"),)


EMPTY = "block: [1], grid: [1], registers: 1, body: []"
WRONG = [
    # the file and the kernel
    ("format: 1", "format: 2", "format: 2", "format is 2: 1 is known"),
    ("format: 1\n", "", "kernel: sample", "the description lacks format"),
    ("title:", "titel:", "titel", "the description has no titel; did you mean title?"),
    ("kernel: sample", "kernel: a b", "kernel:", "kernel is 'a b': a name of letters"),
    ("title: sums of rows", "title: 5", "title:", "title is 5: text is wanted"),
    ("pipe: fp32", "pipe: fp31", "pipe:", "pipe is fp31, no peak of a device; did you mean fp32?"),
    ("pipe: fp32", "pipe: tensor_tipe", "pipe:", "pipe is tensor_tipe, no peak of a device;"),
    ("flop: 1LL * m * n", "flop: 1LL * m *", "flop:", "flop: the expression ends here"),
    ("flop: 1LL * m * n", "flop: 1LL * k * n", "flop:", "flop: no k; known: m, n, type_bytes"),
    ("flop: 1LL * m * n", "flop: m * type", "flop:", "flop: type is a word: read type_bytes"),
    ("flop: 1LL * m * n", "flop: m * warpSize", "flop:", "flop: warpSize is not known here"),
    ("flop: 1LL * m * n", "flop: true", "flop:", "flop is true: an expression is wanted, in"),
    # parameters and constraints
    ("default: 100", "default: -1", "m: {", "default of parameter m is -1: a whole number from 1"),
    ("default: 100", "default: 1.5", "m: {", "default of parameter m is 1.5: a whole number"),
    (
        "default: 100",
        "default: 2147483648",
        "m: {",
        "default of parameter m is 2147483648: at most",
    ),
    ("default: 64", "default: 1", "n: {", "default of parameter n is 1: a whole number from 2 on"),
    ("about: rows", "abuot: rows", "m: {", "parameter m has no abuot; did you mean about?"),
    (", about: rows", "", "m: {", "parameter m lacks about"),
    ("[fp32, fp16]", "[bf16]", "type: {", "default of parameter type is fp32: choices are bf16"),
    (", choices: [fp32, fp16]", "", "type: {", "parameter type is a word: give its choices"),
    ("  m: {", "  int: {", "int: {", "name of a parameter is int, which means something in C"),
    ("  m: {", "  m-1: {", "m-1: {", "name of a parameter is 'm-1': a name of letters"),
    ('that: "n % 2', 'that: "j % 2', "- {that", "that: no j; known:"),
    (", otherwise: n must be even", "", "- {that", "a constraint lacks otherwise"),
    ("choices: [fp32", "minimum: 1, choices: [fp32", "type: {", "parameter type is a word: it has"),
    # arrays
    (
        "{type: type, extent: m}",
        "{type: fp33, extent: m}",
        "output:",
        "type of array output is fp33, no element type; did you mean fp32?",
    ),
    (
        "{type: type, extent: m}",
        "{type: m, extent: m}",
        "output:",
        "type of array output is the parameter m, which has other values than types",
    ),
    (
        "{type: type, extent: m}",
        "{type: type, extent: i}",
        "output:",
        "extent of array output: no i;",
    ),
    ("{type: type, extent: m}", "{type: type}", "output:", "array output lacks extent"),
    ("space: shared", "space: local", "arrays: {part", "space of array part is 'local': global or"),
    ("  output: {", "  m: {", "m: {type", "array m has the name of a parameter: rename one"),
    # rungs
    ("rungs:", "rung:", "rung:", "the description has no rung; did you mean rungs?"),
    (
        "- name: tree",
        "- name: walk",
        "- name: walk",
        "rung walk stands twice, first at sample.yaml:",
    ),
    ("    change: One thread walks a row.\n", "", "- name: walk", "a rung lacks change"),
    (
        "alternative_to: tree",
        "alternative_to: trie",
        "alternative_to",
        "rung roles is alternative_to trie, no other rung of this file; did you mean tree?",
    ),
    (
        "alternative_to: tree",
        "alternative_to: roles",
        "alternative_to",
        "rung roles is alternative_to roles, no other rung",
    ),
    (
        "    launches:\n      - block: [block]",
        "    launchs:\n      - block: [block]",
        "launchs",
        "a rung has no launchs; did you mean launches?",
    ),
    # launches
    (
        "registers: 24\n        body",
        "body",
        "- block: [block]",
        "a launch of rung walk lacks registers",
    ),
    (
        "block: [block]",
        "block: block",
        "block: block",
        "block of launch sample is 'block': a list is",
    ),
    ("block: [block]", "block: [1, 1, 1, 1]", "block: [1", "block of launch sample has 4 sizes"),
    (
        "block: [block]",
        "block: [threadIdx.x]",
        "block: [t",
        "block of launch sample: threadIdx.x has no value here",
    ),
    (
        "registers: 24",
        "registers: blockDim.x",
        "- block: [block]",
        "registers of launch sample: blockDim.x is not known here: write the size itself",
    ),
    (
        "    body:\n          - let",
        "    bdoy:\n          - let",
        "bdoy",
        "a launch of rung walk has no bdoy; did you mean body?",
    ),
    # statements
    ("- load: x", "- laod: x", "- laod", "laod is no statement; did you mean load?"),
    (
        "- load: x",
        "- load: x\n                    op: add.fp32",
        "- load: x",
        "load and op in one statement: write two statements",
    ),
    ("width: 1", "witdh: 1", "witdh", "load statement has no witdh; did you mean width?"),
    ('                    index: "row * n + i"\n', "", "- load: x", "load statement lacks index"),
    (
        "from: input",
        "from: inptu",
        "- load: x",
        "load x from inptu: no array inptu; did you mean input?",
    ),
    (
        "to: output",
        "to: outptu",
        "- store: sum",
        "store to outptu: no array outptu; did you mean output?",
    ),
    (
        "width: 1",
        "width: 3",
        "- load: x",
        "width of load x from input is 3: 1, 2, 4, 8 or 16 is wanted",
    ),
    (
        "width: 1",
        "width: i",
        "- load: x",
        "width of load x from input: it reads i: an amount may read",
    ),
    (
        "width: 1",
        "width: row",
        "- load: x",
        "width of load x from input: it reads row: an amount may read",
    ),
    ("width: 1", "width: k", "- load: x", "width of load x from input: no k;"),
    (
        "row * n + i",
        "row * n + ii",
        "- load: x",
        "index of load x from input: no ii; did you mean i?",
    ),
    ("row * n + i", "row * n + i)", 'index: "row', "index of load x: "),
    ("op: add.fp32", "op: addd.fp32", "op: addd.", "no operation 'addd'; did you mean add?"),
    ("op: add.fp32", "op: add.fp31", "op: add.", "no pipe 'fp31'; did you mean fp32?"),
    (
        "op: add.fp32",
        "op: add",
        "op: add",
        "op is 'add': an operation and a pipe are wanted, such as add.fp32",
    ),
    (
        "to: sum\n                    uses",
        "packed: 3\n                    uses",
        "packed",
        "packed of op add.fp32 is 3: 1, 2 or 4",
    ),
    ("- barrier: block", "- barrier: grid", "- barrier: grid", "barrier is 'grid': block or warp"),
    ("unroll: 4", "unroll: i", "- for: i", "unroll of for i: no i;"),
    (
        "below: n",
        "below: threadIdx.x",
        "- for: i",
        "below of for i: it reads threadIdx.x: all threads share",
    ),
    ("below: n", "below: row", "- for: i", "below of for i: it reads row: all threads share it"),
    (
        "below: n\n",
        "while: i < n\n",
        "while:",
        "for i lacks next: the following value, such as i * 2",
    ),
    (
        "below: n\n",
        "below: n\n                next: i + 1\n",
        "next:",
        "for i cannot have next: below",
    ),
    ("                below: n\n", "", "- for: i", "for i needs below, or while and next"),
    (
        "next: s / 2",
        "next: n / 2",
        "- for: s",
        "next of for s does not read s: the loop would never end",
    ),
    ('while: "s > 0"', 'while: "n > 0"', "- for: s", "while of for s does not read s: the loop"),
    (
        'while: "s > 0"',
        'while: "s > threadIdx.x"',
        "- for: s",
        "while of for s: it reads threadIdx.x",
    ),
    ("- for: i", "- for: row", "- for: row", "row has a meaning here already"),
    ("- for: i", "- for: n", "- for: n", "n has a meaning here already"),
    (
        "- for: i",
        "- for: threadIdx",
        "- for: threadIdx",
        "variable of for is threadIdx, which means",
    ),
    ("- let: {row:", "- let: {m:", "- let: {m", "m has a meaning here already"),
    (
        '- let: {row: "blockIdx.x * blockDim.x + threadIdx.x"}',
        "- let: {}",
        "- let: {}",
        "let has no names",
    ),
    ('if: "row < m"', 'if: "rov < m"', '- if: "rov', "if: no rov; did you mean row?"),
    (
        'if: "row < m"',
        'share: "row"',
        "- share",
        "share: it reads row: an amount may read parameters",
    ),
    (
        "launches:\n      - block: [block]",
        f"launches:\n      - {{{EMPTY}}}\n      - block: [block]",
        "- {block",
        "a launch of rung walk lacks name: with several launches each has one",
    ),
    (
        "launches:\n      - name: sum",
        f"launches:\n      - {{name: sum, {EMPTY}}}\n      - name: sum",
        "- name: sum",
        "launch sum of rung tree stands twice, first at sample.yaml:",
    ),
    (
        "- load: t\n                from: part",
        "- load: t\n                uses: [part@1]\n                from: part",
        "- load: t",
        "load t from part uses part@1 outside of every loop: @ counts iterations",
    ),
    (
        "{mma: acc, uses: [acc, tile]",
        "{mma: acc, uses: [acc, spare]",
        "{mma",
        "mma acc uses spare, but nothing in launch sample stores to spare: store or copy to it",
    ),
    # values
    (
        "uses: [sum, x]",
        "uses: [sum, y]",
        "- op: add",
        "op add.fp32 uses y, which no statement makes; ",
    ),
    (
        "uses: [sum, x]",
        "uses: [sum, i]",
        "- op: add",
        "op add.fp32 uses i, an integer of expressions",
    ),
    (
        "uses: [sum, x]",
        "uses: [sum, 1]",
        "uses: [sum, 1]",
        "uses of op add.fp32: 1 is no value: write x",
    ),
    (
        "uses: [sum, x]",
        "uses: [sum, 'x@-1']",
        "uses: [sum, 'x",
        "uses of op add.fp32: 'x@-1' is no value: write x",
    ),
    (
        "to: sum\n              - for",
        "uses: [x]\n              - for",
        "- op: move",
        "op move.fp32 uses x before it is made: move it after",
    ),
    ("width: 1", "uses: [y]", "- load: x", "load x from input uses y, which no statement makes"),
    (
        "- store: sum",
        "- store: sum@1",
        "- store: sum",
        "store to output uses sum@1, but no loop around it makes sum",
    ),
    (
        "to: r\n",
        "to: part\n",
        "- op: add.fp32\n                    to: part",
        "op add.fp32 makes a value with the name of the shared array part",
    ),
    # shared arrays, channels, roles, matrix instructions
    (
        "wait: full",
        "wait: ful",
        "- wait",
        "wait of channel ful, which launch sample has not; did you mean full?",
    ),
    (
        "channel: full}",
        "channel: ful}",
        "{copy",
        "copy of channel ful, which launch sample has not",
    ),
    (
        "channels: {full: {stages: 2}}\n        ",
        "",
        "- acquire",
        "acquire of channel full, which launch sample has not; it declares no channels",
    ),
    (
        "channels: {full: {stages: 2}}",
        "channels: {full: {stages: 2}, free: {stages: 1}}",
        "channels:",
        "channel free: nothing commits to it",
    ),
    ("                  - wait: full\n", "", "channels:", "channel full: nothing waits for it"),
    (
        "                  - release: full\n",
        "",
        "channels:",
        "channel full: there is acquire but no release",
    ),
    (
        "- name: consumer",
        "- name: producer",
        "- name: producer\n            warps: 4",
        "role producer of launch sample stands twice",
    ),
    (
        "type: fp16, warps: 4",
        "type: fp31, warps: 4",
        "- {mma",
        "type of mma acc is fp31, which no tensor unit takes; did you mean fp32?",
    ),
    (
        "type: fp16, warps: 4",
        "type: int16, warps: 4",
        "- {mma",
        "type of mma acc is int16, which no",
    ),
    (
        "shape: [64, 64, 16]",
        "shape: [64, 64]",
        "- {mma",
        "shape of mma acc has 2 sizes: m, n and k",
    ),
    ("shared: [a, b]", "shared: [c]", "shared: [c]", "shared of mma acc has 'c': a, b or both"),
    (
        "uses: [acc, tile]",
        "uses: [acc, tiel]",
        "- {mma",
        "mma acc uses tiel, which no statement makes",
    ),
    (
        "{copy: tile, from: input",
        "{copy: output, from: input",
        "- {copy",
        "copy output from input: a bulk copy goes from a global into a shared array",
    ),
    (
        "label: last",
        "label: loop",
        "label: loop\n  -",
        "label loop stands twice in rung walk, first at",
    ),
]


TILE = "tile: {type: fp16, extent: 2 * 64 * 64, space: shared}"


@pytest.mark.parametrize(("old", "new", "marker", "message"), WRONG)
def test_a_wrong_description_is_refused_with_its_line(
    old: str, new: str, marker: str, message: str
) -> None:
    text = changed(old, new).replace(TILE, f"{TILE}\n      spare: {TILE.partition(' ')[2]}")
    with pytest.raises(DataError) as caught:
        described(text)
    lines = {line_of(text, marker, at=n) for n in range(text.count(marker))}
    place, said = str(caught.value).split(": ", 1)
    said = re.sub(r': (?:line \d+, )?column \d+ of ".*?": ', ": ", said, count=1)
    assert said.startswith(message)
    assert place in {f"sample.yaml:{line}" for line in lines}


@pytest.mark.parametrize(
    ("old", "message"),
    [
        ("    launches:\n      - block: [block]", "launches of rung walk is empty: a rung has"),
        ("        roles:\n", "roles of launch sample is empty: give a body instead"),
        ("rungs:\n", "rungs is empty: a kernel has at least one rung"),
        ("        body:\n          - let", "body of launch sample is a mapping: a list is wanted"),
    ],
)
def test_a_list_must_hold_something(old: str, message: str) -> None:
    head, _, _ = SAMPLE.partition(old)
    key = old.strip().partition(":")[0]
    indent = " " * (len(old) - len(old.lstrip()))
    value = "{}" if key == "body" else "[]"
    with pytest.raises(DataError) as caught:
        described(f"{head}{indent}{key}: {value}\n")
    assert str(caught.value).partition(": ")[2].startswith(message)


def test_a_pipe_may_follow_a_type() -> None:
    assert described(changed("pipe: fp32", "pipe: tensor_type")).pipe == "tensor_type"
    text = changed("pipe: fp32", "pipe: tensor_type").replace("[fp32, fp16]", "[fp32, int16]")
    with pytest.raises(DataError, match="pipe is tensor_int16 where type is int16, no peak"):
        described(text)


def test_a_kernel_needs_no_parameters_but_a_step() -> None:
    text = SAMPLE[: SAMPLE.index("  - name: tree")]
    with pytest.raises(DataError, match="every rung is an alternative_to another"):
        described(
            text.replace(
                "    source: made up\n", "    source: made up\n    alternative_to: other\n", 1
            )
            + "  - {name: other, extends: walk, change: x, alternative_to: walk}\n"
        )
    bare = """\
format: 1
kernel: bare
title: nothing
source: nowhere
pipe: fp32
flop: 1
compulsory: 1
rungs:
  - name: only
    change: None.
    source: nowhere
    launches: [{block: [32], grid: [1], registers: 1, body: []}]
"""
    assert described(bare).parameters == {}


def test_a_wrong_expression_is_shown_with_its_place() -> None:
    with pytest.raises(ExpressionError) as caught:
        described(changed("row * n + i", "row * n + j + i"))
    where, at, fault = str(caught.value).partition('column 11 of "row * n + j + i": ')
    assert where.startswith("sample.yaml:")
    assert at
    assert "j" in fault


def test_a_shared_array_is_not_loaded_before_anything_is_stored_there() -> None:
    old = "          - store: x\n            to: part\n            index: threadIdx.x\n"
    text = changed(old, "").replace(
        "- store: r\n                    to: part", "- store: r\n" + " " * 20 + "to: output"
    )
    with pytest.raises(DataError, match="load p from part: nothing in launch sum stores to part"):
        described(text)


def test_a_value_used_before_it_is_made_in_a_loop_is_told_of_the_iteration_before() -> None:
    load, add = "                  - load: x\n", "                  - op: add.fp32\n"
    start = SAMPLE.index(load)
    middle, end = SAMPLE.index(add), SAMPLE.index("              - store: sum")
    swapped = SAMPLE[:start] + SAMPLE[middle:end] + SAMPLE[start:middle] + SAMPLE[end:]
    with pytest.raises(
        DataError, match=r"uses x before it is made: write x@1 for the value of one"
    ):
        described(swapped)
    described(swapped.replace("uses: [sum, x]", "uses: [sum, x@1]"))


def test_the_iterations_meant_by_a_use_are_those_of_the_loop_that_makes_the_value() -> None:
    inner = """\
                  - for: j
                    below: 4
                    do:
                      - {op: add.fp32, to: sum, uses: [sum, x@1]}
"""
    at = "                  - op: add.fp32\n"
    described(SAMPLE.replace(at, inner + at, 1))


def test_an_accumulator_needs_no_first_value_and_other_statements_do() -> None:
    without = changed("              - op: move.fp32\n                to: sum\n", "")
    described(without)
    with pytest.raises(DataError, match="shuffle sum uses sum before it is made"):
        described(
            without.replace("- op: add.fp32\n                    to: sum", "- shuffle: sum", 1)
        )


def test_a_value_made_in_one_branch_is_there_after_it_but_not_in_the_other() -> None:
    branch = """\
              - if: "row > 1"
                then:
                  - {op: move.fp32, to: one}
                else:
                  - {op: move.fp32, to: two, uses: [%s]}
              - {op: move.fp32, to: three, uses: [one, two]}
"""
    at = "              - store: sum\n"
    described(SAMPLE.replace(at, branch % "sum" + at, 1))
    with pytest.raises(DataError, match=r"op move\.fp32 uses one before it is made"):
        described(SAMPLE.replace(at, branch % "one" + at, 1))


def test_a_name_of_a_let_ends_with_its_body() -> None:
    at = "              - store: sum\n"
    let = '              - let: {only: "i + 1"}\n'
    with pytest.raises(DataError, match=r'let only: column 1 of "i \+ 1": no i'):
        described(SAMPLE.replace(at, let + at, 1))


def test_a_role_without_a_channel_is_refused() -> None:
    lonely = "          - {name: lonely, warps: 1, body: [{barrier: block}]}\n"
    with pytest.raises(DataError, match="role lonely has no step on a channel"):
        described(
            SAMPLE.replace("          - name: consumer\n", lonely + "          - name: consumer\n")
        )


def test_barriers_of_roles_are_counted_and_can_be_written() -> None:
    text = SAMPLE.replace(
        "                  - wait: full",
        "                  - barrier: block\n                  - wait: full",
    )
    assert described(text).rungs["roles"].launches[0].barriers.text == "1"
    text = SAMPLE.replace("channels: {full", "barriers: 3\n        channels: {full")
    assert described(text).rungs["roles"].launches[0].barriers.text == "3"
    assert not [
        each for each in described(text).rungs["roles"].statements() if type(each) is Barrier
    ]


# finding


def test_every_shipped_kernel_loads_by_its_name() -> None:
    names = kernel_names()
    assert {"gemm", "gemv", "reduce", "softmax", "attention"} <= set(names)
    assert [load_description(name).kernel for name in names] == names
    assert load_description("gemm") is load_description("gemm")


def test_a_rung_is_named_after_a_colon_and_the_last_step_is_meant_without() -> None:
    gemm = load_description("gemm")
    assert load_rung("gemm:naive") is gemm.rungs["naive"]
    assert load_rung("gemm") is gemm.ladder()[-1]
    assert pick_rung(gemm, None) is gemm.ladder()[-1]
    assert split_name("a:b/c.yaml") == ("a:b/c.yaml", None)


def test_a_file_of_ones_own_is_found_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(SAMPLE, encoding="utf-8")
    assert load_description(path).origin == str(path)
    assert load_description(str(path)).kernel == "sample"
    assert load_rung(f"{path}:walk").name == "walk"
    assert load_rung(str(path)).name == "tree"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gem", "no kernel 'gem': did you mean gem"),
        ("gemm:naiv", "gemm has no rung 'naiv': did you mean naive?"),
        ("nowhere/mine.yaml", "nowhere/mine.yaml: cannot be read: No such file or directory"),
    ],
)
def test_what_is_not_there_is_refused(name: str, message: str) -> None:
    with pytest.raises((UsageError, DataError)) as caught:
        load_rung(name)
    assert str(caught.value).startswith(message)
