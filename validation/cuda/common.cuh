// What the programs of this folder share: arrays on the device, reproducible data, the check of a
// result against float64, the stopwatch, and the rows of the CSV.
#pragma once

#include <cuda_fp16.h>
#include <cuda_profiler_api.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

constexpr int kWarp = 32;

using Work = std::function<void()>;

inline void cuda_ok(cudaError_t result) {
  if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorName(result));
}

constexpr __host__ __device__ long long ceil_div(long long a, long long b) { return (a + b - 1) / b; }

template <typename T>
constexpr const char* type_name() { return sizeof(T) == 4 ? "fp32" : "fp16"; }

// Of a result whose sums are kept in fp32, relative to its norm.
template <typename T>
constexpr double tolerance() { return sizeof(T) == 4 ? 1e-5 : 2e-3; }

// 16 bytes that a lane reads or writes at once.
template <typename T>
struct alignas(16) Vector {
  T at[16 / sizeof(T)];
};

// ---- data ----------------------------------------------------------------------------------------

// A number that looks random, the same for the same argument everywhere.
inline __host__ __device__ unsigned long long mixed(unsigned long long x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

template <typename T>
__global__ void fill(T* to, long long count, unsigned seed, float low, float high) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count;
       i += (long long)gridDim.x * blockDim.x) {
    float unit = float(mixed(((unsigned long long)seed << 40) + i) >> 40) / float(1 << 24);
    to[i] = T(low + (high - low) * unit);
  }
}

template <typename T>
class Array {
 public:
  explicit Array(long long count) : count_(count) { cuda_ok(cudaMalloc(&data_, bytes())); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { cudaFree(data_); }

  operator T*() const { return data_; }
  long long count() const { return count_; }
  size_t bytes() const { return size_t(count_) * sizeof(T); }

  void randomize(unsigned seed, float low = -1, float high = 1) {
    fill<<<1024, 256>>>(data_, count_, seed, low, high);
    cuda_ok(cudaDeviceSynchronize());
  }
  void zero() { cuda_ok(cudaMemset(data_, 0, bytes())); }
  // All bits set is no number in any floating-point type, so what a kernel leaves out shows.
  void poison() { cuda_ok(cudaMemset(data_, 0xff, bytes())); }

 private:
  T* data_ = nullptr;
  long long count_;
};

// ---- check ---------------------------------------------------------------------------------------

struct Pair {
  double got, expected;
};

template <typename Check>
__global__ void compare(long long count, Check check, double* squares) {
  double off = 0, size = 0;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count;
       i += (long long)gridDim.x * blockDim.x) {
    Pair pair = check(i);
    off += (pair.got - pair.expected) * (pair.got - pair.expected);
    size += pair.expected * pair.expected;
  }
  atomicAdd(&squares[0], off);
  atomicAdd(&squares[1], size);
}

// The norm of the difference over the norm of what was expected. `check(i)` gives the i-th of
// `count` pairs on the device, in float64; what is not a number makes the whole error none.
template <typename Check>
double relative_error(long long count, Check check) {
  Array<double> squares(2);
  squares.zero();
  compare<<<(unsigned)std::min(ceil_div(count, 128), 1024LL), 128>>>(count, check, squares);
  double host[2];
  cuda_ok(cudaMemcpy(host, squares, sizeof host, cudaMemcpyDeviceToHost));
  return std::sqrt(host[0] / host[1]);
}

// Where a check of `checked` of `count` outputs looks: at all of them, or at a fixed random sample.
inline __device__ long long sampled(long long i, long long checked, long long count) {
  return checked == count ? i : (long long)(mixed(i) % (unsigned long long)count);
}

// ---- time ----------------------------------------------------------------------------------------

struct Times {  // [us]
  double cold, cold_p10, cold_p90, warm, back_to_back;
};

// Keeps the device busy while the host queues what is to be timed, so that no launch is waited for.
__global__ void hold(unsigned long long nanoseconds) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - start < nanoseconds);
}

__global__ void write_through(float4* scratch, long long count) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count;
       i += (long long)gridDim.x * blockDim.x)
    scratch[i] = make_float4(0, 0, 0, 0);
}

__global__ void read_through(float4* scratch, long long count) {
  float sum = 0;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count;
       i += (long long)gridDim.x * blockDim.x) {
    float4 x = scratch[i];
    sum += x.x + x.y + x.z + x.w;
  }
  if (sum != 0) scratch[0].x = sum;  // never; keeps the loads
}

inline double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  double at = share * double(values.size() - 1);
  size_t below = size_t(at), above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - double(below)) * (values[above] - values[below]);
}

class Stopwatch {
 public:
  Stopwatch() : scratch_((256 << 20) / sizeof(float4)) {
    cuda_ok(cudaEventCreate(&start_));
    cuda_ok(cudaEventCreate(&stop_));
    hold<<<1, 1>>>(200'000'000);  // the clocks need a while to rise
    cuda_ok(cudaDeviceSynchronize());
    std::vector<double> nothing;
    for (int turn = 0; turn < 21; ++turn) nothing.push_back(between_events([&] { flush(); }, [] {}, 1));
    events_ = quantile(nothing, 0.5);
  }

