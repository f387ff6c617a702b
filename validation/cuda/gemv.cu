// Matrix-vector product: the rungs of perfmodel/kernels/library/gemv.yaml.
#include "common.cuh"

constexpr int kBlock = 256;
constexpr int kPiece = 1024;   // of cached_vector
constexpr int kRowWarps = 8;   // of split_k
constexpr int kUnroll = 4;     // vectors a lane has under way
constexpr int kVectors = 4;    // of batch_gemv and thin_gemm
constexpr int kTile = 16;      // of thin_gemm

__device__ float warp_sum(float s) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) s += __shfl_down_sync(~0u, s, offset);
  return s;
}

__device__ float4 vector_at(const float* from, long long index) {
  return *(const float4*)(from + index);
}

__device__ void add_product(float& sum, float4 x, float4 v) {
  sum = fmaf(x.x, v.x, sum);
  sum = fmaf(x.y, v.y, sum);
  sum = fmaf(x.z, v.z, sum);
  sum = fmaf(x.w, v.w, sum);
}

// Of vectors that lie `apart` elements from one another: all are asked for before any is used.
template <int kCount>
__device__ void add_products(float& sum, const float* row, const float* vector, int apart) {
  float4 x[kCount], v[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    x[i] = vector_at(row, i * apart);
    v[i] = vector_at(vector, i * apart);
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) add_product(sum, x[i], v[i]);
}

__global__ void __launch_bounds__(kBlock) thread_per_row(const float* __restrict__ matrix,
                                                         const float* __restrict__ vector,
                                                         float* __restrict__ result, int m, int k) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m) {
    float sum = 0;
#pragma unroll 4
    for (int j = 0; j < k; ++j) sum = fmaf(matrix[1LL * row * k + j], vector[j], sum);
    result[row] = sum;
  }
}

__global__ void __launch_bounds__(kBlock) warp_per_row(const float* __restrict__ matrix,
                                                       const float* __restrict__ vector,
                                                       float* __restrict__ result, int m, int k) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / kWarp, lane = threadIdx.x % kWarp;
  if (warp < m) {
    float sum = 0;
#pragma unroll 4
    for (int j = lane; j < k; j += kWarp) sum = fmaf(matrix[1LL * warp * k + j], vector[j], sum);
    sum = warp_sum(sum);
    if (lane == 0) result[warp] = sum;
  }
}

__global__ void __launch_bounds__(kBlock) vector_loads(const float* __restrict__ matrix,
                                                       const float* __restrict__ vector,
                                                       float* __restrict__ result, int m, int k) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / kWarp, lane = threadIdx.x % kWarp;
  if (warp < m) {
    float sum = 0;
    for (int j = lane * 4; j < k; j += kUnroll * kWarp * 4)
      add_products<kUnroll>(sum, matrix + 1LL * warp * k + j, vector + j, kWarp * 4);
    sum = warp_sum(sum);
    if (lane == 0) result[warp] = sum;
  }
}

__global__ void __launch_bounds__(kBlock) cached_vector(const float* __restrict__ matrix,
                                                        const float* __restrict__ vector,
                                                        float* __restrict__ result, int m, int k) {
  __shared__ alignas(16) float piece[kPiece];
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / kWarp, lane = threadIdx.x % kWarp;
  if (warp < m) {  // of a block all warps or none, since its rows divide m
    float sum = 0;
    for (int p = 0; p < k / kPiece; ++p) {
#pragma unroll
      for (int q = 0; q < kPiece; q += kBlock * 4)
        *(float4*)&piece[q + threadIdx.x * 4] = vector_at(vector, p * kPiece + q + threadIdx.x * 4);
      __syncthreads();
      for (int j = 0; j < kPiece / (4 * kWarp); j += kUnroll) {
        int at = (j * kWarp + lane) * 4;
        add_products<kUnroll>(sum, matrix + 1LL * warp * k + p * kPiece + at, piece + at, kWarp * 4);
      }
      __syncthreads();
    }
    sum = warp_sum(sum);
    if (lane == 0) result[warp] = sum;
  }
}

__global__ void __launch_bounds__(kRowWarps * kWarp) split_k(const float* __restrict__ matrix,
                                                             const float* __restrict__ vector,
                                                             float* __restrict__ result, int k) {
  __shared__ float sums[kRowWarps];
  int tid = threadIdx.x, lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  float sum = 0;
  constexpr int kThreads = kRowWarps * kWarp;
  int turns = k / (4 * kThreads), whole = turns / kUnroll * kUnroll;
  for (int j = 0; j < turns; j += j < whole ? kUnroll : 1) {
    int at = (j * kThreads + tid) * 4;
    const float* row = matrix + 1LL * blockIdx.x * k + at;
    if (j < whole)
      add_products<kUnroll>(sum, row, vector + at, kThreads * 4);
    else
      add_products<1>(sum, row, vector + at, 0);
  }
  sum = warp_sum(sum);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (tid == 0) {
    sum = 0;
#pragma unroll
    for (int w = 0; w < kRowWarps; ++w) sum += sums[w];
    result[blockIdx.x] = sum;
  }
}

