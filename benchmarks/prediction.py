"""How fast predictions are: a whole ladder from a cold start, one rung warm, many in one call.

    python benchmarks/prediction.py

The cold start is compared with that of the libraries alone, run in turn on the same machine; the
least time of each counts, since noise only adds.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from perfmodel import load_device
from perfmodel.kernels.loading import load_description
from perfmodel.kernels.parameters import possible
from perfmodel.scheduler.prediction import predict, predict_times

RUNS = 15
BATCH = 100_000


def least(action: Callable[[], object], runs: int) -> float:
    """The least of several times of an action [s]."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def cold_start() -> None:
    """`perfmodel ladder gemm` beside importing pandas, yaml and pydantic."""
    program = str(Path(sys.executable).parent / "perfmodel")
    commands = {
        "import pandas, yaml, pydantic": [sys.executable, "-c", "import pandas, yaml, pydantic"],
        "perfmodel ladder gemm": [program, "ladder", "gemm"],
    }
    times = dict.fromkeys(commands, float("inf"))
    for _ in range(RUNS):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            times[name] = min(times[name], time.perf_counter() - start)
    for name, seconds in times.items():
        print(f"{name:<32}{seconds:8.3f} s")
    libraries, ladder = times.values()
    print(f"{'ratio':<32}{ladder / libraries:8.2f}")


def warm() -> None:
    """One rung, predicted again and again, without and with its range."""
    device, gemm = load_device("s5000"), load_description("gemm")
    for ranges in (False, True):
        predict(gemm, device, rung="register_tile", ranges=ranges)
        again = partial(predict, gemm, device, rung="register_tile", ranges=ranges)
        name = f"predict, {'with' if ranges else 'without'} its range"
        print(f"{name:<32}{1e3 * least(again, 50):8.2f} ms")


def batch() -> None:
    """Tile configurations of the GEMM in one call, patterns enumerated and kept."""
    random = np.random.default_rng(20)
    choices = {
        "bm": [32, 64, 96, 128, 192, 256],
        "bn": [32, 64, 96, 128, 192, 256],
        "bk": [4, 8, 16, 32],
        "tm": [4, 8, 16],
        "tn": [4, 8, 16],
        "m": [3072, 6144, 12288],
        "n": [6144, 12288],
        "k": [4096, 8192],
    }
    gemm, device = load_description("gemm"), load_device("s5000")
    drawn = {name: random.choice(values, 5 * BATCH) for name, values in choices.items()}
    threads = (drawn["bm"] // drawn["tm"]) * (drawn["bn"] // drawn["tn"])
    kept = possible(gemm.rungs["register_tile"], drawn, 5 * BATCH)
    kept &= (threads >= 32) & (threads <= 1024)
    tilings = {name: values[kept][:BATCH] for name, values in drawn.items()}
    count = len(tilings["bm"])

    def together() -> None:
        predict_times(gemm, device, rung="register_tile", parameters=tilings)

    for name, seconds in (("first", least(together, 1)), ("again", least(together, 3))):
        print(f"{f'{count} tilings, {name}':<32}{count / seconds:8.0f} /s")


if __name__ == "__main__":
    cold_start()
    warm()
    batch()
