// Sum of a vector: the rungs of perfmodel/kernels/library/reduce.yaml.
#include "common.cuh"

// ---- the first three rungs: three launches, in each of which a block sums as many values as it has
// threads; they differ in how the block does that.

constexpr int kBlock = 1024;

__device__ float warp_sum(float s) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) s += __shfl_down_sync(~0u, s, offset);
  return s;
}

// The sum is thread 0's.
__device__ float shuffled_sum(float s, float* sums) {
  int tid = threadIdx.x;
  s = warp_sum(s);
  if (tid % kWarp == 0) sums[tid / kWarp] = s;
  __syncthreads();
  if (tid < kWarp) {
    s = tid < blockDim.x / kWarp ? sums[tid] : 0;
    s = warp_sum(s);
  }
  return s;
}

// Halves the active threads from the block's half on; thread 0 does the last addition.
__device__ float sequential_sum(float x, float* data) {
  int tid = threadIdx.x;
  data[tid] = x;
  __syncthreads();
  for (int stride = blockDim.x / 2; stride >= 2; stride /= 2) {
    if (tid < stride) data[tid] = data[tid + stride] + data[tid];
    __syncthreads();
  }
  return tid == 0 ? data[0] + data[1] : 0;
}

struct ModuloTree {
  static __device__ float sum(float x) {
    __shared__ float data[kBlock];
    int tid = threadIdx.x;
    data[tid] = x;
    __syncthreads();
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
      if (tid % (2 * stride) == 0) data[tid] = data[tid + stride] + data[tid];
      __syncthreads();
    }
    return tid == 0 ? data[0] : 0;
  }
};

struct SequentialTree {
  static __device__ float sum(float x) {
    __shared__ float data[kBlock];
    return sequential_sum(x, data);
  }
};

struct WarpShuffle {
  static __device__ float sum(float x) {
    __shared__ float sums[64];
    return shuffled_sum(x, sums);
  }
};

// kWhole: the blocks have a value for each thread.
template <typename Way, bool kWhole>
__global__ void __launch_bounds__(kBlock) sum_blocks(const float* __restrict__ from, int count,
                                                     float* __restrict__ to) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = Way::sum(kWhole || i < count ? from[i] : 0);
  if (threadIdx.x == 0) to[blockIdx.x] = s;
}

template <typename Way>
void in_three_launches(const float* input, int n, float* partial, float* partial2, float* output) {
  int blocks = n / kBlock, left = int(ceil_div(blocks, kBlock));
  sum_blocks<Way, true><<<blocks, kBlock>>>(input, n, partial);
  sum_blocks<Way, false><<<left, kBlock>>>(partial, blocks, partial2);
  sum_blocks<Way, false><<<1, kBlock>>>(partial2, left, output);
}

// ---- vector loads, in two launches and in one ----------------------------------------------------

constexpr int kThreads = 256, kLoads = 4;

// A thread's own share of the block's kLoads x 4 x kThreads elements.
__device__ float loaded_sum(const float4* input) {
  float s = 0;
#pragma unroll
  for (int j = 0; j < kLoads; ++j) {
    float4 x = input[(blockIdx.x * kLoads + j) * kThreads + threadIdx.x];
    s += (x.x + x.y) + (x.z + x.w);
  }
  return s;
}

__global__ void __launch_bounds__(kThreads) vector_load_first(const float4* __restrict__ input,
                                                              float* __restrict__ partial) {
  __shared__ float sums[64];
  float s = shuffled_sum(loaded_sum(input), sums);
  if (threadIdx.x == 0) partial[blockIdx.x] = s;
}

__global__ void __launch_bounds__(1024) vector_load_second(const float* __restrict__ partial,
                                                           int count, float* __restrict__ output) {
  __shared__ float sums[64];
  float s = 0;
#pragma unroll 4
  for (int j = threadIdx.x; j < count; j += 1024) s += partial[j];
  s = shuffled_sum(s, sums);
  if (threadIdx.x == 0) *output = s;
}

