"""Count on a GPU what each pattern costs, with Nsight Compute's hardware counters.

Needs nvcc, ncu and an NVIDIA GPU of compute capability 9.0 or more (stmatrix). Makes one kernel of
one warp for each row of patterns.csv, in which inline assembly keeps the access as it is, and
writes the rows with the amounts that the counters show. Rows that the file already has are not
measured again.

    python3 validation/access_patterns/measure.py validation/access_patterns/counters.csv
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ARCHITECTURE = "sm_90"
COUNTERS = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_load_tags": "l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum",
    "global_load_tag_passes": "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_passes": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "shared_load_passes": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_passes": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}
TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "v2.u32", 16: "v4.u32"}
REGISTERS = {1: 1, 2: 1, 4: 1, 8: 2, 16: 4}
SHARED_BYTES = 40960


def access(row: dict[str, str]) -> str:
    """The access of a pattern in inline assembly."""
    size, space, operation = int(row["element_bytes"]), row["space"], row["operation"]
    if "matrix" in operation:
        name, _, count = operation.rpartition("_x")
        return _matrix(name, int(count))
    letter = "h" if size <= 2 else "r"
    held = REGISTERS[size]
    names = ", ".join(f"%{place}" for place in range(held))
    values = f"{{{names}}}" if held > 1 else names
    kind = "short" if size <= 2 else "int"
    declared = " ".join(f"{kind} v{place} = {place};" for place in range(held))
    pointer = "l" if space == "global" else "r"
    if operation == "load":
        outputs = ", ".join(f'"={letter}"(v{place})' for place in range(held))
        return (
            f'{declared} asm volatile("ld.{space}.{TYPES[size]} {values}, [%{held}];" '
            f': {outputs} : "{pointer}"(at) : "memory"); {_used(held)}'
        )
    inputs = ", ".join(f'"{letter}"(v{place})' for place in range(held))
    names = ", ".join(f"%{place + 1}" for place in range(held))
    values = f"{{{names}}}" if held > 1 else names
    return (
        f'{declared} asm volatile("st.{space}.{TYPES[size]} [%0], {values};" '
        f':: "{pointer}"(at), {inputs} : "memory");'
    )


def _matrix(name: str, count: int) -> str:
    trans = ".trans" if name.endswith("_trans") else ""
    store = name.startswith("st")
    first = 1 if store else 0
    values = "{" + ", ".join(f"%{first + place}" for place in range(count)) + "}"
    declared = " ".join(f"int v{place} = {place};" for place in range(count))
    if store:
        inputs = ", ".join(f'"r"(v{place})' for place in range(count))
        return (
            f'{declared} asm volatile("stmatrix.sync.aligned.m8n8.x{count}.shared.b16 '
            f'[%0], {values};" :: "r"(at), {inputs} : "memory");'
        )
    outputs = ", ".join(f'"=r"(v{place})' for place in range(count))
    return (
        f'{declared} asm volatile("ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 '
        f'{values}, [%{count}];" : {outputs} : "r"(at) : "memory"); {_used(count)}'
    )


def _used(count: int) -> str:
    """A store that is never made, for which the values that were read are needed."""
    read = " ^ ".join(f"v{place} * {2 * place + 3}" for place in range(count))
    return f"if (({read}) == 93) *(int*)(global + 4 * threadIdx.x) = v0;"


def kernel(row: dict[str, str]) -> str:
    """A kernel of one warp that makes one access."""
    where = "char* memory = global;"
    at = f"const long long at = (long long)memory + (long long)i * {row['element_bytes']};"
    if row["space"] == "shared":
        where = f"__shared__ __align__(1024) char memory[{SHARED_BYTES}];"
        at = (
            "const unsigned at = (unsigned)__cvta_generic_to_shared(memory) "
            f"+ i * {row['element_bytes']};"
        )
    condition = f"if ({row['active']}) " if row["active"] else ""
    return (
        f"__global__ void p{row['number']}(char* global) {{ {where} const int i = {row['index']}; "
        f"{at} {condition}{{ {access(row)} }} }}\n"
    )


def program(rows: list[dict[str, str]]) -> str:
    """All kernels, and a main that runs each once."""
    calls = "".join(f"  p{row['number']}<<<1, 32>>>(global);\n" for row in rows)
    return (
        "#include <cstdio>\n"
        + "".join(map(kernel, rows))
        + "int main() {\n  char* global;\n  cudaMalloc(&global, 1 << 20);\n"
        + "  cudaMemset(global, 0, 1 << 20);\n"
        + calls
        + "  cudaError_t e = cudaDeviceSynchronize();\n"
        + '  std::printf("%s\\n", cudaGetErrorString(e));\n  return e != cudaSuccess;\n}\n'
    )


def identity(row: dict[str, str]) -> tuple[str, ...]:
    """What a row measures, whatever its number."""
    names = ("space", "operation", "element_bytes", "index", "active")
    return tuple(row[name] for name in names)


def available() -> dict[str, str]:
    """The counters that this GPU has."""
    query = ["ncu", "--query-metrics"]
    text = subprocess.run(query, capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"^(\w+)", text, flags=re.MULTILINE))
    return {name: metric for name, metric in COUNTERS.items() if metric.split(".")[0] in known}


def profiled(folder: Path, metrics: dict[str, str]) -> dict[str, dict[str, float]]:
    """The counters of each kernel, by its number."""
    command = ["ncu", "--csv", "--page", "raw", "--clock-control", "none"]
    command += ["--metrics", ",".join(metrics.values()), str(folder / "patterns")]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = text.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith('"ID"'))
    table = csv.DictReader([lines[start], *lines[start + 2 :]])  # the second line has the units
    found: dict[str, dict[str, float]] = {}
    for row in table:
        number = re.match(r"p(\d+)", row["Kernel Name"])
        if number:
            found[number.group(1)] = {
                name: float(row[metric].replace(",", "")) for name, metric in metrics.items()
            }
    return found


def main() -> None:
    """Build, count, write."""
    with (HERE / "patterns.csv").open(newline="", encoding="utf-8") as file:
        every = list(csv.DictReader(file))
    known: dict[tuple[str, ...], dict[str, str]] = {}
    path = Path(sys.argv[1])
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            known = {identity(row): row for row in csv.DictReader(file)}
    rows = [row for row in every if identity(row) not in known]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "patterns.cu").write_text(program(rows), encoding="utf-8")
        build = ["nvcc", "-w", f"-arch={ARCHITECTURE}", "-o", str(folder / "patterns")]
        subprocess.run([*build, str(folder / "patterns.cu")], check=True)
        metrics = available()
        counted = profiled(folder, metrics)
    for row in rows:
        amounts = {name: f"{each:g}" for name, each in counted[row["number"]].items()}
        known[identity(row)] = {**row, **amounts}
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*every[0], *metrics])
        writer.writeheader()
        for row in every:
            writer.writerow({**known[identity(row)], "number": row["number"]})


if __name__ == "__main__":
    main()
