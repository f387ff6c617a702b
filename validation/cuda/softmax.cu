// Softmax over rows of halves: the rungs of perfmodel/kernels/library/softmax.yaml. The length of a
// row is known when compiling, so that a row can lie in registers.
#include "common.cuh"

constexpr int kBlock = 256;
constexpr int kEach = 8;      // halves of 16 bytes
constexpr int kPiece = 512;   // of two_stages

struct Largest {
  static __device__ float of(float a, float b) { return fmaxf(a, b); }
};
struct Sum {
  static __device__ float of(float a, float b) { return a + b; }
};

// Over the lanes of a warp; the result is the first lane's.
template <typename Operation>
__device__ float over_lanes(float x) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2)
    x = Operation::of(x, __shfl_down_sync(~0u, x, offset));
  return x;
}

__device__ float from_first(float x) { return __shfl_sync(~0u, x, 0); }

__device__ half2 packed_pair(float a, float b) {
  return __halves2half2(__float2half(a), __float2half(b));
}

template <int N>
__global__ void __launch_bounds__(kBlock) thread_per_row(const half* __restrict__ input,
                                                         half* __restrict__ output, int m) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m) {
    const half* from = input + 1LL * row * N;
    float highest = -INFINITY, sum = 0;
#pragma unroll 4
    for (int i = 0; i < N; ++i) highest = fmaxf(highest, __half2float(from[i]));
#pragma unroll 4
    for (int i = 0; i < N; ++i) sum += expf(__half2float(from[i]) - highest);
#pragma unroll 4
    for (int i = 0; i < N; ++i)
      output[1LL * row * N + i] = __float2half(expf(__half2float(from[i]) - highest) / sum);
  }
}

template <int N>
__global__ void __launch_bounds__(kWarp) warp_per_row(const half* __restrict__ input,
                                                      half* __restrict__ output, int) {
  constexpr int kRun = N / kWarp;
  long long first = 1LL * blockIdx.x * N + threadIdx.x * kRun;
  float highest = -INFINITY, sum = 0;
#pragma unroll 4
  for (int i = 0; i < kRun; ++i) highest = fmaxf(highest, __half2float(input[first + i]));
  highest = from_first(over_lanes<Largest>(highest));
#pragma unroll 4
  for (int i = 0; i < kRun; ++i) sum += expf(__half2float(input[first + i]) - highest);
  sum = from_first(over_lanes<Sum>(sum));
#pragma unroll 4
  for (int i = 0; i < kRun; ++i)
    output[first + i] = __float2half(expf(__half2float(input[first + i]) - highest) / sum);
}

// Of the values of a vector, as a tree.
template <typename Operation>
__device__ float over_vector(const float (&x)[kEach]) {
  return Operation::of(Operation::of(Operation::of(x[0], x[1]), Operation::of(x[2], x[3])),
                       Operation::of(Operation::of(x[4], x[5]), Operation::of(x[6], x[7])));
}

// A later pass reads memory again, although the compiler could see that nothing has changed there.
__device__ long long once_more(long long first) {
  asm volatile("" : "+l"(first));
  return first;
}

__device__ const Vector<half>& vector_at(const half* from, long long index) {
  return *(const Vector<half>*)(from + index);
}

__device__ void widen(Vector<half> x, float (&f)[kEach]) {
#pragma unroll
  for (int e = 0; e < kEach; ++e) f[e] = __half2float(x.at[e]);
}

__device__ Vector<half> normalised(Vector<half> x, float highest, float sum) {
  float f[kEach];
  widen(x, f);
#pragma unroll
  for (int e = 0; e < kEach; ++e) x.at[e] = __float2half(expf(f[e] - highest) / sum);
  return x;
}

template <int N>
__global__ void __launch_bounds__(kWarp) vector_loads(const half* __restrict__ input,
                                                      half* __restrict__ output, int) {
  constexpr int kVectors = N / kEach / kWarp;
  long long first = 1LL * blockIdx.x * N + threadIdx.x * kVectors * kEach;
  float highest = -INFINITY, sum = 0;
#pragma unroll 8
  for (int i = 0; i < kVectors; ++i) {
    float f[kEach];
    widen(vector_at(input, first + i * kEach), f);
    highest = fmaxf(highest, over_vector<Largest>(f));
  }
  highest = from_first(over_lanes<Largest>(highest));
  first = once_more(first);
#pragma unroll 8
  for (int i = 0; i < kVectors; ++i) {
    float f[kEach];
    widen(vector_at(input, first + i * kEach), f);
#pragma unroll
    for (int e = 0; e < kEach; ++e) f[e] = expf(f[e] - highest);
    sum += over_vector<Sum>(f);
  }
  sum = from_first(over_lanes<Sum>(sum));
  first = once_more(first);
#pragma unroll 8
  for (int i = 0; i < kVectors; ++i)
    *(Vector<half>*)(output + first + i * kEach) =
        normalised(vector_at(input, first + i * kEach), highest, sum);
}

