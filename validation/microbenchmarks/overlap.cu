// How well two resources of a multiprocessor are used at the same time: a loop that asks for so much
// of the one, so much of the other, or for both, with nothing of the one needed by the other.
//
// Build and run (compute capability 8.0 or later, 2 GiB of device memory, seconds):
//     nvcc -O3 -std=c++17 -arch=sm_90 -o overlap overlap.cu
//     ./overlap > h200_overlap.csv

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                             \
  do {                                                                                          \
    cudaError_t error = (call);                                                                 \
    if (error != cudaSuccess) {                                                                 \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));       \
      std::exit(1);                                                                             \
    }                                                                                           \
  } while (0)

constexpr int kThreads = 256;
constexpr int kBlocksPerMp = 8;
constexpr int kLoads = 2;  // of 16 bytes a lane and turn
constexpr int kChains = 8;
constexpr long long kBytes = 2LL << 30;

__device__ float4 load(const float4* at) {
  float4 x;
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "l"(at));
  return x;
}

template <bool kDram, int kFma, int kShared>
__global__ void __launch_bounds__(kThreads, kBlocksPerMp) turns(const float4* array, int count, float* never) {
  __shared__ float4 words[kThreads];
  words[threadIdx.x] = make_float4(threadIdx.x, 1, 2, 3);
  __syncthreads();
  const unsigned word = unsigned(__cvta_generic_to_shared(words + threadIdx.x));
  float sum[kChains] = {}, power = 0.5f + threadIdx.x * 1e-9f, read = 0;
  const float4* at = array + (long long)blockIdx.x * kThreads + threadIdx.x;
  const long long step = (long long)gridDim.x * kThreads;
#pragma unroll 1
  for (int turn = 0; turn < count; ++turn) {
    float4 held[kLoads];
    if (kDram) {
#pragma unroll
      for (int i = 0; i < kLoads; ++i) held[i] = load(at + i * step);
      at += kLoads * step;
    }
#pragma unroll
    for (int i = 0; i < kFma; ++i)
      asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(sum[i % kChains]) : "f"(power));
#pragma unroll
    for (int i = 0; i < kShared; ++i) {
      float4 x;
      asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "r"(word));
      sum[i % kChains] += x.x;
    }
    if (kDram)
#pragma unroll
      for (int i = 0; i < kLoads; ++i) read += held[i].x + held[i].y + held[i].z + held[i].w;
  }
  for (float each : sum) read += each;
  if (read == 93) *never = read;
}

static cudaEvent_t start, stop;
static int blocks;
static float4* array;

template <bool kDram, int kFma, int kShared>
double microseconds() {
  const int count = int(kBytes / 16 / kThreads / blocks / kLoads);
  std::vector<float> times;
  for (int i = 0; i < 5; ++i) {
    CHECK(cudaEventRecord(start));
    turns<kDram, kFma, kShared><<<blocks, kThreads>>>(array, count, (float*)array);
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  return 1e3 * times[2];
}

template <int kFma>
void with_dram() {
  std::printf("dram,fp32,%.1f,%.1f,%.1f\n", microseconds<true, 0, 0>(), microseconds<false, kFma, 0>(),
              microseconds<true, kFma, 0>());
  std::fflush(stdout);
}

template <int kFma, int kShared>
void with_shared() {
  std::printf("shared,fp32,%.1f,%.1f,%.1f\n", microseconds<false, 0, kShared>(),
              microseconds<false, kFma, 0>(), microseconds<false, kFma, kShared>());
  std::fflush(stdout);
}

int main() {
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  int mps = 0;
  CHECK(cudaDeviceGetAttribute(&mps, cudaDevAttrMultiProcessorCount, 0));
  blocks = mps * kBlocksPerMp;
  CHECK(cudaMalloc(&array, kBytes + (1 << 20)));
  CHECK(cudaMemset(array, 1, kBytes + (1 << 20)));
  std::printf("first,second,first_alone_us,second_alone_us,both_us\n");
  with_dram<64>();
  with_dram<96>();
  with_dram<128>();
  with_dram<160>();
  with_dram<192>();
  with_dram<256>();
  with_shared<32, 4>();
  with_shared<64, 4>();
  with_shared<128, 4>();
  CHECK(cudaDeviceSynchronize());
  return 0;
}
