"""Document 002's measured ladder and rules of thumb, beside predictions."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from perfmodel.device.loading import load_device
from perfmodel.documents.checks.predicting import (
    batch_seconds,
    limiter,
    microseconds,
    predicted,
    seconds,
)
from perfmodel.documents.registry import Finding, check
from perfmodel.documents.softmax_ladder import SoftmaxLadder, softmax_ladder

if TYPE_CHECKING:
    from collections.abc import Callable

    from perfmodel.documents.registry import Inputs

GOAL_S = 1e-3
"""What the document set out to reach."""


@lru_cache(maxsize=1)
def ladder() -> SoftmaxLadder:
    """The ladder, worked out once."""
    return softmax_ladder()


def _time_of(rung: str) -> Callable[[Inputs], Finding]:
    def check_time(given: Inputs) -> Finding:
        del given
        found = next(each for each in ladder().rungs if each.rung == rung)
        explained = (
            f"{found.explaining_field} = {found.explaining_value:.3g} instead of "
            f"{found.stated_value:.3g} would explain it"
            if found.explaining_value is not None
            else f"no {found.explaining_field} would explain it alone"
        )
        return Finding(
            actual=found.predicted_s,
            because=f"{100 * found.error:+.0f} %; nearest bound {found.nearest_bound}; {explained}",
        )

    return check_time


for _claim, _rung in (
    ("softmax-v0-time", "thread_per_row"),
    ("softmax-v1-time", "warp_per_row"),
    ("softmax-v1b-time", "vector_loads"),
    ("softmax-v2-time", "packed"),
):
    check(_claim)(_time_of(_rung))


def _gain(rung: str) -> float:
    return seconds("softmax:thread_per_row", "dcu") / seconds(f"softmax:{rung}", "dcu")


@check("softmax-v1-speedup")
def first_speedup(given: Inputs) -> Finding:
    """The warp a row over the thread a row."""
    del given
    return Finding(
        actual=_gain("warp_per_row"),
        because="the prediction of the first rung is near, that of this one far below: what keeps "
        "the measured one below that is none of the model's bounds",
    )


@check("softmax-v2-speedup")
def last_speedup(given: Inputs) -> Finding:
    """The packed kernel over the thread a row."""
    del given
    return Finding(
        actual=_gain("packed"),
        because=f"as printed, covering a quarter of each row: {_gain('packed_as_printed'):.3g}",
    )


@check("softmax-grid-remap")
def grid_remap(given: Inputs) -> Finding:
    """The time of the remapped grid over that of the plain one."""
    del given
    ratio = seconds("softmax:grid_remap", "dcu") / seconds("softmax:packed", "dcu")
    return Finding(
        actual={
            "l2_before": _found_in_l2("packed"),
            "l2_after": _found_in_l2("grid_remap"),
            "time_ratio": ratio,
        },
        because="every byte is read once, so no order of blocks finds more in the L2; the measured "
        "gain has to lie in how addresses spread over channels, which is not modelled",
    )


@check("softmax-v0-l2")
def first_hit_rate(given: Inputs) -> Finding:
    """The share of what reaches the L2 that the first rung finds there."""
    del given
    return Finding(
        actual=_found_in_l2("thread_per_row"),
        because="the share of bytes that reach the L2 and go no further; the document's counter is "
        "of unknown definition, and gives the same 21 % for one block a row",
    )


def _found_in_l2(rung: str) -> float:
    result = predicted(f"softmax:{rung}", "dcu")
    return 1 - result.level("dram").bytes / result.level("l2").bytes


@check("softmax-port-60")
def port(given: Inputs) -> Finding:
    """The 32-wide kernel on 64-wide warps, as a share of the packed one's rate."""
    del given
    return Finding(
        actual=seconds("softmax:packed", "dcu") / seconds("softmax:ported_from_cuda", "dcu"),
        because=f"half the lanes idle; limited by {limiter('softmax:ported_from_cuda', 'dcu')}",
    )