// A lane's pairs of a row: kStride pairs lie between those that follow one another.
template <int kPairs, int kStride>
__device__ float load_pairs(const half2* from, float (&f)[2 * kPairs]) {
  float highest = -INFINITY;
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
    float2 x = __half22float2(from[i * kStride]);
    f[2 * i] = x.x;
    f[2 * i + 1] = x.y;
    highest = fmaxf(highest, fmaxf(x.x, x.y));
  }
  return highest;
}

template <int kPairs>
__device__ float exponentials(float (&f)[2 * kPairs], float highest) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 2 * kPairs; i += 2) {
    f[i] = __expf(f[i] - highest);
    f[i + 1] = __expf(f[i + 1] - highest);
    sum += f[i] + f[i + 1];
  }
  return sum;
}

template <int kPairs, int kStride>
__device__ void store_pairs(const float (&e)[2 * kPairs], float sum, half2* to) {
#pragma unroll
  for (int i = 0; i < kPairs; ++i) to[i * kStride] = packed_pair(e[2 * i] / sum, e[2 * i + 1] / sum);
}

// A warp's row, kept in its registers.
template <int kPairs>
__device__ void packed_row(const half* input, half* output) {
  float f[2 * kPairs];
  float highest = load_pairs<kPairs, kWarp>((const half2*)input, f);
  highest = from_first(over_lanes<Largest>(highest));
  float sum = from_first(over_lanes<Sum>(exponentials<kPairs>(f, highest)));
  store_pairs<kPairs, kWarp>(f, sum, (half2*)output);
}

template <int N>
__global__ void __launch_bounds__(kBlock) packed(const half* __restrict__ input,
                                                 half* __restrict__ output, int m) {
  int lane = threadIdx.x % kWarp, row = blockIdx.x * (kBlock / kWarp) + threadIdx.x / kWarp;
  long long first = 1LL * row * N + lane * 2;
  if (row < m) packed_row<N / (2 * kWarp)>(input + first, output + first);
}

template <int N>
__global__ void __launch_bounds__(kBlock) grid_remap(const half* __restrict__ input,
                                                     half* __restrict__ output, int m) {
  int lane = threadIdx.x % kWarp;
  int row = (blockIdx.x * gridDim.y + blockIdx.y) * (kBlock / kWarp) + threadIdx.x / kWarp;
  long long first = 1LL * row * N + lane * 2;
  if (row < m) packed_row<N / (2 * kWarp)>(input + first, output + first);
}

// Leaves out all but the first 64 elements of a row, as a warp of 32 lanes does here.
template <int N>
__global__ void __launch_bounds__(kBlock) packed_as_printed(const half* __restrict__ input,
                                                            half* __restrict__ output, int m) {
  int lane = threadIdx.x % kWarp, row = blockIdx.x * (kBlock / kWarp) + threadIdx.x / kWarp;
  long long first = 1LL * row * N + lane * 2;
  if (row < m) packed_row<1>(input + first, output + first);
}

template <int N>
__global__ void __launch_bounds__(32) ported_from_cuda(const half* __restrict__ input,
                                                       half* __restrict__ output, int) {
  long long first = 1LL * blockIdx.x * N + threadIdx.x * 2;
  packed_row<N / 64>(input + first, output + first);
}

template <int N>
__global__ void __launch_bounds__(kWarp) online(const half* __restrict__ input,
                                                half* __restrict__ output, int) {
  constexpr int kVectors = N / kEach / kWarp;
  long long first = 1LL * blockIdx.x * N + threadIdx.x * kVectors * kEach;
  float highest = -INFINITY, sum = 0;
#pragma unroll 8
  for (int i = 0; i < kVectors; ++i) {
    float f[kEach];
    widen(vector_at(input, first + i * kEach), f);
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      float before = highest;
      highest = fmaxf(highest, f[e]);
      sum = fmaf(sum, expf(before - highest), expf(f[e] - highest));
    }
  }
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    float other = __shfl_down_sync(~0u, highest, offset), part = __shfl_down_sync(~0u, sum, offset);
    float before = highest;
    highest = fmaxf(highest, other);
    sum = fmaf(sum, expf(before - highest), part * expf(other - highest));
  }
  highest = from_first(highest);
  sum = from_first(sum);
  first = once_more(first);
