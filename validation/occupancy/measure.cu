// What the CUDA runtime says of kernels as nvcc compiles them: the registers and static shared
// memory they take, and the blocks of them an SM holds, for many block sizes, amounts of dynamic
// shared memory and carve-out preferences.
//
// Build and run (compute capability 7.0 or later, a second; nothing is launched):
//     nvcc -std=c++17 -arch=sm_90 -o measure measure.cu
//     ./measure > nvcc_kernels.csv
//
// The barriers of a kernel are those its source names; the runtime does not report them. compile.py
// has nvcc's own report of all three, for every architecture and without a device.

#include <cstdio>
#include <cstdlib>
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

// Kernels as people write them.

__global__ void vector_add(float* c, const float* a, const float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void vector_add_four(float4* c, const float4* a, const float4* b, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 x = a[i], y = b[i];
        c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
}

__global__ void block_sum(float* sums, const float* values, int n) {
    __shared__ float of_warps[32];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += values[i];
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(~0u, sum, lanes);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float whole = 0;
        for (int warp = 0; warp < blockDim.x / 32; ++warp) whole += of_warps[warp];
        sums[blockIdx.x] = whole;
    }
}

__global__ void transpose_padded(float* out, const float* in, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x % 32, y = blockIdx.y * 32 + threadIdx.x / 32;
    for (int row = 0; row < 32; row += blockDim.x / 32)
        tile[threadIdx.x / 32 + row][threadIdx.x % 32] = in[(y + row) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x % 32, y = blockIdx.x * 32 + threadIdx.x / 32;
    for (int row = 0; row < 32; row += blockDim.x / 32)
        out[(y + row) * n + x] = tile[threadIdx.x % 32][threadIdx.x / 32 + row];
}

__global__ void histogram(unsigned* counts, const unsigned char* values, int n) {
    __shared__ unsigned of_block[256];
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) of_block[bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&of_block[values[i]], 1u);
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) atomicAdd(&counts[bin], of_block[bin]);
}

__global__ void softmax_row(float* out, const float* in, int columns) {
    const float* row = in + (size_t)blockIdx.x * columns;
    float largest = -1e30f, sum = 0;
    for (int i = threadIdx.x % 32; i < columns; i += 32) {
        float next = fmaxf(largest, row[i]);
        sum = sum * __expf(largest - next) + __expf(row[i] - next);
        largest = next;
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        float other = __shfl_xor_sync(~0u, largest, lanes), next = fmaxf(largest, other);
        sum = sum * __expf(largest - next) + __shfl_xor_sync(~0u, sum, lanes) * __expf(other - next);
        largest = next;
    }
    for (int i = threadIdx.x % 32; i < columns; i += 32)
        out[(size_t)blockIdx.x * columns + i] = __expf(row[i] - largest) / sum;
}

// A matrix product whose threads hold TILE x TILE sums each, so that registers grow with TILE.
template <int TILE, int DEPTH>
__device__ __forceinline__ void multiply(float* c, const float* a, const float* b, int n) {
    __shared__ float tile_a[DEPTH][16 * TILE], tile_b[DEPTH][16 * TILE];
    float sums[TILE][TILE] = {};
    int x = threadIdx.x % 16, y = threadIdx.x / 16 % 16;
    for (int k = 0; k < n; k += DEPTH) {
        for (int i = threadIdx.x; i < DEPTH * 16 * TILE; i += blockDim.x) {
            tile_a[i % DEPTH][i / DEPTH] = a[(blockIdx.y * 16 * TILE + i / DEPTH) * n + k + i % DEPTH];
            tile_b[i / (16 * TILE)][i % (16 * TILE)] =
                b[(k + i / (16 * TILE)) * n + blockIdx.x * 16 * TILE + i % (16 * TILE)];
        }
        __syncthreads();
#pragma unroll
        for (int depth = 0; depth < DEPTH; ++depth)
#pragma unroll
            for (int i = 0; i < TILE; ++i)
#pragma unroll
                for (int j = 0; j < TILE; ++j)
                    sums[i][j] += tile_a[depth][y + 16 * i] * tile_b[depth][x + 16 * j];
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TILE; ++i)
#pragma unroll
        for (int j = 0; j < TILE; ++j)
            c[(blockIdx.y * 16 * TILE + y + 16 * i) * n + blockIdx.x * 16 * TILE + x + 16 * j] =
                sums[i][j];
}

template <int TILE>
__global__ void gemm(float* c, const float* a, const float* b, int n) {
    multiply<TILE, 8>(c, a, b, n);
}

