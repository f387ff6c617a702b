// The steps of perfmodel/kernels/library/softmax.yaml, in fp16.
#include <cuda_fp16.h>

#include "common.cuh"

__device__ float lanes_max(float value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2)
    value = fmaxf(value, __shfl_down_sync(0xffffffffu, value, offset));
  return __shfl_sync(0xffffffffu, value, 0);
}

__device__ float lanes_sum(float value) { return __shfl_sync(0xffffffffu, warp_sum(value), 0); }

__global__ void thread_per_row(const half* input, half* output, int m, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m) return;
  const half* from = input + 1LL * row * n;
  float highest = -INFINITY, sum = 0;
#pragma unroll 4
  for (int i = 0; i < n; ++i) highest = fmaxf(highest, __half2float(from[i]));
#pragma unroll 4
  for (int i = 0; i < n; ++i) sum += expf(__half2float(from[i]) - highest);
#pragma unroll 4
  for (int i = 0; i < n; ++i)
    output[1LL * row * n + i] = __float2half(expf(__half2float(from[i]) - highest) / sum);
}

__global__ void warp_per_row(const half* input, half* output, int, int n) {
  int run = n / kWarp;
  const half* from = input + 1LL * blockIdx.x * n + threadIdx.x * run;
  half* to = output + 1LL * blockIdx.x * n + threadIdx.x * run;
  float highest = -INFINITY, sum = 0;
#pragma unroll 4
  for (int i = 0; i < run; ++i) highest = fmaxf(highest, __half2float(from[i]));
  highest = lanes_max(highest);
#pragma unroll 4
  for (int i = 0; i < run; ++i) sum += expf(__half2float(from[i]) - highest);
  sum = lanes_sum(sum);
#pragma unroll 4
  for (int i = 0; i < run; ++i) to[i] = __float2half(expf(__half2float(from[i]) - highest) / sum);
}

struct __align__(16) Eight {
  half value[8];
};

__global__ void vector_loads(const half* input, half* output, int, int n) {
  int vectors = n / 8 / kWarp;
  const Eight* from = (const Eight*)(input + 1LL * blockIdx.x * n) + threadIdx.x * vectors;
  Eight* to = (Eight*)(output + 1LL * blockIdx.x * n) + threadIdx.x * vectors;
  float highest = -INFINITY, sum = 0;
#pragma unroll 8
  for (int i = 0; i < vectors; ++i) {
    Eight x = from[i];
    float f[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) f[j] = __half2float(x.value[j]);
    highest = fmaxf(highest, fmaxf(fmaxf(fmaxf(f[0], f[1]), fmaxf(f[2], f[3])),
                                   fmaxf(fmaxf(f[4], f[5]), fmaxf(f[6], f[7]))));
  }
  highest = lanes_max(highest);
#pragma unroll 8
  for (int i = 0; i < vectors; ++i) {
    Eight x = from[i];
    float e[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) e[j] = expf(__half2float(x.value[j]) - highest);
    sum += ((e[0] + e[1]) + (e[2] + e[3])) + ((e[4] + e[5]) + (e[6] + e[7]));
  }
  sum = lanes_sum(sum);
#pragma unroll 8
  for (int i = 0; i < vectors; ++i) {
    Eight x = from[i];
#pragma unroll
    for (int j = 0; j < 8; ++j)
      x.value[j] = __float2half(expf(__half2float(x.value[j]) - highest) / sum);
    to[i] = x;
  }
}

template <int n, bool remapped>
__global__ void packed(const half* input, half* output, int m) {
  constexpr int pairs = n / (2 * kWarp);
  int lane = threadIdx.x % kWarp;
  int group = remapped ? blockIdx.x * gridDim.y + blockIdx.y : blockIdx.x;
  int row = group * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  if (row >= m) return;
  const half2* from = (const half2*)(input + 1LL * row * n);
  half2* to = (half2*)(output + 1LL * row * n);
  float2 f[pairs];
  float highest = -INFINITY, sum = 0;
#pragma unroll
  for (int i = 0; i < pairs; ++i) {
    f[i] = __half22float2(from[i * kWarp + lane]);
    highest = fmaxf(highest, fmaxf(f[i].x, f[i].y));
  }
  highest = lanes_max(highest);
#pragma unroll
  for (int i = 0; i < pairs; ++i) {
    f[i].x = __expf(f[i].x - highest);
    f[i].y = __expf(f[i].y - highest);
    sum += f[i].x + f[i].y;
  }
  sum = lanes_sum(sum);
#pragma unroll
  for (int i = 0; i < pairs; ++i)
    to[i * kWarp + lane] = __floats2half2_rn(f[i].x / sum, f[i].y / sum);
}

template <int n>
void measure(Timer& timer, int m) {
  Array<half> input(1LL * m * n), output(1LL * m * n);
  input.fill(10);
  std::vector<double> wanted(1LL * m * n);
  for (int row = 0; row < m; ++row) {
    double sum = 0, highest = -1e9;
    for (int i = 0; i < n; ++i)
      highest = std::max(highest, double(__half2float(input.host[1LL * row * n + i])));
    for (int i = 0; i < n; ++i)
      sum += wanted[1LL * row * n + i] =
          std::exp(double(__half2float(input.host[1LL * row * n + i])) - highest);
    for (int i = 0; i < n; ++i) wanted[1LL * row * n + i] /= sum;
  }
  auto error = [&] {
    std::vector<double> found;
    found.reserve(wanted.size());
    for (half each : output.read()) found.push_back(__half2float(each));
    return difference(found, wanted);
  };
  std::string size = "m=" + std::to_string(m) + ";n=" + std::to_string(n);
  const half* from = input.device;
  half* to = output.device;
  output.poison();
  timer.rung("softmax", "thread_per_row", size, 2e-3,
             [&] { thread_per_row<<<(m + 255) / 256, 256>>>(from, to, m, n); }, error);
  output.poison();
  timer.rung("softmax", "warp_per_row", size, 2e-3,
             [&] { warp_per_row<<<m, kWarp>>>(from, to, m, n); }, error);
  output.poison();
  timer.rung("softmax", "vector_loads", size, 2e-3,
             [&] { vector_loads<<<m, kWarp>>>(from, to, m, n); }, error);
  output.poison();
  timer.rung("softmax", "packed", size, 2e-3,
             [&] { packed<n, false><<<(m + 7) / 8, 256>>>(from, to, m); }, error);
  output.poison();
  timer.rung("softmax", "grid_remap", size, 2e-3,
             [&] { packed<n, true><<<dim3(m / 64, 8), 256>>>(from, to, m); }, error);
}

int main() {
  Timer timer;
  measure<512>(timer, 2048);
  measure<512>(timer, 16384);
  measure<512>(timer, 65536);
  measure<1024>(timer, 4096);
  measure<1024>(timer, 32768);
  return timer.status();
}
