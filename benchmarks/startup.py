"""Time from start to answer of `perfmodel occupancy`, beside a peer's, in turn.

    python benchmarks/startup.py              perfmodel alone, beside an empty Python
    pip install cuxray; python benchmarks/startup.py

Both commands answer the same question for the same device. Runs alternate, so that both see the
same machine; the least time of each is compared, since noise only adds.
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path

RUNS = 30


def commands() -> dict[str, list[str]]:
    """What is timed: ours, the peer's where it is installed, and an empty Python."""
    programs = Path(sys.executable).parent
    found = {
        "empty Python": [sys.executable, "-c", "pass"],
        "perfmodel": [
            str(programs / "perfmodel"),
            *("occupancy", "-d", "h200", "--threads", "256", "--registers", "64"),
        ],
    }
    peer = shutil.which("cuxray", path=str(programs)) or shutil.which("cuxray")
    if peer:
        found["cuxray"] = [
            peer,
            *("occupancy", "--arch", "sm_90", "--threads", "256", "--regs", "64"),
        ]
    return found


def main() -> None:
    """Time the commands in turn and print the least times and the ratio."""
    timed = commands()
    least = dict.fromkeys(timed, float("inf"))
    for _ in range(RUNS):
        for name, command in timed.items():
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            least[name] = min(least[name], time.perf_counter() - start)
    for name, seconds in least.items():
        print(f"{name:<14}{seconds:8.3f} s")
    if "cuxray" in least:
        print(f"{'ratio':<14}{least['perfmodel'] / least['cuxray']:8.2f}")
    else:
        print("cuxray is not installed: nothing to compare with")


if __name__ == "__main__":
    main()
