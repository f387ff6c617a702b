"""The closed forms against loops that count on tiny sizes, and the documents' figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from perfmodel.errors import DataError, UsageError
from perfmodel.expressions import ExpressionError, parse
from perfmodel.kernels.closed_forms import closed_form, closed_forms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass
class Tally:
    """What a loop does: operations, accesses, and the elements that it touched at all."""

    flop: int = 0
    accesses: int = 0
    inputs: set[tuple[object, ...]] = field(default_factory=set)
    outputs: set[tuple[object, ...]] = field(default_factory=set)

    def load(self, *element: object) -> None:
        self.accesses += 1
        self.inputs.add(element)

    def store(self, *element: object) -> None:
        self.accesses += 1
        self.outputs.add(element)

    def compulsory(self, *between: str) -> int:
        """Elements in and out, without those that only go from one loop to the next."""
        elements = self.inputs | self.outputs
        return len({element for element in elements if element[0] not in between})


def vecadd(n: int) -> Tally:
    tally = Tally()
    for i in range(n):
        tally.load("a", i)
        tally.load("b", i)
        tally.flop += 1
        tally.store("c", i)
    return tally


def reduce(n: int) -> Tally:
    tally = Tally()
    for i in range(n):
        tally.load("x", i)
        tally.flop += i > 0
    tally.store("sum")
    return tally


def gemv(m: int, k: int) -> Tally:
    tally = Tally()
    for row in range(m):
        for column in range(k):
            tally.load("a", row, column)
            tally.load("x", column)
            tally.flop += 2
        tally.store("y", row)
    return tally


def gemm(m: int, n: int, k: int) -> Tally:
    tally = Tally()
    for row in range(m):
        for column in range(n):
            for step in range(k):
                tally.load("a", row, step)
                tally.load("b", step, column)
                tally.flop += 2
            tally.store("c", row, column)
    return tally


def attention(batch: int, heads: int, n: int, d: int) -> Tally:
    """Three kernels, each reading its operands once: S = Q K, P = softmax(S), O = P V."""
    tally = Tally()
    for head in [(b, h) for b in range(batch) for h in range(heads)]:
        square = [(i, j) for i in range(n) for j in range(n)]
        flat = [(i, c) for i in range(n) for c in range(d)]
        for element in flat:
            tally.load("q", *head, *element)
            tally.load("k", *head, *element)
        for element in square:
            tally.flop += 2 * d
            tally.store("s", *head, *element)
        for element in square:
            tally.load("s", *head, *element)
            tally.store("p", *head, *element)
        for element in square:
            tally.load("p", *head, *element)
        for element in flat:
            tally.load("v", *head, *element)
            tally.flop += 2 * n
            tally.store("o", *head, *element)
    return tally


def softmax(m: int, n: int) -> Tally:
    """Largest, sum of exponentials, and division: three passes over each row."""
    tally = Tally()
    for row in range(m):
        for column in range(n):
            tally.load("x", row, column)
            tally.flop += 1  # compare
        for column in range(n):
            tally.load("x", row, column)
            tally.flop += 3  # subtract, exponential, add
        for column in range(n):
            tally.load("x", row, column)
            tally.flop += 1  # divide the exponential kept from before
            tally.store("y", row, column)
    return tally


LOOPS: list[tuple[str, Callable[..., Tally], list[dict[str, int]], tuple[str, ...]]] = [
    ("vecadd", vecadd, [{"n": 1}, {"n": 7}], ()),
    ("reduce", reduce, [{"n": 1}, {"n": 2}, {"n": 9}], ()),
    ("gemv", gemv, [{"m": 1, "k": 1}, {"m": 3, "k": 5}], ()),
    ("gemm", gemm, [{"m": 1, "n": 1, "k": 1}, {"m": 2, "n": 3, "k": 5}], ()),
    (
        "attention",
        attention,
        [{"batch": 1, "heads": 1, "n": 1, "d": 1}, {"batch": 2, "heads": 3, "n": 4, "d": 5}],
        ("s", "p"),
    ),
    ("softmax", softmax, [{"m": 1, "n": 1}, {"m": 3, "n": 4}], ()),
]


@pytest.mark.parametrize("element_bytes", [1, 2, 4])
@pytest.mark.parametrize(("name", "loop", "sizes", "between"), LOOPS, ids=[row[0] for row in LOOPS])
def test_amounts_equal_counting_in_loops(
    name: str,
    loop: Callable[..., Tally],
    sizes: list[dict[str, int]],
    between: tuple[str, ...],
    element_bytes: int,
) -> None:
    for parameters in sizes:
        tally = loop(**parameters)
        amounts = closed_form(name).amounts({**parameters, "element_bytes": element_bytes})
        assert amounts.flop == tally.flop
        assert amounts.bytes_requested == tally.accesses * element_bytes
        assert amounts.bytes_compulsory == tally.compulsory(*between) * element_bytes


def test_every_kernel_is_counted() -> None:
    assert {row[0] for row in LOOPS} == set(closed_forms())


class TestTheDocuments:
    """Figures that the documents print."""

    def test_gemv(self) -> None:
        amounts = closed_form("gemv").amounts({})
        share = amounts.flop / amounts.bytes_compulsory
        assert share == pytest.approx(0.4997559786, rel=1e-9)

    def test_gemm(self) -> None:
        amounts = closed_form("gemm").amounts({"m": 4096, "n": 4096, "k": 4096})
        assert amounts.flop == 137438953472
        written = 4096 * 4096 * 4
        assert amounts.bytes_compulsory - written == 134217728

    def test_softmax(self) -> None:
        amounts = closed_form("softmax").amounts({})
        assert amounts.bytes_compulsory == 2 * 67108864
        assert amounts.bytes_requested == 268435456

    def test_vector_addition(self) -> None:
        amounts = closed_form("vecadd").amounts({})
        share = amounts.flop / amounts.bytes_compulsory
        assert share == pytest.approx(0.0833333333, rel=1e-8)


@pytest.mark.parametrize("name", sorted(closed_forms()))
def test_every_form_is_complete(name: str) -> None:
    form = closed_form(name)
    assert form.name == name
    assert form.title
    assert form.source.startswith("document ")
    for text in (form.flop, form.requested, form.compulsory):
        assert set(parse(text).names) <= set(form.parameters)
    assert form.with_defaults({}) == form.parameters
    default = form.amounts({})
    assert 0 < default.bytes_compulsory <= default.bytes_requested


@pytest.mark.parametrize("name", sorted(closed_forms()))
def test_the_largest_sizes_end_in_a_number_or_an_overflow(name: str) -> None:
    form = closed_form(name)
    large = dict.fromkeys(form.parameters, 1 << 15) | {"element_bytes": 16}
    large |= {"batch": 1, "heads": 8} if name == "attention" else {}
    assert form.amounts(large).flop > 0
    largest: Mapping[str, int] = dict.fromkeys(form.parameters, 2**31 - 1)
    try:
        amounts = form.amounts(largest)
    except ExpressionError as error:
        said = str(error)
    else:
        said = "no overflow"
        assert amounts.flop > 0
    assert "overflow" in said


class TestBadInput:
    """Names and sizes that do not exist."""

    def test_a_kernel(self) -> None:
        with pytest.raises(DataError, match="no kernel 'gem': did you mean gem"):
            closed_form("gem")
        with pytest.raises(DataError, match="no kernel"):
            closed_form("x" * 1000)

    def test_a_parameter(self) -> None:
        with pytest.raises(UsageError, match="gemv has no parameter 'K': did you mean k"):
            closed_form("gemv").amounts({"K": 1})

    @pytest.mark.parametrize("value", [0, -1, 2**31])
    def test_a_size_outside_its_range(self, value: int) -> None:
        with pytest.raises(UsageError, match=f"m is {value}: it must be from 1 to 2147483647"):
            closed_form("gemv").amounts({"m": value})

    @pytest.mark.parametrize("value", [1.5, "4", True, None])
    def test_a_size_that_is_no_whole_number(self, value: int) -> None:
        with pytest.raises(UsageError, match=r"m is .*: it must be a whole number of at least 1"):
            closed_form("gemv").amounts({"m": value})
