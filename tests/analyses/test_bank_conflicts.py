"""Bank conflicts on every shipped device, and layouts, against handing out one word a bank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perfmodel
from perfmodel.analyses.bank_conflicts import suggest_layout
from perfmodel.device.loading import device_names, load_device
from perfmodel.engines import bank_conflicts as law
from perfmodel.errors import ArgumentError
from tests.analyses.lane_by_lane import Access, accesses, random_indices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from perfmodel.device.model import Device
    from perfmodel.device.schema import Operation

# What loads of 16 bytes serve together on AMD, run of four by run of four; RDNA: the first 32.
RUNS = ((0, 5), (8, 13), (1, 4), (9, 12), (2, 7), (10, 15), (3, 6), (11, 14))
INTERLEAVED = tuple(
    tuple(lane for run in pair for lane in range(4 * run, 4 * run + 4)) for pair in RUNS
)
WITH_INTERLEAVED_LOADS = (
    "bw1000", "bw1100", "dcu", "k100", "k100-ai", "k500sm-ai", "mi100", "mi250x", "mi300x", "mi50",
    "rx7900xtx",
)  # fmt: skip


def groups_of(device: Device, element_bytes: int, operation: str) -> list[list[int]]:
    """Neighbouring lanes until the banks have no more to give; 16-byte loads of AMD apart."""
    width = int(device.warp_width.value)
    if element_bytes == 16 and operation == "load" and device.device in WITH_INTERLEAVED_LOADS:
        return [list(group) for group in INTERLEAVED if max(group) < width]
    groups: list[list[int]] = [[]]
    for lane in range(width):
        if len(groups[-1]) * max(element_bytes, 4) + max(element_bytes, 4) > 128:
            groups.append([])
        groups[-1].append(lane)
    return groups


def served_groups(
    device: Device, access: Access, groups: list[list[int]], operation: str
) -> list[list[int]]:
    """The groups, by twos where NVIDIA's devices find that a wide load reads alike."""
    if device.vendor != "NVIDIA" or operation == "store" or len(groups) == 1:
        return groups
    lanes = dict(enumerate(access.addresses))
    for distance in (1, 2):
        pairs = [(address, lanes.get(lane ^ distance)) for lane, address in lanes.items()]
        if all(one is None or other is None or one == other for one, other in pairs):
            return [[*one, *other] for one, other in zip(groups[::2], groups[1::2], strict=True)]
    return groups


def ideal_of(access: Access, groups: list[list[int]]) -> int:
    """Trips without a conflict: lanes of different groups are never served together."""
    trips = 0
    for group in groups:
        present = [lane for lane in group if lane < len(access.addresses)]
        taking_part = sum(access.addresses[lane] is not None for lane in present)
        waiting = taking_part * max(access.element_bytes, 4)
        while waiting > 0:
            waiting -= 128
            trips += 1
    return trips


