"""Cross-checks: all shipped devices agree, and each kind of check catches a broken copy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from perfmodel.device.checks import Check, check_device, contradictions
from perfmodel.device.loading import device_names, load_device
from tests.device.written import read, shipped

if TYPE_CHECKING:
    from pathlib import Path

    from perfmodel.device.model import Device


def disagreeing(device: Device) -> set[str]:
    return {check.name for check in check_device(device) if not check.agrees}


def named(device: Device, name: str) -> Check:
    (found,) = (check for check in check_device(device) if check.name == name)
    return found


def mistaken(name: str, **changes: Any) -> Device:
    """A device whose file has a mistake: a value changed, and nothing that follows from it."""
    device = load_device(name)
    changed = device.what_if(**changes)
    fields = {field.partition(".")[0] for field in changes}
    return replace(device, **{field: getattr(changed, field) for field in fields})


@pytest.mark.parametrize("name", device_names())
def test_a_shipped_device_agrees_with_itself(name: str) -> None:
    device = load_device(name)
    assert disagreeing(device) == set()
    assert list(contradictions(device)) == []
    names = [check.name for check in check_device(device)]
    assert len(names) == len(set(names))
    assert {"peaks.fp32", "max_threads_per_mp", "shared_bandwidth", "l2_latency"} <= set(names)


@pytest.mark.parametrize(
    ("device", "changes", "caught"),
    [
        ("h100", {"peaks.fp32": "80 TFLOP/s"}, {"peaks.fp32"}),
        ("h100", {"peaks.fp16": "67 TFLOP/s"}, {"peaks.fp16"}),
        ("h100", {"peaks.fp64": "67 TFLOP/s"}, {"peaks.fp64"}),
        ("h100", {"lanes.fp32": "64 /cycle"}, {"peaks.fp32"}),
        ("h100", {"peaks.tensor_fp16": "1979 TFLOP/s"}, {"peaks.tensor_fp16"}),
        ("h100", {"tensor_flop_per_cycle.fp8": "4096 FLOP/cycle"}, {"peaks.tensor_fp8"}),
        ("a100", {"max_threads_per_mp": 1536}, {"max_threads_per_mp"}),
        ("a100", {"warp_width": 64}, {"max_threads_per_mp"}),
        ("a100", {"max_threads_per_block": 4096}, {"max_threads_per_block"}),
        ("a100", {"shared_per_block": "200 KiB"}, {"shared_per_block"}),
        ("a100", {"registers_per_block": 131072}, {"registers_per_block"}),
        ("a100", {"shared_bandwidth": "64 B/cycle"}, {"shared_bandwidth"}),
        ("a100", {"shared_banks": 64}, {"shared_bandwidth"}),
        ("s5000", {"dram_bus_width": "512 bit"}, {"dram_bandwidth"}),
        ("s5000", {"dram_data_rate": "16 Gb/s"}, {"dram_bandwidth"}),
        ("s5000", {"dram_bandwidth_achievable": "1.7 TB/s"}, {"dram_bandwidth_achievable"}),
        ("s5000", {"l1_line": "64 B"}, {"l1_sector"}),
        ("s5000", {"l2_line": "64 B"}, {"l2_sector"}),
        ("v100", {"l1_latency": "900 cycles"}, {"l1_latency"}),
        ("v100", {"l2_latency": "3000 cycles"}, {"l2_latency"}),
        ("mi300x", {"warp_width": 32}, {"shared_lane_groups.load.16 B", "max_threads_per_mp"}),
        # a measurement above the peak it was measured against
        (
            "s5000",
            {"achievable_peaks.tensor_fp16": "600 TFLOP/s"},
            {"achievable_peaks.tensor_fp16"},
        ),
    ],
)
def test_a_broken_copy_is_caught(device: str, changes: dict[str, Any], caught: set[str]) -> None:
    assert disagreeing(mistaken(device, **changes)) == caught


def test_a_measurement_that_only_the_range_covers_is_open() -> None:
    device = load_device("s5000")
    assert {check.name for check in check_device(device) if check.open} == {"achievable_peaks.fp32"}
    for measured, is_open, agrees in (("21 TFLOP/s", False, True), ("50 TFLOP/s", False, False)):
        check = named(
            mistaken("s5000", **{"achievable_peaks.fp32": measured}), "achievable_peaks.fp32"
        )
        assert (check.open, check.agrees) == (is_open, agrees)


def test_the_clock_reaches_every_peak() -> None:
    slower = mistaken("a100", clock="700 MHz")
    found = disagreeing(slower)
    assert {"peaks.fp32", "peaks.fp16", "peaks.fp64"} <= found
    if slower.tensor_clock is None:
        assert "peaks.tensor_fp16" in found


def test_both_numbers_are_shown() -> None:
    check = named(mistaken("a100", max_threads_per_mp=1536), "max_threads_per_mp")
    assert list(check.stated) == [1536, 1536]
    assert list(check.recomputed) == [2048, 2048]
    assert check.unit == "count"
    assert check.formula == "max_warps_per_mp x warp_width"
    assert not check.agrees


def test_a_peak_by_hand() -> None:
    """132 MPs of 128 lanes, two FLOP each at 1.98 GHz."""
    check = named(load_device("h100"), "peaks.fp32")
    expected = 132 * 128 * 2 * 1.98e9
    assert check.recomputed == pytest.approx((expected, expected), rel=1e-12)


def test_a_range_that_covers_the_recomputed_value_agrees(tmp_path: Path) -> None:
    data = shipped("h100")
    data["peaks"]["fp32"] = {"value": "40 TFLOP/s", "kind": "measured", "source": "a test"}
    assert disagreeing(read(tmp_path, data)) == {"peaks.fp32"}
    data["peaks"]["fp32"]["range"] = "40 .. 70 TFLOP/s"
    assert disagreeing(read(tmp_path, data)) == set()
    data["peaks"]["fp32"]["range"] = "30 .. 41 TFLOP/s"
    assert disagreeing(read(tmp_path, data)) == {"peaks.fp32"}


@pytest.mark.parametrize(
    ("factor", "agrees"), [(1.02, True), (0.98, True), (1.05, False), (0.95, False)]
)
def test_room_for_rounded_peaks(factor: float, agrees: bool) -> None:
    peak = 132 * 128 * 2 * 1.98e9 * factor
    device = mistaken("h100", **{"peaks.fp32": f"{peak} FLOP/s"})
    assert named(device, "peaks.fp32").agrees is agrees


def test_what_is_not_known_is_not_checked(tmp_path: Path) -> None:
    data = shipped("s5000")
    del data["dram_bus_width"]
    names = {check.name for check in check_device(read(tmp_path, data))}
    assert "dram_bandwidth" not in names
    assert "dram_bandwidth_achievable" in names


def test_accumulation_registers_follow_the_others_only_where_there_are_some() -> None:
    device = replace(load_device("mi300x"), max_accumulation_registers_per_thread=None)
    (found,) = contradictions(device)
    assert found.startswith("accumulation_register_alignment: give max_accumulation_registers")