// The same product where the compiler is told how many threads and blocks there will be.
template <int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
gemm_bounded(float* c, const float* a, const float* b, int n) {
    multiply<8, 16>(c, a, b, n);
}

// COUNT values of a thread that all live until the last of them has been read.
template <int COUNT>
__global__ void hold(float* values, int steps) {
    float held[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) held[i] = values[i * blockDim.x + threadIdx.x];
    for (int step = 0; step < steps; ++step)
#pragma unroll
        for (int i = 0; i < COUNT; ++i) held[i] = held[i] * held[(i + 1) % COUNT] + 1.0f;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) values[i * blockDim.x + threadIdx.x] = held[i];
}

// BYTES of static shared memory.
template <int BYTES>
__global__ void keep(int* values) {
    __shared__ int kept[BYTES / 4];
    for (int i = threadIdx.x; i < BYTES / 4; i += blockDim.x) kept[i] = values[i];
    __syncthreads();
    for (int i = threadIdx.x; i < BYTES / 4; i += blockDim.x) values[i] = kept[BYTES / 4 - 1 - i];
}

// The named barriers from 0 to COUNT - 1.
template <int COUNT>
__device__ __forceinline__ void wait_at_all() {
    if constexpr (COUNT > 0) {
        wait_at_all<COUNT - 1>();
        asm volatile("bar.sync %0;" ::"n"(COUNT - 1) : "memory");
    }
}

template <int COUNT>
__global__ void wait(int* values) {
    values[threadIdx.x] += 1;
    wait_at_all<COUNT>();
    values[threadIdx.x + 1] += 1;
}

struct Kernel {
    const char* name;
    const void* function;
    int barriers;
};

static const Kernel kernels[] = {
    {"vector_add", (const void*)vector_add, 0},
    {"vector_add_four", (const void*)vector_add_four, 0},
    {"block_sum", (const void*)block_sum, 1},
    {"transpose_padded", (const void*)transpose_padded, 1},
    {"histogram", (const void*)histogram, 1},
    {"softmax_row", (const void*)softmax_row, 0},
    {"gemm_1", (const void*)gemm<1>, 1},
    {"gemm_4", (const void*)gemm<4>, 1},
    {"gemm_8", (const void*)gemm<8>, 1},
    {"gemm_bounded_256_1", (const void*)gemm_bounded<256, 1>, 1},
    {"gemm_bounded_256_3", (const void*)gemm_bounded<256, 3>, 1},
    {"gemm_bounded_512_2", (const void*)gemm_bounded<512, 2>, 1},
    {"hold_6", (const void*)hold<6>, 0},
    {"hold_12", (const void*)hold<12>, 0},
    {"hold_20", (const void*)hold<20>, 0},
    {"hold_30", (const void*)hold<30>, 0},
    {"hold_42", (const void*)hold<42>, 0},
    {"hold_55", (const void*)hold<55>, 0},
    {"hold_70", (const void*)hold<70>, 0},
    {"keep_4", (const void*)keep<4>, 1},
    {"keep_10000", (const void*)keep<10000>, 1},
    {"keep_49152", (const void*)keep<49152>, 1},
    {"wait_2", (const void*)wait<2>, 2},
    {"wait_5", (const void*)wait<5>, 5},
    {"wait_16", (const void*)wait<16>, 16},
};

int main() {
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    std::printf("kernel,arch,registers,static_shared,barriers,block,dynamic_shared,carveout,"
                "blocks_per_mp\n");
    for (const Kernel& kernel : kernels) {
        cudaFuncAttributes taken;
        CHECK(cudaFuncGetAttributes(&taken, kernel.function));
        int fixed = (int)taken.sharedSizeBytes, most = (int)device.sharedMemPerBlockOptin - fixed;
        std::vector<int> dynamic = {0};
        for (int size : {12 * 1024, 70000, most})
            if (size > dynamic.back() && size <= most) dynamic.push_back(size);
        for (int shared : dynamic) {
            CHECK(cudaFuncSetAttribute(kernel.function,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
            for (int carveout : {-1, 0, 25, 100}) {
                CHECK(cudaFuncSetAttribute(
                    kernel.function, cudaFuncAttributePreferredSharedMemoryCarveout, carveout));
                for (int block : {32, 64, 100, 128, 192, 256, 416, 512, 1024}) {
                    if (block > taken.maxThreadsPerBlock) continue;
                    int blocks = 0;
                    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.function,
                                                                        block, shared));
                    std::printf("%s,sm_%d%d,%d,%d,%d,%d,%d,%d,%d\n", kernel.name, device.major,
                                device.minor, taken.numRegs, fixed, kernel.barriers, block, shared,
                                carveout, blocks);
                }
            }
        }
    }
    return 0;
}
