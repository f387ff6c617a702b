"""The values of a device by name, and what-if copies."""

from __future__ import annotations

import pickle
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perfmodel
from perfmodel.device.loading import device_names, load_device
from perfmodel.device.values import Value
from perfmodel.errors import UsageError
from tests.device.written import shipped


def names_in(data: dict[str, Any], above: str = "") -> list[str]:
    """The names of all values of a file, found by their form."""
    found = []
    for key, item in data.items():
        name = f"{above}{key}"
        if isinstance(item, dict):
            found += [name] if "value" in item else names_in(item, f"{name}.")
    return found


@pytest.mark.parametrize("name", device_names())
def test_quantities_are_the_values_of_the_file_in_its_order(name: str) -> None:
    quantities = load_device(name).quantities()
    assert list(quantities) == names_in(shipped(name))
    assert all(isinstance(value, Value) for value in quantities.values())
    assert quantities["lanes.fp32"] is load_device(name).lanes["fp32"]
    assert quantities["links.pcie.bandwidth"] is load_device(name).links["pcie"].bandwidth


class TestWhatIf:
    """A copy with some values changed."""

    device = load_device("s5000")

    def test_one_value(self) -> None:
        changed = self.device.what_if(dram_bandwidth="3.2 TB/s")
        assert changed.dram_bandwidth.value == 3.2e12
        assert changed.dram_bandwidth.is_exact
        assert "what-if; was 1.6 TB/s (inferred)" in changed.dram_bandwidth.source
        assert self.device.dram_bandwidth.value == 1.6e12
        before, after = self.device.quantities(), changed.quantities()
        assert {name for name in before if before[name] != after[name]} == {
            "dram_bandwidth",
            "dram_bandwidth_achievable",  # the same share of the new bandwidth
        }
        assert type(changed) is type(self.device)

    def test_a_range_becomes_a_number(self) -> None:
        assert not self.device.dram_latency.is_exact
        changed = self.device.what_if(dram_latency="5000 cycles")  # beyond the range
        assert (changed.dram_latency.low, changed.dram_latency.high) == (5000, 5000)
        assert "650 cycles (400 cycles .. 900 cycles)" in changed.dram_latency.source

    def test_values_of_groups(self) -> None:
        changed = self.device.what_if(
            **{
                "lanes.fp32": "256 /cycle",
                "peaks.fp32": "43 TFLOP/s",
                "links.pcie.bandwidth": "1 GB/s",
            }
        )
        assert changed.lanes["fp32"].value == 256
        assert changed.peaks["fp32"].value == 43e12
        assert changed.links["pcie"].bandwidth.value == 1e9
        assert changed.links["mtlink"] == self.device.links["mtlink"]
        assert changed.lanes["fp16"] == self.device.lanes["fp16"]
        assert self.device.lanes["fp32"].value == 128

    def test_one_after_another(self) -> None:
        changed = self.device.what_if(mps=60).what_if(mps=64, clock="1.7 GHz")
        assert (changed.mps.whole, changed.clock.value) == (64, 1.7e9)
        assert changed.mps.source.startswith("what-if; was 60")

    def test_nothing_changed_is_the_same(self) -> None:
        assert self.device.what_if() == self.device

    def test_a_number_for_a_count_and_text_for_it(self) -> None:
        assert self.device.what_if(mps=60) == self.device.what_if(mps="60")

    def test_a_prediction_follows(self) -> None:
        arguments = {"threads_per_block": 256, "registers_per_thread": 128}
        doubled = self.device.what_if(registers_per_mp=262144, registers_per_block=262144)
        assert perfmodel.occupancy(self.device, **arguments).blocks_per_mp == 4
        assert perfmodel.occupancy(doubled, **arguments).blocks_per_mp == 8

    def test_every_value_can_be_given_as_it_is_printed(self) -> None:
        for name, value in self.device.quantities().items():
            if value.is_exact and value.unit == "count":
                changed = self.device.what_if(**{name: value.value})
                assert changed.quantities()[name].value == value.value

    @settings(deadline=None)
    @given(st.floats(1e-3, 1e6))
    def test_any_bandwidth(self, number: float) -> None:
        changed = self.device.what_if(l2_bandwidth=f"{number!r} GB/s")
        assert changed.l2_bandwidth.value == pytest.approx(number * 1e9, rel=1e-12)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            (
                {"dram_bandwith": "1 TB/s"},
                "s5000 has no value 'dram_bandwith': did you mean dram_b",
            ),
            ({"lanes": 5}, "has no value 'lanes'"),
            ({"lanes.fp33": 5}, "did you mean lanes.fp32"),
            ({"lanes.": 5}, "has no value"),
            ({"device": "x"}, "has no value 'device'"),
            ({"barriers_per_mp": 16}, "has no value 'barriers_per_mp'"),
            ({"x" * 500: 1}, "has no value"),
            ({"mps": 0}, "s5000, mps: 0 is not above 0"),
            ({"mps": -1}, "is not above 0"),
            ({"mps": 1.5}, "1.5 is not a whole number"),
            ({"mps": "60 B"}, "is in bytes: count are wanted"),
            ({"mps": True}, "is no quantity"),
            ({"mps": None}, "is no quantity"),
            ({"mps": float("inf")}, "is no finite number"),
            ({"dram_bandwidth": 3.2e12}, "has no unit"),
            ({"dram_bandwidth": "3.2 TB"}, "bytes/s are wanted"),
            ({"dram_bandwidth": "1 .. 2 TB/s"}, "s5000, dram_bandwidth: "),
            ({"lanes.fp32": "fast"}, "s5000, lanes.fp32: "),
        ],
    )
    def test_what_is_refused(self, changes: dict[str, Any], message: str) -> None:
        with pytest.raises(UsageError, match=message) as caught:
            self.device.what_if(**changes)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 300


