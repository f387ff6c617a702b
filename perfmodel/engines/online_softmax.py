"""Online softmax: the largest value and the sum of exponentials in one pass.

Softmax divides exp(x_i - m) by their sum d, where m is the largest x, subtracted so that nothing
overflows. Taken literally that is three passes over the row: for m, for d, for the results. But a
sum taken with a smaller maximum can be corrected afterwards, and so both can grow together:

    m_i = max(m_{i-1}, x_i)
    d_i = d_{i-1} exp(m_{i-1} - m_i) + exp(x_i - m_i)

After every step d_i is the sum of exp(x_j - m_i) over j up to i. That is true for any sequence m_i
whatever, as each step only multiplies the old sum by exp(m_{i-1} - m_i); taking the maximum is
what keeps the exponents at or below 0. Two passes are left, and the states of two parts of a row
merge by the same rule, which is how lanes, warps and blocks share one.

In attention the results are only needed as weights of the rows of V. Their weighted mean can be
carried along too, rescaled when the maximum moves, and one pass is left: the ground on which fused
attention stands.

A form is judged by what it reads and by how many exponentials it takes; both are counted here.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from perfmodel.engines.arithmetic import (
    Number,
    exponential,
    is_array,
    is_symbolic,
    maximum,
    require,
    where,
)
from perfmodel.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class SoftmaxState(NamedTuple):
    """What is known of a part of a row: its largest value, and its sum of exponentials."""

    maximum: Number
    total: Number


EMPTY = SoftmaxState(maximum=float("-inf"), total=0.0)
"""The state before the first value."""


def rescaled_total(
    *, total: Number, old_maximum: Number, new_maximum: Number, value: Number
) -> Number:
    """One step of the sum of exponentials when its reference moves.

    Equation: ``d_i = d_{i-1} exp(m_{i-1} - m_i) + exp(x_i - m_i)``

    Args:
        total: d_{i-1}, the sum so far, relative to the old reference [-], at least 0.
        old_maximum: m_{i-1}, the old reference [-], minus infinity before the first value.
        new_maximum: m_i, the new reference [-], minus infinity where all so far is masked.
        value: x_i [-], minus infinity where it is masked.

    Returns:
        d_i, relative to the new reference [-].

    Raises:
        ArgumentError: `total` is below 0, or a number is NaN or plus infinity.

    Validity: any references; with one far below the values the sum is infinite, which taking the
    maximum rules out.

    Source: M. Milakov, N. Gimelshein, arXiv:1805.02867, algorithm 3; document 000, section 5
    FlashAttention (online softmax).

    Example:
        >>> rescaled_total(total=1.0, old_maximum=0.0, new_maximum=0.0, value=0.0)  # two equals
        2.0
    """
    require("total", total, low=0)
    for name, number in (
        ("old_maximum", old_maximum),
        ("new_maximum", new_maximum),
        ("value", value),
    ):
        _require_value(name, number)
    return total * _decay(old_maximum, new_maximum) + _decay(value, new_maximum)


def step(*, state: SoftmaxState, value: Number) -> SoftmaxState:
    """Take one more value into the state.

    Equation: ``m_i = max(m_{i-1}, x_i)`` and ``d_i = d_{i-1} exp(m_{i-1} - m_i) + exp(x_i - m_i)``

    Args:
        state: m_{i-1} and d_{i-1} [-], `EMPTY` before the first value.
        value: x_i [-], minus infinity where it is masked.

    Returns:
        m_i and d_i [-].

    Raises:
        ArgumentError: A number is NaN or plus infinity, or the sum is below 0.

    Source: document 000, section 5 FlashAttention (online softmax); document 002, section 4.3.

    Example:
        >>> step(state=step(state=EMPTY, value=5.0), value=5.0)  # two equal values
        SoftmaxState(maximum=5.0, total=2.0)
    """
    new_maximum = maximum(state.maximum, value)
    total = rescaled_total(
        total=state.total, old_maximum=state.maximum, new_maximum=new_maximum, value=value
    )
    return SoftmaxState(new_maximum, total)


def merge(*, first: SoftmaxState, second: SoftmaxState) -> SoftmaxState:
    """State of a row from the states of two of its parts.

    Equation: ``m = max(m_1, m_2)`` and ``d = d_1 exp(m_1 - m) + d_2 exp(m_2 - m)``

    Args:
        first: m_1 and d_1 of one part [-].
        second: m_2 and d_2 of the other [-].

    Returns:
        m and d of both together [-].

    Raises:
        ArgumentError: A number is NaN or plus infinity, or a sum is below 0.

    Validity: the order of merging does not matter but for rounding.

    Source: M. Milakov, N. Gimelshein, arXiv:1805.02867, section 3.1; document 002, section 4.3
    (local maxima mended in the last reduction).

    Example:
        >>> merge(first=SoftmaxState(3.0, 1.5), second=SoftmaxState(3.0, 2.0))
        SoftmaxState(maximum=3.0, total=3.5)
    """
    for state in (first, second):
        _require_value("maximum", state.maximum)
        require("total", state.total, low=0)
    new_maximum = maximum(first.maximum, second.maximum)
    total = first.total * _decay(first.maximum, new_maximum)
    return SoftmaxState(new_maximum, total + second.total * _decay(second.maximum, new_maximum))


def step_output(
    *, output: Number, old_state: SoftmaxState, new_state: SoftmaxState, value: Number, row: Number
) -> Number:
    """One step of the weighted mean that attention carries along.

    Equation: ``o_i = o_{i-1} (d_{i-1} / d_i) exp(m_{i-1} - m_i) + exp(x_i - m_i) / d_i v_i``

    Args:
        output: o_{i-1}, the mean so far [-]; 0 before the first value.
        old_state: m_{i-1} and d_{i-1} [-].
        new_state: m_i and d_i [-], as `step` gives it.
        value: x_i, the score [-].
        row: v_i, what the score weighs [-]; a number, or an array.

    Returns:
        o_i, the mean of the rows so far, weighted by the softmax of their scores [-].

    Raises:
        ArgumentError: The new sum is not above 0, or a score is NaN or plus infinity.

    Validity: at least one score so far is not masked.

    Source: document 000, section 5 FlashAttention (one loop).

    Example:
        >>> step_output(  # the mean of 2 and 4, their scores being equal
        ...     output=2.0, old_state=SoftmaxState(0.0, 1.0), new_state=SoftmaxState(0.0, 2.0),
        ...     value=0.0, row=4.0,
        ... )
        3.0
    """
    require("total", old_state.total, low=0)
    require("total", new_state.total, low=0, above_low=True)
    _require_value("value", value)
    kept = old_state.total / new_state.total * _decay(old_state.maximum, new_state.maximum)
    return output * kept + _decay(value, new_state.maximum) / new_state.total * row


def merge_outputs(
    *, first: SoftmaxState, first_output: Number, second: SoftmaxState, second_output: Number
) -> Number:
    """Weighted mean of a row from the means of two of its parts.

    Equation: ``o = (d_1 exp(m_1 - m) o_1 + d_2 exp(m_2 - m) o_2) / d``, with m and d of `merge`

    Args:
        first: m_1 and d_1 of one part [-].
        first_output: o_1, its mean [-].
        second: m_2 and d_2 of the other [-].
        second_output: o_2, its mean [-].

    Returns:
        The mean over both [-].

    Raises:
        ArgumentError: A number is NaN or plus infinity, or the sums are not above 0 together.

    Validity: at least one of the parts holds a value that is not masked; this is how a split of
    K and V over blocks is put together.

    Source: document 000, section 5 FlashAttention (one loop), for two parts instead of one value.

    Example:
        >>> merge_outputs(  # three rows of mean 2 and one of 6, all scores equal
        ...     first=SoftmaxState(0.0, 3.0), first_output=2.0,
        ...     second=SoftmaxState(0.0, 1.0), second_output=6.0,
        ... )
        3.0
    """
    both = merge(first=first, second=second)
    require("total", both.total, low=0, above_low=True)
    first_weight = first.total * _decay(first.maximum, both.maximum) / both.total
    second_weight = second.total * _decay(second.maximum, both.maximum) / both.total
    return first_weight * first_output + second_weight * second_output


def softmax_three_passes(*, values: "ArrayLike") -> "NDArray[np.float64]":
    """Softmax as it is defined: a pass for the maximum, one for the sum, one for the results.

    Equation: ``exp(x_i - m) / sum_j exp(x_j - m)``

    Args:
        values: x, along the last axis [-]; finite.

    Returns:
        The softmax of each row [-].

    Raises:
        ArgumentError: There is no value, or one is not finite.

    Source: document 000, section 5 FlashAttention (safe softmax); document 002, section 3.1.

    Example:
        >>> softmax_three_passes(values=[7.0, 7.0]).tolist()
        [0.5, 0.5]
    """
    import numpy as np

    rows = _rows("values", values)
    largest = rows.max(axis=-1, keepdims=True)
    total = np.exp(rows - largest).sum(axis=-1, keepdims=True)
    result: NDArray[np.float64] = np.exp(rows - largest) / total
    return result


def softmax_two_passes(*, values: "ArrayLike") -> "NDArray[np.float64]":
    """Softmax with the maximum and the sum from one pass, and the results from a second.

    Equation: `step` over the row, then ``exp(x_i - m_N) / d_N``

    Args:
        values: x, along the last axis [-]; finite.

    Returns:
        The softmax of each row [-].

    Raises:
        ArgumentError: There is no value, or one is not finite.

    Source: document 000, section 5 FlashAttention (online softmax).

    Example:
        >>> softmax_two_passes(values=[7.0, 7.0]).tolist()
        [0.5, 0.5]
    """
    import numpy as np

    rows = _rows("values", values)
    state = SoftmaxState(np.full(rows.shape[:-1], -np.inf), np.zeros(rows.shape[:-1]))
    for index in range(rows.shape[-1]):
        state = step(state=state, value=rows[..., index])
    result: NDArray[np.float64] = np.exp(rows - state.maximum[..., None]) / state.total[..., None]
    return result


def attention_one_pass(*, scores: "ArrayLike", rows: "ArrayLike") -> "NDArray[np.float64]":
    """Softmax of a row of scores times the rows they weigh, in a single pass over both.

    Equation: `step` and `step_output` over the scores

    Args:
        scores: x, the scores of one query [-], shape [keys]; finite.
        rows: v, what they weigh [-], shape [keys, d]; finite. The unit matrix gives the softmax
            itself.

    Returns:
        The mean of the rows, weighted by the softmax of the scores [-], shape [d].

    Raises:
        ArgumentError: There is no score, the lengths differ, or a number is not finite.

    Source: document 000, section 5 FlashAttention (one loop).

    Example:
        >>> attention_one_pass(scores=[7.0, 7.0], rows=[[1.0, 2.0], [3.0, 6.0]]).tolist()
        [2.0, 4.0]
    """
    import numpy as np

    weighed, by = _rows("rows", rows), _rows("scores", scores)
    if by.ndim != 1 or weighed.ndim != 2 or len(by) != len(weighed):
        raise ArgumentError(
            f"scores of shape {by.shape} and rows of shape {weighed.shape}: give one row a score"
        )
    state, output = EMPTY, np.zeros(weighed.shape[1])
    for score, row in zip(by.tolist(), weighed, strict=True):
        following = step(state=state, value=score)
        output = step_output(
            output=output, old_state=state, new_state=following, value=score, row=row
        )
        state = following
    return output


def total_difference(*, steps: int) -> Any:
    """Proof of the recurrence for some steps: what it gives less what the sum is.

    Equation: ``d_n - sum_j exp(x_j - m_n)``, with d_n unrolled and every x and m a free symbol

    Args:
        steps: n, how many values are taken [-], at least 1.

    Returns:
        The difference as sympy simplifies it [-]: 0, the recurrence being right.

    Raises:
        ArgumentError: `steps` is not a whole number of at least 1.

    Validity: the references m are free, so that the identity holds for the maxima too. For any n
    at once see `total_induction_difference`.

    Source: document 000, section 5 FlashAttention (online softmax).

    Example:
        >>> total_difference(steps=3)
        0
    """
    require("steps", steps, low=1, whole=True)
    import sympy

    values = sympy.symbols(f"x1:{int(steps) + 1}", real=True)
    references = sympy.symbols(f"m0:{int(steps) + 1}", real=True)
    total: Number = sympy.Integer(0)
    for index, value in enumerate(values):
        total = rescaled_total(
            total=total,
            old_maximum=references[index],
            new_maximum=references[index + 1],
            value=value,
        )
    expected = sum(sympy.exp(value - references[-1]) for value in values)
    return sympy.simplify(sympy.expand(total - expected))


def total_induction_difference() -> Any:
    """Proof of the recurrence for any number of steps: the step of the induction.

    Equation: if ``d_{i-1} = S exp(-m_{i-1})``, with S the sum of exp(x_j) so far, then
    ``d_i - (S + exp(x_i)) exp(-m_i)`` is 0; and ``d_0 = 0`` is such a sum, the empty one.

    Returns:
        The difference as sympy simplifies it [-]: 0, the recurrence being right.

    Source: document 000, section 5 FlashAttention (online softmax).

    Example:
        >>> total_induction_difference()
        0
    """
    import sympy

    so_far = sympy.Symbol("S", nonnegative=True)
    old, new, value = sympy.symbols("m_old m_new x", real=True)
    total = rescaled_total(
        total=so_far * sympy.exp(-old), old_maximum=old, new_maximum=new, value=value
    )
    return sympy.simplify(sympy.expand(total - (so_far + sympy.exp(value)) * sympy.exp(-new)))


def output_difference(*, steps: int) -> Any:
    """Proof of the one-pass form for some steps: its output less that of two passes.

    Equation: ``o_n - sum_j exp(x_j - m_n) v_j / sum_j exp(x_j - m_n)``, with o_n unrolled and every
    x, m and v a free symbol

    Args:
        steps: n, how many values are taken [-], at least 1.

    Returns:
        The difference as sympy simplifies it [-]: 0, the recurrence being right.

    Raises:
        ArgumentError: `steps` is not a whole number of at least 1.

    Validity: simplification takes seconds beyond some 5 steps.

    Source: document 000, section 5 FlashAttention (one loop).

    Example:
        >>> output_difference(steps=2)
        0
    """
    require("steps", steps, low=1, whole=True)
    import sympy

    count = int(steps)
    values = sympy.symbols(f"x1:{count + 1}", real=True)
    rows = sympy.symbols(f"v1:{count + 1}", real=True)
    references = sympy.symbols(f"m0:{count + 1}", real=True)
    state = SoftmaxState(references[0], sympy.Integer(0))
    output: Number = sympy.Integer(0)
    for value, row, reference in zip(values, rows, references[1:], strict=True):
        total = rescaled_total(
            total=state.total, old_maximum=state.maximum, new_maximum=reference, value=value
        )
        following = SoftmaxState(reference, total)
        output = step_output(
            output=output, old_state=state, new_state=following, value=value, row=row
        )
        state = following
    weights = [sympy.exp(value - references[-1]) for value in values]
    mean = sum(weight * row for weight, row in zip(weights, rows, strict=True)) / sum(weights)
    return sympy.simplify(output - mean)


@dataclass(frozen=True, kw_only=True)
class SoftmaxForm:
    """How a form of softmax goes over its row.

    `input_reads` is how often it reads the row from memory, `exponentials` how many it takes for
    each element.
    """

    name: str
    input_reads: int
    exponentials: int


FORMS: Mapping[str, SoftmaxForm] = {
    form.name: form
    for form in (
        SoftmaxForm(name="three_passes", input_reads=3, exponentials=2),
        SoftmaxForm(name="two_passes", input_reads=2, exponentials=3),
        SoftmaxForm(name="one_pass", input_reads=1, exponentials=2),
        SoftmaxForm(name="row_in_registers", input_reads=1, exponentials=1),
    )
}
"""The forms, as their loops are written.

