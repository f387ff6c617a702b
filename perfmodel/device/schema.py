"""The fields of a device file.

A field that does not exist
on a device (scalar registers on NVIDIA, carve-out steps on AMD) is left out; a field that exists
but is not known is `assumed`, with a range. Names follow the words of the design: MP for the SM
or CU, warp for the wavefront, shared memory for the LDS.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from perfmodel.device import values as v

Pipe = Literal["fp32", "fp16", "fp64", "int32", "special", "load_store"]
TensorType = Literal["fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"]
Latency = Literal[
    "fp32", "fp16", "fp64", "int32", "special", "shuffle", "barrier", "tensor", "tensor_group"
]
Peak = Literal[
    "fp32",
    "fp16",
    "fp64",
    "tensor_fp64",
    "tensor_fp32",
    "tensor_tf32",
    "tensor_fp16",
    "tensor_bf16",
    "tensor_fp8",
    "tensor_int8",
]
Operation = Literal["load", "store"]
AccessWidth = Literal["1 B", "2 B", "4 B", "8 B", "16 B"]

FORMAT = 1
"""The version of the file format that this release reads."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """A link to other devices or to the host."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    bandwidth: v.BytesPerSecond
    """Bandwidth in one direction."""
    latency: v.Seconds | None = None
    """Time of a message of no length."""


