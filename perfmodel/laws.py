"""The laws that can be explained, by name, each with numbers to put in.

The numbers are a device's own where the law has a device's field in it, and a worked example's
elsewhere. Any of them can be given instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from perfmodel.engines import (
    amdahl,
    bank_conflicts,
    coalescing,
    dram_streams,
    latency,
    occupancy,
    online_softmax,
    reduction_tree,
    register_bandwidth,
    roofline,
    scaling,
    store_path,
    tile_reuse,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from perfmodel.device.model import Device


@dataclass(frozen=True, kw_only=True)
class Law:
    """A law and the numbers it is shown with."""

    function: Callable[..., Any]
    numbers: Mapping[str, float]
    """A worked example's numbers."""
    of_device: Callable[[Device], Mapping[str, float]] = field(default=lambda _: {})
    """The numbers that are a device's own."""


def _registers(device: Device) -> dict[str, float]:
    limit = device.registers_per_block or device.registers_per_mp
    return {
        "warp_width": device.warp_width.whole,
        "registers_per_mp": device.registers_per_mp.whole,
        "register_partitions": device.register_partitions.whole,
        "register_allocation_unit": device.register_allocation_unit.whole,
        "registers_per_block": limit.whole,
        "max_registers_per_thread": device.max_registers_per_thread.whole,
    }


def _roof(device: Device) -> dict[str, float]:
    return {
        "peak_flop_per_s": device.peaks["fp32"].value,
        "bandwidth_bytes_per_s": device.dram_bandwidth.value,
    }


def _store_path(device: Device) -> dict[str, float]:
    overhead = device.partial_store_overhead
    return {"sector_bytes": device.l1_sector.value} | (
        {"overhead_bytes": overhead.value} if overhead else {}
    )


def _streams(device: Device) -> dict[str, float]:
    copy = device.dram_bandwidth_achievable
    return {
        "copy_bandwidth_bytes_per_s": copy.value,
        "read_bandwidth_bytes_per_s": (device.dram_read_bandwidth or copy).value,
        "write_bandwidth_bytes_per_s": (device.dram_write_bandwidth or copy).value,
    }


def _link(device: Device) -> dict[str, float]:
    if not device.links:
        return {}
    name, link = max(device.links.items(), key=lambda item: item[1].bandwidth.value)
    del name
    return {"link_bandwidth_bytes_per_s": link.bandwidth.value}


