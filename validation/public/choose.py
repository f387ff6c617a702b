"""Chooses the published timings that a described kernel can be held against.

Run as `python validation/public/choose.py TIMINGS.csv`: writes one file for each device beside
this script, named as the device is, and prints how many rows were left out and why.

A row names a kernel, a rung and its parameters only where the source says what was computed. How
a vendor's library computes it is not known, so there the parameters that only decide how (tiles,
stages, block sizes) are those of a short list that are predicted to be fastest.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from perfmodel import load_device, predict
from perfmodel.errors import PerfmodelError

if TYPE_CHECKING:
    from collections.abc import Callable

Row = dict[str, str]

HERE: Final = Path(__file__).parent
COLUMNS: Final = (
    "operation", "dtype", "shape", "kernel", "rung", "parameters", "time_us", "waited", "library",
    "source", "remark",
)  # fmt: skip
DEVICES: Final = {
    "S5000": "s5000",
    "BW1000 family (gfx936)": "bw1000",
    "BW1000 family, inferred": "bw1000",
    "BW1100 family (gfx938)": "bw1100",
    "K100": "k100",
    "K100_AI": "k100-ai",
    "K500SM_AI": "k500sm-ai",
}
"""Device files by the family that the timings name."""
ONE_CALL: Final = ("FlagGems benchmark, mode=kernel", "device events around one call")
"""Methods that time one launch between two events."""
TYPES: Final = {
    "fp16": "fp16",
    "bf16": "bf16",
    "fp32": "fp32",
    "tf32": "tf32",
    "int8": "int8",
    "int32": "int32",
}
PROFILER_FLOOR_US: Final = 10.0


class LeftOutError(Exception):
    """A row that no prediction can be held against; its text says why."""


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """What a row computed, in the words of a description."""

    kernel: str
    rung: str
    parameters: dict[str, Any]
    candidates: tuple[dict[str, Any], ...] = ()
    """Where it is not known how: the parameters to choose the fastest from."""
    remark: str = ""
    time_us: float | None = None
    """The time, where the source gives a rate alone."""
    rungs: tuple[str, ...] = field(default=())
    """Where not even the rung is known: those to choose the fastest from."""


def main(timings: Path) -> None:
    """Write the files of all devices and say what was left out."""
    with timings.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    kept: dict[str, list[Row]] = defaultdict(list)
    reasons: Counter[str] = Counter()
    for row in rows:
        try:
            device = device_of(row)
            line = written(row, device, chosen(row))
        except LeftOutError as reason:
            reasons[str(reason)] += 1
        else:
            kept[device].append(line)
    for device, found in sorted(kept.items()):
        with (HERE / f"{device}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(found)
        print(f"{device}: {len(found)} rows")
    print(f"left out: {reasons.total()} of {len(rows)}")
    for why, count in reasons.most_common():
        print(f"{count:5d}  {why}")


def device_of(row: Row) -> str:
    """The device file of a row."""
    if row["family"] not in DEVICES:
        raise LeftOutError("the board is not one of the described devices, or not named")
    return DEVICES[row["family"]]


def chosen(row: Row) -> Chosen:
    """What a row computed, or why that cannot be told."""
    if row["op_class"] in ("communication", "launch", "fact"):
        raise LeftOutError("no kernel: communication, launch cost or device query")
    if "host" in row["includes"]:
        raise LeftOutError("the time includes host time")
    if any(each in row["dtype"] for each in ("cut off", "not shown", "not printed")) and (
        "by bytes" not in row["dtype"]
    ):
        raise LeftOutError("the element type is not printed")
    if (
        "not printed" in row["shape"]
        or "cut off" in row["shape"]
        or "not printed" in row["operation"]
    ):
        raise LeftOutError("the shape is not printed")
    if not row["time_us"] and not row["tflops"]:
        raise LeftOutError("no time is printed")
    profiled = "hipprof" in row["includes"] or "hardware-counter" in row["includes"]
    if profiled and float(row["time_us"]) < PROFILER_FLOOR_US:
        raise LeftOutError("a profiler's duration below 10 us on a DCU is inflated")
    for pattern, choose in CHOICES:
        if re.search(pattern, row["operation"]):
            return choose(row)
    raise LeftOutError(f"no description of the operation ({row['op_class']})")


def written(row: Row, device: str, what: Chosen) -> Row:
    """A line of a device's file."""
    rung, parameters = fastest(device, what)
    remarks = [row["remark"], what.remark]
    if row["device"].startswith("Hygon BW200"):
        remarks.append(row["device"].split(", ")[-1])
    waited = any(row["includes"].startswith(each) for each in ONE_CALL)
    remarks.append("one call between events" if waited else row["includes"])
    if what.candidates:
        remarks.append("tile: fastest predicted of a list")
    time_us = f"{what.time_us:.6g}" if what.time_us is not None else row["time_us"]
    by_hand = row["variant"].startswith(("hand", "triton"))
    return {
        "operation": row["operation"],
        "dtype": row["dtype"],
        "shape": row["shape"],
        "kernel": what.kernel,
        "rung": rung,
        "parameters": ";".join(f"{name}={value}" for name, value in parameters.items()),
        "time_us": time_us,
        "waited": "yes" if waited else "no",
        "library": "no" if by_hand else "yes",
        "source": row["source"],
        "remark": "; ".join(each for each in remarks if each),
    }


