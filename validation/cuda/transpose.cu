// The rungs of perfmodel/kernels/library/transpose.yaml.
#include "common.cuh"

__global__ void naive(const float* input, float* output, int m, int n) {
  int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8)
    output[1LL * column * m + row + j] = input[1LL * (row + j) * n + column];
}

enum Layout { kPlain, kPadded, kSwizzled };

template <Layout layout>
__device__ int place(int row, int column) {
  if (layout == kPadded) return row * 33 + column;
  if (layout == kSwizzled) return row * 32 + (column ^ row);
  return row * 32 + column;
}

template <Layout layout>
__global__ void through_tile(const float* input, float* output, int m, int n) {
  __shared__ float tile[32 * 33];
  int tx = threadIdx.x, ty = threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8)
    tile[place<layout>(ty + j, tx)] =
        input[1LL * (blockIdx.y * 32 + ty + j) * n + blockIdx.x * 32 + tx];
  __syncthreads();
#pragma unroll
  for (int j = 0; j < 32; j += 8)
    output[1LL * (blockIdx.x * 32 + ty + j) * m + blockIdx.y * 32 + tx] =
        tile[place<layout>(tx, ty + j)];
}

int main() {
  Timer timer;
  for (int n : {512, 2048, 4096, 8192}) {
    const int m = n;
    Array<float> input(1LL * m * n), output(1LL * m * n);
    input.fill(3);
    auto error = [&] {
      std::vector<double> wanted(1LL * m * n);
      for (int row = 0; row < m; ++row)
        for (int column = 0; column < n; ++column)
          wanted[1LL * column * m + row] = input.host[1LL * row * n + column];
      auto& read = output.read();
      return difference({read.begin(), read.end()}, wanted);
    };
    std::string size = "m=" + std::to_string(m) + ";n=" + std::to_string(n);
    dim3 grid(n / 32, m / 32), block(32, 8);
    const float* from = input.device;
    float* to = output.device;
    output.poison();
    timer.rung("transpose", "naive", size, 0,
               [&] { naive<<<grid, block>>>(from, to, m, n); }, error);
    output.poison();
    timer.rung("transpose", "shared_tile", size, 0,
               [&] { through_tile<kPlain><<<grid, block>>>(from, to, m, n); }, error);
    output.poison();
    timer.rung("transpose", "padded_tile", size, 0,
               [&] { through_tile<kPadded><<<grid, block>>>(from, to, m, n); }, error);
    output.poison();
    timer.rung("transpose", "swizzled_tile", size, 0,
               [&] { through_tile<kSwizzled><<<grid, block>>>(from, to, m, n); }, error);
  }
  return timer.status();
}