LAWS: Mapping[str, Law] = {
    "amdahl": Law(function=amdahl.speedup, numbers={"parallel_fraction": 0.8, "part_speedup": 4.0}),
    "amdahl-limit": Law(function=amdahl.speedup_limit, numbers={"parallel_fraction": 0.8}),
    "amdahl-needed": Law(
        function=amdahl.fraction_needed, numbers={"target_speedup": 2.5, "part_speedup": 4.0}
    ),
    "gustafson": Law(
        function=amdahl.scaled_speedup, numbers={"parallel_fraction": 0.8, "processors": 8.0}
    ),
    "little": Law(
        function=latency.concurrency,
        numbers={"rate_per_s": 1.0e12, "latency_s": 5.0e-7},
        of_device=lambda device: {
            "rate_per_s": device.dram_bandwidth_achievable.value,
            "latency_s": device.dram_latency.value / device.clock.value,
        },
    ),
    "latency": Law(
        function=latency.latency_bound_time,
        numbers={"pieces": 1000, "resident": 132, "piece_time": 2.0e-6},
    ),
    "blend": Law(
        function=latency.blended_time,
        numbers={
            "latency_time": 3.0e-6,
            "busy_time": 4.0e-6,
            "waiting_time": 3.0e-6,
            "sharpness": 2.0,
        },
        of_device=lambda device: (
            {"sharpness": device.saturation_sharpness.value} if device.saturation_sharpness else {}
        ),
    ),
    "store-path": Law(
        function=store_path.store_path_bytes,
        numbers={
            "sectors": 32,
            "lines": 32,
            "written_bytes": 128,
            "access_bytes": 4,
            "sector_bytes": 32,
            "overhead_bytes": 32,
        },
        of_device=_store_path,
    ),
    "dram-streams": Law(
        function=dram_streams.streaming_time,
        numbers={"read_bytes": 5.36870912e8, "written_bytes": 2.68435456e8},
        of_device=_streams,
    ),
    "roofline": Law(
        function=roofline.attainable, numbers={"intensity_flop_per_byte": 0.5}, of_device=_roof
    ),
    "ridge-point": Law(function=roofline.ridge_point, numbers={}, of_device=_roof),
    "least-time": Law(
        function=roofline.least_time,
        numbers={"flop": 33554432.0, "moved_bytes": 67141632.0},
        of_device=_roof,
    ),
    "occupancy": Law(
        function=occupancy.occupancy,
        numbers={"active_warps": 32},
        of_device=lambda device: {"max_warps_per_mp": device.max_warps_per_mp.whole},
    ),
    "blocks-by-warps": Law(
        function=occupancy.blocks_by_warps,
        numbers={"warps_per_block": 8},
        of_device=lambda device: {"max_warps_per_mp": device.max_warps_per_mp.whole},
    ),
    "blocks-by-registers": Law(
        function=occupancy.blocks_by_registers,
        numbers={"registers_per_thread": 128, "warps_per_block": 8},
        of_device=_registers,
    ),
    "blocks-by-shared": Law(
        function=occupancy.blocks_by_shared,
        numbers={"shared_allocated_bytes": 32768},
        of_device=lambda device: {
            "shared_setting_bytes": device.shared_per_mp.whole,
            "shared_limit_bytes_per_block": device.shared_per_block.whole
            + device.shared_reserved_per_block.whole,
        },
    ),
    "strided-lines": Law(
        function=coalescing.strided_lines,
        numbers={"stride_bytes": 16, "element_bytes": 4},
        of_device=lambda device: {
            "lanes": device.warp_width.whole,
            "line_bytes": device.l1_line.whole,
        },
    ),
    "coalescing-efficiency": Law(
        function=coalescing.efficiency, numbers={"bytes_used": 128, "bytes_moved": 4096}
    ),
    "load-instructions": Law(
        function=coalescing.instructions_per_lane,
        numbers={"bytes_per_lane": 64, "access_bytes": 16},
        of_device=lambda device: {"max_access_bytes": device.max_access.whole},
    ),
    "ideal-passes": Law(
        function=bank_conflicts.ideal_passes,
        numbers={"element_bytes": 16},
        of_device=lambda device: {
            "lanes": device.warp_width.whole,
            "banks": device.shared_banks.whole,
            "bank_width_bytes": device.shared_bank_width.whole,
        },
    ),
    "tree-levels": Law(function=reduction_tree.tree_levels, numbers={"values": 1024}),
    "tile-registers": Law(
        function=register_bandwidth.tile_registers,
        numbers={
            "tile_m": 8,
            "tile_n": 8,
            "tile_k": 1,
            "fragment_buffers": 1,
            "staging_registers": 0,
        },
    ),
    "register-reads": Law(
        function=register_bandwidth.fma_peak_share,
        numbers={"reads_per_fma": 3},
        of_device=lambda device: {"reads_per_cycle": device.register_read_ports.value},
    ),
    "shared-bytes-per-cycle": Law(
        function=register_bandwidth.shared_bytes_per_cycle,
        numbers={"tile_m": 8, "tile_n": 8, "element_bytes": 4},
        of_device=lambda device: {"active_lanes": device.lanes["fp32"].value},
    ),
    "tile-intensity": Law(
        function=tile_reuse.tile_intensity,
        numbers={"tile_m": 128, "tile_n": 128, "element_bytes": 4},
    ),
    "sharing-factor": Law(function=tile_reuse.sharing_factor, numbers={"rows": 8, "columns": 8}),
    "attention-intensity": Law(
        function=tile_reuse.attention_kv_intensity, numbers={"rows_q": 256, "element_bytes": 2}
    ),
    "strong-scaling": Law(
        function=scaling.strong_scaling_speedup,
        numbers={"devices": 8, "communication_share": 0.01},
    ),
    "ring-all-reduce": Law(
        function=scaling.ring_all_reduce_time,
        numbers={
            "message_bytes": 1.0e9,
            "devices": 8,
            "link_bandwidth_bytes_per_s": 64.0e9,
            "link_latency_s": 5.0e-6,
        },
        of_device=_link,
    ),
    "online-softmax": Law(
        function=online_softmax.rescaled_total,
        numbers={"total": 1.0, "old_maximum": 0.0, "new_maximum": 1.0, "value": 1.0},
    ),
}
"""Every law that `perfmodel explain` knows."""
