"""Document 000, part 5: FlashAttention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfmodel.device.loading import load_device
from perfmodel.documents.checks.common import FLOAT, HALF
from perfmodel.documents.registry import Finding, check
from perfmodel.engines import online_softmax, register_bandwidth, tile_reuse
from perfmodel.engines.roofline import intensity

if TYPE_CHECKING:
    from perfmodel.documents.registry import Inputs


@check("fa-shared-bytes")
def shared_bytes(given: Inputs) -> dict[str, Any]:
    """Shared memory of a block, part by part."""
    parts = shared_parts(given)
    return {
        "q": parts.q_bytes,
        "s": parts.s_bytes,
        "kv": parts.kv_bytes,
        "total": parts.total_bytes,
    }


def shared_parts(given: Inputs, *, k_buffers: int = 1) -> tile_reuse.AttentionShared:
    """Shared memory of a block with so many tiles of K."""
    return tile_reuse.attention_shared_bytes(
        rows_q=given["br"],
        rows_kv=given["bc"],
        head_dim=given["d"],
        element_bytes=given["element_bytes"],
        k_buffers=k_buffers,
    )


@check("fa-accumulator-registers")
def accumulator_registers(given: Inputs) -> Any:
    """Registers of the fp32 results of both products."""
    return register_bandwidth.attention_accumulator_registers(
        rows_q=given["br"], rows_kv=given["bc"], head_dim=given["d"], threads=given["threads"]
    )


@check("fa-registers-fit")
def registers_fit(given: Inputs) -> dict[str, Any]:
    """Registers of the block, and what each thread could have."""
    return {
        "registers": register_bandwidth.block_registers(
            threads=given["threads"], registers_per_thread=given["registers_per_thread"]
        ),
        "room_per_thread": register_bandwidth.registers_available_per_thread(
            registers_per_mp=load_device(given["device"]).registers_per_mp.whole,
            threads=given["threads"],
        ),
    }


@check("fa-extra-p-registers")
def extra_p_registers(given: Inputs) -> dict[str, Any]:
    """Registers of one more P."""
    return {
        name: register_bandwidth.array_registers(
            elements=given["br"] * given["bc"], element_bytes=size, threads=given["threads"]
        )
        for name, size in (("packed_2_byte", HALF), ("fp32", FLOAT))
    }


@check("fa-kv-intensity")
def kv_intensity(given: Inputs) -> Finding:
    """FLOP of both products of a step over the bytes of its K and V, and the law for it."""
    rows, keys, head = given["br"], given["bc"], given["d"]
    scores = tile_reuse.product_flop(rows=rows, columns=keys, depth=head)
    output = tile_reuse.product_flop(rows=rows, columns=head, depth=keys)
    of_step = intensity(flop=scores + output, moved_bytes=shared_parts(given).kv_bytes)
    law = tile_reuse.attention_kv_intensity(rows_q=rows, element_bytes=given["element_bytes"])
    return Finding(
        actual=of_step,
        because=f"{scores + output} FLOP over {shared_parts(given).kv_bytes} bytes",
        holds={"it depends on Br and the type alone": of_step == law},
    )


@check("fa-rows-per-squad")
def rows_per_squad(given: Inputs) -> dict[str, Any]:
    """Squads of a block, and the rows of each."""
    squads = tile_reuse.warp_groups(
        threads=given["threads"],
        warps_per_group=given["squad_warps"],
        warp_width=given["warp_size"],
    )
    return {
        "squads": squads,
        "rows": tile_reuse.rows_per_warp_group(rows=given["br"], groups=squads),
    }


@check("fa-standard-memory", "fa-shared-bytes")
def standard_memory(given: Inputs) -> Finding:
    """How the bytes of both forms grow from one N to the next, in numbers and in symbols."""
    import sympy

    head, element = sympy.symbols("d e", positive=True, integer=True)
    scores, fused = tile_reuse.attention_score_bytes, tile_reuse.attention_input_output_bytes
    forms: tuple[tuple[str, Any, Any, Any], ...] = (
        ("S and P", scores, {}, {}),
        ("the fused form", fused, {"head_dim": given["d"]}, {"head_dim": head}),
    )
    short, long = given["n"]
    growth = {}
    for name, law, numbers, symbols in forms:
        before, after = (
            law(queries=n, keys=n, element_bytes=given["element_bytes"], **numbers)
            for n in (short, long)
        )
        formula_before, formula_after = (
            law(queries=n, keys=n, element_bytes=element, **symbols) for n in (short, long)
        )
        growth[name] = (after / before, sympy.simplify(formula_after / formula_before))
    return Finding(
        actual=f"N from {short} to {long}: "
        + ", ".join(f"{name} times {factor:g}" for name, (factor, _) in growth.items()),
        numbers=tuple(factor for factor, _ in growth.values()),
        holds={
            "N is doubled": long == 2 * short,
            "the factors do not depend on d and the type": all(
                symbolic.is_number and float(symbolic) == factor
                for factor, symbolic in growth.values()
            ),
        },
    )


@check("fa-online-softmax")
def recurrence(given: Inputs) -> Finding:
    """The proof by induction, the unrolled forms, and three forms of a row in numbers."""
    del given
    import numpy as np

    row = np.linspace(-30.0, 40.0, 97) * np.cos(np.arange(97.0))
    two, three = (
        form(values=row)
        for form in (online_softmax.softmax_two_passes, online_softmax.softmax_three_passes)
    )
    one = online_softmax.attention_one_pass(scores=row, rows=np.eye(row.size))
    reads = [
        online_softmax.softmax_form(name=name).input_reads
        for name in ("three_passes", "two_passes", "one_pass")
    ]
    induction = online_softmax.total_induction_difference()
    apart = float(max(np.abs(two - three).max(), np.abs(one - three).max()))
    return Finding(
        actual=f"d_i less the sum is {induction} for any i; forms that read the row "
        f"{', '.join(map(str, reads))} times differ by {apart:.1g}",
        holds={
            "the induction holds": induction == 0,
            "the sum unrolled over 3 values is the sum": online_softmax.total_difference(steps=3)
            == 0,
            "the output unrolled over 2 values is the mean": online_softmax.output_difference(
                steps=2
            )
            == 0,
            "the forms agree in numbers": apart < 1e-14,
            "each form reads the row once less": reads == sorted(reads, reverse=True)
            and reads[0] - reads[-1] == len(reads) - 1,
        },
    )