def fastest(name: str, what: Chosen) -> tuple[str, dict[str, Any]]:
    """The rung and parameters of the least predicted time among the candidates."""
    device = load_device(name)
    best: tuple[float, str, dict[str, Any]] | None = None
    for rung, more in product(what.rungs or (what.rung,), what.candidates or ({},)):
        parameters = what.parameters | more
        try:
            time_s = predict(
                f"{what.kernel}:{rung}", device, parameters=parameters, ranges=False
            ).time_s
        except PerfmodelError:
            continue  # the tile does not divide the matrices, or does not fit the device
        if best is None or time_s < best[0]:
            best = time_s, rung, parameters
    if best is None:
        raise LeftOutError("no tile of the described kernels fits the shape")
    return best[1], best[2]


def numbers(text: str) -> list[int]:
    """The whole numbers in a text."""
    return [int(each) for each in re.findall(r"\d+", text)]


def named(text: str, *names: str) -> list[int]:
    """The numbers that a shape such as M=128,N=1280,K=8192 gives to names."""
    given = dict(re.findall(r"(\w+)=(\d+)", text))
    return [int(given[name]) for name in names]


def element_type(row: Row) -> str:
    """The element type in the words of the descriptions."""
    first = re.split(r"[- >(]", row["dtype"])[0]
    if first == "16":
        return "fp16"
    if first.startswith("fp8"):
        return "fp8"
    if first not in TYPES:
        raise LeftOutError(f"no description for elements of {row['dtype'] or 'an unnamed type'}")
    return TYPES[first]


def strip_of(columns: int) -> int:
    """The widest strip of up to eight block columns that divides them."""
    return max(each for each in range(1, 9) if columns % each == 0)


