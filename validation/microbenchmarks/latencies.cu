// Latencies of dependent instructions, the rate of atomics on one address, and DRAM read bandwidth
// as the number of resident warps grows.
//
// Build and run (compute capability 8.0 or later, 2 GiB of device memory, well under a minute):
//     nvcc -O3 -arch=sm_90 -o latencies latencies.cu
//     ./latencies DIRECTORY
// It writes DIRECTORY/latencies.csv and DIRECTORY/saturation.csv and prints both.
//
// A latency is the time of a long chain, less that of a shorter one, over the difference of their
// lengths, so that the start, the end and the reading of the clock fall out. The chains are inline
// PTX that the assembler can neither reorder nor shorten. A bandwidth is the median of five
// launches, each over memory that the ones before it have pushed out of the L2.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                            \
    do {                                                                                       \
        cudaError_t error = (call);                                                            \
        if (error != cudaSuccess) {                                                            \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
            std::exit(1);                                                                      \
        }                                                                                      \
    } while (0)

// Dependent chains: each step reads what the step before it wrote.

struct Fma32 {
    using T = float;
    __device__ static void step(T& x, T a) {
        asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(a));
    }
};
struct Fma16 {
    using T = unsigned;
    __device__ static void step(T& x, T a) {
        asm volatile("fma.rn.f16x2 %0, %0, %1, %1;" : "+r"(x) : "r"(a));
    }
};
struct Fma64 {
    using T = double;
    __device__ static void step(T& x, T a) {
        asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(x) : "d"(a));
    }
};
struct Mad32 {
    using T = unsigned;
    __device__ static void step(T& x, T a) {
        asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(x) : "r"(a));
    }
};
struct AddXor32 {  // two instructions a step, so that sums cannot be merged
    using T = unsigned;
    __device__ static void step(T& x, T a) {
        asm volatile("add.u32 %0, %0, %1;\n\txor.b32 %0, %0, %1;" : "+r"(x) : "r"(a));
    }
};
struct Exp2 {
    using T = float;
    __device__ static void step(T& x, T) { asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x)); }
};
struct RcpAdd {  // with an addition, since the reciprocal of a reciprocal would be dropped
    using T = float;
    __device__ static void step(T& x, T a) {
        asm volatile("rcp.approx.ftz.f32 %0, %0;\n\tadd.ftz.f32 %0, %0, %1;" : "+f"(x) : "f"(a));
    }
};
struct ShuffleDown {  // by a distance that is the value itself: shuffles by a constant are merged
    using T = unsigned;
    __device__ static void step(T& x, T) {
        asm volatile("shfl.sync.down.b32 %0, %0, %0, 31, 0xffffffff;" : "+r"(x));
    }
};
struct ShuffleXor {
    using T = unsigned;
    __device__ static void step(T& x, T) {
        asm volatile("shfl.sync.bfly.b32 %0, %0, %0, 31, 0xffffffff;" : "+r"(x));
    }
};
struct Add32 {
    using T = float;
    __device__ static void step(T& x, T a) {
        asm volatile("add.ftz.f32 %0, %0, %1;" : "+f"(x) : "f"(a));
    }
};
struct Barrier {
    using T = unsigned;
    __device__ static void step(T&, T) { asm volatile("bar.sync 0;" ::: "memory"); }
};
struct Four {
    float x, y, z, w;
};
struct Mma16816 {
    using T = Four;
    __device__ static void step(T& c, T a) {
        unsigned r = __float_as_uint(a.x);
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
            : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
            : "r"(r));
    }
};
struct Mma1688 {
    using T = Four;
    __device__ static void step(T& c, T a) {
        unsigned r = __float_as_uint(a.x);
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
            "{%0,%1,%2,%3}, {%4,%4}, {%4}, {%0,%1,%2,%3};"
            : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
            : "r"(r));
    }
};

constexpr int STEPS = 256;

template <class Op>
__global__ void chain(typename Op::T a, int repeats, long long* cycles, typename Op::T* values) {
    typename Op::T x = values[threadIdx.x];  // from memory: a shuffle of what is uniform is dropped
    long long start = clock64();
#pragma unroll 1
    for (int r = 0; r < repeats; ++r) {
#pragma unroll
        for (int s = 0; s < STEPS; ++s) Op::step(x, a);
    }
    long long stop = clock64();
    values[threadIdx.x] = x;
    if (threadIdx.x == 0) *cycles = stop - start;
}

