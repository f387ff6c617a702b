// Matrix product: the rungs of perfmodel/kernels/library/gemm.yaml.
#include "product.cuh"

// ---- one element a thread ------------------------------------------------------------------------

constexpr int kSide = 16;  // of a block of naive, and of a block and a tile of tiled

__global__ void __launch_bounds__(kSide * kSide) naive(const float* __restrict__ a,
                                                       const float* __restrict__ b,
                                                       float* __restrict__ c, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < m && col < n) {
    float sum = 0;
#pragma unroll 4
    for (int i = 0; i < k; ++i) sum = fmaf(a[1LL * row * k + i], b[1LL * i * n + col], sum);
    c[1LL * row * n + col] = sum;
  }
}

__global__ void __launch_bounds__(kSide * kSide) tiled(const float* __restrict__ a,
                                                       const float* __restrict__ b,
                                                       float* __restrict__ c, int m, int n, int k) {
  __shared__ alignas(16) float tile_a[kSide * kSide];
  __shared__ alignas(16) float tile_b[kSide * kSide];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * kSide + ty, col = blockIdx.x * kSide + tx;
  float sum = 0;
  for (int t = 0; t < ceil_div(k, kSide); ++t) {
    float x = row < m && t * kSide + tx < k ? a[1LL * row * k + t * kSide + tx] : 0;
    float y = t * kSide + ty < k && col < n ? b[1LL * (t * kSide + ty) * n + col] : 0;
    tile_a[ty * kSide + tx] = x;
    tile_b[ty * kSide + tx] = y;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kSide; ++i) sum = fmaf(tile_a[ty * kSide + i], tile_b[i * kSide + tx], sum);
    __syncthreads();
  }
  if (row < m && col < n) c[1LL * row * n + col] = sum;
}

// ---- 8 x 8 elements a thread ---------------------------------------------------------------------

constexpr int kBm = 128, kBn = 128, kBk = 8;  // a block's tile
constexpr int kTm = 8, kTn = 8;               // a thread's
constexpr int kPad = 4;                       // elements between the rows of A's tile
constexpr int kThreads = (kBm / kTm) * (kBn / kTn);
constexpr int kLoadsA = kBm * kBk / 4 / kThreads, kLoadsB = kBn * kBk / 4 / kThreads;
constexpr int kSizeA = kBk * (kBm + kPad), kSizeB = kBk * kBn;
constexpr int kStrip = 8;                     // block columns of a strip

// What a thread brings from global to shared memory in a step.
struct Staged {
  float4 a[kLoadsA], b[kLoadsB];

  __device__ void load(const float* from_a, const float* from_b, int n, int k, int brow, int bcol, int t) {
    int tid = threadIdx.x;
#pragma unroll
    for (int j = 0; j < kLoadsA; ++j) {
      int q = tid + j * kThreads;
      a[j] = *(const float4*)&from_a[1LL * (brow * kBm + q / (kBk / 4)) * k + t * kBk + q % (kBk / 4) * 4];
    }
#pragma unroll
    for (int j = 0; j < kLoadsB; ++j) {
      int q = tid + j * kThreads;
      b[j] = *(const float4*)&from_b[1LL * (t * kBk + q / (kBn / 4)) * n + bcol * kBn + q % (kBn / 4) * 4];
    }
  }

  // A is turned, so that the rows of a thread's tile lie side by side.
  __device__ void store(float* tile_a, float* tile_b) const {
    int tid = threadIdx.x;
#pragma unroll
    for (int j = 0; j < kLoadsA; ++j) {
      int q = tid + j * kThreads;
      float* to = &tile_a[q % (kBk / 4) * 4 * (kBm + kPad) + q / (kBk / 4)];
      to[0] = a[j].x;
      to[kBm + kPad] = a[j].y;
      to[2 * (kBm + kPad)] = a[j].z;
      to[3 * (kBm + kPad)] = a[j].w;
    }
#pragma unroll
    for (int j = 0; j < kLoadsB; ++j) *(float4*)&tile_b[(tid + j * kThreads) * 4] = b[j];
  }
};

// A row of A's tile and a row of B's, as far as a thread needs them.
struct Fragments {
  float a[kTm], b[kTn];

  __device__ void load(const float* tile_a, const float* tile_b, int i) {
    int tx = threadIdx.x % (kBn / kTn), ty = threadIdx.x / (kBn / kTn);
#pragma unroll
    for (int f = 0; f < kTm / 4; ++f)
      *(float4*)&a[f * 4] = *(const float4*)&tile_a[i * (kBm + kPad) + ty * kTm + f * 4];
#pragma unroll
    for (int f = 0; f < kTn / 4; ++f)
      *(float4*)&b[f * 4] = *(const float4*)&tile_b[i * kBn + (f * (kBn / kTn) + tx) * 4];
  }

  __device__ void multiply_into(float (&sum)[kTm][kTn]) const {
#pragma unroll
    for (int r = 0; r < kTm; ++r)
#pragma unroll
      for (int c = 0; c < kTn; ++c) sum[r][c] = fmaf(a[r], b[c], sum[r][c]);
  }
};

__device__ void store_sums(const float (&sum)[kTm][kTn], float* c, int n, int brow, int bcol) {
  int tx = threadIdx.x % (kBn / kTn), ty = threadIdx.x / (kBn / kTn);
#pragma unroll
  for (int r = 0; r < kTm; ++r)
#pragma unroll
    for (int f = 0; f < kTn / 4; ++f)
      *(float4*)&c[1LL * (brow * kBm + ty * kTm + r) * n + bcol * kBn + (f * (kBn / kTn) + tx) * 4] =
          make_float4(sum[r][f * 4], sum[r][f * 4 + 1], sum[r][f * 4 + 2], sum[r][f * 4 + 3]);
}