  Times measure(const Work& launch) {
    double pilot = timed([] {}, launch, 1);
    // A slow kernel is repeated less: it varies less, and 0.2 s of it tell enough.
    int turns = std::clamp(int(0.2e6 / pilot), 3, 20);
    std::vector<double> cold, warm;
    for (int turn = 0; turn < turns; ++turn) cold.push_back(timed([&] { flush(); }, launch, 1));
    for (int turn = 0; turn < 3 && pilot < 10e3; ++turn) launch();
    for (int turn = 0; turn < turns; ++turn)
      warm.push_back(timed([] { hold<<<1, 1>>>(50'000); }, launch, 1));
    double row = timed([] { hold<<<1, 1>>>(500'000); }, launch, turns);
    return {quantile(cold, 0.5), quantile(cold, 0.1), quantile(cold, 0.9), quantile(warm, 0.5),
            row / turns};
  }

 private:
  // Writing evicts what the L2 held, reading what was just written: a launch that finds dirty lines
  // would pay for writing them back.
  void flush() {
    write_through<<<1024, 256>>>(scratch_, scratch_.count());
    read_through<<<1024, 256>>>(scratch_, scratch_.count());
  }

  // Less what two events with nothing between them measure, which is none of a launch's.
  double timed(const Work& before, const Work& launch, int launches) {
    return between_events(before, launch, launches) - events_;
  }

  double between_events(const Work& before, const Work& launch, int launches) {
    before();
    cuda_ok(cudaEventRecord(start_));
    for (int turn = 0; turn < launches; ++turn) launch();
    cuda_ok(cudaEventRecord(stop_));
    cuda_ok(cudaDeviceSynchronize());
    cuda_ok(cudaGetLastError());
    float milliseconds;
    cuda_ok(cudaEventElapsedTime(&milliseconds, start_, stop_));
    return 1e3 * milliseconds;
  }

  Array<float4> scratch_;
  cudaEvent_t start_, stop_;
  double events_ = 0;
};

// ---- rows ----------------------------------------------------------------------------------------

struct Case {
  std::string rung, parameters;  // as the cost description names them
  double tolerance;
  Work poison, launch;
  std::function<double()> error;  // of what the last launch left
};

// Ends the launches of a case for the profiler, which tells them apart by their order alone.
__global__ void end_of_case() {}

// Prints a row for each case, but for those that the CSV named on the command line already has. Where
// the environment has PROFILE, each case is launched once for the profiler and named.
class Report {
 public:
  Report(const char* kernel, int argc, char** argv) : kernel_(kernel) {
    std::ifstream measured(argc > 1 ? argv[1] : "");
    for (std::string line; std::getline(measured, line);) {
      size_t end = 0;
      for (int comma = 0; comma < 3 && end != std::string::npos; ++comma)
        end = line.find(',', end + (comma > 0));
      measured_.insert(line.substr(0, end));
    }
    if (!std::getenv("PROFILE"))
      std::printf("kernel,rung,parameters,cold_us,cold_p10_us,cold_p90_us,warm_us,back_to_back_us,error\n");
  }

  // A row without times is one whose check failed, or that ended in a CUDA error. After such an
  // error the device answers nothing more, so the program ends; another run can take the rest.
  void run(const Case& c) {
    std::string name = std::string(kernel_) + "," + c.rung + "," + c.parameters;
    if (measured_.count(name)) return;
    if (std::getenv("PROFILE")) return profile(c, name);
    try {
      c.poison();
      c.launch();
      cuda_ok(cudaGetLastError());
      cuda_ok(cudaDeviceSynchronize());
      double error = c.error();
      if (error <= c.tolerance) {
        if (!stopwatch_) stopwatch_ = new Stopwatch;
        Times t = stopwatch_->measure(c.launch);
        std::printf("%s,%.3f,%.3f,%.3f,%.3f,%.3f,%.3g\n", name.c_str(), t.cold, t.cold_p10,
                    t.cold_p90, t.warm, t.back_to_back, error);
      } else {
        status_ = 1;
        std::printf("%s,,,,,,%.3g\n", name.c_str(), error);
        std::fprintf(stderr, "%s: error %.3g, at most %.3g is right\n", name.c_str(), error, c.tolerance);
      }
    } catch (const std::runtime_error& failure) {
      std::printf("%s,,,,,,%s\n", name.c_str(), failure.what());
      std::fprintf(stderr, "%s: %s\n", name.c_str(), failure.what());
      std::fflush(stdout);
      std::_Exit(3);
    }
    std::fflush(stdout);
  }

  int status() const { return status_; }

 private:
  void profile(const Case& c, const std::string& name) {
    c.launch();  // so that nothing is loaded or started for the first time
    cuda_ok(cudaDeviceSynchronize());
    cuda_ok(cudaProfilerStart());
    c.launch();
    end_of_case<<<1, 1>>>();
    cuda_ok(cudaDeviceSynchronize());
    cuda_ok(cudaProfilerStop());
    std::printf("%s\n", name.c_str());
    std::fflush(stdout);
  }

  const char* kernel_;
  std::set<std::string> measured_;
  Stopwatch* stopwatch_ = nullptr;  // lives as long as the program
  int status_ = 0;
};