three_passes takes each exponential for the sum and again for the result. two_passes takes two in
a step, one of which is exp(0) and can be left out, and one for the result. one_pass takes the two
of a step and keeps its output up to date instead of going back. row_in_registers reads the row
once, keeps the exponentials of the sum and scales them. (Document 000, section 5 FlashAttention;
document 002, sections 3.1 and 4.3.)
"""


def softmax_form(*, name: str) -> SoftmaxForm:
    """The form of that name: how often it reads its row, how many exponentials it takes.

    Equation: none; the counts are those of the loops.

    Args:
        name: One of `FORMS` [-].

    Returns:
        The form [-].

    Raises:
        ArgumentError: There is no such form; the message lists them.

    Source: document 000, section 5 FlashAttention; document 002, sections 3.1 and 4.3.

    Example:
        >>> softmax_form(name="three_passes")
        SoftmaxForm(name='three_passes', input_reads=3, exponentials=2)
    """
    if name not in FORMS:
        raise ArgumentError(
            f"there is no softmax form {name!r}: it must be one of {', '.join(FORMS)}"
        )
    return FORMS[name]


def softmax_bytes(
    *, rows: Number, row_elements: Number, element_bytes: Number, input_reads: Number
) -> Number:
    """Bytes that softmax moves where no cache serves a repeated read.

    Equation: ``rows N element_bytes (input_reads + 1)``, the 1 for the write

    Args:
        rows: Rows [-], at least 1.
        row_elements: N, elements of a row [-], at least 1.
        element_bytes: Size of an element of input and output [bytes], above 0.
        input_reads: How often a row is read [-], at least 1; see `FORMS`.

    Returns:
        Requested bytes [bytes], reads and the write; with 1 read they are the compulsory ones.

    Raises:
        ArgumentError: A count is not a whole number of at least 1, or the size is not above 0.

    Source: document 002, sections 3.1 and 4.3.

    Example:
        >>> softmax_bytes(rows=2, row_elements=8, element_bytes=2, input_reads=3)  # 32 * 4
        128
    """
    _require_counts(rows=rows, row_elements=row_elements, input_reads=input_reads)
    require("element_bytes", element_bytes, low=0, above_low=True)
    return rows * row_elements * element_bytes * (input_reads + 1)


def softmax_exponentials(
    *, rows: Number, row_elements: Number, exponentials_per_element: Number
) -> Number:
    """Exponentials that softmax takes.

    Equation: ``rows N exponentials_per_element``

    Args:
        rows: Rows [-], at least 1.
        row_elements: N, elements of a row [-], at least 1.
        exponentials_per_element: How many a form takes for each [-], at least 1; see `FORMS`.

    Returns:
        Exponentials [-].

    Raises:
        ArgumentError: An argument is not a whole number of at least 1.

    Validity: the few that join the states of lanes or blocks are not counted.

    Source: document 002, section 3.1.

    Example:
        >>> softmax_exponentials(rows=2, row_elements=8, exponentials_per_element=2)
        32
    """
    _require_counts(
        rows=rows,
        row_elements=row_elements,
        exponentials_per_element=exponentials_per_element,
    )
    return rows * row_elements * exponentials_per_element


def _decay(value: Number, reference: Number) -> Number:
    """exp(value - reference), and 0 for a value of minus infinity whatever the reference."""
    if is_symbolic(value) or is_symbolic(reference):
        return exponential(value - reference)
    if is_array(value) or is_array(reference):
        import numpy as np

        masked = np.broadcast_to(value == -np.inf, np.broadcast(value, reference).shape)
        # The difference of two infinities is no number, and where() computes both its sides.
        gap = np.where(masked, 0.0, value) - np.where(masked, 0.0, reference)
        with np.errstate(over="ignore"):
            return where(masked, 0.0, exponential(gap))
    if value == float("-inf"):
        return 0.0
    try:
        return exponential(value - reference)
    except OverflowError:
        return float("inf")  # as arrays have it


def _rows(name: str, values: "ArrayLike") -> "NDArray[np.float64]":
    import numpy as np

    array = np.asarray(values)
    if not array.ndim or array.dtype == bool:
        raise ArgumentError(f"{name} is {values!r}: give numbers in rows")
    require(name, array, low=-sys.float_info.max)
    return array.astype(np.float64)


def _require_value(name: str, value: Number) -> None:
    require(name, value, high=sys.float_info.max, finite=False)


def _require_counts(**counts: Number) -> None:
    for name, count in counts.items():
        require(name, count, low=1, whole=True)
