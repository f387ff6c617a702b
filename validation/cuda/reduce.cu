// The rungs of perfmodel/kernels/library/reduce.yaml.
#include "common.cuh"

constexpr int kBlock = 1024;

// Sums a block's data in shared memory; the two orders of the strides are the rungs.
template <bool sequential>
__device__ void tree(float* data, float* to) {
  int tid = threadIdx.x;
  if (sequential) {
    for (int stride = blockDim.x / 2; stride >= 2; stride /= 2) {
      if (tid < stride) data[tid] += data[tid + stride];
      __syncthreads();
    }
    if (tid == 0) *to = data[0] + data[1];
  } else {
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
      if (tid % (2 * stride) == 0) data[tid] += data[tid + stride];
      __syncthreads();
    }
    if (tid == 0) *to = data[0];
  }
}

template <bool sequential>
__global__ void by_tree(const float* from, float* to, int count) {
  __shared__ float data[kBlock];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[threadIdx.x] = i < count ? from[i] : 0.0f;
  __syncthreads();
  tree<sequential>(data, to + blockIdx.x);
}

// Sums a value of every thread of a block; thread 0 has the sum.
__device__ float block_sum(float s, float* sums) {
  int tid = threadIdx.x;
  s = warp_sum(s);
  if (tid % kWarp == 0) sums[tid / kWarp] = s;
  __syncthreads();
  if (tid < kWarp) {
    s = tid < blockDim.x / kWarp ? sums[tid] : 0.0f;
    s = warp_sum(s);
  }
  return s;
}

__global__ void by_shuffle(const float* from, float* to, int count) {
  __shared__ float sums[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = block_sum(i < count ? from[i] : 0.0f, sums);
  if (threadIdx.x == 0) to[blockIdx.x] = s;
}

constexpr int kLoads = 4;

__global__ void by_vectors(const float4* from, float* to) {
  __shared__ float sums[32];
  float s = 0;
#pragma unroll
  for (int j = 0; j < kLoads; ++j) {
    float4 x = from[(blockIdx.x * kLoads + j) * blockDim.x + threadIdx.x];
    s += (x.x + x.y) + (x.z + x.w);
  }
  s = block_sum(s, sums);
  if (threadIdx.x == 0) to[blockIdx.x] = s;
}

__global__ void rest(const float* from, float* to, int count) {
  __shared__ float sums[32];
  float s = 0;
#pragma unroll 4
  for (int j = threadIdx.x; j < count; j += 1024) s += from[j];
  s = block_sum(s, sums);
  if (threadIdx.x == 0) *to = s;
}

template <typename Step>
void three_times(Step&& step, const float* input, float* first, float* second, float* output,
                 int n) {
  int blocks = n / kBlock, left = (blocks + kBlock - 1) / kBlock;
  step(blocks, input, first, n);
  step(left, first, second, blocks);
  step(1, second, output, left);
}

int main() {
  Timer timer;
  for (int n : {1 << 16, 1 << 20, 1 << 22, 1 << 24, 1 << 26}) {
    Array<float> input(n), first(n / kBlock + 1), second(n / kBlock / kBlock + 2), output(1);
    input.fill(4);
    double wanted = 0, size = 0;
    for (float each : input.host) wanted += each, size += std::fabs(each);
    // Against the sum of the sizes: the sum itself nearly cancels.
    auto error = [&] { return std::fabs(output.read()[0] - wanted) / size; };
    std::string parameters = "n=" + std::to_string(n);
    output.poison();
    timer.rung("reduce", "modulo_tree", parameters, 1e-6, [&] {
      three_times([](int grid, const float* from, float* to, int count) {
        by_tree<false><<<grid, kBlock>>>(from, to, count);
      }, input.device, first.device, second.device, output.device, n);
    }, error);
    output.poison();
    timer.rung("reduce", "sequential_tree", parameters, 1e-6, [&] {
      three_times([](int grid, const float* from, float* to, int count) {
        by_tree<true><<<grid, kBlock>>>(from, to, count);
      }, input.device, first.device, second.device, output.device, n);
    }, error);
    output.poison();
    timer.rung("reduce", "warp_shuffle", parameters, 1e-6, [&] {
      three_times([](int grid, const float* from, float* to, int count) {
        by_shuffle<<<grid, kBlock>>>(from, to, count);
      }, input.device, first.device, second.device, output.device, n);
    }, error);
    output.poison();
    timer.rung("reduce", "vector_load", parameters, 1e-6, [&] {
      int blocks = n / (4 * 256 * kLoads);
      by_vectors<<<blocks, 256>>>((const float4*)input.device, first.device);
      rest<<<1, 1024>>>(first.device, output.device, blocks);
    }, error);
  }
  return timer.status();
}
