"""A rung written as a change of another is the rung written out."""

from __future__ import annotations

import pytest

from perfmodel.errors import DataError
from perfmodel.kernels.schema import For, Load, Operation, Rung, Store
from tests.kernels.sample import SAMPLE, described, line_of

WIDE = """\
  - name: wide
    extends: walk
    change: A lane reads more at once.
    parameters:
      width: {default: 2, about: elements, choices: [1, 2, 4]}
      block: {default: 64}
    constraints:
      - {that: "n % width == 0", otherwise: rows must be whole runs}
      - {that: "n % 2 == 0", otherwise: rows must be even}
    launch: {registers: 40}
    replace:
      loop:
        - for: i
          below: n
          step: width
          do:
            - {load: x, from: input, index: "row * n + i", width: width}
            - {op: add.fp32, to: sum, uses: [sum, x], count: width, label: add}
        - {op: move.fp32, to: sum, uses: [sum]}
"""


def extended(text: str) -> dict[str, Rung]:
    return dict(described(SAMPLE + text).rungs)


def test_what_is_not_said_again_is_taken_over() -> None:
    rungs = extended(WIDE)
    walk, wide = rungs["walk"], rungs["wide"]
    assert (wide.extends, wide.source, wide.change) == (
        "walk",
        "made up",
        "A lane reads more at once.",
    )
    assert list(wide.parameters) == ["m", "n", "type", "block", "width"]
    assert (wide.parameters["block"].default, wide.parameters["block"].about) == (
        64,
        "threads of a block",
    )
    assert walk.parameters["block"].default == 32
    assert wide.launches[0].block == walk.launches[0].block
    assert (walk.launches[0].registers.text, wide.launches[0].registers.text) == ("24", "40")
    assert wide.alternative_to is None


def test_constraints_are_joined_and_one_said_again_has_the_new_message() -> None:
    rungs = extended(WIDE)
    assert [each.message for each in rungs["walk"].constraints] == ["n must be even"]
    assert sorted(each.message for each in rungs["wide"].constraints) == [
        "rows must be even",
        "rows must be whole runs",
    ]


def test_a_labelled_statement_is_replaced_by_several_at_its_depth() -> None:
    rungs = extended(WIDE)
    kinds = [type(each).__name__ for each in rungs["wide"].statements()]
    assert kinds == ["Let", "If", "Operation", "For", "Load", "Operation", "Operation", "Store"]
    assert [type(each).__name__ for each in rungs["walk"].statements()] == [
        *("Let", "If", "Operation", "For", "Load", "Operation", "Store")
    ]


def test_places_remain_those_of_the_text() -> None:
    text = SAMPLE + WIDE
    statements = list(described(text).rungs["wide"].statements())
    load = next(each for each in statements if isinstance(each, Load))
    store = next(each for each in statements if isinstance(each, Store))
    assert load.place == f"sample.yaml:{line_of(text, 'width: width}')}"
    assert store.place == f"sample.yaml:{line_of(text, '- store: sum')}"


def test_changes_of_changes_and_an_order_that_goes_up_the_file() -> None:
    last = """\
  - name: widest
    extends: wider
    change: And more.
    parameters: {width: {default: 4}}
  - name: wider
    extends: wide
    change: No chain.
    replace: {add: [{op: fma.fp32, to: sum, uses: [sum, x], count: width}]}
"""
    rungs = extended(WIDE + last)
    for name, default in (("wider", 2), ("widest", 4)):
        operations = [each for each in rungs[name].statements() if isinstance(each, Operation)]
        assert [each.what for each in operations] == ["move", "fma", "move"]
        assert rungs[name].parameters["width"].default == default
    assert isinstance(list(rungs["widest"].statements())[3], For)


def test_launches_are_replaced_as_a_whole() -> None:
    text = """\
  - name: other
    extends: walk
    change: Nothing stays.
    launches: [{block: [1], grid: [1], registers: 8, body: []}]
"""
    (launch,) = extended(text)["other"].launches
    assert (launch.registers.text, launch.roles[0].body) == ("8", ())


TWO = """\
  - name: two
    change: Two launches.
    source: made up
    launches:
      - {name: first, block: [32], grid: [m], registers: 8, body: []}
      - {name: second, block: [32], grid: [m], registers: 8, body: []}
  - name: changed
    extends: two
    change: One of them.
"""


