// Transposed copy of a matrix: the rungs of perfmodel/kernels/library/transpose.yaml.
#include "common.cuh"

template <typename T>
__global__ void __launch_bounds__(256) naive(const T* __restrict__ input, T* __restrict__ output,
                                             int m, int n) {
  int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8) {
    T x = input[1LL * (row + j) * n + column];
    output[1LL * column * m + row + j] = x;
  }
}

// Where an element of the tile lies in shared memory.
struct Plain {
  static constexpr int kExtent = 32 * 32;
  static __device__ int at(int row, int column) { return row * 32 + column; }
};
struct Padded {
  static constexpr int kExtent = 32 * 33;
  static __device__ int at(int row, int column) { return row * 33 + column; }
};
struct Swizzled {
  static constexpr int kExtent = 32 * 32;
  static __device__ int at(int row, int column) { return row * 32 + (column ^ row); }
};

template <typename T, typename Layout>
__global__ void __launch_bounds__(256) through_tile(const T* __restrict__ input,
                                                    T* __restrict__ output, int m, int n) {
  __shared__ T tile[Layout::kExtent];
  int tx = threadIdx.x, ty = threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8)
    tile[Layout::at(ty + j, tx)] = input[1LL * (blockIdx.y * 32 + ty + j) * n + blockIdx.x * 32 + tx];
  __syncthreads();
#pragma unroll
  for (int j = 0; j < 32; j += 8)
    output[1LL * (blockIdx.x * 32 + ty + j) * m + blockIdx.y * 32 + tx] = tile[Layout::at(tx, ty + j)];
}

template <typename T>
struct Check {
  const T *input, *output;
  int m, n;
  __device__ Pair operator()(long long i) const {
    return {double(float(output[i])), double(float(input[i % m * n + i / m]))};
  }
};

template <typename T>
void measure(Report& report, int m, int n) {
  Array<T> input(1LL * m * n), output(1LL * m * n);
  input.randomize(1);
  dim3 grid(n / 32, m / 32), block(32, 8);
  auto run = [&](const char* rung, void (*kernel)(const T*, T*, int, int)) {
    report.run({rung,
                "m=" + std::to_string(m) + ";n=" + std::to_string(n) + ";type=" + type_name<T>(),
                0.0,  // nothing is rounded
                [&] { output.poison(); }, [&] { kernel<<<grid, block>>>(input, output, m, n); },
                [&] { return relative_error(1LL * m * n, Check<T>{input, output, m, n}); }});
  };
  run("naive", naive<T>);
  run("shared_tile", through_tile<T, Plain>);
  run("padded_tile", through_tile<T, Padded>);
  run("swizzled_tile", through_tile<T, Swizzled>);
}

int main(int argc, char** argv) {
  Report report("transpose", argc, argv);
  // 2 MB and 32 MB (stay in the L2), 128 MB and 512 MB of fp32.
  // Then sizes that are no powers of two, which are held out from any work on the model.
  const int sizes[][2] = {{512, 512},     {2048, 2048}, {4096, 4096},  {4096, 16384},
                          {768, 768}, {1536, 3072}, {6144, 6144}, {10240, 6144}};
  for (auto [m, n] : sizes) {
    measure<float>(report, m, n);
    measure<half>(report, m, n);
  }
  return report.status();
}
