// How many cycles of a multiprocessor lie between two blocks started on it, and between the starts
// of two kernels.
//
//   nvcc -O3 -arch=sm_90 -o block_launch block_launch.cu && ./block_launch > h200_block_launch.csv
//
// Blocks of 32 to 1024 threads that return at once, or after one store: the difference between
// launches of many and of half as many blocks, over the difference of their numbers, times the
// multiprocessors and the clock, which is read in the same run (cycles over nanoseconds of a long
// chain). Kernels: the time of 400 empty ones in a row, over 400. The least of 9 runs counts.
#include <algorithm>
#include <cstdio>

__global__ void nothing() {}

__global__ void stores(int* out) {
  out[(long long)blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
}

__global__ void clock_rate(long long* found) {
  long long ns, ns_end, start = clock64();
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
  while (clock64() - start < 200000000LL) {}
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns_end));
  found[0] = clock64() - start;
  found[1] = ns_end - ns;
}

template <typename F> double least_ms(F&& run) {
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  double best = 1e30;
  for (int turn = 0; turn < 9; ++turn) {
    cudaEventRecord(start);
    run();
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    float ms;
    cudaEventElapsedTime(&ms, start, stop);
    best = std::min(best, double(ms));
  }
  return best;
}

int main() {
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  long long* found;
  int* out;
  cudaMallocManaged(&found, 16);
  cudaMalloc(&out, 4LL << 29);
  clock_rate<<<1, 1>>>(found);
  cudaDeviceSynchronize();
  double per_ms = 1e6 * found[0] / found[1];
  std::printf("what,threads,cycles_per_block,kernel_us,clock_mhz\n");
  for (int threads : {32, 64, 128, 256, 512, 1024}) {
    int many = (1 << 29) / std::max(threads, 256);
    auto cycles = [&](auto run) {
      double whole = least_ms([&] { run(many); }), half = least_ms([&] { run(many / 2); });
      return (whole - half) / (many / 2) * device.multiProcessorCount * per_ms;
    };
    std::printf("nothing,%d,%.2f,,%.0f\n", threads,
                cycles([&](int blocks) { nothing<<<blocks, threads>>>(); }), per_ms / 1e3);
    std::printf("store,%d,%.2f,,%.0f\n", threads,
                cycles([&](int blocks) { stores<<<blocks, threads>>>(out); }), per_ms / 1e3);
  }
  // Few blocks resident: what lies between the end of a block and the start of the next in its place.
  cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10);
  cudaFuncSetAttribute(nothing, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
  for (int resident : {1, 2, 4, 8}) {
    for (int threads : {32, 256, 1024}) {
      if (resident * threads > 2048) continue;
      int many = device.multiProcessorCount * 4000, shared = (200 << 10) / resident;
      auto run = [&](int blocks) { return least_ms([&] { nothing<<<blocks, threads, shared>>>(); }); };
      double cycles = (run(many) - run(many / 2)) / (many / 2) * device.multiProcessorCount * per_ms;
      std::printf("nothing of %d resident,%d,%.2f,,%.0f\n", resident, threads, cycles, per_ms / 1e3);
    }
  }
  double row = least_ms([&] { for (int i = 0; i < 400; ++i) nothing<<<1, 32>>>(); }) / 400 * 1e3;
  std::printf("kernel,32,,%.3f,%.0f\n", row, per_ms / 1e3);
  cudaError_t e = cudaDeviceSynchronize();
  if (e != cudaSuccess) std::fprintf(stderr, "%s\n", cudaGetErrorString(e));
  return e != cudaSuccess;
}