#pragma unroll 8
  for (int i = 0; i < kVectors; ++i)
    *(Vector<half>*)(output + first + i * kEach) =
        normalised(vector_at(input, first + i * kEach), highest, sum);
}

// Over the threads of a block, for all of them.
template <typename Operation>
__device__ float over_block(float x, float neutral, float* partial) {
  int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  x = over_lanes<Operation>(x);
  if (lane == 0) partial[warp] = x;
  __syncthreads();
  float whole = neutral;
#pragma unroll
  for (int w = 0; w < kBlock / kWarp; ++w) whole = Operation::of(whole, partial[w]);
  return whole;
}

template <int N>
__global__ void __launch_bounds__(kBlock) block_per_row(const half* __restrict__ input,
                                                        half* __restrict__ output, int) {
  constexpr int kPairs = N / (2 * kBlock);
  __shared__ float partial[kBlock / kWarp];
  long long first = 1LL * blockIdx.x * N + threadIdx.x * 2;
  float f[2 * kPairs];
  float highest = load_pairs<kPairs, kBlock>((const half2*)(input + first), f);
  highest = over_block<Largest>(highest, -INFINITY, partial);
  __syncthreads();  // before the sums take the place of the maxima
  float total = over_block<Sum>(exponentials<kPairs>(f, highest), 0, partial);
  store_pairs<kPairs, kBlock>(f, total, (half2*)(output + first));
}

template <int N>
__global__ void __launch_bounds__(kBlock) statistics_of_pieces(const half* __restrict__ input,
                                                               float2* __restrict__ statistics) {
  constexpr int kPairs = kPiece / (2 * kBlock);
  __shared__ float partial[kBlock / kWarp];
  long long first = 1LL * blockIdx.x * N + blockIdx.y * kPiece + threadIdx.x * 2;
  float f[2 * kPairs];
  float highest = load_pairs<kPairs, kBlock>((const half2*)(input + first), f);
  highest = over_block<Largest>(highest, -INFINITY, partial);
  __syncthreads();
  float total = over_block<Sum>(exponentials<kPairs>(f, highest), 0, partial);
  if (threadIdx.x == 0)
    statistics[1LL * blockIdx.x * gridDim.y + blockIdx.y] = make_float2(highest, total);
}

template <int N>
__global__ void __launch_bounds__(kBlock) normalise_pieces(const half* __restrict__ input,
                                                           const float2* __restrict__ statistics,
                                                           half* __restrict__ output) {
  constexpr int kPairs = kPiece / (2 * kBlock);
  float highest = -INFINITY, sum = 0;
#pragma unroll 1
  for (int s = 0; s < N / kPiece; ++s) {
    float2 q = statistics[1LL * blockIdx.x * gridDim.y + s];
    float before = highest;
    highest = fmaxf(highest, q.x);
    sum = fmaf(sum, __expf(before - highest), q.y * __expf(q.x - highest));
  }
  long long first = 1LL * blockIdx.x * N + blockIdx.y * kPiece + threadIdx.x * 2;
  float f[2 * kPairs];
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
    float2 x = __half22float2(((const half2*)(input + first))[i * kBlock]);
    f[2 * i] = __expf(x.x - highest);
    f[2 * i + 1] = __expf(x.y - highest);
  }
  store_pairs<kPairs, kBlock>(f, sum, (half2*)(output + first));
}

// Over the lanes of a warp, with a barrier of the block a level.
template <typename Operation>
__device__ float over_lanes_in_shared(float x, float* partial) {
  int tid = threadIdx.x, lane = threadIdx.x % kWarp;
  partial[tid] = x;
  __syncthreads();
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    if (lane < offset) {
      x = Operation::of(x, partial[tid + offset]);
      partial[tid] = x;
    }
    __syncthreads();
  }
  return partial[tid - lane];
}