@dataclass(frozen=True, kw_only=True)
class DeviceFields:
    """Every field of a device file, in the order in which a shipped file gives them."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    # What the device is called

    format: Literal[1]
    """Version of the file format."""
    device: v.Name
    """The name it is loaded by; the file's name without .yaml."""
    name: Annotated[str, v.WrittenText(60)]
    """The vendor's name for it."""
    vendor: Annotated[str, v.WrittenText(40)]
    """Who makes it."""
    architecture: Annotated[str, v.WrittenText(40)]
    """Compiler target or architecture name, such as mp_31, sm_90 or gfx906."""
    aliases: tuple[str, ...] = ()
    """Other names it can be loaded by."""
    about: Annotated[str, v.WrittenText(1000, shortest=10)]
    """Which part, which variant, and what is least certain about it."""

    # Multiprocessors, clocks and the limits on resident work

    mps: v.Count
    """Multiprocessors (MP; NVIDIA: SM, AMD and Hygon: CU, on RDNA a WGP of two)."""
    clock: v.Hertz
    """Core clock behind the peaks of the ordinary pipes."""
    tensor_clock: v.Hertz | None = None
    """Core clock behind the tensor peaks, or under tensor load, where it differs."""
    warp_width: v.Few
    """Lanes of a warp (wavefront)."""
    alternative_warp_width: v.Few | None = None
    """Lanes of a warp that a kernel may be compiled for instead (RDNA: 64)."""
    max_warps_per_mp: v.Few
    """Warps resident on an MP at most."""
    max_threads_per_mp: v.Count
    """Threads resident on an MP at most."""
    max_blocks_per_mp: v.Few
    """Blocks resident on an MP at most."""
    max_threads_per_block: v.Few
    """Threads of a block at most."""
    barriers_per_mp: v.Count | None = None
    """Block barriers of an MP that resident blocks share, where that can limit them."""
    barrier_free_warps: v.FewOrNone | None = None
    """A block of so many warps or fewer takes no barrier (AMD: 1; NVIDIA: 0)."""

    # The register file and how it is allocated

    registers_per_mp: v.Count
    """32-bit registers of an MP, over all lanes."""
    registers_per_block: v.Count | None = None
    """Registers a single block may have, where less than an MP's."""
    register_partitions: v.Few
    """Equal parts the file is divided into; a warp's registers lie in one of them."""
    register_allocation_unit: v.Count
    """Registers of a warp are rounded up to a multiple of this many."""
    max_registers_per_thread: v.Few
    """Registers a thread can address, accumulation registers counted in where the file is one."""
    max_accumulation_registers_per_thread: v.Few | None = None
    """Accumulation registers a thread can address (AMD's matrix units)."""
    accumulation_register_alignment: v.Few | None = None
    """They follow a thread's vector registers in one file, from a multiple of this on; without it
    they have a file of their own, of the same size and allocated along with the other."""
    scalar_registers_per_partition: v.Count | None = None
    """Scalar registers shared by the warps of a partition (AMD)."""
    scalar_register_allocation_unit: v.Count | None = None
    """Scalar registers of a warp are rounded up to a multiple of this many."""
    scalar_registers_reserved_per_warp: v.FewOrNone | None = None
    """Scalar registers that the system takes for every warp (AMD: those of the trap handler)."""
    max_scalar_registers_per_warp: v.Count | None = None
    """Scalar registers a warp may have, as a compiler counts them: VCC and its like included."""
    register_read_ports: v.PerCycle
    """Operand registers an FMA lane can read in a cycle."""
    register_banks: v.Few
    """Banks of a lane's registers; operands in one bank are read one after the other."""

    # Shared memory (AMD: LDS)

    shared_per_mp: v.SharedBytes
    """Shared memory of an MP at its largest setting."""
    shared_per_block: v.SharedBytes
    """Shared memory a single block may ask for, opted in."""
    shared_allocation_unit: v.SharedBytes
    """A block's shared memory is rounded up to a multiple of this."""
    shared_reserved_per_block: v.SharedBytesOrNone
    """What the system takes of shared memory for every block."""
    shared_carveouts: v.Splits | None = None
    """Sizes that shared memory can be set to where it shares its body with the L1."""
    shared_banks: v.Few
    """Banks."""
    shared_bank_width: v.SharedBytes
    """Width of a bank."""
    shared_bandwidth: v.BytesPerCycle
    """Bytes a conflict-free access moves in a cycle, per MP."""
    shared_latency: v.Cycles
    """Latency of a conflict-free load."""
    shared_lane_groups: Mapping[Operation, Mapping[AccessWidth, v.Groups]] = field(
        default_factory=dict
    )
    """Lanes served together, by operation and width, where they are not simply consecutive."""
    shared_merge_distance: v.Few | None = None
    """Groups of a wide load are served in pairs where all lanes read what lane ^ d reads, for one
    power of two d up to this."""
    matrix_load_rows: v.Few | None = None
    """Lanes that give the rows of one matrix to a matrix load, where there is one (ldmatrix: 8)."""

    # Issue and arithmetic

    schedulers: v.Few
    """Warp schedulers of an MP (AMD: SIMDs)."""
    issue_width: v.PerCycle
    """Instructions a scheduler issues in a cycle; below 1 where a warp occupies it for several."""
    lanes: Mapping[Pipe, v.PerCycle]
    """Operations an MP starts in a cycle, by pipe; an FMA is one operation."""
    tensor_flop_per_cycle: Mapping[TensorType, v.FlopPerCycle] = field(default_factory=dict)
    """Dense FLOP a cycle of an MP's tensor unit, by operand type; an FMA is two."""
    peaks: Mapping[Peak, v.FlopPerSecond]
    """Nominal peaks of the whole device, dense."""
    achievable_peaks: Mapping[Peak, v.FlopPerSecond] = field(default_factory=dict)
    """What a well-written kernel was seen to reach."""
    latencies: Mapping[Latency, v.Cycles] = field(default_factory=dict)
    """Cycles until a dependent instruction can issue; of a barrier, with every warp there; of
    tensor_group, products that several warps share, beyond what they keep the unit busy."""

    # L1, L2 and, where there is one, a further level

    l1_size: v.Bytes
    """L1 of an MP, at its largest setting."""
    l1_line: v.SharedBytes
    """Line of the L1: the unit of a tag."""
    l1_sector: v.SharedBytes
    """What is moved at least of a line; the line itself where it has no sectors."""
    l1_bandwidth: v.BytesPerCycle
    """Bytes of hits a cycle, per MP."""
    l1_latency: v.Cycles
    """Latency of a hit."""
    l2_size: v.Bytes
    """L2 of the device, as one MP sees it."""
    l2_line: v.SharedBytes
    """Line of the L2."""
    l2_sector: v.SharedBytes
    """What is moved at least of an L2 line."""
    l2_bandwidth: v.BytesPerSecond
    """Read bandwidth of the whole L2."""
    l2_bandwidth_per_mp: v.BytesPerCycle
    """Bytes a cycle between one MP and the L2; those of loads alone where stores have a path of
    their own (`store_bandwidth_per_mp`)."""
    l2_line_rate: v.PerCycle | None = None
    """Requests for distinct lines that the whole L2 answers in a core cycle."""
    l2_store_bandwidth: v.BytesPerSecond | None = None
    """Bytes of stores that the whole L2 takes in a second, `partial_store_overhead` counted."""
    store_bandwidth_per_mp: v.BytesPerCycle | None = None
    """Bytes of stores a cycle from one MP to the L2, `partial_store_overhead` counted."""
    partial_store_overhead: v.Bytes | None = None
    """What a request costs on the way of stores for each line of which it writes some sector in
    part, beside its sectors."""
    l2_latency: v.Cycles
    """Latency of a hit; the near partition where there are two."""
    l2_far_latency: v.Cycles | None = None
    """Latency of a hit in the far partition."""
    l3_size: v.Bytes | None = None
    """A cache between L2 and DRAM (AMD: Infinity Cache)."""
    l3_line: v.Bytes | None = None
    """Its line."""
    l3_bandwidth: v.BytesPerSecond | None = None
    """Its read bandwidth."""
    l3_latency: v.Cycles | None = None
    """Latency of a hit in it."""

    # How a warp's global access becomes traffic

    transaction: v.SharedBytes
    """What the memory system below the load/store unit moves at a time."""
    coalescing_group: v.Few
    """Neighbouring lanes whose accesses are merged into one request; the warp where all are."""
    address_rate: v.PerCycle
    """Lanes whose addresses an MP takes in a cycle."""
    line_rate: v.PerCycle
    """Distinct lines an MP looks up in a cycle."""
    max_access: v.SharedBytes
    """Widest access of one thread in one instruction."""
    bytes_in_flight_per_mp: v.Bytes
    """Outstanding bytes an MP can have towards L2 and DRAM."""
    atomic_rate: v.PerCycle | None = None
    """Atomic operations on one address of global memory the device completes in a core cycle."""

    # Device memory

    dram_size: v.Bytes
    """Capacity."""
    dram_bandwidth: v.BytesPerSecond
    """Nominal bandwidth."""
    dram_bandwidth_achievable: v.BytesPerSecond
    """What a streaming copy reaches, reads and writes counted."""
    dram_read_bandwidth: v.BytesPerSecond | None = None
    """What reading alone reaches."""
    dram_write_bandwidth: v.BytesPerSecond | None = None
    """What writing alone reaches."""
    dram_bus_width: v.Bits | None = None
    """Width of the memory bus."""
    dram_data_rate: v.BitsPerSecond | None = None
    """Bits a second on one data pin."""
    dram_granule: v.Bytes
    """The least a DRAM access moves."""
    dram_latency: v.Cycles
    """Latency of a load that misses every cache, in core cycles."""
    saturation_sharpness: v.Exponent | None = None
    """n of the time (T_latency^n + T_throughput^n)^(1/n) of streaming, as resident warps grow."""

    # What starting work costs

    kernel_launch: v.Seconds
    """Time between the starts of empty kernels, back to back in one stream, on the device."""
    launch_and_wait: v.Seconds | None = None
    """What one empty kernel takes between two events, where they wait for it."""
    block_launch: v.Cycles
    """Cycles between two blocks started on one MP."""
    block_turnaround: v.Cycles | None = None
    """Cycles between the end of a block and the start of the next in its place."""
    links: Mapping[v.Name, Link] = field(default_factory=dict)
    """Links by name: mtlink, xhmi, nvlink, infinity_fabric, pcie."""
