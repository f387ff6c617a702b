"""What a quick answer may load."""

import subprocess
import sys

import pytest

HEAVY = ("pandas", "matplotlib", "sympy", "numpy", "tree_sitter")


def modules_loaded_by(*arguments: str) -> set[str]:
    """The top-level modules that a command has imported by the time it has answered."""
    program = (
        "import sys; from perfmodel.cli import run; code = run(sys.argv[1:]); "
        "print('MODULES', *{name.partition('.')[0] for name in sys.modules}); sys.exit(code)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    return set(result.stdout.rpartition("MODULES")[2].split())


@pytest.mark.parametrize(
    "arguments",
    [
        ("occupancy", "-d", "s5000", "--threads", "256", "--registers", "128"),
        ("occupancy", "-d", "h200", "--threads", "256", "--json"),
        ("amdahl", "--parallel", "0.8", "--speedup", "inf"),
        ("device", "check", "s5000"),
        ("--help",),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_nothing_heavy_is_loaded(arguments: tuple[str, ...]) -> None:
    assert modules_loaded_by(*arguments).isdisjoint(HEAVY)


def test_coalescing_loads_numpy_but_no_plots_or_symbols() -> None:
    loaded = modules_loaded_by("coalescing", "-d", "s5000", "--index", "threadIdx.x")
    assert "numpy" in loaded
    assert loaded.isdisjoint(("pandas", "matplotlib", "sympy"))


def test_importing_the_package_loads_nothing() -> None:
    program = "import sys, perfmodel; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in result.stdout.split()}
    assert loaded.isdisjoint({*HEAVY, "pydantic", "yaml", "typer"})
