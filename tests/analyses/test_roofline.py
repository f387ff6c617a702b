"""A kernel under the rooflines of a device, against numbers worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfmodel.analyses.roofline import memory_ceilings, roofline, roofline_of_amounts
from perfmodel.device.loading import device_names, load_device
from perfmodel.errors import ArgumentError, UsageError
from perfmodel.kernels.loading import kernel_names

if TYPE_CHECKING:
    from perfmodel.results import RooflinePoint, RooflineResult


def point(result: RooflineResult, level: str) -> RooflinePoint:
    (found,) = (each for each in result.points if each.level == level)
    return found


def test_gemv_on_the_s5000_by_hand() -> None:
    """2 x 4096^2 FLOP over 4 (4096^2 + 8192) bytes at 1.6 TB/s."""
    result = roofline(load_device("s5000"), kernel="gemv", parameters={"m": 4096, "k": 4096})
    dram = point(result, "dram")
    flop, moved = 2 * 4096**2, 4 * (4096**2 + 4096 + 4096)
    assert (result.flop, dram.bytes) == (flop, moved)
    assert dram.intensity_flop_per_byte == pytest.approx(0.4997559786, rel=1e-9)
    assert dram.ridge_flop_per_byte == pytest.approx(21.5e12 / 1.6e12, rel=1e-12)
    assert dram.attainable_flop_per_s == pytest.approx(1.6e12 * flop / moved, rel=1e-12)
    assert dram.share_of_peak == pytest.approx(1.6e12 * flop / moved / 21.5e12, rel=1e-12)
    assert dram.bound == "memory"
    assert result.limiter == "dram"
    assert result.least_time_s == pytest.approx(moved / 1.6e12, rel=1e-12)
    assert result.least_time_range_s == pytest.approx((moved / 1.6e12, moved / 1.6e12), rel=1e-12)
    assert point(result, "l1").bytes == 4 * (2 * 4096**2 + 4096)
    achievable = point(result, "dram (achievable)")
    assert achievable.time_s == pytest.approx(moved / 1.332e12, rel=1e-12)


def test_gemm_on_the_s5000_is_bound_by_its_pipe() -> None:
    """2 x 4096^3 FLOP over 21.5 TFLOP/s, at best over 43."""
    result = roofline(load_device("s5000"), kernel="gemm")
    flop = 2 * 4096**3
    assert result.flop == flop == 137438953472
    assert (result.limiter, result.pipe) == ("fp32", "fp32")
    assert result.least_time_s == pytest.approx(flop / 21.5e12, rel=1e-12)
    assert result.least_time_range_s == pytest.approx((flop / 43e12, flop / 21.5e12), rel=1e-12)
    assert point(result, "dram").bound == "compute"
    assert point(result, "dram").attainable_flop_per_s == 21.5e12
    assert point(result, "dram").share_of_peak == 1
    on_tensor = roofline(load_device("s5000"), kernel="gemm", pipe="tensor_tf32")
    assert on_tensor.limiter == "tensor_tf32"
    assert on_tensor.least_time_s == pytest.approx(flop / 250e12, rel=1e-12)


def test_the_range_takes_both_ends_of_a_bandwidth() -> None:
    device = load_device("s5000")
    result = roofline_of_amounts(
        device, name="copy", pipe="fp32", flop=1, bytes_compulsory=4e9, bytes_requested=4e9
    )
    slow_l2 = roofline_of_amounts(
        device.what_if(l2_bandwidth="1 TB/s"),
        name="copy",
        pipe="fp32",
        flop=1,
        bytes_compulsory=4e9,
        bytes_requested=4e9,
    )
    assert result.least_time_range_s == pytest.approx((2.5e-3, 2.5e-3), rel=1e-12)
    assert slow_l2.limiter == "l2"
    assert slow_l2.least_time_s == pytest.approx(4e-3, rel=1e-12)
    unsure = roofline_of_amounts(
        load_device("s5000").what_if(dram_bandwidth="100 TB/s", dram_bandwidth_achievable="9 TB/s"),
        name="copy",
        pipe="fp32",
        flop=1,
        bytes_compulsory=5.4e9,
        bytes_requested=0.1,
    )
    # the L2 is assumed at 2.7 to 5.4 TB/s
    assert unsure.limiter == "l2"
    assert unsure.least_time_range_s == pytest.approx((1e-3, 2e-3), rel=1e-12)


def test_requested_bytes_never_limit() -> None:
    device = load_device("h200")
    arguments: dict[str, Any] = {"flop": 1.0, "bytes_compulsory": 1e6}
    few, many = (
        roofline_of_amounts(device, name="x", pipe="fp32", bytes_requested=requested, **arguments)
        for requested in (1e6, 1e12)
    )
    assert few.least_time_s == many.least_time_s
    assert point(many, "l1").time_s > many.least_time_s


@pytest.mark.parametrize("name", device_names())
@pytest.mark.parametrize("kernel", kernel_names())
def test_every_kernel_on_every_device(name: str, kernel: str) -> None:
    device = load_device(name)
    result = roofline(device, kernel=kernel)
    peak = device.peaks[result.pipe].value  # type: ignore[index]
    assert result.peak_flop_per_s == peak
    bandwidths = {"dram": device.dram_bandwidth.value, "l2": device.l2_bandwidth.value}
    if device.l3_bandwidth is not None:
        bandwidths["l3"] = device.l3_bandwidth.value
    times = {level: result.bytes_compulsory / rate for level, rate in bandwidths.items()}
    slowest = max(times, key=lambda level: times[level])
    compute = result.flop / peak
    assert result.limiter == (slowest if times[slowest] > compute else result.pipe)
    assert result.least_time_s == pytest.approx(max(compute, *times.values()), rel=1e-12)
    least, most = result.least_time_range_s
    assert least <= result.least_time_s <= most
    for each in result.points:
        if each.level in bandwidths:
            intensity = result.flop / result.bytes_compulsory
            assert each.intensity_flop_per_byte == pytest.approx(intensity, rel=1e-12)
            assert each.attainable_flop_per_s == pytest.approx(
                min(peak, intensity * bandwidths[each.level]), rel=1e-12
            )
            assert each.time_s == pytest.approx(
                result.flop / each.attainable_flop_per_s if result.flop else times[each.level],
                rel=1e-12,
            )


@pytest.mark.parametrize("name", device_names())
def test_ceilings_are_what_the_file_says(name: str) -> None:
    device = load_device(name)
    ceilings = dict(memory_ceilings(device))
    assert ceilings["dram"].value == device.dram_bandwidth.value
    assert not ceilings["dram (achievable)"].nominal
    assert ("l3" in ceilings) == (device.l3_bandwidth is not None)
    mps, clock = device.mps.value, device.clock.value
    assert ceilings["l1"].value == pytest.approx(device.l1_bandwidth.value * mps * clock, rel=1e-12)
    assert ceilings["shared"].high == pytest.approx(
        device.shared_bandwidth.high * device.mps.high * device.clock.high, rel=1e-12
    )
    for ceiling in ceilings.values():
        assert ceiling.low <= ceiling.value <= ceiling.high
    result = roofline(device, kernel="gemm")
    computing = {ceiling.name for ceiling in result.ceilings if ceiling.kind == "compute"}
    assert computing == {
        *device.peaks,
        *(f"{peak} (achievable)" for peak in device.achievable_peaks),
    }


class TestPipes:
    """What the arithmetic of a kernel runs on."""

    def test_attention_runs_on_the_tensor_unit_where_there_is_one(self) -> None:
        assert roofline(load_device("h100"), kernel="attention").pipe == "tensor_fp16"
        assert roofline(load_device("dcu"), kernel="attention").pipe == "fp16"

    def test_one_that_does_not_exist(self) -> None:
        with pytest.raises(UsageError, match="dcu has no peak 'tensor_fp16'"):
            roofline(load_device("dcu"), kernel="gemm", pipe="tensor_fp16")
        with pytest.raises(UsageError, match="did you mean tensor_fp8"):
            roofline(load_device("h100"), kernel="gemm", pipe="tensorfp8")
        with pytest.raises(UsageError, match="has no peak"):
            roofline_of_amounts(
                load_device("dcu"),
                name="x",
                pipe="tensor_fp16",
                flop=1,
                bytes_compulsory=1,
                bytes_requested=1,
            )


@settings(deadline=None, max_examples=50)
@given(
    name=st.sampled_from(device_names()),
    flop=st.floats(0, 1e15),
    compulsory=st.floats(1, 1e15),
    factor=st.floats(1, 1e3),
)
def test_more_work_never_takes_less_time(
    name: str, flop: float, compulsory: float, factor: float
) -> None:
    device = load_device(name)
    before, after = (
        roofline_of_amounts(
            device,
            name="x",
            pipe="fp32",
            flop=flop * times,
            bytes_compulsory=compulsory * times,
            bytes_requested=compulsory,
        )
        for times in (1, factor)
    )
    assert after.least_time_s == pytest.approx(before.least_time_s * factor, rel=1e-9)
    assert before.least_time_range_s[0] <= before.least_time_s <= before.least_time_range_s[1]


def test_what_does_not_exist_is_refused() -> None:
    device = load_device("h100")
    with pytest.raises(UsageError, match="no kernel 'gemn': did you mean gem"):
        roofline(device, kernel="gemn")
    with pytest.raises(UsageError, match="gemv has no parameter 'q'"):
        roofline(device, kernel="gemv", parameters={"q": 1})
    for amounts in ({"flop": -1}, {"bytes_compulsory": 0}, {"bytes_requested": float("nan")}):
        everything: dict[str, Any] = {
            "flop": 1.0,
            "bytes_compulsory": 1.0,
            "bytes_requested": 1.0,
            **amounts,
        }
        with pytest.raises(ArgumentError):
            roofline_of_amounts(device, name="x", pipe="fp32", **everything)


def test_elements_have_the_type_of_the_pipes_operands() -> None:
    h200 = load_device("h200")
    elements = 3 * 4096**2
    for pipe, size in (("tensor_fp16", 2), ("tensor_fp8", 1), ("fp64", 8), ("fp32", 4)):
        result = roofline(h200, kernel="gemm", pipe=pipe)
        assert result.parameters["type"] == pipe.removeprefix("tensor_")
        assert result.bytes_compulsory == size * elements
    given = roofline(h200, kernel="gemm", pipe="tensor_fp16", parameters={"type": "fp32"})
    assert given.bytes_compulsory == 4 * elements
    assert roofline(h200, kernel="softmax").parameters["type"] == "fp16"


def test_the_requested_bytes_are_those_of_the_plainest_rung() -> None:
    """2 x 64^3 loads and 64^2 stores of 4 bytes; none where the rung cannot have the sizes."""
    sizes = {"m": 64, "n": 64, "k": 64}
    result = roofline(load_device("s5000"), kernel="gemm", parameters=sizes)
    assert point(result, "l1").bytes == 4 * (2 * 64**3 + 64**2)
    odd = roofline(load_device("s5000"), kernel="reduce", parameters={"n": 1001})
    assert "l1" not in {each.level for each in odd.points}
    assert odd.bytes_compulsory == 4 * 1002


def test_work_of_ones_own_has_no_point_at_l1() -> None:
    result = roofline_of_amounts(
        load_device("a100"), name="work", pipe="fp32", flop=2e9, bytes_compulsory=1e9
    )
    assert "l1" not in {point.level for point in result.points}
    assert result.least_time_s == pytest.approx(1e9 / 2.039e12, rel=1e-3)