__global__ void __launch_bounds__(kThreads) single_kernel(const float4* __restrict__ input,
                                                          float* partial, unsigned* finished,
                                                          float* output) {
  __shared__ float sums[64];
  __shared__ bool last;
  int tid = threadIdx.x;
  float s = shuffled_sum(loaded_sum(input), sums);
  if (tid == 0) {
    partial[blockIdx.x] = s;
    __threadfence();  // the partial sum is seen before the count
    last = atomicAdd(finished, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    s = 0;
#pragma unroll 4
    for (int j = tid; j < gridDim.x; j += kThreads) s += __ldcg(&partial[j]);
    s = warp_sum(s);
    if (tid % kWarp == 0) sums[tid / kWarp] = s;
    __syncthreads();
    if (tid == 0) {
      s = 0;
#pragma unroll
      for (int w = 0; w < kThreads / kWarp; ++w) s += sums[w];
      *output = s;
      *finished = 0;  // for the next launch
    }
  }
}

constexpr int kOneBlock = 512;

__global__ void __launch_bounds__(kOneBlock) one_block(const float4* __restrict__ input, int n,
                                                       float* __restrict__ output) {
  __shared__ float data[kOneBlock];
  float s = 0;
#pragma unroll 4
  for (int j = 0; j < n / (4 * kOneBlock); ++j) {
    float4 x = input[j * kOneBlock + threadIdx.x];
    s += x.x;
    s += x.y;
    s += x.z;
    s += x.w;
  }
  s = sequential_sum(s, data);
  if (threadIdx.x == 0) *output = s;
}

// ---- measurement ---------------------------------------------------------------------------------

__global__ void sum_in_double(const float* input, int n, double* sum) {
  double s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += input[i];
  atomicAdd(sum, s);
}

struct Check {
  const float* output;
  const double* sum;
  __device__ Pair operator()(long long) const { return {double(*output), *sum}; }
};

void measure(Report& report, int n) {
  Array<float> input(n), partial(n / kBlock + 1), partial2(n / kBlock / kBlock + 2), output(1);
  Array<unsigned> finished(1);
  Array<double> sum(1);
  input.randomize(1, 0, 1);
  finished.zero();
  sum.zero();
  sum_in_double<<<128, 256>>>(input, n, sum);
  auto run = [&](const char* rung, const Work& launch) {
    auto poison = [&] { partial.poison(), partial2.poison(), output.poison(); };
    report.run({rung, "n=" + std::to_string(n) + ";type=fp32", tolerance<float>(), poison, launch,
                [&] { return relative_error(1, Check{output, sum}); }});
  };
  const float4* vectors = (const float4*)(float*)input;
  unsigned blocks = n / (4 * kThreads * kLoads);
  run("modulo_tree", [&] { in_three_launches<ModuloTree>(input, n, partial, partial2, output); });
  run("sequential_tree", [&] { in_three_launches<SequentialTree>(input, n, partial, partial2, output); });
  run("warp_shuffle", [&] { in_three_launches<WarpShuffle>(input, n, partial, partial2, output); });
  run("vector_load", [&] {
    vector_load_first<<<blocks, kThreads>>>(vectors, partial);
    vector_load_second<<<1, 1024>>>(partial, blocks, output);
  });
  run("single_kernel", [&] { single_kernel<<<blocks, kThreads>>>(vectors, partial, finished, output); });
  run("one_block", [&] { one_block<<<1, kOneBlock>>>(vectors, n, output); });
}

int main(int argc, char** argv) {
  Report report("reduce", argc, argv);
  // 256 KB, 4 MB and 32 MB (stay in the L2), 256 MB, 1 GB.
  // Then sizes that are no powers of two, which are held out from any work on the model.
  for (int n : {1 << 16, 1 << 20, 1 << 23, 1 << 26, 1 << 28}) measure(report, n);
  for (int n : {5 << 14, 3 << 19, 3 << 21, 3 << 23, 3 << 25}) measure(report, n);
  return report.status();
}