def product_of(row: Row, m: int, n: int, k: int, remark: str = "") -> Chosen:
    """A matrix product: on the tensor unit, or in fp32 on the lanes where there is none."""
    kind = element_type(row)
    time_us = None
    if not row["time_us"]:
        time_us = 2e-6 * m * n * k / float(row["tflops"])
        remark = "; ".join(each for each in (remark, "time from the printed rate") if each)
    size = {"m": m, "n": n, "k": k}
    if kind == "fp32" and not row["family"].startswith("BW1000"):
        lanes = tuple(
            {"bm": bm, "bn": bn, "strip": strip_of(n // bn)}
            for bm, bn in ((64, 64), (128, 64), (128, 128))
            if n >= bn
        )
        return Chosen(kernel="gemm", rung="block_swizzle", parameters=size, candidates=lanes,
                      remark=remark, time_us=time_us)  # fmt: skip
    if row["family"] == "K100":
        raise LeftOutError("no description of the product on lanes for this type (no matrix unit)")
    if row["variant"].startswith("triton (FlagTree, ordinary)"):
        tiles = tuple(
            {"bm": bm, "bn": bn, "bk": bk, "groups": bm // 64, "strip": strip_of(n // bn)}
            for (bm, bn), bk in product(((128, 128), (128, 256), (256, 256)), (32, 64))
        )
        return Chosen(kernel="gemm", rung="tensor", parameters=size | {"type": kind},
                      candidates=tiles, remark=remark)  # fmt: skip
    out = {"int8": "int32", "fp8": "bf16", "tf32": "fp32"}.get(kind, kind)
    tiles = tuple(
        {"bm": bm, "bn": bn, "bk": bk, "groups": bm // 64, "strip": strip_of(n // bn),
         "stages": stages}
        for (bm, bn), bk, stages in product(
            ((64, 64), (128, 128), (128, 256), (256, 128), (256, 256)), (32, 64, 128), (2, 3)
        )
        if n >= bn
    )  # fmt: skip
    return Chosen(kernel="gemm", rung="warp_specialized",
                  parameters=size | {"type": kind, "out": out},
                  candidates=tiles, remark=remark, time_us=time_us)  # fmt: skip


def matrix_product(row: Row) -> Chosen:
    """GEMM rows in the several ways in which shapes are written."""
    if "best of" in row["shape"]:
        raise LeftOutError("the best of several shapes, not said which")
    if "M<=" in row["shape"]:
        raise LeftOutError("the shape is a range")
    if "M=" in row["shape"]:
        m, n, k = named(row["shape"], "M", "N", "K")
        if m == 1:
            return vector_product(row)
        return product_of(row, m, n, k)
    if "x" in row["shape"] and "[" not in row["shape"]:
        m, n, k = numbers(row["shape"])
        return product_of(row, m, n, k)
    sizes = numbers(row["shape"])
    if len(sizes) < 4:
        raise LeftOutError("the shape is not printed")
    m, k, inner, n = sizes[:4]
    if k != inner or "[2," in row["shape"] or "[16," in row["shape"]:
        raise LeftOutError("a batch of matrix products, which no description has")
    bias = "addend or bias not counted" if "add" in row["operation"] else ""
    return product_of(row, m, n, k, bias)


def vector_product(row: Row) -> Chosen:
    """Matrix times vector."""
    m, k = named(row["shape"], "N", "K")
    kind = element_type(row)
    if kind not in ("fp16", "bf16"):
        raise LeftOutError(f"no description of a matrix-vector product of {kind}")
    return Chosen(kernel="gemv", rung="two_byte", parameters={"m": m, "k": k, "type": kind})


def pointwise(inputs: int) -> Callable[[Row], Chosen]:
    """An operation on elements, by how many arrays it reads."""

    def choose(row: Row) -> Chosen:
        shape = row["shape"].split("]")[0]
        n = 1
        for each in numbers(shape):
            n *= each
        parameters = {"n": n, "inputs": inputs, "type": element_type(row)}
        return Chosen(kernel="pointwise", rung="vector_loads",
                      parameters=parameters | {"arithmetic": inputs // 2})  # fmt: skip

    return choose


def transposed(row: Row) -> Chosen:
    """A transposed copy of a matrix, or a plain copy where the two dimensions are one."""
    shape, dims = row["shape"].split("], dims ")
    sizes = numbers(shape)
    if dims in ("0,0", "1,1"):
        return pointwise(1)(row)
    if len(sizes) != 2:
        raise LeftOutError("a transposition of more than two dimensions, which no description has")
    return Chosen(kernel="transpose", rung="padded_tile",
                  parameters={"m": sizes[0], "n": sizes[1], "type": element_type(row)})  # fmt: skip


def norm_rows(row: Row) -> Chosen:
    """rms_norm of [m, n]."""
    m, n = numbers(row["shape"])
    kind = element_type(row)
    runs = n * {"fp32": 4}.get(kind, 2) // 16
    block = next((each for each in (64, 128, 256, 512) if runs <= 4 * each), 1024)
    return Chosen(kernel="norm", rung="row_in_registers",
                  parameters={"m": m, "n": n, "type": kind, "block": block})  # fmt: skip


def short_rows(row: Row) -> Chosen:
    """L2 norm of rows of 128."""
    tokens, heads = named(row["shape"], "T", "H")
    both = "g2_l2n" in row["operation"]
    m = tokens * heads * (2 if both else 1)
    return Chosen(
        kernel="norm", rung="rows_in_a_warp",
        parameters={"m": m, "n": 128, "weights": 0, "type": element_type(row)},
        remark="of q and k, by the bytes counted" if both else "",
    )  # fmt: skip


def silu_quantized(row: Row) -> Chosen:
    """silu(x) * y, quantized by rows."""
    if row["shape"].startswith("m="):
        m, n = named(row["shape"], "m", "d")
    else:
        experts, tokens, width = named(row["shape"], "E", "T", "H")
        m, n = experts * tokens, width // 2
    to = "int8" if row["dtype"].endswith("int8") else "fp8"
    parameters = {"m": m, "n": n, "gate": 1, "type": element_type(row), "to": to}
    return Chosen(kernel="quantize", rung="row_in_registers", parameters=parameters)


def attention(row: Row) -> Chosen:
    """Attention of [batch, heads, n, d] for queries, keys and values alike."""
    batch, heads, n, d = numbers(row["shape"].split("]")[0])
    causal = int(row["shape"].rstrip().endswith("True"))
    tiles = tuple(
        {"br": br, "bc": bc} for br, bc in product((64, 128, 256), (32, 64, 128)) if n % br == 0
    )
    return Chosen(
        kernel="attention", rung="fused", rungs=("fused", "pipelined", "warp_specialized"),
        parameters={"batch": batch, "heads": heads, "kv_heads": heads, "n": n, "d": d,
                    "causal": causal, "type": element_type(row)},
        candidates=tiles,
    )  # fmt: skip


def streaming(row: Row) -> Chosen:
    """The streaming micro-benchmarks: a fixed grid over an array of fp32."""
    if "non-temporal" in row["operation"]:
        raise LeftOutError("non-temporal loads, which no description has")
    if "few" in row["operation"]:
        blocks, block = named(row["shape"].replace("block=", "threads="), "blocks", "threads")
        n, vectors = 1 << 26, 4
    else:
        blocks, block, vectors = named(row["shape"], "grid", "block", "unroll")
        n = 1 << 28
    parameters: dict[str, Any] = {"n": n, "block": block, "blocks": blocks, "vectors": vectors}
    if "read" in row["operation"]:
        return Chosen(kernel="stream_read", rung="interleaved", parameters=parameters)
    parameters |= {"inputs": int("copy" in row["operation"]), "arithmetic": 0, "type": "fp32"}
    return Chosen(kernel="pointwise", rung="fixed_grid", parameters=parameters)


def refused(reason: str) -> Callable[[Row], Chosen]:
    """Operations that no description has, and why."""

    def choose(_row: Row) -> Chosen:
        raise LeftOutError(reason)

    return choose


CHOICES: Final[tuple[tuple[str, Callable[[Row], Chosen]], ...]] = (
    (r"^streaming (read|write|copy)", streaming),
    (r"baddbmm|bmm", refused("a batch of matrix products, which no description has")),
    (r"^(mm|linear|addmm|matmul|GEMM|GEMV|square GEMM|int_mm)", matrix_product),
    (r"^fill_scalar", pointwise(0)),
    (r"^binary pointwise", pointwise(2)),
    (r"^transpose_copy", transposed),
    (r"gemma_rms_?norm", norm_rows),
    (r"row-wise L2 norm|l2n_apply", short_rows),
    (r"^silu_and_mul", silu_quantized),
    (r"^scaled_dot_product", attention),
    (r"elementwise_kernel|copy_kernel", refused("the number of elements is not printed")),
    (
        r"latency|rate|^L2 read|^read of a set|LDS|copy, pinned|ceiling|atomic",
        refused("a device constant: it is in the device file"),
    ),
)
"""What to make of an operation, by the first pattern that its name has."""


if __name__ == "__main__":
    main(Path(sys.argv[1]))
