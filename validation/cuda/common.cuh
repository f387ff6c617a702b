// What the programs of this folder share: random data, timing, the comparison with a reference.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#define CHECK(call)                                                                             \
  do {                                                                                          \
    cudaError_t error = (call);                                                                 \
    if (error != cudaSuccess) {                                                                 \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));       \
      std::exit(1);                                                                             \
    }                                                                                           \
  } while (0)

constexpr int kWarp = 32;
constexpr long long kFlushBytes = 256LL << 20;  // five times the L2 of an H200

// An array on the device, and what it was filled with.
template <typename T>
struct Array {
  T* device = nullptr;
  std::vector<T> host;

  explicit Array(long long count) : host(count) { CHECK(cudaMalloc(&device, count * sizeof(T))); }
  Array(const Array&) = delete;
  ~Array() { cudaFree(device); }

  Array& fill(unsigned seed) {
    std::mt19937 draw(seed);
    for (T& each : host) each = T(float(draw() >> 8) / float(1 << 24) - 0.5f);
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return *this;
  }
  void poison() { CHECK(cudaMemset(device, 0xff, host.size() * sizeof(T))); }
  const std::vector<T>& read() {
    CHECK(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }
};

// The relative difference of two vectors by their norms; a NaN makes it one.
inline double difference(const std::vector<double>& found, const std::vector<double>& wanted) {
  double apart = 0, size = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    apart += (found[i] - wanted[i]) * (found[i] - wanted[i]);
    size += wanted[i] * wanted[i];
  }
  return std::sqrt(apart / size);
}

// Times a rung and prints its line: alone with a cold L2, alone with a warm one, back to back.
class Timer {
 public:
  Timer() {
    CHECK(cudaMalloc(&scratch_, kFlushBytes));
    CHECK(cudaEventCreate(&start_));
    CHECK(cudaEventCreate(&stop_));
    std::printf(
        "kernel,rung,parameters,cold_us,cold_p10_us,cold_p90_us,warm_us,back_to_back_us,error\n");
  }

  template <typename Run, typename Error>
  void rung(const char* kernel, const char* name, const std::string& parameters, double most,
            Run&& run, Error&& error_of) {
    run();
    CHECK(cudaDeviceSynchronize());
    const double error = error_of();
    for (int i = 0; i < 3; ++i) run();
    std::vector<double> cold, warm;
    for (int i = 0; i < kRuns; ++i) {
      CHECK(cudaMemset(scratch_, i, kFlushBytes));
      cold.push_back(time(run, 1));
    }
    for (int i = 0; i < kRuns; ++i) warm.push_back(time(run, 1));
    const double row = time(run, kRuns) / kRuns;
    CHECK(cudaGetLastError());
    std::sort(cold.begin(), cold.end());
    std::sort(warm.begin(), warm.end());
    std::printf("%s,%s,%s,%.2f,%.2f,%.2f,%.2f,%.2f,%.2e\n", kernel, name, parameters.c_str(),
                cold[kRuns / 2], cold[kRuns / 10], cold[kRuns - 1 - kRuns / 10], warm[kRuns / 2],
                row, error);
    std::fflush(stdout);
    if (!(error <= most)) failed_ = true;
  }

  int status() const { return failed_; }

 private:
  static constexpr int kRuns = 20;

  template <typename Run>
  double time(Run&& run, int count) {
    CHECK(cudaEventRecord(start_));
    for (int i = 0; i < count; ++i) run();
    CHECK(cudaEventRecord(stop_));
    CHECK(cudaEventSynchronize(stop_));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, start_, stop_));
    return 1e3 * ms;
  }

  void* scratch_ = nullptr;
  cudaEvent_t start_, stop_;
  bool failed_ = false;
};

__device__ inline float warp_sum(float value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}