def test_one_of_several_launches_is_changed_by_its_name() -> None:
    changed = extended(TWO + "    launch: {name: second, registers: 9}\n")["changed"]
    assert [each.registers.text for each in changed.launches] == ["8", "9"]
    both = "    launch: [{name: second, grid: [1]}, {name: first, registers: 7}]\n"
    first, second = extended(TWO + both)["changed"].launches
    assert (first.registers.text, first.grid[0].text) == ("7", "m")
    assert (second.registers.text, second.grid[0].text) == ("8", "1")


def test_a_launch_can_get_roles_instead_of_its_body() -> None:
    text = """\
  - name: split
    extends: tree
    change: Roles.
    launch: {roles: [{name: all_of_it, warps: n / warpSize, body: []}]}
"""
    (launch,) = extended(text)["split"].launches
    assert [role.name for role in launch.roles] == ["all_of_it"]


HEAD = "  - name: wrong\n    change: x\n"


@pytest.mark.parametrize(
    ("text", "marker", "message"),
    [
        (
            HEAD + "    extends: wlak\n",
            "wlak",
            "rung wrong extends wlak, no rung of this file; did ",
        ),
        (
            HEAD + "    extends: wrong\n",
            "extends: wrong",
            "rung wrong extends itself: wrong -> wrong",
        ),
        (
            HEAD + "    extends: []\n",
            "extends: []",
            "extends of rung wrong is a list: text is wanted",
        ),
        (
            (
                "  - {name: a, change: x, extends: b}\n  - {name: b, change: x, extends: c}\n"
                "  - {name: c, change: x, extends: a}\n"
            ),
            "name: a",
            "rung a extends itself: a -> b -> c -> a",
        ),
        (
            (
                "  - {name: z, change: x, extends: a}\n  - {name: a, change: x, extends: b}\n"
                "  - {name: b, change: x, extends: a}\n"
            ),
            "name: a",
            "rung a extends itself: a -> b -> a",
        ),
        (
            HEAD + "    source: y\n    replace: {}\n",
            "replace",
            "rung wrong has replace, which changes",
        ),
        (
            HEAD + "    source: y\n    launch: {}\n",
            "launch: {}",
            "rung wrong has launch, which changes",
        ),
        (
            HEAD + "    extends: walk\n    replace: {lop: []}\n",
            "{lop",
            "rung wrong replaces lop, no label of it; did you mean loop? known: last, loop",
        ),
        (
            HEAD + "    extends: tree\n    replace: {loop: []}\n",
            "{loop",
            "rung wrong replaces loop, no label of it; it has no labels",
        ),
        (
            HEAD + "    extends: walk\n    replace: {loop: {op: move.fp32}}\n",
            "{loop",
            "replace of rung wrong: loop is a mapping: a list is wanted",
        ),
        (
            HEAD + "    extends: walk\n    replace: {loop: []}\n    launches: []\n",
            "replace",
            "rung wrong has both launches and replace: give one of the two",
        ),
        (
            TWO + "    launch: {registers: 9}\n",
            "launch: {",
            "rung changed has 2 launches: say by name",
        ),
        (
            TWO + "    launch: {name: secnd}\n",
            "secnd",
            "rung changed changes launch secnd, which is not there; did you mean second?",
        ),
        (
            HEAD + "    extends: walk\n    launch: {regs: 9}\n",
            "regs",
            "a launch of rung wrong has no regs",
        ),
        (
            HEAD + "    source: y\n",
            "name: wrong",
            "rung wrong lacks launches: it needs them, or extends",
        ),
        (
            HEAD + "    launches: [{block: [1], grid: [1], registers: 8, body: []}]\n",
            "name: wrong",
            "rung wrong lacks source: it needs one, or extends",
        ),
        (
            HEAD
            + "    extends: walk\n    replace: {last: [{store: total, to: output, index: row}]}\n",
            "{last",
            "store to output uses total, which no statement makes",
        ),
    ],
)
def test_a_change_that_does_not_fit_is_refused(text: str, marker: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        extended(text)
    place, said = str(caught.value).split(": ", 1)
    assert said.startswith(message)
    assert place == f"sample.yaml:{line_of(SAMPLE + text, marker)}"