long long read(const long long* on_device) {
    long long value;
    CHECK(cudaMemcpy(&value, on_device, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

template <class Op>
double latency(int threads, typename Op::T x, typename Op::T a) {
    long long* cycles;
    typename Op::T* values;
    std::vector<typename Op::T> first(1024, x);
    size_t bytes = first.size() * sizeof x;
    CHECK(cudaMalloc(&cycles, sizeof *cycles));
    CHECK(cudaMalloc(&values, bytes));
    constexpr int SHORT = 8, LONG = 40;
    auto shortest = [&](int repeats) {
        long long best = INT64_MAX;
        for (int i = 0; i < 6; ++i) {
            CHECK(cudaMemcpy(values, first.data(), bytes, cudaMemcpyHostToDevice));
            chain<Op><<<1, threads>>>(a, repeats, cycles, values);
            CHECK(cudaGetLastError());
            best = std::min(best, read(cycles));
        }
        return best;
    };
    double steps = double(LONG - SHORT) * STEPS;
    double result = double(shortest(LONG) - shortest(SHORT)) / steps;
    CHECK(cudaFree(cycles));
    CHECK(cudaFree(values));
    return result;
}

// Atomics on one address.

enum AtomicMode {
    EVERY_LANE_F32,
    EVERY_LANE_U32,  // the compiler adds up the lanes of a warp first
    LANE_0_F32,
    LANE_0_U32,
    LANE_0_RETURN,
    BLOCK_ONCE,
    NONE
};

template <int MODE>
__global__ void atomics(unsigned* address, int repeats, unsigned* sink) {
    unsigned lane = threadIdx.x & 31, value = lane + 1, kept = 0;
    if (MODE == EVERY_LANE_F32) {
#pragma unroll 1
        for (int r = 0; r < repeats; ++r)
            asm volatile("red.global.add.f32 [%0], %1;" ::"l"(address), "f"(1.0f) : "memory");
    } else if (MODE == EVERY_LANE_U32) {
#pragma unroll 1
        for (int r = 0; r < repeats; ++r)
            asm volatile("red.global.add.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
    } else if (MODE == LANE_0_F32 && lane == 0) {
#pragma unroll 1
        for (int r = 0; r < repeats; ++r)
            asm volatile("red.global.add.f32 [%0], %1;" ::"l"(address), "f"(1.0f) : "memory");
    } else if (MODE == LANE_0_U32 && lane == 0) {
#pragma unroll 1
        for (int r = 0; r < repeats; ++r)
            asm volatile("red.global.add.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
    } else if (MODE == LANE_0_RETURN && lane == 0) {
#pragma unroll 1
        for (int r = 0; r < repeats; ++r) {
            unsigned old;
            asm volatile("atom.global.add.u32 %0, [%1], %2;"
                         : "=r"(old)
                         : "l"(address), "r"(value)
                         : "memory");
            kept ^= old;
        }
    } else if (MODE == BLOCK_ONCE && threadIdx.x == 0) {
        asm volatile("red.global.add.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
    }
    if (kept == 0x9e3779b9u) *sink = kept;
}

float median_ms(std::vector<float> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

struct Timer {
    cudaEvent_t start, stop;
    Timer() {
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&stop));
    }
    template <class F>
    float ms(F launch) {
        float result;
        CHECK(cudaEventRecord(start));
        launch();
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&result, start, stop));
        return result;
    }
};

template <int MODE>
float atomic_ms(int blocks, int threads, int repeats, unsigned long long expected) {
    unsigned* words;
    CHECK(cudaMalloc(&words, 1024));
    Timer timer;
    std::vector<float> times;
    for (int i = 0; i < 6; ++i) {
        CHECK(cudaMemset(words, 0, 1024));
        float ms = timer.ms(
            [&] { atomics<MODE><<<blocks, threads>>>(words, repeats, words + 128); });
        if (i) times.push_back(ms);
        unsigned sum;
        CHECK(cudaMemcpy(&sum, words, sizeof sum, cudaMemcpyDeviceToHost));
        if (expected && sum != unsigned(expected))
            std::printf("# WRONG SUM in mode %d: %u, not %u\n", MODE, sum, unsigned(expected));
    }
    CHECK(cudaFree(words));
    return median_ms(times);
}

// DRAM reads.

__global__ void fill(unsigned* words, size_t count) {
    size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride)
        words[i] = unsigned(i * 2654435761u) ^ unsigned(i >> 13);
}

template <int BYTES>
struct Load;
template <>
struct Load<4> {
    using T = unsigned;
    __device__ static T load(const T* p) {
        T v;
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p));
        return v;
    }
    __device__ static unsigned fold(T v) { return v; }
};
template <>
struct Load<16> {
    using T = uint4;
    __device__ static T load(const T* p) {
        T v;
        asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(p));
        return v;
    }
    __device__ static unsigned fold(T v) { return v.x ^ v.y ^ v.z ^ v.w; }
};

