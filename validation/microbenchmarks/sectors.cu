// How many sectors a cycle the path below the L1 takes: loads and stores of 4 to 16 bytes a lane,
// lanes side by side or apart, into an array that stays in the L2 or is far larger, from one
// multiprocessor and from all; and what an empty launch takes as events see it.
//
// Build and run (compute capability 8.0 or later, 2 GiB of device memory, seconds):
//     nvcc -O3 -std=c++17 -arch=sm_90 -o sectors sectors.cu
//     ./sectors > h200_sectors.csv

#include <algorithm>
#include <cstdint>
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

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;
constexpr int kUnroll = 4;
constexpr double kSector = 32;

template <int kWidth>
struct Word;
template <>
struct Word<2> {
  static __device__ void store(char* at) { asm volatile("st.global.u16 [%0], %1;" ::"l"(at), "h"(short(7)) : "memory"); }
  static __device__ int load(const char* at) {
    short x;
    asm volatile("ld.global.cg.u16 %0, [%1];" : "=h"(x) : "l"(at) : "memory");
    return x;
  }
};
template <>
struct Word<4> {
  static __device__ void store(char* at) { asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(7) : "memory"); }
  static __device__ int load(const char* at) {
    int x;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(at) : "memory");
    return x;
  }
};
template <>
struct Word<8> {
  static __device__ void store(char* at) {
    asm volatile("st.global.v2.u32 [%0], {%1, %1};" ::"l"(at), "r"(7) : "memory");
  }
  static __device__ int load(const char* at) {
    int x, y;
    asm volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "l"(at) : "memory");
    return x ^ y;
  }
};
template <>
struct Word<16> {
  static __device__ void store(char* at) {
    asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(at), "r"(7) : "memory");
  }
  static __device__ int load(const char* at) {
    int x, y, z, w;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(at) : "memory");
    return x ^ y ^ z ^ w;
  }
};

// Every warp goes over its own runs of 32 x stride bytes; in each pass over the array lanes move on
// by their width, so that all bytes are touched in the end.
template <int kWidth, bool kStore>
__global__ void __launch_bounds__(kThreads) touch(char* array, long long runs, int stride, int passes, int* never) {
  const int lane = threadIdx.x % 32;
  const long long warp = (long long)blockIdx.x * kWarps + threadIdx.x / 32;
  const long long warps = (long long)gridDim.x * kWarps;
  int sum = 0;
  for (int pass = 0; pass < passes; ++pass) {
    char* at = array + lane * stride + pass * kWidth % stride;
    for (long long run = warp; run + (kUnroll - 1) * warps < runs; run += kUnroll * warps) {
#pragma unroll
      for (int i = 0; i < kUnroll; ++i) {
        char* here = at + (run + i * warps) * 32 * stride;
        if (kStore) Word<kWidth>::store(here);
        else sum ^= Word<kWidth>::load(here);
      }
    }
  }
  if (sum == 93) *never = sum;
}

__global__ void empty() {}

static cudaEvent_t start, stop;

template <typename Run>
double microseconds(Run&& run) {
  CHECK(cudaEventRecord(start));
  run();
  CHECK(cudaEventRecord(stop));
  CHECK(cudaEventSynchronize(stop));
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  return 1e3 * ms;
}

template <typename Run>
double median_of(Run&& run, int count) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) times.push_back(microseconds(run));
  std::sort(times.begin(), times.end());
  return times[count / 2];
}

template <int kWidth, bool kStore>
void measure(char* array, int stride, int mps, int blocks, bool in_l2, double hertz) {
  const long long per_run = 32LL * stride;
  const long long step = (long long)blocks * kWarps * kUnroll;
  const long long wanted = in_l2 ? (mps == 1 ? 4LL << 20 : 16LL << 20) : (mps == 1 ? 256LL << 20 : 2LL << 30);
  const long long runs = std::max(wanted / per_run / step, 1LL) * step;
  const int passes = in_l2 ? 64 : 2;
  auto run = [&] { touch<kWidth, kStore><<<blocks, kThreads>>>(array, runs, stride, passes, (int*)array); };
  run();
  const double time = median_of(run, 5);
  const double cycles = time * 1e-6 * hertz;
  const double sectors_a_run = stride >= kSector ? 32 : 32 * stride / kSector;
  const double sectors = double(runs) * passes * sectors_a_run;
  std::printf("%s,%s,%d,%d,%d,%.3f,%.2f\n", kStore ? "store" : "load", in_l2 ? "l2" : "dram", kWidth, stride, mps,
              sectors / cycles / mps, double(runs) * passes * 32 * kWidth / (time * 1e3));
  std::fflush(stdout);
}

template <int kWidth>
void both(char* array, int stride, int mps, double hertz) {
  const int blocks = mps == 1 ? 1 : mps * (stride > 32 ? 1 : 2);
  for (bool in_l2 : {true, false}) {
    measure<kWidth, false>(array, stride, mps, blocks, in_l2, hertz);
    measure<kWidth, true>(array, stride, mps, blocks, in_l2, hertz);
  }
}

int main() {
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  char* array;
  CHECK(cudaMalloc(&array, 2LL << 30));
  CHECK(cudaMemset(array, 0, 2LL << 30));
  int mps = 0, khz = 0;
  CHECK(cudaDeviceGetAttribute(&mps, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
  std::printf("operation,where,width_bytes,stride_bytes,mps,sectors_per_cycle_and_mp,useful_gbytes_per_s\n");
  for (int count : {1, mps}) {
    for (int stride : {2, 32}) both<2>(array, stride, count, 1e3 * khz);
    for (int stride : {4, 32, 64, 128}) both<4>(array, stride, count, 1e3 * khz);
    for (int stride : {8, 32, 128}) both<8>(array, stride, count, 1e3 * khz);
    for (int stride : {16, 32, 128}) both<16>(array, stride, count, 1e3 * khz);
  }
  // What events see after a kernel long enough that all of these wait for it.
  auto after_another = [=](auto run) {
    std::vector<double> times;
    for (int i = 0; i < 51; ++i) {
      touch<16, false><<<mps * 4, kThreads>>>(array, 1 << 20, 16, 1, (int*)array);
      times.push_back(microseconds(run));
    }
    std::sort(times.begin(), times.end());
    return times[25];
  };
  std::printf("# between events [us]: nothing %.2f, an empty launch of 1 block %.2f, of 8 blocks an MP %.2f, two launches %.2f, ten %.2f\n",
              after_another([] {}), after_another([] { empty<<<1, 32>>>(); }),
              after_another([=] { empty<<<mps * 8, 256>>>(); }),
              after_another([] { empty<<<1, 32>>>(); empty<<<1, 32>>>(); }),
              after_another([] { for (int i = 0; i < 10; ++i) empty<<<1, 32>>>(); }));
  CHECK(cudaDeviceSynchronize());
  return 0;
}