def test_a_device_is_shown_by_its_name() -> None:
    device = load_device("h100")
    assert repr(device) == str(device) == "Device('h100', 'NVIDIA H100 SXM5')"


class TestWhatFollows:
    """A what-if change carries through to the values that follow from it."""

    s5000 = load_device("s5000")
    h200 = load_device("h200")

    def test_a_clock_moves_the_peaks_it_is_behind(self) -> None:
        twice = self.s5000.what_if(clock="3 GHz")
        assert twice.peaks["fp32"].value == pytest.approx(2 * self.s5000.peaks["fp32"].value)
        assert twice.peaks["fp32"].high == pytest.approx(2 * self.s5000.peaks["fp32"].high)
        assert "follows mps x lanes.fp32 x clock" in twice.peaks["fp32"].source

    def test_the_tensor_peaks_follow_the_tensor_clock(self) -> None:
        faster = self.h200.what_if(clock="3.96 GHz")
        assert faster.peaks["tensor_fp16"] == self.h200.peaks["tensor_fp16"]
        tensor = self.h200.what_if(tensor_clock="915 MHz")
        half = self.h200.peaks["tensor_fp16"].value / 2
        assert tensor.peaks["tensor_fp16"].value == pytest.approx(half)

    def test_several_factors_multiply(self) -> None:
        both = self.s5000.what_if(mps=112, **{"lanes.fp32": "256 /cycle"})
        assert both.peaks["fp32"].value == pytest.approx(4 * self.s5000.peaks["fp32"].value)
        assert both.peaks["fp64"].value == pytest.approx(2 * self.s5000.peaks["fp64"].value)

    def test_achievable_bandwidth_follows_the_nominal_one(self) -> None:
        twice = self.s5000.what_if(dram_data_rate="40 Gb/s")
        assert twice.dram_bandwidth.value == pytest.approx(3.2e12)
        assert twice.dram_bandwidth_achievable.value == pytest.approx(
            2 * self.s5000.dram_bandwidth_achievable.value
        )

    def test_what_is_set_does_not_follow(self) -> None:
        held = self.s5000.what_if(clock="3 GHz", **{"peaks.fp32": "21.5 TFLOP/s"})
        assert held.peaks["fp32"].value == 21.5e12


def test_a_device_cannot_be_changed_by_its_callers() -> None:
    device: Any = load_device("s5000")
    with pytest.raises(TypeError, match="what_if makes a changed copy"):
        device.lanes.update({"fp32": None})
    with pytest.raises(TypeError, match="what_if makes a changed copy"):
        device.peaks["fp32"] = None
    with pytest.raises(TypeError, match="what_if makes a changed copy"):
        device.links.pop("pcie")
    assert load_device("s5000").lanes["fp32"].value == 128


def test_a_device_can_be_pickled_and_copied() -> None:
    device = load_device("mi300x")
    copies: list[Any] = [pickle.loads(pickle.dumps(device)), deepcopy(device)]
    for copy in copies:
        assert copy == device
        with pytest.raises(TypeError):
            copy.lanes["fp32"] = None