// The fragments of the next row are read while those of this one are multiplied.
__device__ void multiply_double_buffered(float (&sum)[kTm][kTn], const float* tile_a, const float* tile_b) {
  Fragments fragments[2];
  fragments[0].load(tile_a, tile_b, 0);
#pragma unroll
  for (int i = 1; i < kBk; ++i) {
    fragments[i % 2].load(tile_a, tile_b, i);
    fragments[(i - 1) % 2].multiply_into(sum);
  }
  fragments[(kBk - 1) % 2].multiply_into(sum);
}

__global__ void __launch_bounds__(kThreads) register_tile(const float* __restrict__ a,
                                                          const float* __restrict__ b,
                                                          float* __restrict__ c, int, int n, int k) {
  __shared__ alignas(16) float tile_a[kSizeA];
  __shared__ alignas(16) float tile_b[kSizeB];
  float sum[kTm][kTn] = {};
  for (int t = 0; t < k / kBk; ++t) {
    Staged staged;
    staged.load(a, b, n, k, blockIdx.y, blockIdx.x, t);
    __syncthreads();  // nobody reads the tiles of the step before any more
    staged.store(tile_a, tile_b);
    __syncthreads();
#pragma unroll 1  // unrolled, it would be the next rung
    for (int i = 0; i < kBk; ++i) {
      Fragments fragments;
      fragments.load(tile_a, tile_b, i);
      fragments.multiply_into(sum);
    }
  }
  store_sums(sum, c, n, blockIdx.y, blockIdx.x);
}

__global__ void __launch_bounds__(kThreads) shared_double_buffer(const float* __restrict__ a,
                                                                 const float* __restrict__ b,
                                                                 float* __restrict__ c, int, int n,
                                                                 int k) {
  __shared__ alignas(16) float tile_a[kSizeA];
  __shared__ alignas(16) float tile_b[kSizeB];
  float sum[kTm][kTn] = {};
  for (int t = 0; t < k / kBk; ++t) {
    Staged staged;
    staged.load(a, b, n, k, blockIdx.y, blockIdx.x, t);
    __syncthreads();
    staged.store(tile_a, tile_b);
    __syncthreads();
    multiply_double_buffered(sum, tile_a, tile_b);
  }
  store_sums(sum, c, n, blockIdx.y, blockIdx.x);
}

// The block's place in C, running down a strip of a few block columns before the next strip.
__device__ int2 place_in_strips() {
  int number = blockIdx.y * gridDim.x + blockIdx.x, of_strip = kStrip * gridDim.y;
  return make_int2(number / of_strip * kStrip + number % kStrip, number % of_strip / kStrip);
}

// global_double_buffer, and with strips block_swizzle.
template <bool kStrips>
__global__ void __launch_bounds__(kThreads) global_double_buffer(const float* __restrict__ a,
                                                                 const float* __restrict__ b,
                                                                 float* __restrict__ c, int, int n,
                                                                 int k) {
  __shared__ alignas(16) float tile_a[2][kSizeA];
  __shared__ alignas(16) float tile_b[2][kSizeB];
  int2 place = kStrips ? place_in_strips() : make_int2(blockIdx.x, blockIdx.y);
  float sum[kTm][kTn] = {};
  Staged staged;
  staged.load(a, b, n, k, place.y, place.x, 0);
  staged.store(tile_a[0], tile_b[0]);
  __syncthreads();
  for (int t = 0; t < k / kBk; ++t) {
    if (t + 1 < k / kBk) staged.load(a, b, n, k, place.y, place.x, t + 1);
    multiply_double_buffered(sum, tile_a[t % 2], tile_b[t % 2]);
    // into the other buffer; nobody reads it before the barrier
    if (t + 1 < k / kBk) staged.store(tile_a[(t + 1) % 2], tile_b[(t + 1) % 2]);
    __syncthreads();
  }
  store_sums(sum, c, n, place.y, place.x);
}

// ---- measurement ---------------------------------------------------------------------------------

void measure(Report& report, int m, int n, int k) {
  Problem<float> problem(report, m, n, k);
  dim3 by_elements(unsigned(ceil_div(n, kSide)), unsigned(ceil_div(m, kSide))), square(kSide, kSide);
  dim3 by_tiles(n / kBn, m / kBm);
  problem.run("naive", naive, by_elements, square);
  problem.run("tiled", tiled, by_elements, square);
  problem.run("register_tile", register_tile, by_tiles, kThreads);
  problem.run("shared_double_buffer", shared_double_buffer, by_tiles, kThreads);
  problem.run("global_double_buffer", global_double_buffer<false>, by_tiles, kThreads);
  if (n / kBn % kStrip == 0) problem.run("block_swizzle", global_double_buffer<true>, by_tiles, kThreads);
}

int main(int argc, char** argv) {
  Report report("gemm", argc, argv);
  // 0.8 MB, 12 MB (stays in the L2), 48 MB, 192 MB.
  // Then sizes that are no powers of two, which are held out from any work on the model.
  for (int size : {256, 1024, 2048, 4096, 384, 1536, 3072}) measure(report, size, size, size);
  return report.status();
}