@check("softmax-goal")
def goal(given: Inputs) -> Finding:
    """Which rung is the first below 1 ms."""
    del given
    times = {each.rung: each.predicted_s for each in ladder().rungs}
    first = next(rung for rung, time in times.items() if time < GOAL_S)
    return Finding(
        actual=times,
        because=f"the first rung predicted below 1 ms is {first}, limited by "
        + limiter(f"softmax:{first}", "dcu"),
        holds={"it is the one with 16-byte loads": first == "vector_loads"},
    )


@check("softmax-peak-share")
def peak_share(given: Inputs) -> Finding:
    """Compulsory bytes a second over the nominal bandwidth, measured and predicted."""
    device = load_device(given["device"])
    nominal = device.dram_bandwidth.value
    measured, model = [], []
    for rung in ("thread_per_row", "warp_per_row", "packed"):
        found = next(each for each in ladder().rungs if each.rung == rung)
        moved = predicted(f"softmax:{rung}", "dcu").level("compulsory").bytes
        measured.append(moved / found.measured_s / nominal)
        model.append(moved / found.predicted_s / nominal)
    return Finding(
        actual={
            "measured": [round(each, 4) for each in measured],
            "predicted": [round(each, 4) for each in model],
        },
        because="the model's shares are " + ", ".join(f"{100 * each:.1f} %" for each in model),
        holds={
            "the measured shares are 5.6, 8.9 and 21.1 %": [
                round(100 * each, 1) for each in measured
            ]
            == [5.6, 8.9, 21.1],
            "v0 reaches a small part": model[0] < 0.1,
        },
    )


@check("softmax-headroom")
def headroom(given: Inputs) -> Finding:
    """The bounds below the last measured time."""
    del given
    last = predicted("softmax:packed", "dcu")
    measured = next(each.measured_s for each in ladder().rungs if each.rung == "packed")
    nominal = last.level("compulsory").bytes / load_device("dcu").dram_bandwidth.value
    below = max(
        (each for each in last.bounds if each.time_s < measured), key=lambda each: each.time_s
    )
    return Finding(
        actual={"bound": below.name, "bound_s": below.time_s, "memory_alone_s": nominal},
        because=f"the next bound below {microseconds(measured)} is {below.name}, at "
        f"{microseconds(below.time_s)}: {measured / below.time_s:.1f} times less",
        holds={
            "memory alone would allow 0.131 ms": round(1e3 * nominal, 3) == 0.131,
            "more than 20 % is left": below.time_s < 0.8 * measured,
        },
    )