template <int N>
__global__ void __launch_bounds__(kBlock) shared_reduction(const half* __restrict__ input,
                                                           half* __restrict__ output, int m) {
  constexpr int kPairs = N / (2 * kWarp);
  __shared__ float partial[kBlock];
  int lane = threadIdx.x % kWarp, row = blockIdx.x * (kBlock / kWarp) + threadIdx.x / kWarp;
  long long first = 1LL * row * N + lane * 2;
  float f[2 * kPairs] = {};
  float highest = 0;
  if (row < m) highest = load_pairs<kPairs, kWarp>((const half2*)(input + first), f);
  highest = over_lanes_in_shared<Largest>(highest, partial);
  __syncthreads();
  float sum = over_lanes_in_shared<Sum>(exponentials<kPairs>(f, highest), partial);
  if (row < m) store_pairs<kPairs, kWarp>(f, sum, (half2*)(output + first));
}

// ---- measurement ---------------------------------------------------------------------------------

// The highest value of a row's first `length` elements, and the sum of their exponentials.
__global__ void row_statistics(const half* input, int m, int n, int length, double2* statistics) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m) return;
  double highest = -INFINITY, sum = 0;
  for (int i = 0; i < length; ++i) highest = fmax(highest, double(__half2float(input[1LL * row * n + i])));
  for (int i = 0; i < length; ++i) sum += exp(double(__half2float(input[1LL * row * n + i])) - highest);
  statistics[row] = make_double2(highest, sum);
}

struct Check {
  const half *input, *output;
  const double2* statistics;
  int n, length;
  __device__ Pair operator()(long long i) const {
    long long row = i / length, at = row * n + i % length;
    double2 of_row = statistics[row];
    return {double(__half2float(output[at])),
            exp(double(__half2float(input[at])) - of_row.x) / of_row.y};
  }
};

template <int N>
void measure(Report& report, int m) {
  Array<half> input(1LL * m * N), output(1LL * m * N);
  Array<double2> expected(m);
  Array<float2> statistics(1LL * m * (N / kPiece));
  input.randomize(1, -4, 4);
  auto run = [&](const char* rung, const Work& launch, int length = N) {
    report.run({rung, "m=" + std::to_string(m) + ";n=" + std::to_string(N) + ";type=fp16",
                tolerance<half>(), [&] { output.poison(), statistics.poison(); }, launch, [&] {
                  row_statistics<<<unsigned(ceil_div(m, 128)), 128>>>(input, m, N, length, expected);
                  return relative_error(1LL * m * length, Check{input, output, expected, N, length});
                }});
  };
  unsigned by_threads = unsigned(ceil_div(m, kBlock)), by_warps = unsigned(ceil_div(m, kBlock / kWarp));
  dim3 remapped(m / 8 / (kBlock / kWarp), 8), pieces(m, N / kPiece);
  run("thread_per_row", [&] { thread_per_row<N><<<by_threads, kBlock>>>(input, output, m); });
  run("warp_per_row", [&] { warp_per_row<N><<<m, kWarp>>>(input, output, m); });
  run("vector_loads", [&] { vector_loads<N><<<m, kWarp>>>(input, output, m); });
  run("packed", [&] { packed<N><<<by_warps, kBlock>>>(input, output, m); });
  run("grid_remap", [&] { grid_remap<N><<<remapped, kBlock>>>(input, output, m); });
  run("packed_as_printed", [&] { packed_as_printed<N><<<by_warps, kBlock>>>(input, output, m); }, 64);
  run("online", [&] { online<N><<<m, kWarp>>>(input, output, m); });
  run("block_per_row", [&] { block_per_row<N><<<m, kBlock>>>(input, output, m); });
  run("two_stages", [&] {
    statistics_of_pieces<N><<<pieces, kBlock>>>(input, statistics);
    normalise_pieces<N><<<pieces, kBlock>>>(input, statistics, output);
  });
  run("shared_reduction", [&] { shared_reduction<N><<<by_warps, kBlock>>>(input, output, m); });
  run("ported_from_cuda", [&] { ported_from_cuda<N><<<m, 32>>>(input, output, m); });
}

int main(int argc, char** argv) {
  Report report("softmax", argc, argv);
  // input and output together: 2 MB, 32 MB (stays in the L2), 128 MB and 512 MB
  for (int m : {1024, 16384, 65536, 262144}) measure<512>(report, m);
  // 2 MB, 32 MB and 256 MB
  for (int m : {128, 2048, 16384}) measure<4096>(report, m);
  // Then sizes that are no powers of two, which are held out from any work on the model.
  for (int m : {1536, 24576, 98304}) measure<512>(report, m);
  for (int m : {576, 6144, 49152}) measure<1536>(report, m);
  return report.status();
}
