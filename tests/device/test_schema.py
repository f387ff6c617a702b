"""The fields of a device, and that every shipped file fills them as the design asks."""

from dataclasses import MISSING, FrozenInstanceError, fields
from typing import Any, get_args

import pytest

from perfmodel.device import schema
from perfmodel.device.json_schema import json_schema
from perfmodel.device.loading import device_names, load_device
from perfmodel.device.values import Value
from tests.device.written import shipped

FIELDS = {each.name: each for each in fields(schema.DeviceFields)}


@pytest.mark.parametrize("name", device_names())
def test_a_file_gives_its_fields_in_the_order_of_the_schema(name: str) -> None:
    order = list(FIELDS)
    given = list(shipped(name))
    assert given == sorted(given, key=order.index)


@pytest.mark.parametrize("name", device_names())
def test_a_file_is_named_as_its_device(name: str) -> None:
    device = load_device(name)
    assert device.device == name
    assert device.format == schema.FORMAT
    assert name == name.lower()


@pytest.mark.parametrize("name", device_names())
def test_every_value_has_a_kind_and_a_source_and_lies_in_its_range(name: str) -> None:
    for where, value in load_device(name).quantities().items():
        assert value.low <= value.value <= value.high, where
        assert value.kind in ("published", "measured", "inferred", "assumed"), where
        assert len(value.source) > 10, where
        if value.kind == "assumed":
            assert "range" in _raw(shipped(name), where.split(".")), where


def _raw(data: Any, path: list[str]) -> Any:
    for key in path:
        data = data[key]
    return data


@pytest.mark.parametrize("name", device_names())
def test_a_device_cannot_be_changed(name: str) -> None:
    device = load_device(name)
    with pytest.raises(FrozenInstanceError):
        device.mps = device.clock  # type: ignore[misc]


def test_each_field_is_described() -> None:
    described = json_schema()["properties"]
    assert set(described) == set(FIELDS)
    for name, field in described.items():
        assert len(field["description"]) > 5, name
        assert field["description"].endswith("."), name


def test_what_a_device_may_lack() -> None:
    optional = {
        name
        for name, each in FIELDS.items()
        if each.default is not MISSING or each.default_factory is not MISSING
    }
    assert optional == {
        "aliases", "tensor_clock", "alternative_warp_width", "barriers_per_mp",
        "barrier_free_warps", "registers_per_block",
        "max_accumulation_registers_per_thread", "accumulation_register_alignment",
        "scalar_registers_per_partition", "scalar_register_allocation_unit",
        "scalar_registers_reserved_per_warp", "max_scalar_registers_per_warp",
        "shared_carveouts", "shared_lane_groups",
        "shared_merge_distance",
        "matrix_load_rows",
        "l2_line_rate", "l2_store_bandwidth", "store_bandwidth_per_mp", "partial_store_overhead",
        "dram_read_bandwidth", "dram_write_bandwidth", "block_turnaround", "launch_and_wait",
        "tensor_flop_per_cycle", "achievable_peaks", "l2_far_latency",
        "l3_size", "l3_line", "l3_bandwidth", "l3_latency", "dram_bus_width", "dram_data_rate",
        "links", "latencies", "atomic_rate", "saturation_sharpness",
    }  # fmt: skip


@pytest.mark.parametrize("name", device_names())
def test_what_belongs_together_is_given_together(name: str) -> None:
    device = load_device(name)
    for group in (
        ("scalar_registers_per_partition", "scalar_register_allocation_unit",
         "scalar_registers_reserved_per_warp", "max_scalar_registers_per_warp"),
        ("l3_size", "l3_line", "l3_bandwidth", "l3_latency"),
        ("dram_bus_width", "dram_data_rate"),
        ("l2_store_bandwidth", "store_bandwidth_per_mp", "partial_store_overhead"),
        ("dram_read_bandwidth", "dram_write_bandwidth"),
    ):  # fmt: skip
        assert len({getattr(device, field) is None for field in group}) == 1, group
    tensor_peaks = {peak.removeprefix("tensor_") for peak in device.peaks if "tensor" in peak}
    assert tensor_peaks == set(device.tensor_flop_per_cycle)
    assert set(device.lanes) == set(get_args(schema.Pipe))
    assert {"fp32", "fp16", "fp64"} <= set(device.peaks)
    assert set(device.achievable_peaks) <= set(device.peaks)
    assert set(get_args(schema.Latency)) - set(device.latencies) - {"tensor_group"} == (
        set() if device.tensor_flop_per_cycle else {"tensor"}
    )
    assert device.atomic_rate is not None
    assert device.saturation_sharpness is not None


@pytest.mark.parametrize("name", device_names())
def test_units_are_those_of_the_fields(name: str) -> None:
    units = {
        "mps": "count", "clock": "hz", "shared_per_mp": "bytes", "l2_bandwidth": "bytes/s",
        "l1_bandwidth": "bytes/cycle", "dram_latency": "cycles", "kernel_launch": "s",
        "lanes.fp32": "1/cycle", "peaks.fp32": "flop/s",
    }  # fmt: skip
    quantities = load_device(name).quantities()
    for where, unit in units.items():
        assert quantities[where].unit == unit


@pytest.mark.parametrize("name", device_names())
def test_sizes_divide_as_the_engines_take_them(name: str) -> None:
    device = load_device(name)

    def multiple(large: Value, small: Value) -> bool:
        return large.value % small.value == 0

    assert multiple(device.registers_per_mp, device.register_partitions)
    assert multiple(device.max_warps_per_mp, device.register_partitions)
    assert multiple(device.l1_line, device.l1_sector)
    assert multiple(device.l2_line, device.l2_sector)
    assert multiple(device.warp_width, device.coalescing_group)
    assert multiple(device.shared_per_mp, device.shared_allocation_unit)
    if device.shared_carveouts is not None:
        assert device.shared_carveouts.values[-1] == device.shared_per_mp.value