// The vectors lie one after the other, the results of a row beside one another.
__global__ void __launch_bounds__(kBlock) batch_gemv(const float* __restrict__ matrix,
                                                     const float* __restrict__ vector,
                                                     float* __restrict__ result, int m, int k) {
  int row = blockIdx.x * (kBlock / kWarp) + threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  if (row < m) {
    float sum[kVectors] = {};
#pragma unroll 2
    for (int j = 0; j < k / (4 * kWarp); ++j) {
      int at = (j * kWarp + lane) * 4;
      float4 x = vector_at(matrix, 1LL * row * k + at);
#pragma unroll
      for (int c = 0; c < kVectors; ++c) add_product(sum[c], x, vector_at(vector, 1LL * c * k + at));
    }
#pragma unroll
    for (int c = 0; c < kVectors; ++c) {
      float s = warp_sum(sum[c]);
      if (lane == 0) result[1LL * row * kVectors + c] = s;
    }
  }
}

// The vectors are the columns of a matrix [k, kVectors].
__global__ void __launch_bounds__(kTile * kTile) thin_gemm(const float* __restrict__ matrix,
                                                           const float* __restrict__ vector,
                                                           float* __restrict__ result, int k) {
  __shared__ float tile_a[kTile * kTile], tile_b[kTile * kTile];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * kTile + ty, col = blockIdx.x * kTile + tx;
  float sum = 0;
  for (int t = 0; t < k / kTile; ++t) {
    tile_a[ty * kTile + tx] = matrix[1LL * row * k + t * kTile + tx];
    tile_b[ty * kTile + tx] = col < kVectors ? vector[1LL * (t * kTile + ty) * kVectors + col] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum = fmaf(tile_a[ty * kTile + i], tile_b[i * kTile + tx], sum);
    __syncthreads();
  }
  if (col < kVectors) result[1LL * row * kVectors + col] = sum;
}

// Element i of vector c lies at c * apart + i * step.
struct Check {
  const float *matrix, *vector, *result;
  int k, vectors;
  long long apart, step;
  __device__ Pair operator()(long long at) const {
    long long row = at / vectors, c = at % vectors;
    double sum = 0;
    for (int i = 0; i < k; ++i) sum += double(matrix[row * k + i]) * double(vector[c * apart + i * step]);
    return {double(result[at]), sum};
  }
};

void measure(Report& report, int m, int k) {
  Array<float> matrix(1LL * m * k), vector(1LL * k * kVectors), result(1LL * m * kVectors);
  matrix.randomize(1);
  vector.randomize(2);
  auto run = [&](const char* rung, int vectors, long long apart, long long step, const Work& launch) {
    report.run({rung,
                "m=" + std::to_string(m) + ";k=" + std::to_string(k) + ";n=" +
                    std::to_string(vectors) + ";type=fp32",
                tolerance<float>(), [&] { result.poison(); }, launch,
                [&] {
                  return relative_error(1LL * m * vectors,
                                        Check{matrix, vector, result, k, vectors, apart, step});
                }});
  };
  unsigned by_warps = unsigned(ceil_div(m, kBlock / kWarp));
  run("thread_per_row", 1, 0, 1, [&] {
    thread_per_row<<<unsigned(ceil_div(m, kBlock)), kBlock>>>(matrix, vector, result, m, k);
  });
  run("warp_per_row", 1, 0, 1, [&] { warp_per_row<<<by_warps, kBlock>>>(matrix, vector, result, m, k); });
  run("vector_loads", 1, 0, 1, [&] { vector_loads<<<by_warps, kBlock>>>(matrix, vector, result, m, k); });
  run("cached_vector", 1, 0, 1, [&] { cached_vector<<<by_warps, kBlock>>>(matrix, vector, result, m, k); });
  run("split_k", 1, 0, 1, [&] { split_k<<<m, kRowWarps * kWarp>>>(matrix, vector, result, k); });
  run("batch_gemv", kVectors, k, 1, [&] { batch_gemv<<<by_warps, kBlock>>>(matrix, vector, result, m, k); });
  run("thin_gemm", kVectors, 1, kVectors, [&] {
    dim3 grid(unsigned(ceil_div(kVectors, kTile)), m / kTile), block(kTile, kTile);
    thin_gemm<<<grid, block>>>(matrix, vector, result, k);
  });
}

int main(int argc, char** argv) {
  Report report("gemv", argc, argv);
  // 2 MB, 16 MB and 16 MB of few rows (stay in the L2), 64 MB, 512 MB.
  // Then sizes that are no powers of two, which are held out from any work on the model.
  const int sizes[][2] = {{256, 2048},  {2048, 2048}, {64, 65536}, {4096, 4096}, {16384, 8192},
                          {384, 6144}, {3072, 6144}, {96, 49152}, {6144, 6144}, {12288, 10240}};
  for (auto [m, k] : sizes) measure(report, m, k);
  return report.status();
}