@check("softmax-elements-per-thread")
def elements_per_thread(given: Inputs) -> Finding:
    """Time a byte over the elements that a lane holds."""
    del given
    lengths = [128, 256, 512, 1024, 2048, 4096, 8192]
    rows = [(1 << 25) // n for n in lengths]
    times = batch_seconds("softmax:packed", "dcu", parameters={"n": lengths, "m": rows})
    best = lengths[times.index(min(times))] // 64
    return Finding(
        actual={
            "elements": [n // 64 for n in lengths],
            "time_us": [round(1e6 * t, 1) for t in times],
        },
        because=f"at equal bytes {best} halves a lane are fastest, limited by "
        + limiter("softmax:packed", "dcu", n=64 * best, m=(1 << 25) // (64 * best)),
        holds={"8 to 16 halves a lane are best": 8 <= best <= 16},
    )


@check("softmax-bottleneck-shift")
def bottleneck_shift(given: Inputs) -> Finding:
    """What limits v1 and the rung with 16-byte loads."""
    del given
    before, after = (limiter(f"softmax:{rung}", "dcu") for rung in ("warp_per_row", "vector_loads"))
    return Finding(
        actual={"v1": before, "16-byte loads": after},
        because=f"{before} limits v1, {after} the rung with 16-byte loads",
        holds={
            "the limiter changes": before != after,
            "to arithmetic or issue": after in ("issue", "fp32", "special", "int32"),
        },
    )


@check("softmax-long-rows")
def long_rows(given: Inputs) -> Finding:
    """A warp, a block, and two stages a row for long rows."""
    rungs = ("packed", "block_per_row", "two_stages")
    times = {
        n: {rung: seconds(f"softmax:{rung}", "dcu", n=n, m=(1 << 25) // n) for rung in rungs}
        for n in given["n"]
    }
    occupancy = {n: predicted("softmax:packed", "dcu", n=n).occupancy for n in given["n"]}
    best = {n: min(each, key=lambda rung: each[rung]) for n, each in times.items()}
    return Finding(
        actual={
            str(n): {rung: round(1e6 * time, 1) for rung, time in each.items()}
            for n, each in times.items()
        },
        because="; ".join(
            f"n = {n}: {best[n]} is fastest, limited by "
            f"{limiter(f'softmax:{best[n]}', 'dcu', n=n, m=(1 << 25) // n)}, "
            f"a warp's occupancy {occupancy[n]:.0%}"
            for n in times
        ),
        holds={
            "a row fits the registers of a warp": all(
                predicted("softmax:packed", "dcu", n=n).launches[0].registers_per_thread <= 256
                for n in given["n"]
            ),
            "and costs occupancy": all(share < 1 for share in occupancy.values()),
            "two stages are faster": all(rung == "two_stages" for rung in best.values()),
        },
    )


@check("softmax-mask-loss")
def mask_loss(given: Inputs) -> Finding:
    """Time a byte at n = 768 over that at 512."""
    n = given["n"]
    ratio = (seconds("softmax:packed", "dcu", n=n) / n) / (seconds("softmax:packed", "dcu") / 512)
    return Finding(
        actual={"elements": n // 64, "time_per_byte": round(ratio, 4)},
        because=f"{n // 64} elements a lane, {n // 128} pairs, no remainder; time a byte "
        f"{100 * (ratio - 1):+.1f} %, limited by {limiter('softmax:packed', 'dcu', n=n)}",
        holds={"within a few per cent": abs(ratio - 1) < 0.05, "12 elements": n // 64 == 12},
    )


@check("softmax-shuffle-over-shared")
def shuffle_over_shared(given: Inputs) -> Finding:
    """The packed kernel with shuffles and with reductions in shared memory."""
    del given
    shuffle, shared = (seconds(f"softmax:{rung}", "dcu") for rung in ("packed", "shared_reduction"))
    return Finding(
        actual={"gain": round(shared / shuffle, 3)},
        because=f"{microseconds(shared)} in shared memory, {microseconds(shuffle)} by shuffles",
        holds={"shuffles are faster": shuffle < shared},
    )


@check("softmax-no-single-change")
def no_single_change(given: Inputs) -> Finding:
    """What each step brings by itself."""
    del given
    rungs = [each.rung for each in ladder().rungs]
    times = [each.predicted_s for each in ladder().rungs]
    steps = {
        rung: before / after
        for rung, before, after in zip(rungs[1:], times, times[1:], strict=False)
    }
    greatest = max(steps, key=lambda rung: steps[rung])
    return Finding(
        actual={rung: round(step, 3) for rung, step in steps.items()},
        because=f"the greatest single step is {greatest}, {steps[greatest]:.2f} times, to a time "
        f"limited by {limiter(f'softmax:{greatest}', 'dcu')}",
        holds={f"{rung} alone brings less than 3.77": step < 3.77 for rung, step in steps.items()},
    )


@check("dcu-launch-overhead")
def launch_overhead(given: Inputs) -> Finding:
    """What starting a kernel costs on both devices."""
    costs = {name: load_device(name).kernel_launch for name in given["device"]}
    dcu, h200 = (costs[name] for name in given["device"])
    return Finding(
        actual={name: each.value for name, each in costs.items()},
        because=f"{dcu} against {h200}; a fused mask saves one",
        holds={"it costs more on the DCU": dcu.value > h200.value},
    )
