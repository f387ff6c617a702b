// How many cycles a multiprocessor takes for a warp's load that hits the L1, by the lines it
// touches and the bytes a lane reads.
//
//   nvcc -O3 -arch=sm_90 -o l1_lines l1_lines.cu && ./l1_lines > h200_l1_lines.csv
//
// One block of 32 warps runs on one multiprocessor. Each warp makes the same load over and over, at
// 8 addresses in turn, so that it always hits: lanes are spread evenly over 1 to 32 lines, which
// follow one another or lie a stride apart. Cycles are those of the slowest warp between two reads
// of the clock, over all loads of the block; the best of 5 runs counts.
#include <algorithm>
#include <cstdio>

constexpr int kTurns = 512, kEach = 8, kWarps = 32;


__device__ int folded(int v) { return v; }
__device__ int folded(int2 v) { return v.x | v.y; }
__device__ int folded(int4 v) { return v.x | v.y | v.z | v.w; }

template <typename T>
__global__ void __launch_bounds__(32 * kWarps) run(const char* data, int lines, int stride, long long* cycles, int* sink) {
  int lane = threadIdx.x % 32, of_line = 32 / lines;
  long long at = (long long)(lane / of_line) * stride + lane % of_line * (int)sizeof(T) % 128;
  const char* first = data + at;
  int held = 0;
  for (int j = 0; j < kEach; ++j)  // bring the lines in
    held ^= *(const int*)(first + (long long)j * lines * stride);
  __syncthreads();
  long long start = clock64();
  for (int turn = 0; turn < kTurns; ++turn) {
    T v[kEach];
#pragma unroll
    for (int j = 0; j < kEach; ++j)
      v[j] = *(const T*)(first + (long long)j * lines * stride);
#pragma unroll
    for (int j = 0; j < kEach; ++j) held |= folded(v[j]);
    first += held;  // always 0, which the compiler cannot know: no load leaves the loop
  }
  long long stop = clock64();
  atomicMin((unsigned long long*)cycles, (unsigned long long)start);
  atomicMax((unsigned long long*)cycles + 1, (unsigned long long)stop);
  if (held != 0) *sink = held;
}

template <typename T>
void measure(const char* data, long long* cycles, int* sink, int lines, int stride) {
  double best = 1e30;
  for (int turn = 0; turn < 5; ++turn) {
    long long ends[2] = {0x7fffffffffffffffLL, 0};
    cudaMemcpy(cycles, ends, sizeof ends, cudaMemcpyHostToDevice);
    run<T><<<1, 32 * kWarps>>>(data, lines, stride, cycles, sink);
    cudaMemcpy(ends, cycles, sizeof ends, cudaMemcpyDeviceToHost);
    best = std::min(best, double(ends[1] - ends[0]) / (double(kTurns) * kEach * kWarps));
  }
  std::printf("%d,%d,%d,%.3f\n", int(sizeof(T)), lines, stride, best);
}

int main() {
  char* data;
  long long* cycles;
  int* sink;
  cudaMalloc(&data, 64 << 20);
  cudaMemset(data, 0, 64 << 20);
  cudaMalloc(&cycles, 16);
  cudaMalloc(&sink, 4);
  std::printf("bytes_per_lane,lines,stride_bytes,cycles_per_load\n");
  for (int stride : {128, 384, 16384})
    for (int lines : {1, 2, 4, 8, 16, 32}) {
      if (stride == 16384 && lines > 4) continue;
      measure<int>(data, cycles, sink, lines, stride);
      measure<int2>(data, cycles, sink, lines, stride);
      measure<int4>(data, cycles, sink, lines, stride);
    }
  cudaError_t e = cudaDeviceSynchronize();
  if (e != cudaSuccess) std::fprintf(stderr, "%s\n", cudaGetErrorString(e));
  return e != cudaSuccess;
}