template <int BYTES, int LOADS>
__global__ void stream(const typename Load<BYTES>::T* from, int rounds, unsigned* sink) {
    using L = Load<BYTES>;
    size_t stride = size_t(gridDim.x) * blockDim.x;
    from += size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    unsigned folded = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; ++r) {
        typename L::T values[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; ++i) values[i] = L::load(from + i * stride);
#pragma unroll
        for (int i = 0; i < LOADS; ++i) folded ^= L::fold(values[i]);
        from += LOADS * stride;
    }
    if (folded == 0x9e3779b9u) *sink = folded;
}

constexpr size_t BUFFER = size_t(2) << 30;
size_t cursor = 0;  // where the next launch starts to read

template <int BYTES, int LOADS>
void saturation(std::FILE* csv, const unsigned char* buffer, unsigned* sink, int mps,
                int threads, int most_per_mp) {
    Timer timer;
    std::vector<int> grids;
    for (int blocks = 1; blocks < mps / 2; blocks *= 2) grids.push_back(blocks);
    grids.push_back(mps / 2);
    for (int each = 1; each <= most_per_mp; each *= 2) grids.push_back(each * mps);
    for (int blocks : grids) {
        size_t round = size_t(blocks) * threads * BYTES * LOADS;
        int rounds = int(std::min(BUFFER / round, size_t(16000)));
        size_t bytes = round * rounds;
        std::vector<float> times;
        for (int i = 0; i < 6; ++i) {
            if (cursor + bytes > BUFFER) cursor = 0;
            auto from = reinterpret_cast<const typename Load<BYTES>::T*>(buffer + cursor);
            float ms = timer.ms(
                [&] { stream<BYTES, LOADS><<<blocks, threads>>>(from, rounds, sink); });
            cursor += (bytes + 4095) / 4096 * 4096;
            if (i) times.push_back(ms);
        }
        double rate = double(bytes) / median_ms(times) / 1e6;
        std::fprintf(csv, "%d,%d,%d,%d,%.1f\n", blocks, threads, BYTES, LOADS, rate);
    }
}

// DRAM latency: one thread follows a chain of addresses.

__global__ void link(unsigned long long* words, size_t count, size_t step) {
    size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride)
        words[i] = (i + step) % count;
}

__global__ void chase(const unsigned long long* words, int steps, size_t at, long long* cycles,
                      unsigned* sink) {
    long long start = clock64();
#pragma unroll 1
    for (int s = 0; s < steps; ++s) at = *(const volatile unsigned long long*)(words + at);
    if (at == SIZE_MAX) *sink = 1;
    long long stop = clock64();
    *cycles = stop - start;
}

void print(const std::string& path) {
    std::FILE* file = std::fopen(path.c_str(), "r");
    for (int c; (c = std::fgetc(file)) != EOF;) std::putchar(c);
    std::fclose(file);
}

