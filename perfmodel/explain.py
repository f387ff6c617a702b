"""A law explained: its formula, the numbers put in, the result and what each number is worth.

The formula is the law itself, called with symbols in place of numbers, so it cannot differ from
what is computed. Units and sources are read from the law's own docstring.
"""

from __future__ import annotations

import inspect
import math
import re
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from perfmodel.device.loading import as_device
from perfmodel.errors import UsageError, quoted
from perfmodel.laws import LAWS
from perfmodel.results import Result
from perfmodel.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from perfmodel.device.model import Device

_ARGUMENT = re.compile(r"^(\w+): (.*?)\[([^\]]+)\]", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Term(Result):
    """One number of a law."""

    name: str
    meaning: str
    unit: str
    value: float
    derivative: str | None = None
    """The partial derivative as a formula; None where there is none."""
    slope: float | None = None
    """Its value at these numbers."""
    elasticity: float | None = None
    """Per cent of change of the result for one per cent of this number."""


@dataclass(frozen=True, kw_only=True)
class Explanation(Result):
    """A law, its formula and the numbers put in."""

    law: str
    title: str
    formula: str
    ruling: str | None
    """Where the formula takes a least or a greatest: the part that rules at these numbers."""
    terms: tuple[Term, ...]
    value: float
    unit: str
    rounded: bool
    """Whether the formula rounds to whole numbers, so that no derivative exists."""
    source: str


def explain(
    law: str, *, device: Device | str, numbers: Mapping[str, float] | None = None
) -> Explanation:
    """Explain a law with numbers put in.

    Args:
        law: Its name, one of `perfmodel.laws.LAWS`.
        device: The device whose numbers are put in where the law has a device's field in it.
        numbers: Numbers to put in instead.

    Returns:
        The explanation.

    Raises:
        UsageError: No such law, or the law has no such number.
        ArgumentError: A number is outside the law's range.

    Example:
        >>> from perfmodel import load_device
        >>> shown = explain("amdahl-limit", device=load_device("s5000"))
        >>> shown.formula, round(shown.value, 12), round(shown.terms[0].slope, 12)
        ('1/(1 - parallel_fraction)', 5.0, 25.0)
    """
    device = as_device(device)
    import sympy

    if law not in LAWS:
        raise UsageError(f"no law {quoted(law)}: {did_you_mean(law, LAWS, most=40)}")
    require_docstrings()
    entry = LAWS[law]
    names = list(inspect.signature(entry.function).parameters)
    values = {**entry.numbers, **entry.of_device(device), **(numbers or {})}
    for name in values:
        if name not in names:
            raise UsageError(f"{law} has no number {quoted(name)}: {did_you_mean(name, names)}")
    result = _finite(law, lambda: float(entry.function(**values)))
    symbols = {name: sympy.Symbol(name, positive=True) for name in names}
    formula = entry.function(**symbols)
    rounded = bool(formula.has(sympy.floor, sympy.ceiling))
    at = {symbols[name]: value for name, value in values.items()}
    ruling = None if rounded else _ruling_branch(formula, at)
    documented = _documented(entry.function)
    terms = []
    for name in names:
        meaning, unit = documented[name]
        term = Term(name=name, meaning=meaning, unit=unit, value=values[name])
        if ruling is not None:
            derivative = sympy.diff(ruling, symbols[name])
            slope = derivative.subs(at)
            exists = bool(slope.is_finite and slope.is_real)
            term = replace(
                term,
                derivative=str(sympy.simplify(derivative)),
                slope=float(slope) if exists else None,
                elasticity=float(slope) * values[name] / result if exists and result else None,
            )
        terms.append(term)
    return Explanation(
        law=law,
        title=(inspect.getdoc(entry.function) or "").split("\n", 1)[0],
        formula=str(formula),
        ruling=str(ruling) if ruling is not None and ruling != formula else None,
        terms=tuple(terms),
        value=result,
        unit=documented["return"][1],
        rounded=rounded,
        source=_section(entry.function, "Source"),
    )


def titles() -> dict[str, str]:
    """The first line of every law, by name.

    Raises:
        UsageError: Python was started so that it strips docstrings.
    """
    require_docstrings()
    return {
        name: (inspect.getdoc(law.function) or "").splitlines()[0] for name, law in LAWS.items()
    }


def require_docstrings() -> None:
    """Refuse to explain without the docstrings that explanations are read from."""
    if sys.flags.optimize > 1:
        raise UsageError("Python was started with -OO, which strips what laws say: leave it out")


def _finite(law: str, compute: Callable[[], float]) -> float:
    """The result of a law, refused where it is none or beyond all numbers."""
    try:
        result = compute()
    except ArithmeticError:
        result = math.nan
    if not math.isfinite(result):
        raise UsageError(f"{law} has no finite result for these numbers: choose others with -p")
    return result


def _ruling_branch(formula: Any, at: Mapping[Any, float]) -> Any:
    """The formula with every Min and Max replaced by the argument that rules at these numbers.

    None where two arguments are equal there: at a kink there is no derivative.
    """
    import sympy

    tied = False

    def ruling(extreme: Any) -> Any:
        nonlocal tied
        best = max if isinstance(extreme, sympy.Max) else min
        values = [float(argument.subs(at)) for argument in extreme.args]
        tied = tied or values.count(best(values)) > 1
        return extreme.args[values.index(best(values))]

    smooth = formula.replace(lambda part: isinstance(part, sympy.Min | sympy.Max), ruling)
    return None if tied else smooth


def _documented(function: Any) -> dict[str, tuple[str, str]]:
    """Meaning and unit of each argument, and of what is returned, from the docstring."""
    found: dict[str, tuple[str, str]] = {}
    for block in re.split(r"\n(?=\w+:)", _section(function, "Args", keep_lines=True)):
        match = _ARGUMENT.match(block)
        if match:
            meaning = " ".join(match[2].split()).rstrip(" ,:")
            found[match[1]] = (meaning, match[3])
    returns = _section(function, "Returns")
    unit = re.search(r"\[([^\]]+)\]", returns)
    found["return"] = (returns, unit[1] if unit else "-")
    return found


def _section(function: Any, name: str, *, keep_lines: bool = False) -> str:
    """A section of a docstring, without its heading."""
    lines = (inspect.getdoc(function) or "").splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith(f"{name}:")), None)
    if start is None:
        return ""
    section = [lines[start].removeprefix(f"{name}:").strip()]
    for line in lines[start + 1 :]:
        if not line.strip():
            break
        section.append(line)
    if keep_lines:
        return inspect.cleandoc("\n" + "\n".join(section[1:]))
    return " ".join(part.strip() for part in section if part.strip())
