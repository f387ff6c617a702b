"""Every shipped rung: its counts equal a walk over all threads, and every device can run it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from perfmodel import device_names, load_device
from perfmodel.kernels.loading import kernel_names, load_description
from perfmodel.scheduler.prediction import predict
from tests.kernels.against_walk import GEOMETRIES, differences

TILES = {"bm": 32, "bn": 64, "bk": 8, "tm": 4, "tn": 8}
ATTENTION = {"batch": 1, "heads": 2, "kv_heads": 1, "n": 128, "d": 64, "br": 64, "bc": 32}
SMALL: dict[str, dict[str, Any]] = {
    "attention:three_kernels": {"heads": 2, "kv_heads": 1, "n": 512, "d": 64},
    "attention:online_two_passes": ATTENTION,
    "attention:fused": {**ATTENTION, "causal": 1},
    "attention:pipelined": {**ATTENTION, "n": 192, "causal": 1},
    "attention:warp_specialized": ATTENTION,
    "gemm:naive": {"m": 20, "n": 36, "k": 24},
    "gemm:tiled": {"m": 20, "n": 36, "k": 24, "tile": 8},
    "gemm:register_tile": {"m": 64, "n": 128, "k": 24, **TILES},
    "gemm:shared_double_buffer": {"m": 64, "n": 128, "k": 24, **TILES},
    "gemm:global_double_buffer": {"m": 64, "n": 128, "k": 24, **TILES},
    "gemm:block_swizzle": {"m": 96, "n": 256, "k": 16, "strip": 2, **TILES},
    "gemm:tensor": {"m": 256, "n": 256, "k": 64, "bn": 128, "strip": 2},
    "gemm:warp_specialized": {"m": 256, "n": 256, "k": 96, "bn": 128, "strip": 2, "out": "fp32"},
    "gemv:thread_per_row": {"m": 37, "k": 50, "block": 32},
    "gemv:warp_per_row": {"m": 37, "k": 330, "block": 64},
    "gemv:vector_loads": {"m": 37, "k": 332, "block": 64},
    "gemv:two_byte": {"m": 37, "k": 1000, "block": 64},
    "gemv:cached_vector": {"m": 16, "k": 1024, "block": 64, "tile_v": 512},
    "gemv:split_k": {"m": 5, "k": 1024, "warps": 4},
    "gemv:batch_gemv": {"m": 9, "k": 512, "n": 3, "block": 64},
    "gemv:thin_gemm": {"m": 32, "k": 48, "n": 3},
    "norm:two_passes": {"m": 3, "n": 330, "block": 128, "centred": 1, "weights": 2},
    "norm:row_in_registers": {"m": 3, "n": 840, "block": 64},
    "norm:rows_in_a_warp": {"m": 37, "n": 64, "block": 128, "weights": 2, "centred": 1},
    "pointwise:elementwise": {"n": 1000, "block": 128, "inputs": 2},
    "pointwise:vector_loads": {"n": 4000, "block": 64, "inputs": 3, "special": 2},
    "pointwise:fixed_grid": {"n": 8000, "block": 64, "blocks": 3, "inputs": 2},
    "quantize:two_passes": {"m": 3, "n": 330, "block": 128, "gate": 1},
    "quantize:row_in_registers": {"m": 3, "n": 1000, "block": 64, "gate": 1},
    "quantize:groups_in_a_warp": {"m": 5, "n": 192, "group": 64, "block": 128, "gate": 1},
    "reduce:modulo_tree": {"n": 4096, "block": 128},
    "reduce:sequential_tree": {"n": 4096, "block": 128},
    "reduce:warp_shuffle": {"n": 4096, "block": 128},
    "reduce:vector_load": {"n": 16384, "block": 64},
    "reduce:two_byte": {"n": 16384, "block": 64},
    "reduce_rows:thread_per_row": {"m": 70, "n": 40, "block": 64},
    "reduce_rows:warp_per_row": {"m": 7, "n": 840, "block": 128},
    "reduce_rows:block_per_row": {"m": 3, "n": 840, "block": 64},
    "reduce:single_kernel": {"n": 16384, "block": 64},
    "reduce:one_block": {"n": 4096, "block": 128},
    "softmax:thread_per_row": {"m": 70, "n": 40, "block": 64},
    "softmax:warp_per_row": {"m": 6, "n": 128},
    "softmax:vector_loads": {"m": 6, "n": 512},
    "softmax:packed": {"m": 7, "n": 256, "block": 128},
    "softmax:grid_remap": {"m": 64, "n": 256, "block": 128},
    "softmax:packed_as_printed": {"m": 7, "n": 256, "block": 128},
    "softmax:online": {"m": 6, "n": 512},
    "softmax:block_per_row": {"m": 2, "n": 512, "block": 256},
    "softmax:two_stages": {"m": 2, "n": 1024, "block": 256, "piece": 512},
    "softmax:shared_reduction": {"m": 7, "n": 256, "block": 128},
    "softmax:ported_from_cuda": {"m": 6, "n": 512},
    "stream_read:interleaved": {"n": 12004, "block": 64, "blocks": 3},
    "transpose:naive": {"m": 64, "n": 96},
    "transpose:shared_tile": {"m": 64, "n": 96},
    "transpose:padded_tile": {"m": 64, "n": 96},
    "transpose:swizzled_tile": {"m": 64, "n": 96},
    "vecadd:naive": {"n": 3000, "block": 128},
    "vecadd:vector_loads": {"n": 4000, "block": 64},
}
"""Sizes that the walk can do, with edges where the rung allows them."""
PUBLIC = re.compile(
    r"[\w-]+/[\w-]+ (docs/|aiter/|machines/|results/|pull requests? \d)|, (machines|results)/"
)
"""A file or thread of a public repository."""


def test_every_rung_has_a_small_size() -> None:
    shipped = {f"{name}:{rung}" for name in kernel_names() for rung in load_description(name).rungs}
    assert shipped == SMALL.keys()


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("name", SMALL)
def test_counts_equal_the_walk(name: str, geometry: str) -> None:
    kernel, _, rung = name.partition(":")
    found = differences(load_description(kernel).rungs[rung], SMALL[name], GEOMETRIES[geometry])
    assert found == []


@pytest.mark.parametrize("device", device_names())
@pytest.mark.parametrize("name", SMALL)
def test_every_device_can_run_it(name: str, device: str) -> None:
    kernel, _, rung = name.partition(":")
    result = predict(kernel, load_device(device), rung=rung, ranges=False)
    assert 0 < result.time_s < 1
    assert result.limiter in {bound.name for bound in result.bounds}
    assert result.time_s >= result.bounds[0].time_s * (1 - 1e-12)


@pytest.mark.parametrize("name", kernel_names())
def test_every_rung_says_what_it_changes(name: str) -> None:
    description = load_description(name)
    for rung in description.rungs.values():
        assert rung.change.endswith(".")
        assert rung.source.startswith("document 00") or PUBLIC.search(rung.source)


@pytest.mark.parametrize(
    ("kernel", "rungs"),
    [
        (
            "reduce",
            ["modulo_tree", "sequential_tree", "warp_shuffle", "vector_load", "single_kernel"],
        ),
        ("gemv", ["thread_per_row", "warp_per_row", "vector_loads", "cached_vector"]),
        (
            "gemm",
            [
                "naive",
                "tiled",
                "register_tile",
                "shared_double_buffer",
                "global_double_buffer",
                "block_swizzle",
                "tensor",
            ],
        ),
        (
            "attention",
            ["three_kernels", "online_two_passes", "fused", "pipelined", "warp_specialized"],
        ),
        ("softmax", ["thread_per_row", "warp_per_row", "vector_loads", "packed", "grid_remap"]),
    ],
)
def test_the_ladders_of_the_documents(kernel: str, rungs: list[str]) -> None:
    assert [rung.name for rung in load_description(kernel).ladder()] == rungs
