"""Count on a GPU what our kernels of every rung cost, with Nsight Compute's hardware counters.

Needs nvcc 13, ncu and an NVIDIA GPU of compute capability 9.0. Each launch starts with caches that
the profiler has flushed. A case's launches are summed; shares of a peak are weighted by their
times. Cases that the file already has are not profiled again.

    python3 validation/cuda/profile.py validation/cuda/h200_counters.csv
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import FAMILIES, building

TIME = "gpu__time_duration.sum"
SUMS = {
    "time_ns": TIME,
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "l2_read_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "l2_write_sectors": "lts__t_sectors_srcunit_tex_op_write.sum",
    "l1_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "shared_load_passes": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_passes": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1_data_passes": "l1tex__data_pipe_lsu_wavefronts.sum",
    "cycles": "sm__cycles_elapsed.max",
    "instructions": "smsp__inst_executed.sum",
    "fma_instructions": "sm__inst_executed_pipe_fma.sum",
    "alu_instructions": "sm__inst_executed_pipe_alu.sum",
    "special_instructions": "sm__inst_executed_pipe_xu.sum",
    "load_store_instructions": "sm__inst_executed_pipe_lsu.sum",
}
SHARES = {
    "occupancy_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "dram_percent": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "l2_percent": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "l1_percent": "l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
    "l1_data_percent": "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
    "l2_port_percent": "l1tex__m_xbar2l1tex_read_sectors.avg.pct_of_peak_sustained_elapsed",
    "issue_percent": "sm__inst_issued.avg.pct_of_peak_sustained_elapsed",
    "fma_percent": "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed",
    "alu_percent": "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_elapsed",
    "special_percent": "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed",
    "load_store_percent": "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed",
    "tensor_percent": "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_elapsed",
}
END = "end_of_case"


def profiled(program: Path, folder: Path, known: Path) -> list[dict[str, str]]:
    """A row for each case of a program, in its order."""
    log = folder / f"{program.name}.csv"
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"]
    command += ["--profile-from-start", "off"]
    command += ["--metrics", ",".join([*SUMS.values(), *SHARES.values()]), "--log-file", str(log)]
    ran = subprocess.run(
        [*command, str(program), str(known)],
        env={**os.environ, "PROFILE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = log.read_text("utf-8").splitlines()
    start = next((place for place, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    launches = csv.DictReader([lines[start], *lines[start + 2 :]])  # the second line has the units
    cases: list[list[dict[str, str]]] = [[]]
    for launch in launches:
        if launch["Kernel Name"].startswith(END):
            cases.append([])
        else:
            cases[-1].append(launch)
    names = [line.split(",") for line in ran.stdout.splitlines() if line.count(",") == 2]
    return [
        {"kernel": kernel, "rung": rung, "parameters": parameters, **summed(launches)}
        for (kernel, rung, parameters), launches in zip(names, cases[:-1], strict=True)
    ]


def summed(launches: list[dict[str, str]]) -> dict[str, str]:
    """The counters of a case's launches as one."""

    def number(launch: dict[str, str], metric: str) -> float:
        return float(launch.get(metric, "nan").replace(",", "") or "nan")

    time = sum(number(each, TIME) for each in launches)
    sums = {name: sum(number(each, metric) for each in launches) for name, metric in SUMS.items()}
    shares = {
        name: sum(number(each, metric) * number(each, TIME) for each in launches) / time
        for name, metric in SHARES.items()
    }
    amounts = {name: f"{value:.0f}" for name, value in sums.items()}
    rounded = {name: f"{value:.2f}" for name, value in shares.items()}
    return {"launches": str(len(launches)), **amounts, **rounded}


def main() -> int:
    """Profile the programs that the file lacks, one after the other."""
    path = Path(sys.argv[1])
    rows: list[dict[str, str]] = []
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    failed = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for family, build in building(list(FAMILIES), folder).items():
            if build.wait():
                failed.append(f"{family} does not build")
                continue
            rows += profiled(folder / family, folder, path)
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
    for each in failed:
        print(each, file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
