"""Writes docs/ladders.md and its pictures from the committed measurements.

python3 docs/ladders.py
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import perfmodel
from perfmodel.kernels.loading import load_description
from perfmodel.plots import style
from perfmodel.plots.saving import save
from perfmodel.plots.validation import draw_validation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from perfmodel.results.validation import Case, Validation

HERE = Path(__file__).parent
PAGE = HERE / "ladders.md"
PICTURES = (HERE / "images" / "validation_h200.png", HERE / "images" / "ladders_h200.png")
SHOWN = {
    "reduce": {"n": 67108864, "type": "fp32"},
    "gemv": {"m": 4096, "k": 4096, "n": 1, "type": "fp32"},
    "gemm": {"m": 4096, "n": 4096, "k": 4096},
    "attention": {"heads": 16, "n": 4096},
    "softmax": {"m": 65536, "n": 512},
    "transpose": {"m": 4096, "n": 16384, "type": "fp32"},
    "vecadd": {"n": 67108864, "type": "fp32"},
}
"""The ladders, each with the parameters at which it is shown."""
DOCUMENT = {
    "reduce:modulo_tree": "every warp diverges on every level",
    "reduce:sequential_tree": "whole warps fall idle, no divergence",
    "reduce:warp_shuffle": "no barrier within a warp",
    "reduce:vector_load": "a quarter of the requests",
    "gemv:warp_per_row": "coalesced: 1 line instead of 32",
    "gemv:vector_loads": "a quarter of the requests",
    "gemv:cached_vector": "the vector is read once a block",
    "gemm:tiled": "a tile's side as many times fewer bytes",
    "gemm:register_tile": "an eighth of the shared reads",
    "gemm:shared_double_buffer": "reads run under arithmetic",
    "gemm:global_double_buffer": "one barrier a step instead of two",
    "gemm:block_swizzle": "neighbours share what the L2 holds",
    "gemm:tensor": "an order of magnitude more arithmetic",
    "attention:online_two_passes": "no matrix of scores in memory",
    "attention:fused": "one pass over K and V",
    "attention:pipelined": "copies and softmax under products",
    "attention:warp_specialized": "no addresses or barriers in the way",
    "softmax:warp_per_row": "1.6x on a DCU",
    "softmax:vector_loads": "1.5x on a DCU",
    "softmax:packed": "1.6x on a DCU",
    "softmax:grid_remap": "8 % less time on a DCU",
}
"""What the documents say of a rung, in short."""


WRITTEN = """\
Written by `python3 docs/ladders.py` from the committed measurements
([validation](../validation/README.md)); `perfmodel validate -d h200` prints the errors of all
{cases} cases. Times are microseconds of a launch that finds its data in no cache; a step is the
speed-up over the rung before. The last columns name what limits: by the prediction, and by the
counters (latency where nothing passes 60 % of its sustained peak)."""
QUESTIONS = (
    (
        """\
**Does the sequential tree beat the modulo tree?** At every size, and by more the longer the launch:
most of the difference is the division, which every warp makes on every level.""",
        "reduce:modulo_tree",
        "reduce:sequential_tree",
    ),
    (
        """\
**Does float4 help?** Where too little is under way with 4 bytes a thread; least where launching is
most of the time.""",
        "vecadd:naive",
        "vecadd:vector_loads",
    ),
    (
        """\
**When does one block beat two stages?** Never at these sizes: one multiprocessor needs longer for
all of it than a second launch costs. The numbers are the time of two launches over that of one
block.""",
        "reduce:vector_load",
        "reduce:one_block",
    ),
    (
        """\
**What does the block swizzle bring?** Nothing that could be told from noise: the L2 of 50 MB holds
what the waves share in either order.""",
        "gemm:global_double_buffer",
        "gemm:block_swizzle",
    ),
)
"""What the documents advise, each with the slower and the faster rung."""


def chosen(validation: Validation, kernel: str) -> list[Case]:
    """The cases of a ladder at the parameters shown, in the ladder's order."""
    order = list(load_description(kernel).rungs)
    wanted = SHOWN[kernel].items()
    found = [
        case
        for case in validation.cases
        if case.operation == kernel
        and all(case.parameters.get(name) == value for name, value in wanted)
    ]
    return sorted(found, key=lambda case: order.index(case.name.partition(":")[2]))


