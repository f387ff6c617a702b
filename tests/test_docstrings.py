"""The docstring contract of the laws, walked over every public function."""

import doctest
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import perfmodel.analyses
import perfmodel.engines

NOT_LAWS = {"arithmetic", "distinct"}
"""Modules of the engines that hold no law."""

UNIT = re.compile(r"\[[^\]]+\]")


def public_functions(package: Any, leave_out: set[str]) -> Iterator[Any]:
    for module_info in pkgutil.iter_modules(package.__path__):
        if module_info.name in leave_out:
            continue
        module = importlib.import_module(f"{package.__name__}.{module_info.name}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and not name.startswith("_"):
                yield pytest.param(function, id=f"{module_info.name}.{name}")


laws = list(public_functions(perfmodel.engines, NOT_LAWS))


def section(function: Callable[..., Any], name: str) -> str:
    text = inspect.getdoc(function) or ""
    found = re.search(rf"^{name}:(.*?)(?=^\w[\w ]*:|\Z)", text, flags=re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


def argument_texts(function: Callable[..., Any]) -> dict[str, str]:
    blocks = re.findall(
        r"^    (\w+): (.*?)(?=^    \w+: |\Z)",
        section(function, "Args"),
        flags=re.DOTALL | re.MULTILINE,
    )
    return dict(blocks)


@pytest.mark.parametrize("function", laws)
def test_a_law_describes_every_argument_with_its_unit(function: Callable[..., Any]) -> None:
    described = argument_texts(function)
    assert list(described) == list(inspect.signature(function).parameters)
    for name, text in described.items():
        annotation = str(inspect.signature(function).parameters[name].annotation)
        if any(kind in annotation for kind in ("Number", "Any", "int", "float", "Integers")):
            assert UNIT.search(text), f"{name} has no unit in brackets: {text!r}"


@pytest.mark.parametrize("function", laws)
def test_a_law_gives_equation_result_errors_and_source(function: Callable[..., Any]) -> None:
    for name in ("Equation", "Returns", "Raises", "Source"):
        if name == "Raises" and not inspect.signature(function).parameters:
            continue
        assert section(function, name).strip(), f"no {name}"


@pytest.mark.parametrize("function", laws)
def test_a_law_has_an_example_that_runs(function: Callable[..., Any]) -> None:
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(function) or "")
    assert examples
    assert any(example.want for example in examples)


@pytest.mark.parametrize("function", laws)
def test_physical_arguments_are_keyword_only(function: Callable[..., Any]) -> None:
    kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
    assert kinds <= {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("function", list(public_functions(perfmodel.analyses, set())))
def test_an_analysis_describes_its_arguments(function: Callable[..., Any]) -> None:
    text = inspect.getdoc(function) or ""
    assert text.strip()
    if "Args:" in text:
        assert list(argument_texts(function)) == list(inspect.signature(function).parameters)