int main(int count, char** arguments) {
    std::string directory = count > 1 ? arguments[1] : ".";
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    int mps = device.multiProcessorCount, runtime;
    CHECK(cudaRuntimeGetVersion(&runtime));

    std::FILE* csv = std::fopen((directory + "/latencies.csv").c_str(), "w");
    if (!csv) return std::perror("latencies.csv"), 1;
    std::fprintf(csv, "# %s, %d MPs, CUDA %d.%d\n", device.name, mps, runtime / 1000,
                 runtime % 1000 / 10);
    std::fprintf(csv, "quantity,value,unit\n");

    // The core clock: a chain of known cycles, timed from outside.
    long long* cycles;
    float* values;
    CHECK(cudaMalloc(&cycles, sizeof *cycles));
    CHECK(cudaMalloc(&values, 1024 * sizeof *values));
    CHECK(cudaMemset(values, 0, 1024 * sizeof *values));
    Timer timer;
    double hz = 0;
    for (int i = 0; i < 3; ++i) {
        float ms = timer.ms([&] { chain<Fma32><<<1, 32>>>(0.5f, 40000, cycles, values); });
        hz = double(read(cycles)) / ms * 1e3;
    }
    std::fprintf(csv, "core clock under a chain,%.1f,MHz\n", hz / 1e6);

    auto row = [&](const char* name, double value) {
        std::fprintf(csv, "%s,%.3f,cycles\n", name, value);
    };
    row("fma.rn.f32", latency<Fma32>(32, 1.f, 0.5f));
    row("fma.rn.f16x2 (compiled for two pipes in turns)",
        latency<Fma16>(32, 0x3c003c00u, 0x38003800u));
    row("fma.rn.f64", latency<Fma64>(32, 1., 0.5));
    row("mad.lo.u32", latency<Mad32>(32, 3u, 5u));
    row("add.u32 or xor.b32 in a chain of both in turns", latency<AddXor32>(32, 3u, 5u) / 2);
    row("ex2.approx.ftz.f32", latency<Exp2>(32, 0.5f, 0.f));
    double add = latency<Add32>(32, 1.5f, 0.5f);
    row("add.ftz.f32", add);
    row("rcp.approx.ftz.f32", latency<RcpAdd>(32, 1.5f, 0.5f) - add);
    row("shfl.sync.down.b32", latency<ShuffleDown>(32, 1u, 0u));
    row("shfl.sync.bfly.b32", latency<ShuffleXor>(32, 1u, 0u));
    for (int warps : {1, 2, 3, 4, 5, 6, 7, 8, 16, 32}) {
        std::string name = "bar.sync with " + std::to_string(warps) + " warps";
        row(name.c_str(), latency<Barrier>(32 * warps, 0u, 0u));
    }
    Four one = {1.f, 1.f, 1.f, 1.f};
    row("mma.m16n8k16 f16 into f32", latency<Mma16816>(32, one, one));
    row("mma.m16n8k8 f16 into f32", latency<Mma1688>(32, one, one));

    auto rate = [&](const char* name, double operations, float ms) {
        std::fprintf(csv, "%s,%.4f,operations/cycle\n", name, operations / (ms * 1e-3 * hz));
    };
    int blocks = 8 * mps, threads = 256, warps = blocks * threads / 32;
    rate("red.add.f32 on one address by every lane", double(blocks) * threads * 64,
         atomic_ms<EVERY_LANE_F32>(blocks, threads, 64, 0));
    rate("red.add.u32 on one address by every lane", double(blocks) * threads * 64,
         atomic_ms<EVERY_LANE_U32>(blocks, threads, 64, 528ull * warps * 64));
    rate("red.add.f32 on one address by one lane a warp", double(warps) * 1024,
         atomic_ms<LANE_0_F32>(blocks, threads, 1024, 0));
    rate("red.add.u32 on one address by one lane a warp", double(warps) * 1024,
         atomic_ms<LANE_0_U32>(blocks, threads, 1024, 1ull * warps * 1024));
    rate("atom.add.u32 on one address by one lane a warp", double(warps) * 256,
         atomic_ms<LANE_0_RETURN>(blocks, threads, 256, 1ull * warps * 256));
    int many = 1 << 20;
    rate("red.add.u32 once a block of 32 threads", many,
         atomic_ms<BLOCK_ONCE>(many, 32, 1, many));
    rate("blocks of 32 threads without an atomic", many, atomic_ms<NONE>(many, 32, 1, 0));

    unsigned char* buffer;
    unsigned* sink;
    CHECK(cudaMalloc(&buffer, BUFFER));
    CHECK(cudaMalloc(&sink, sizeof *sink));
    auto words = reinterpret_cast<unsigned long long*>(buffer);
    size_t step = (4096 + 128) / sizeof *words;
    link<<<8 * mps, 256>>>(words, BUFFER / sizeof *words, step);
    CHECK(cudaGetLastError());
    int hops = 100000;
    for (int i = 0; i < 3; ++i) {
        chase<<<1, 1>>>(words, hops, size_t(i) * hops * step, cycles, sink);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
    }
    row("dependent load from DRAM", double(read(cycles)) / hops);
    std::fclose(csv);

    fill<<<8 * mps, 256>>>(reinterpret_cast<unsigned*>(buffer), BUFFER / 4);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    csv = std::fopen((directory + "/saturation.csv").c_str(), "w");
    if (!csv) return std::perror("saturation.csv"), 1;
    std::fprintf(csv, "# %s, %d MPs, CUDA %d.%d\n", device.name, mps, runtime / 1000,
                 runtime % 1000 / 10);
    std::fprintf(csv, "blocks,threads,bytes_per_load,loads_in_flight,gigabytes_per_second\n");
    saturation<16, 1>(csv, buffer, sink, mps, 128, 16);
    saturation<16, 1>(csv, buffer, sink, mps, 256, 8);
    saturation<16, 4>(csv, buffer, sink, mps, 128, 16);
    saturation<16, 4>(csv, buffer, sink, mps, 256, 8);
    saturation<4, 1>(csv, buffer, sink, mps, 128, 16);
    saturation<4, 1>(csv, buffer, sink, mps, 256, 8);
    saturation<4, 4>(csv, buffer, sink, mps, 128, 16);
    saturation<4, 4>(csv, buffer, sink, mps, 256, 8);
    std::fclose(csv);
    CHECK(cudaDeviceSynchronize());
    print(directory + "/latencies.csv");
    print(directory + "/saturation.csv");
}
