"""The Python entry points: names for devices, and the project's own errors for wrong arguments."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import perfmodel
from perfmodel.errors import PerfmodelError, UsageError
from perfmodel.scheduler.crossover import best_values, crossovers
from perfmodel.scheduler.explanation import explain_prediction
from perfmodel.scheduler.whatif import compare, elasticities, parameter_effects, what_if

TAKES_A_DEVICE: dict[str, Callable[[Any], Any]] = {
    "predict": lambda d: perfmodel.predict("vecadd:naive", d),
    "predict_times": lambda d: perfmodel.predict_times("vecadd", d),
    "ladder": lambda d: perfmodel.ladder("vecadd", d),
    "compare": lambda d: compare("vecadd", [d]),
    "what_if": lambda d: what_if("vecadd", d, {"mps": "60"}),
    "elasticities": lambda d: elasticities("vecadd", d),
    "parameter_effects": lambda d: parameter_effects("vecadd", d),
    "crossovers": lambda d: crossovers(
        "vecadd:naive", "vecadd:vector_loads", d, over="n", low=1024, high=1 << 20
    ),
    "best_values": lambda d: best_values("vecadd", d, {"block": [128, 256]}),
    "explain_prediction": lambda d: explain_prediction("vecadd", d),
    "occupancy": lambda d: perfmodel.occupancy(d, threads_per_block=256),
    "coalescing": lambda d: perfmodel.coalescing(d, index="threadIdx.x", element_bytes=4),
    "bank_conflicts": lambda d: perfmodel.bank_conflicts(d, index="threadIdx.x", element_bytes=4),
    "divergence": lambda d: perfmodel.divergence(d, predicate="threadIdx.x < 3"),
    "roofline": lambda d: perfmodel.roofline(d, kernel="vecadd"),
}


@pytest.mark.parametrize("name", TAKES_A_DEVICE)
def test_a_device_may_be_named(name: str) -> None:
    by_name = TAKES_A_DEVICE[name]("h200")
    loaded = TAKES_A_DEVICE[name](perfmodel.load_device("h200"))
    if name == "predict_times":
        by_name, loaded = by_name.time_s, loaded.time_s
    assert repr(by_name) == repr(loaded)


@pytest.mark.parametrize("wrong", [None, 5, "h20", ["h200"]], ids=str)
@pytest.mark.parametrize("name", TAKES_A_DEVICE)
def test_what_is_no_device_is_said_to_be_none(name: str, wrong: object) -> None:
    with pytest.raises(UsageError, match="h200"):
        TAKES_A_DEVICE[name](wrong)


@pytest.mark.parametrize("kernel", [None, 5, b"vecadd", ["vecadd"]], ids=str)
def test_what_is_no_kernel_is_said_to_be_none(kernel: Any) -> None:
    for ask in (perfmodel.predict, perfmodel.predict_times, perfmodel.ladder):
        with pytest.raises(UsageError, match="the kernel is"):
            ask(kernel, "h200")
    with pytest.raises(UsageError):
        compare(kernel, ["h200"])


@pytest.mark.parametrize(
    "value",
    [
        *(None, float("nan"), float("inf"), 4096.0, True, "4096", 10**5000, -1, 0, {}, object()),
        *([], ["a"], [None], [1.5], [True], [[1], [1, 2]], [[4096]], [10**30], np.array([np.nan])),
    ],
    ids=lambda value: str(type(value).__name__),
)
def test_a_wrong_value_of_a_parameter_is_the_projects_own_error(value: Any) -> None:
    for ask in (perfmodel.predict, perfmodel.predict_times, perfmodel.ladder):
        with pytest.raises(PerfmodelError) as caught:
            ask("vecadd", "h200", parameters={"n": value})
        assert str(caught.value).startswith("n ")


@pytest.mark.parametrize("parameters", [["n=4096"], "n=4096", 5], ids=str)
def test_parameters_are_given_by_name(parameters: Any) -> None:
    for ask in (perfmodel.predict, perfmodel.predict_times, perfmodel.ladder):
        with pytest.raises(UsageError, match="by name"):
            ask("vecadd", "h200", parameters=parameters)


def test_one_prediction_takes_one_value() -> None:
    with pytest.raises(UsageError, match="predict_times takes arrays"):
        perfmodel.predict("vecadd", "h200", parameters={"n": [4096, 8192]})


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"cloc": 1e9}, "did you mean clock"),
        ({"clock": None}, "a number or a row"),
        ({"clock": "fast"}, "a number or a row"),
        ({"clock": "1e9"}, "a number or a row"),
        ({"clock": True}, "a number or a row"),
        ({"clock": []}, "a number or a row"),
        ({"clock": [[1e9, 2e9]]}, "a number or a row"),
        ({"clock": 10**400}, "a number or a row"),
        ({"clock": float("nan")}, "numbers from"),
        ({"clock": [1e9, float("inf")]}, "numbers from"),
        ({"clock": -1}, "numbers from"),
        ({"clock": 0}, "numbers from"),
        ({"mps": 0}, "whole numbers from 1"),
        ({"mps": 60.5}, "whole numbers from 1"),
        ({"mps": 2**63}, "whole numbers from 1"),
    ],
    ids=str,
)
def test_wrong_changes_of_a_device_in_a_batch(fields: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        perfmodel.predict_times("vecadd", "h200", fields=fields)


@pytest.mark.parametrize("wrong", [0, 3.0, True, b"naive", np.array([1])], ids=repr)
def test_a_rung_and_the_caches_are_words(wrong: Any) -> None:
    with pytest.raises(UsageError, match="the rung is"):
        perfmodel.predict("gemm", "h200", rung=wrong)
    with pytest.raises(UsageError, match="cold or warm"):
        perfmodel.predict("gemm:naive", "h200", caches=wrong)


@pytest.mark.parametrize(
    "ends",
    [(0, 9), (9, 4), (4, 2**63), (4.0, 9), (4, float("inf")), ("4", 9), (True, 9), (None, 9)],
    ids=repr,
)
def test_ends_between_which_nothing_grows(ends: Any) -> None:
    low, high = ends
    with pytest.raises(UsageError, match=r"n (from|to)"):
        crossovers("vecadd:naive", "vecadd:vector_loads", "h200", over="n", low=low, high=high)


@pytest.mark.parametrize("values", [[2**63], [1.5], [], ["a"], 2.5, None], ids=repr)
def test_values_to_try_are_whole_numbers(values: Any) -> None:
    with pytest.raises(UsageError, match=r"block holds|block is"):
        best_values("vecadd", "h200", {"block": values})


@pytest.mark.parametrize("choices", [{}, None, 5, ["block"]], ids=repr)
def test_values_to_try_are_given_by_name(choices: Any) -> None:
    with pytest.raises(UsageError, match=r"by name|by the name"):
        best_values("vecadd", "h200", choices)