def ladder_rows(cases: Sequence[Case]) -> list[str]:
    """A row a rung; speed-ups over the rung before that is no alternative."""
    kernel = cases[0].operation
    rungs = load_description(kernel).rungs
    rows = []
    before: Case | None = None
    for case in cases:
        rung = rungs[case.name.partition(":")[2]]
        steps = "", ""
        if before is not None:
            steps = (
                f"{before.measured_s / case.measured_s:.2f}x",
                f"{before.predicted_s / case.predicted_s:.2f}x",
            )
        name = f"or {rung.name}" if rung.alternative_to else rung.name
        rows.append(
            f"| {name} | {DOCUMENT.get(case.name, '')} | {case.measured_s * 1e6:.1f} | "
            f"{case.predicted_s * 1e6:.1f} | {steps[0]} | {steps[1]} | {case.limiter} | "
            f"{case.counted_limiter} |"
        )
        if not rung.alternative_to:
            before = case
    return rows


def times(validation: Validation, name: str) -> dict[str, tuple[float, float]]:
    """Measured and predicted times of a rung by its parameters [s]."""
    return {
        "; ".join(f"{key}={value}" for key, value in case.parameters.items()): (
            case.measured_s,
            case.predicted_s,
        )
        for case in validation.cases
        if case.name == name
    }


def gains(validation: Validation, slower: str, faster: str) -> list[str]:
    """By how much one rung is faster than another, measured and predicted, by size."""
    first, second = times(validation, slower), times(validation, faster)
    return [
        f"| {size} | {first[size][0] / second[size][0]:.2f}x | "
        f"{first[size][1] / second[size][1]:.2f}x |"
        for size in first
        if size in second
    ]


def page(validation: Validation) -> str:
    """The whole page."""
    every = validation.group("all")
    parts = [
        "# The ladders on an H200: documents, model, measurement",
        WRITTEN.format(cases=every.cases),
        "![Predicted and measured times, and how errors are spread](images/validation_h200.png)",
        "![The ladders, measured and predicted](images/ladders_h200.png)",
    ]
    head = (
        "| rung | the document | measured | predicted | step measured | step predicted | limiter | "
        "by counters |\n|---|---|---|---|---|---|---|---|"
    )
    for kernel, given in SHOWN.items():
        cases = chosen(validation, kernel)
        shown = ", ".join(f"{name}={value}" for name, value in given.items())
        parts += [f"## {kernel}: {shown}", "\n".join([head, *ladder_rows(cases)])]
    parts += ["## The documents' advice on hardware", *advice(validation)]
    return "\n\n".join(parts) + "\n"


def advice(validation: Validation) -> list[str]:
    """The four questions, each with its numbers."""
    head = "| size | measured | predicted |\n|---|---|---|"
    return [
        "\n\n".join([text, "\n".join([head, *gains(validation, slower, faster)])])
        for text, slower, faster in QUESTIONS
    ]


def draw_ladders(validation: Validation) -> Figure:
    """Bars of the measured times and marks of the predicted ones, a panel a ladder."""
    from matplotlib.ticker import LogLocator, NullLocator

    kernels = [name for name in SHOWN if name not in ("transpose", "vecadd")]
    with style.look():
        figure = style.new_figure(9.6, 6.4)
        style.add_titles(
            figure,
            left=0.3,
            title="Five ladders on an H200",
            subtitle="bars: measured; diamonds: predicted; logarithmic",
        )
        for number, kernel in enumerate(kernels):
            cases = [
                case
                for case in chosen(validation, kernel)
                if not load_description(kernel).rungs[case.name.partition(":")[2]].alternative_to
            ]
            column, row = number % 2, number // 2
            axes = style.add_axes(
                figure,
                left=1.75 + column * 4.8,
                bottom=4.3 - row * 1.95,
                width=2.9,
                height=1.25,
            )
            places = range(len(cases))
            axes.barh(
                places, [case.measured_s * 1e6 for case in cases], color=style.SKY, height=0.65
            )
            axes.plot(
                [case.predicted_s * 1e6 for case in cases],
                list(places),
                linestyle="",
                marker="D",
                markersize=4.5,
                color=style.VERMILLION,
            )
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
            axes.xaxis.set_major_formatter(lambda time, _: f"{time:,.0f}")
            axes.xaxis.set_minor_locator(NullLocator())
            axes.set_xlim(left=0.5 * min(case.measured_s for case in cases) * 1e6)
            axes.invert_yaxis()
            axes.set_yticks(list(places), [case.name.partition(":")[2] for case in cases])
            axes.set_title(f"{kernel} [us]", fontsize=style.LABEL_SIZE, loc="left", color=style.INK)
    return figure


def main() -> None:
    """Write the page and its pictures."""
    validation = perfmodel.validate("h200")
    PAGE.write_text(page(validation), encoding="utf-8")
    for figure, picture in zip(
        (draw_validation(validation), draw_ladders(validation)), PICTURES, strict=True
    ):
        save(figure, picture)


if __name__ == "__main__":
    main()
