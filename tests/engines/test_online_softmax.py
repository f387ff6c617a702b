"""Online softmax against the definition, its own algebra and counters in the loops."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from perfmodel.engines import online_softmax as osm
from perfmodel.engines.online_softmax import EMPTY, SoftmaxState
from perfmodel.errors import ArgumentError

scores = st.floats(-200, 200)
rows_of_scores = st.lists(scores, min_size=1, max_size=12)


def by_definition(values: list[float]) -> SoftmaxState:
    largest = max(values)
    return SoftmaxState(largest, math.fsum(math.exp(value - largest) for value in values))


def walk(values: list[float]) -> SoftmaxState:
    state = EMPTY
    for value in values:
        state = osm.step(state=state, value=value)
    return state


@given(rows_of_scores)
def test_the_recurrence_equals_the_definition(values: list[float]) -> None:
    # Claim fa-online-softmax, numerically.
    assert tuple(walk(values)) == pytest.approx(tuple(by_definition(values)), rel=1e-12)


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_the_recurrence_is_an_identity(steps: int) -> None:
    # Claim fa-online-softmax, symbolically.
    assert osm.total_difference(steps=steps) == 0


def test_the_recurrence_holds_for_any_length() -> None:
    # Claim fa-online-softmax, by induction.
    assert osm.total_induction_difference() == 0


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_the_one_pass_output_is_an_identity(steps: int) -> None:
    # Claim fa-online-softmax, with o rescaled.
    assert osm.output_difference(steps=steps) == 0


def test_the_proof_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_rescaling(*, total: Any, old_maximum: Any, new_maximum: Any, value: Any) -> Any:
        return total + sympy.exp(value - new_maximum)

    monkeypatch.setattr(osm, "rescaled_total", without_rescaling)
    assert osm.total_difference(steps=2) != 0
    assert osm.total_induction_difference() != 0
    assert osm.output_difference(steps=2) != 0


@given(st.lists(scores, max_size=8), rows_of_scores, st.lists(scores, max_size=8))
def test_parts_merge_in_any_order(
    left: list[float], middle: list[float], right: list[float]
) -> None:
    a, b, c = walk(left), walk(middle), walk(right)
    whole = pytest.approx(tuple(by_definition(left + middle + right)), rel=1e-12)
    first = osm.merge(first=osm.merge(first=a, second=b), second=c)
    last = osm.merge(first=a, second=osm.merge(first=b, second=c))
    swapped = osm.merge(first=c, second=osm.merge(first=b, second=a))
    assert tuple(first) == whole
    assert tuple(last) == whole
    assert tuple(swapped) == whole


@given(rows_of_scores)
def test_the_sum_stays_between_one_and_the_count(values: list[float]) -> None:
    state = walk(values)
    assert 1 <= state.total <= len(values) * (1 + 1e-12)


@given(rows_of_scores)
def test_the_forms_agree(values: list[float]) -> None:
    three = osm.softmax_three_passes(values=[values, values])[1]
    two = osm.softmax_two_passes(values=[values, values])[1]
    one = osm.attention_one_pass(scores=values, rows=np.eye(len(values)))
    state = by_definition(values)
    expected = [math.exp(value - state.maximum) / state.total for value in values]
    for actual in (three, two, one):
        np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-300)
        assert math.fsum(actual) == pytest.approx(1, rel=1e-12)


@given(rows_of_scores, st.floats(-100, 100))
def test_a_shift_changes_nothing(values: list[float], shift: float) -> None:
    shifted = osm.softmax_two_passes(values=[value + shift for value in values])
    np.testing.assert_allclose(
        shifted, osm.softmax_two_passes(values=values), rtol=1e-9, atol=1e-300
    )


def test_large_scores_do_not_overflow() -> None:
    assert osm.softmax_two_passes(values=[1e300, 1e300]).tolist() == [0.5, 0.5]
    assert osm.softmax_three_passes(values=[-1e300, 1e300]).tolist() == [0.0, 1.0]


def test_attention_in_one_pass_and_in_parts() -> None:
    generator = np.random.default_rng(1)
    values, rows = generator.normal(size=20) * 10, generator.normal(size=(20, 4))
    weights = np.exp(values - values.max())
    expected = weights @ rows / weights.sum()
    whole = osm.attention_one_pass(scores=values, rows=rows)
    np.testing.assert_allclose(whole, expected, rtol=1e-12)
    parts = [
        (walk(values[part].tolist()), osm.attention_one_pass(scores=values[part], rows=rows[part]))
        for part in (slice(0, 7), slice(7, 20))
    ]
    merged = osm.merge_outputs(
        first=parts[0][0],
        first_output=parts[0][1],
        second=parts[1][0],
        second_output=parts[1][1],
    )
    np.testing.assert_allclose(merged, expected, rtol=1e-12)


def test_a_masked_score_weighs_nothing() -> None:
    masked = osm.step(state=EMPTY, value=-math.inf)
    assert masked == EMPTY
    state = osm.step(state=masked, value=2.0)
    assert tuple(state) == (2.0, 1.0)
    assert osm.step(state=state, value=-math.inf) == state
    assert osm.merge(first=EMPTY, second=EMPTY) == EMPTY
    array = osm.step(
        state=SoftmaxState(np.array([-np.inf, 1.0, -np.inf]), np.array([0.0, 1.0, 0.0])),
        value=np.array([-np.inf, -np.inf, 3.0]),
    )
    np.testing.assert_array_equal(array.maximum, [-np.inf, 1.0, 3.0])
    np.testing.assert_array_equal(array.total, [0.0, 1.0, 1.0])


def test_a_reference_far_below_overflows_to_infinity() -> None:
    arguments = {"total": 0.0, "old_maximum": 0.0, "new_maximum": 0.0}
    assert osm.rescaled_total(value=1e4, **arguments) == math.inf
    assert osm.rescaled_total(value=np.array([1e4, 0.0]), **arguments).tolist() == [math.inf, 1.0]


def test_arrays_go_element_by_element() -> None:
    columns = np.array([[1.0, -3.0, 7.0], [4.0, 4.0, 4.0], [0.0, 9.0, -1.0]])
    state = EMPTY
    for column in columns.T:
        state = osm.step(state=state, value=column)
    expected = [walk(row) for row in columns.tolist()]
    np.testing.assert_allclose(state.maximum, [one.maximum for one in expected], rtol=1e-15)
    np.testing.assert_allclose(state.total, [one.total for one in expected], rtol=1e-14)
    merged = osm.merge(first=state, second=SoftmaxState(np.zeros(3), np.ones(3)))
    numbers = [osm.merge(first=one, second=SoftmaxState(0.0, 1.0)) for one in expected]
    np.testing.assert_allclose(merged.total, [one.total for one in numbers], rtol=1e-14)
    np.testing.assert_array_equal(
        osm.softmax_bytes(
            rows=65536, row_elements=512, element_bytes=2, input_reads=np.array([3, 2, 1])
        ),
        [268435456, 201326592, 134217728],
    )


def test_symbols_give_the_formula() -> None:
    d, old, new, x = sympy.symbols("d m_old m_new x", real=True)
    total = osm.rescaled_total(total=d, old_maximum=old, new_maximum=new, value=x)
    assert sympy.simplify(total - (d * sympy.exp(old - new) + sympy.exp(x - new))) == 0
    state = osm.step(state=SoftmaxState(old, d), value=x)
    assert state.maximum == sympy.Max(old, x)
    assert state.total.subs({old: 1, d: 2, x: 1}) == 3
    rows, n, size, reads = sympy.symbols("rows n size reads", positive=True)
    moved = osm.softmax_bytes(rows=rows, row_elements=n, element_bytes=size, input_reads=reads)
    assert sympy.expand(moved - rows * n * size * (reads + 1)) == 0


def test_bytes_of_the_forms() -> None:
    # Claim softmax-passes.
    names = ["three_passes", "two_passes", "row_in_registers"]
    reads = [osm.softmax_form(name=name).input_reads for name in names]
    assert reads == [3, 2, 1]
    moved = [
        osm.softmax_bytes(rows=65536, row_elements=512, element_bytes=2, input_reads=count)
        for count in reads
    ]
    assert moved == [268435456, 201326592, 134217728]


def test_exponentials_of_the_naive_form() -> None:
    # Claim softmax-v0-exp.
    form = osm.softmax_form(name="three_passes")
    assert form.exponentials == 2
    total = osm.softmax_exponentials(
        rows=65536, row_elements=512, exponentials_per_element=form.exponentials
    )
    assert total == 67108864


class Counter:
    """A row that counts reads and an exponential that counts calls."""

    def __init__(self, values: list[float]) -> None:
        self.values = values
        self.reads = 0
        self.exponentials = 0

    def read(self, index: int) -> float:
        self.reads += 1
        return self.values[index]

    def exp(self, exponent: float) -> float:
        self.exponentials += 1
        return math.exp(exponent)


def three_passes(row: Counter, n: int) -> None:
    largest = max(row.read(i) for i in range(n))
    total = sum(row.exp(row.read(i) - largest) for i in range(n))
    assert sum(row.exp(row.read(i) - largest) / total for i in range(n)) == pytest.approx(1)


def two_passes(row: Counter, n: int) -> None:
    largest, total = -math.inf, 0.0
    for i in range(n):
        value = row.read(i)
        moved = max(largest, value)
        total = total * row.exp(largest - moved) + row.exp(value - moved)
        largest = moved
    assert sum(row.exp(row.read(i) - largest) / total for i in range(n)) == pytest.approx(1)


def one_pass(row: Counter, n: int) -> None:
    largest, total, output = -math.inf, 0.0, 0.0
    for i in range(n):
        value = row.read(i)
        moved = max(largest, value)
        old, new = row.exp(largest - moved), row.exp(value - moved)
        total, before, largest = total * old + new, total, moved
        output = output * before / total * old + new / total * 1.0
    assert output == pytest.approx(1)


def row_in_registers(row: Counter, n: int) -> None:
    held = [row.read(i) for i in range(n)]
    largest = max(held)
    exponentials = [row.exp(value - largest) for value in held]
    total = sum(exponentials)
    assert sum(value / total for value in exponentials) == pytest.approx(1)


@pytest.mark.parametrize("loop", [three_passes, two_passes, one_pass, row_in_registers])
def test_the_counts_are_those_of_the_loops(loop: Callable[[Counter, int], None]) -> None:
    row = Counter([0.3, -2.0, 5.0, 1.0, 4.5])
    loop(row, 5)
    form = osm.softmax_form(name=loop.__name__)
    assert (row.reads, row.exponentials) == (5 * form.input_reads, 5 * form.exponentials)


@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 5), st.sampled_from([1, 2, 4]))
def test_bytes_equal_walking_the_rows(rows: int, n: int, reads: int, size: int) -> None:
    moved = sum(n * size for _ in range(rows) for _ in range(reads + 1))
    assert moved == osm.softmax_bytes(
        rows=rows, row_elements=n, element_bytes=size, input_reads=reads
    )


@pytest.mark.parametrize("bad", [math.nan, math.inf, "1", True, None])
@pytest.mark.parametrize("name", ["old_maximum", "new_maximum", "value"])
def test_a_score_that_cannot_be_is_refused(name: str, bad: Any) -> None:
    arguments: dict[str, Any] = {"old_maximum": 0.0, "new_maximum": 0.0, "value": 0.0, name: bad}
    with pytest.raises(ArgumentError, match=f"^{name} is {bad!r}: it must be"):
        osm.rescaled_total(total=1.0, **arguments)


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf, "1", True])
def test_a_sum_that_cannot_be_is_refused(bad: Any) -> None:
    good, wrong = SoftmaxState(0.0, 1.0), SoftmaxState(0.0, bad)
    with pytest.raises(ArgumentError, match="total is"):
        osm.step(state=wrong, value=0.0)
    with pytest.raises(ArgumentError, match="total is"):
        osm.merge(first=good, second=wrong)
    with pytest.raises(ArgumentError, match="total is"):
        osm.merge_outputs(first=wrong, first_output=0.0, second=good, second_output=0.0)
    with pytest.raises(ArgumentError, match="total is"):
        osm.step_output(output=0.0, old_state=wrong, new_state=good, value=0.0, row=0.0)
    with pytest.raises(ArgumentError, match="total is"):
        osm.step_output(output=0.0, old_state=good, new_state=wrong, value=0.0, row=0.0)


def test_a_row_wholly_masked_has_no_mean() -> None:
    with pytest.raises(ArgumentError, match="total is 0"):
        osm.merge_outputs(first=EMPTY, first_output=0.0, second=EMPTY, second_output=0.0)


@pytest.mark.parametrize("bad", [[], [math.nan], [math.inf], [-math.inf], ["1"], [True], 3.0])
def test_rows_that_cannot_be_are_refused(bad: Any) -> None:
    for law in (osm.softmax_three_passes, osm.softmax_two_passes):
        with pytest.raises(ArgumentError, match="values"):
            law(values=bad)
    with pytest.raises(ArgumentError, match="scores"):
        osm.attention_one_pass(scores=bad, rows=[[1.0]])


def test_shapes_that_do_not_match_are_refused() -> None:
    with pytest.raises(ArgumentError, match="give one row a score"):
        osm.attention_one_pass(scores=[1.0, 2.0], rows=[[1.0]])
    with pytest.raises(ArgumentError, match="give one row a score"):
        osm.attention_one_pass(scores=[[1.0]], rows=[[1.0]])


@pytest.mark.parametrize("bad", [0, -1, 1.5, math.nan, math.inf, "2", True])
def test_counts_that_cannot_be_are_refused(bad: Any) -> None:
    for proof in (osm.total_difference, osm.output_difference):
        with pytest.raises(ArgumentError, match="steps is"):
            proof(steps=bad)
    sizes: dict[str, Any] = {"rows": 1, "row_elements": 1}
    for name in sizes:
        with pytest.raises(ArgumentError, match=f"^{name} is"):
            osm.softmax_bytes(element_bytes=2, input_reads=1, **{**sizes, name: bad})
        with pytest.raises(ArgumentError, match=f"^{name} is"):
            osm.softmax_exponentials(exponentials_per_element=1, **{**sizes, name: bad})
    with pytest.raises(ArgumentError, match=r"^input_reads is"):
        osm.softmax_bytes(element_bytes=2, input_reads=bad, **sizes)
    with pytest.raises(ArgumentError, match=r"^exponentials_per_element is"):
        osm.softmax_exponentials(exponentials_per_element=bad, **sizes)


def test_an_unknown_form_names_the_known() -> None:
    with pytest.raises(ArgumentError, match="one of three_passes, two_passes, one_pass"):
        osm.softmax_form(name="four_passes")
