"""Random expressions: the evaluation against an independent interpreter and a C compiler."""

from __future__ import annotations

import shutil
import subprocess
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perfmodel.expressions import ExpressionError, parse
from tests.expressions.c_oracle import (
    BOOL,
    NAMES,
    Tree,
    UndefinedError,
    random_tree,
    text_of,
    value_of,
)

if TYPE_CHECKING:
    from pathlib import Path

ELEMENTS = [
    dict(zip(NAMES, row, strict=True))
    for row in [
        # threadIdx.x, blockDim.x, warpSize, i, n, wide, u, big
        (0, 256, 32, 0, 1, 2**40, 0, 2**63),
        (31, 256, 32, 5, 1024, 2**33, 7, 2**63 + 5),
        (255, 1, 64, -3, 2, -(2**35), 2**32 - 1, 2**64 - 1),
        (7, 32, 32, 2**31 - 1, -(2**31), 2**63 - 1, 2**31, 3),
        (1, 2, 32, -1, 0, -(2**63), 1, 0),
        (3, 8, 64, 12, 3, 2**32, 5, 1),
    ]
]
ARRAYS = {
    name: np.array([element[name] for element in ELEMENTS], dtype=dtype)
    for name, dtype in zip(NAMES, ["u4", "u4", "i4", "i4", "i8", "i8", "u4", "u8"], strict=True)
}


def _expected(tree: Tree) -> list[int] | None:
    try:
        return [value_of(tree, element)[1] for element in ELEMENTS]
    except UndefinedError:
        return None


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=False), st.integers(1, 5))
def test_every_element_has_the_value_of_an_independent_interpreter(
    random: Random, depth: int
) -> None:
    tree = random_tree(random, depth)
    text = text_of(tree, random)
    expected = _expected(tree)
    if expected is None:
        with pytest.raises(ExpressionError, match=r"column \d+ of "):
            parse(text).evaluate(ARRAYS)
        return
    result = np.broadcast_to(parse(text).evaluate(ARRAYS), len(ELEMENTS))
    assert [int(value) for value in result] == expected
    assert (result.dtype == bool) == (value_of(tree, ELEMENTS[0])[0] == BOOL)


@settings(max_examples=150, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(range(len(ELEMENTS))))
def test_a_scalar_fails_exactly_where_the_interpreter_does(random: Random, number: int) -> None:
    tree = random_tree(random, 4)
    element = ELEMENTS[number]
    values = {name: ARRAYS[name].dtype.type(element[name]) for name in NAMES}
    values |= {"wide": np.array([element["wide"], 2**40])}  # two elements keep it long long
    text = text_of(tree, random)
    both = [element, {**element, "wide": 2**40}]
    try:
        expected = [value_of(tree, each)[1] for each in both]
    except UndefinedError:
        with pytest.raises(ExpressionError, match=r"column \d+ of "):
            parse(text).evaluate(values)
    else:
        result = np.broadcast_to(parse(text).evaluate(values), 2)
        assert [int(value) for value in result] == expected


def test_a_c_compiler_computes_the_same(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler: cc is not on PATH")
    random = Random(20261130)
    cases: list[tuple[str, int]] = []
    while len(cases) < 500:
        tree = random_tree(random, random.randint(1, 4), cpp=False)
        number = len(cases) % len(ELEMENTS)
        try:
            value_of(tree, ELEMENTS[number])
        except UndefinedError:
            continue
        cases.append((text_of(tree, random), number))
    source, program = tmp_path / "cases.c", tmp_path / "cases"
    source.write_text(_program(cases))
    command = [compiler, "-std=gnu11", "-O0", "-w", "-o", str(program), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    printed = subprocess.run([str(program)], check=True, capture_output=True, timeout=60).stdout

    for (text, number), line in zip(cases, printed.decode().splitlines(), strict=True):
        values = {name: array[number : number + 1] for name, array in ARRAYS.items()}
        values["wide"] = np.append(values["wide"], 2**40)  # keeps it long long
        values["first"] = np.array([1, 0])  # and takes no part
        result = parse(f"first ? {text} : 0").evaluate(values)
        assert int(result[0]) % 2**64 == int(line), text


def _program(cases: list[tuple[str, int]]) -> str:
    names = ["threadIdx_x", "blockDim_x", "warpSize", "i", "n", "wide", "u", "big"]
    types = ["unsigned"] * 2 + ["int"] * 3 + ["long long", "unsigned", "unsigned long long"]
    rows = ",\n".join(
        "{" + ", ".join(f"{element[name] % 2**64}ull" for name in NAMES) + "}"
        for element in ELEMENTS
    )
    lines = [
        "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>",
        "#define min(a, b) ((a) < (b) ? (a) : (b))",
        "#define max(a, b) ((a) > (b) ? (a) : (b))",
        f"static const unsigned long long rows[][{len(NAMES)}] = {{{rows}}};",
    ]
    for index, (text, number) in enumerate(cases):
        plain = text.replace("threadIdx.x", "threadIdx_x").replace("blockDim.x", "blockDim_x")
        given_values = "".join(
            f"{kind} {name} = ({kind})rows[{number}][{column}]; "
            for column, (kind, name) in enumerate(zip(types, names, strict=True))
        )
        lines.append(
            f"static unsigned long long f{index}(void) {{ {given_values}"
            f"return (unsigned long long)({plain}); }}"
        )
    calls = "".join(f'printf("%llu\\n", f{index}());\n' for index in range(len(cases)))
    return "\n".join([*lines, f"int main(void) {{ {calls} return 0; }}"])
