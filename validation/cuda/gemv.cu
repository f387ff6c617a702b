// The rungs of perfmodel/kernels/library/gemv.yaml for one vector.
#include "common.cuh"

__global__ void thread_per_row(const float* matrix, const float* vector, float* result, int m,
                               int k) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m) return;
  float sum = 0;
#pragma unroll 4
  for (int j = 0; j < k; ++j) sum += matrix[1LL * row * k + j] * vector[j];
  result[row] = sum;
}

__global__ void warp_per_row(const float* matrix, const float* vector, float* result, int m,
                             int k) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / kWarp, lane = threadIdx.x % kWarp;
  if (warp >= m) return;
  float sum = 0;
#pragma unroll 4
  for (int j = lane; j < k; j += kWarp) sum += matrix[1LL * warp * k + j] * vector[j];
  sum = warp_sum(sum);
  if (lane == 0) result[warp] = sum;
}

__device__ float dot(float4 x, float4 v, float sum) {
  sum += x.x * v.x;
  sum += x.y * v.y;
  sum += x.z * v.z;
  return sum + x.w * v.w;
}

__global__ void vector_loads(const float* matrix, const float* vector, float* result, int m,
                             int k) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / kWarp, lane = threadIdx.x % kWarp;
  if (warp >= m) return;
  float sum = 0;
#pragma unroll 4
  for (int j = lane * 4; j < k; j += kWarp * 4)
    sum = dot(*(const float4*)(matrix + 1LL * warp * k + j), *(const float4*)(vector + j), sum);
  sum = warp_sum(sum);
  if (lane == 0) result[warp] = sum;
}

constexpr int kPiece = 1024, kThreads = 256;

__global__ void cached_vector(const float* matrix, const float* vector, float* result, int m,
                              int k) {
  __shared__ float piece[kPiece];
  int warp = (blockIdx.x * kThreads + threadIdx.x) / kWarp, lane = threadIdx.x % kWarp;
  float sum = 0;
  for (int p = 0; p < k / kPiece; ++p) {
    for (int q = threadIdx.x * 4; q < kPiece; q += kThreads * 4)
      *(float4*)(piece + q) = *(const float4*)(vector + p * kPiece + q);
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < kPiece / (4 * kWarp); ++j) {
      int at = (j * kWarp + lane) * 4;
      sum = dot(*(const float4*)(matrix + 1LL * warp * k + p * kPiece + at),
                *(const float4*)(piece + at), sum);
    }
    __syncthreads();
  }
  sum = warp_sum(sum);
  if (lane == 0) result[warp] = sum;
}

constexpr int kWarps = 8;

__global__ void split_k(const float* matrix, const float* vector, float* result, int, int k) {
  __shared__ float sums[kWarps];
  int tid = threadIdx.x, lane = tid % kWarp, warp = tid / kWarp;
  float sum = 0;
#pragma unroll 4
  for (int j = 0; j < k / (4 * kWarps * kWarp); ++j) {
    int at = (j * blockDim.x + tid) * 4;
    sum = dot(*(const float4*)(matrix + 1LL * blockIdx.x * k + at), *(const float4*)(vector + at),
              sum);
  }
  sum = warp_sum(sum);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (tid == 0) {
    sum = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) sum += sums[w];
    result[blockIdx.x] = sum;
  }
}

int main() {
  Timer timer;
  using Kernel = void (*)(const float*, const float*, float*, int, int);
  struct Rung {
    const char* name;
    Kernel kernel;
    int rows_of_block;
  };
  const Rung rungs[] = {{"thread_per_row", thread_per_row, kThreads},
                        {"warp_per_row", warp_per_row, kThreads / kWarp},
                        {"vector_loads", vector_loads, kThreads / kWarp},
                        {"cached_vector", cached_vector, kThreads / kWarp},
                        {"split_k", split_k, 1}};
  const int shapes[][2] = {{512, 2048}, {2048, 2048}, {4096, 4096}, {8192, 8192}, {16384, 16384},
                           {1024, 65536}};
  for (const auto& shape : shapes) {
    const int m = shape[0], k = shape[1];
    Array<float> matrix(1LL * m * k), vector(k), result(m);
    matrix.fill(5);
    vector.fill(6);
    std::vector<double> wanted(m);
    for (int row = 0; row < m; ++row)
      for (int j = 0; j < k; ++j)
        wanted[row] += double(matrix.host[1LL * row * k + j]) * vector.host[j];
    auto error = [&] {
      auto& read = result.read();
      return difference({read.begin(), read.end()}, wanted);
    };
    for (const Rung& rung : rungs) {
      result.poison();
      timer.rung("gemv", rung.name, "m=" + std::to_string(m) + ";k=" + std::to_string(k), 1e-5, [&] {
        rung.kernel<<<(m + rung.rows_of_block - 1) / rung.rows_of_block, kThreads>>>(
            matrix.device, vector.device, result.device, m, k);
      }, error);
    }
  }
  return timer.status();
}