@pytest.mark.parametrize("operation", ["load", "store"])
@pytest.mark.parametrize("element_bytes", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("name", device_names())
def test_every_device_equals_handing_out_words(
    name: str, element_bytes: int, operation: Operation
) -> None:
    device = load_device(name)
    rng = np.random.default_rng(len(name) + element_bytes)
    base = int(rng.choice([0, 0, 4, 1, 64]))
    indices, active = random_indices(rng, 60, device.warp_width.whole)
    groups = groups_of(device, element_bytes, operation)
    result = perfmodel.bank_conflicts(
        device,
        index=indices,
        element_bytes=element_bytes,
        operation=operation,
        base_bytes=base,
        active=active,
    )
    assert [list(group) for group in result.groups] == groups
    stated = groups
    for row, access in enumerate(accesses(indices, active, element_bytes, base)):
        groups = served_groups(device, access, stated, operation)
        passes, ideal = access.passes(groups, 32, 4), ideal_of(access, stated)
        assert result.passes[row] == passes, access
        assert result.ideal_passes[row] == ideal
        assert result.conflict_free[row] == (passes <= ideal)
        assert result.lanes[row] == access.lanes
        words = [access.words_of_banks(group, 32, 4) for group in groups]
        degrees = {
            bank: max(len(of_group.get(bank, ())) for of_group in words) for bank in range(32)
        }
        assert result.worst_degree[row] == max(degrees.values())
        assert degrees[int(result.worst_bank[row])] == max(degrees.values())


@settings(deadline=None, max_examples=60)
@given(
    name=st.sampled_from(device_names()),
    indices=st.lists(st.integers(0, 2000), min_size=1, max_size=32),
    element_bytes=st.sampled_from([1, 2, 4, 8, 16]),
)
def test_swizzled_addresses_equal_swizzling_by_hand(
    name: str, indices: list[int], element_bytes: int
) -> None:
    device = load_device(name)
    mask, shift = 0xE00, 5
    result = perfmodel.bank_conflicts(
        device, index=indices, element_bytes=element_bytes, swizzle=(mask, shift)
    )
    moved = []
    for index in indices:
        address = index * element_bytes
        moved.append(address ^ ((address & mask) >> shift))
    assert result.addresses.tolist() == moved
    access = Access(tuple(moved), element_bytes)
    groups = served_groups(device, access, groups_of(device, element_bytes, "load"), "load")
    lanes = range(len(indices))
    groups = [[lane for lane in group if lane in lanes] for group in groups]
    assert result.passes == access.passes(groups, 32, 4)
    assert isinstance(result.passes, int)
    assert isinstance(result.conflict_free, bool)


class TestTheDocuments:
    """Document 000, section 3.3, and document 004, section 4.2."""

    s5000 = load_device("s5000")
    h200 = load_device("h200")

    @pytest.mark.parametrize(
        ("index", "passes"),
        [("threadIdx.x * 2", 2), ("threadIdx.x * 32", 32), ("threadIdx.x", 1), ("0", 1)],
    )
    def test_strides_and_broadcast(self, index: str, passes: int) -> None:
        result = perfmodel.bank_conflicts(self.s5000, index=index, element_bytes=4)
        assert (result.passes, result.ideal_passes) == (passes, 1)
        assert result.conflict_free is (passes == 1)

    def test_a_padded_column(self) -> None:
        result = perfmodel.bank_conflicts(
            self.s5000,
            index="threadIdx.x * (32 + pad) + c",
            element_bytes=4,
            parameters={"pad": [0, 1], "c": 0},
        )
        assert result.passes.tolist() == [32, 1]

    def test_the_column_of_as_is_a_broadcast(self) -> None:
        result = perfmodel.bank_conflicts(
            self.h200,
            index="(threadIdx.x / 16) * 16 + i",
            element_bytes=4,
            parameters={"i": range(16)},
        )
        assert result.passes.tolist() == [1] * 16
        assert all(len(set(row)) == 2 for row in result.addresses.tolist())

    @pytest.mark.parametrize(
        ("index", "operation", "passes"),
        [
            ("i * 16 + threadIdx.x", "load", 1),
            ("threadIdx.x * 16 + i", "load", 8),
            ("threadIdx.x * 16 + threadIdx.y", "store", 8),
        ],
    )
    def test_the_transposed_store_of_bs(
        self, index: str, operation: Operation, passes: int
    ) -> None:
        result = perfmodel.bank_conflicts(
            self.h200,
            index=index,
            element_bytes=4,
            operation=operation,
            block=(16, 16),
            parameters={"i": 3},
        )
        assert result.passes == passes


def rows_and_columns(
    width: int, lanes: int, element_bytes: int
) -> tuple[list[str], dict[str, range], list[Access]]:
    """A square tile read along its rows and along its columns, and the accesses that makes."""
    texts = [f"c * {width} + threadIdx.x % {width}", f"threadIdx.x % {width} * {width} + c"]
    rows = [[c * width + lane % width for lane in range(lanes)] for c in range(width)]
    columns = [[lane % width * width + c for lane in range(lanes)] for c in range(width)]
    every = [
        Access(tuple(index * element_bytes for index in indices), element_bytes)
        for indices in (*rows, *columns)
    ]
    return texts, {"c": range(width)}, every


def is_free(
    device: Device, every: Iterable[Access], operation: str, moved: Callable[[int], int]
) -> bool:
    """Whether each access takes no more than its ideal once every address is moved."""
    for access in every:
        there = Access(
            tuple(None if a is None else moved(a) for a in access.addresses), access.element_bytes
        )
        groups = groups_of(device, access.element_bytes, operation)
        if there.passes(groups, 32, 4) > ideal_of(there, groups):
            return False
    return True


def padding_by(pad: int, row_elements: int, element_bytes: int) -> Callable[[int], int]:
    def moved(address: int) -> int:
        return address + address // (row_elements * element_bytes) * pad * element_bytes

    return moved


def folding(mask: int, shift: int) -> Callable[[int], int]:
    return lambda address: address ^ ((address & mask) >> shift)


class TestSuggestedLayouts:
    """A layout is proved by counting every access again with it, here by hand."""

    @pytest.mark.parametrize("operation", ["load", "store"])
    @pytest.mark.parametrize(
        ("name", "element_bytes", "width"),
        [
            ("s5000", 4, 32),
            ("h200", 4, 16),
            ("h100", 8, 16),
            ("a100", 16, 8),
            ("v100", 2, 32),
            ("mi300x", 4, 32),
            ("mi300x", 8, 16),
            ("dcu", 16, 8),
            ("s5000", 16, 16),
        ],
    )
    def test_rows_and_columns_of_a_tile(
        self, name: str, element_bytes: int, width: int, operation: Operation
    ) -> None:
        device = load_device(name)
        texts, parameters, every = rows_and_columns(width, device.warp_width.whole, element_bytes)
        found = suggest_layout(
            device,
            indices=texts,
            element_bytes=element_bytes,
            row_elements=width,
            operation=operation,
            parameters=parameters,
        )
        pads = [
            pad
            for pad in range(33)
            if is_free(device, every, operation, padding_by(pad, width, element_bytes))
        ]
        if found.padding is None:
            assert not pads
        else:
            assert found.padding.pad_elements == pads[0]
            assert found.padding.row_elements == width
            assert found.padding.extra_share == pytest.approx(pads[0] / width, rel=1e-12)
            assert len(found.padding.passes) == 2
        size = width * width * element_bytes
        if found.swizzle is not None:
            swizzled = folding(found.swizzle.mask, found.swizzle.shift)
            assert is_free(device, every, operation, swizzled)
            assert sorted(map(swizzled, range(size))) == list(range(size))  # nothing is lost
            assert all(
                swizzled(address + byte) == swizzled(address) + byte
                for address in range(0, size, element_bytes)
                for byte in range(element_bytes)
            )  # elements stay whole
            assert len(found.swizzle.passes) == 2
        bits = 7 if found.swizzle is None else found.swizzle.mask.bit_count()
        for fewer in range(bits):
            for target in range(element_bytes.bit_length() - 1, 7 - fewer + 1):
                for source in range(target + fewer, size.bit_length() - fewer):
                    mask = ((1 << fewer) - 1) << source
                    assert not is_free(device, every, operation, folding(mask, source - target))

    def test_the_tile_of_the_document(self) -> None:
        """float tile[32][32] by row and by column: one pass each and not a byte more."""
        device = load_device("s5000")
        texts, parameters, every = rows_and_columns(32, 32, 4)
        found = suggest_layout(device, indices=texts, element_bytes=4, parameters=parameters)
        assert found.padding is not None
        assert found.swizzle is not None
        assert found.padding.pad_elements == 1
        assert found.padding.extra_share == 1 / 32
        assert found.swizzle.passes == found.padding.passes == (1, 1)
        assert is_free(device, every, "load", folding(found.swizzle.mask, found.swizzle.shift))

    def test_every_warp_of_the_block_counts(self) -> None:
        """The second warp of a 16x16 block stores columns that the first one does not."""
        device = load_device("h200")
        found = suggest_layout(
            device,
            indices=["threadIdx.x * 16 + threadIdx.y", "i * 16 + threadIdx.x"],
            element_bytes=4,
            row_elements=16,
            block=(16, 16),
            parameters={"i": range(16)},
        )
        every = [
            Access(
                tuple(
                    ((thread % 16) * 16 + thread // 16) * 4
                    for thread in range(warp * 32, warp * 32 + 32)
                ),
                4,
            )
            for warp in range(8)
        ] + [Access(tuple((i * 16 + lane % 16) * 4 for lane in range(32)), 4) for i in range(16)]
        pads = [pad for pad in range(33) if is_free(device, every, "load", padding_by(pad, 16, 4))]
        assert found.padding is not None
        assert found.padding.pad_elements == pads[0]
        assert found.swizzle is not None
        assert is_free(device, every, "load", folding(found.swizzle.mask, found.swizzle.shift))
        assert len(found.padding.passes) == 16  # both accesses of eight warps

    def test_what_is_free_stays_as_it_is(self) -> None:
        found = suggest_layout(load_device("h100"), indices=["threadIdx.x"], element_bytes=4)
        assert found.padding is not None
        assert found.swizzle is not None
        assert (found.padding.pad_elements, found.padding.extra_share) == (0, 0)
        assert (found.swizzle.mask, found.swizzle.shift) == (0, 0)

    def test_what_cannot_be_freed_has_no_layout(self) -> None:
        """Two lanes in each of 32 words of one row, 128 bytes apart whatever the padding."""
        scattered = [0, 8192 * 3, *range(1, 31)]
        found = suggest_layout(
            load_device("h100"),
            indices=[scattered, list(range(32)), [lane * 8 for lane in range(32)]]
            + [[lane * stride for lane in range(32)] for stride in (2, 4, 16, 64, 31, 33)],
            element_bytes=4,
        )
        assert found.padding is None

    def test_nothing_given(self) -> None:
        with pytest.raises(ArgumentError, match="give a list of at least one access"):
            suggest_layout(load_device("h100"), indices=[], element_bytes=4)
        with pytest.raises(ArgumentError, match="row_elements is 0"):
            suggest_layout(
                load_device("h100"), indices=["threadIdx.x"], element_bytes=4, row_elements=0
            )


class TestBadInput:
    """What no shared memory takes is refused."""

    device = load_device("h100")

    @pytest.mark.parametrize("element_bytes", [0, 3, 32, 128])
    def test_sizes(self, element_bytes: int) -> None:
        with pytest.raises(ArgumentError, match=f"element_bytes is {element_bytes}"):
            perfmodel.bank_conflicts(self.device, index="0", element_bytes=element_bytes)

    def test_operation(self) -> None:
        with pytest.raises(ArgumentError, match="operation is 'add'"):
            perfmodel.bank_conflicts(
                self.device,
                index="0",
                element_bytes=4,
                operation="add",  # type: ignore[arg-type]
            )

    @pytest.mark.parametrize("swizzle", [(-1, 0), (128, -1)])
    def test_swizzle(self, swizzle: tuple[int, int]) -> None:
        with pytest.raises(ArgumentError, match="is -1"):
            perfmodel.bank_conflicts(self.device, index="0", element_bytes=4, swizzle=swizzle)


def test_nobody_taking_part_takes_no_pass() -> None:
    result = perfmodel.bank_conflicts(
        load_device("mi300x"), index="threadIdx.x", element_bytes=16, active=0
    )
    assert (result.passes, result.ideal_passes, result.worst_degree) == (0, 0, 0)


def test_a_json_result_holds_plain_values() -> None:
    data: dict[str, Any] = perfmodel.bank_conflicts(
        load_device("h100"), index="threadIdx.x * 2", element_bytes=4
    ).to_dict()
    assert data["passes"] == 2
    assert data["addresses"][:3] == [0, 8, 16]
    assert data["groups"] == [list(range(32))]


@pytest.mark.parametrize(
    ("indices", "element_bytes", "row"),
    [
        (["threadIdx.x * 64 + c", "c * 64 + threadIdx.x"], 4, 64),
        (["threadIdx.x * 48"], 4, 48),
        (["threadIdx.x * 32"], 16, 32),
    ],
)
def test_the_row_is_found_in_the_index(indices: list[str], element_bytes: int, row: int) -> None:
    found = suggest_layout(
        load_device("h100"),
        indices=indices,
        element_bytes=element_bytes,
        parameters={"c": range(32)},
    )
    assert found.padding is not None
    assert (found.padding.row_elements, found.padding.pad_elements) == (row, 1)


def test_where_nothing_frees_all_the_least_conflicts_are_told() -> None:
    # Lanes that all want different words of one bank, whatever the padding: a row of one element.
    found = suggest_layout(
        load_device("h100"),
        indices=["tid / 16 * 16 + tid % 16", "tid % 16 * 16 + tid / 16"],
        element_bytes=4,
        row_elements=16,
        block=(16, 16),
    )
    assert found.padding is None
    assert found.least_padding is not None
    assert max(found.least_padding.passes) == 2


def test_a_suggestion_is_the_devices_own() -> None:
    index = "(threadIdx.x % 16) * 16 + threadIdx.x / 16"
    for name in ("h100", "mi300x"):
        device = load_device(name)
        found = suggest_layout(device, indices=[index], element_bytes=16)
        assert found.device == name
        assert found.padding is not None
        row, pad = found.padding.row_elements, found.padding.pad_elements
        padded = f"({index}) + ({index}) / {row} * {pad}"
        assert perfmodel.bank_conflicts(device, index=padded, element_bytes=16).conflict_free


def test_a_suggestion_counts_the_base_and_the_lanes_that_take_part() -> None:
    h100 = load_device("h100")
    shifted = suggest_layout(h100, indices=["threadIdx.x"], element_bytes=4, base_bytes=2)
    assert shifted.padding is None or shifted.padding.pad_elements > 0
    few = suggest_layout(
        h100, indices=["threadIdx.x * 32"], element_bytes=4, active="threadIdx.x == 0"
    )
    assert few.padding is not None
    assert few.padding.pad_elements == 0


def test_a_swizzle_stays_within_its_pieces() -> None:
    found = suggest_layout(load_device("h100"), indices=["threadIdx.x * 32"], element_bytes=4)
    assert found.swizzle is not None
    piece = found.swizzle.piece_bytes
    addresses = np.arange(32 * piece)
    moved = law.swizzled(addresses=addresses, mask=found.swizzle.mask, shift=found.swizzle.shift)
    assert sorted(moved.tolist()) == addresses.tolist()
    np.testing.assert_array_equal(moved // piece, addresses // piece)
