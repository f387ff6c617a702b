// Bytes a second that the DRAM gives and takes: reads alone, writes alone, and both, by 16-byte
// accesses over arrays far larger than the L2, at several numbers of blocks.
//
// Build and run (compute capability 8.0 or later, 8 GiB of device memory, seconds):
//     nvcc -O3 -std=c++17 -arch=sm_90 -o streams streams.cu
//     ./streams > h200_streams.csv

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
constexpr int kUnroll = 4;
constexpr long long kCount = (2LL << 30) / sizeof(int4);

// kReads arrays are read and kWrites written; a block has kUnroll runs of kThreads elements.
template <int kReads, int kWrites>
__global__ void __launch_bounds__(kThreads) stream(const int4* from, int4* to) {
  const long long at = (long long)blockIdx.x * kThreads * kUnroll + threadIdx.x;
  int4 held[kUnroll];
#pragma unroll
  for (int i = 0; i < kUnroll; ++i) {
    held[i] = make_int4(threadIdx.x, i, 0, 0);
#pragma unroll
    for (int array = 0; array < kReads; ++array) {
      const int4 read = from[array * kCount + at + i * kThreads];
      held[i].x ^= read.x; held[i].y ^= read.y; held[i].z ^= read.z; held[i].w ^= read.w;
    }
  }
#pragma unroll
  for (int i = 0; i < kUnroll; ++i) {
    const bool any = (held[i].x ^ held[i].y ^ held[i].z ^ held[i].w) == 93;
    if (kWrites > 0 || any) to[at + i * kThreads] = held[i];
  }
}

template <int kReads, int kWrites>
void measure(const char* name, const int4* from, int4* to) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  std::vector<float> times;
  const int blocks = int(kCount / kThreads / kUnroll);
  for (int i = 0; i < 9; ++i) {
    CHECK(cudaEventRecord(start));
    stream<kReads, kWrites><<<blocks, kThreads>>>(from, to);
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  const double bytes = double(kReads + kWrites) * kCount * sizeof(int4);
  std::printf("%s,%d,%d,%.1f\n", name, kReads, kWrites, bytes / times[4] * 1e-6);
}

int main() {
  int4 *from, *to;
  CHECK(cudaMalloc(&from, 3 * kCount * sizeof(int4)));
  CHECK(cudaMalloc(&to, kCount * sizeof(int4)));
  std::vector<int> noise(1 << 20);
  for (size_t i = 0; i < noise.size(); ++i) noise[i] = int(i * 2654435761u);
  for (long long at = 0; at < 3 * kCount * 4; at += noise.size())
    CHECK(cudaMemcpy((int*)from + at, noise.data(), noise.size() * 4, cudaMemcpyHostToDevice));
  std::printf("what,arrays_read,arrays_written,gbytes_per_s\n");
  measure<1, 0>("read", from, to);
  measure<2, 0>("read of two", from, to);
  measure<0, 1>("write", from, to);
  measure<1, 1>("copy", from, to);
  measure<2, 1>("sum of two", from, to);
  measure<3, 1>("sum of three", from, to);
  CHECK(cudaDeviceSynchronize());
  return 0;
}
