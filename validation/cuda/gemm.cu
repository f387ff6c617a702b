// The fp32 rungs of perfmodel/kernels/library/gemm.yaml.
#include "common.cuh"

__global__ void naive(const float* a, const float* b, float* c, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[1LL * row * k + i] * b[1LL * i * n + col];
  c[1LL * row * n + col] = sum;
}

constexpr int kTile = 16;

__global__ void tiled(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * kTile + ty, col = blockIdx.x * kTile + tx;
  float sum = 0;
  for (int t = 0; t < (k + kTile - 1) / kTile; ++t) {
    tile_a[ty][tx] = row < m && t * kTile + tx < k ? a[1LL * row * k + t * kTile + tx] : 0.0f;
    tile_b[ty][tx] = t * kTile + ty < k && col < n ? b[1LL * (t * kTile + ty) * n + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += tile_a[ty][i] * tile_b[i][tx];
    __syncthreads();
  }
  if (row < m && col < n) c[1LL * row * n + col] = sum;
}

constexpr int kBm = 128, kBn = 128, kBk = 8, kTm = 8, kTn = 8, kPad = 4;
constexpr int kThreads = (kBm / kTm) * (kBn / kTn);
constexpr int kRowA = kBm + kPad;
static_assert(kBm * kBk == 4 * kThreads && kBn * kBk == 4 * kThreads, "one float4 a thread");

// What a thread brings of the next tiles, and where it puts it; A is turned.
struct Staged {
  float4 a, b;

  __device__ void load(const float* from_a, const float* from_b, int brow, int bcol, int t, int n,
                       int k) {
    int tid = threadIdx.x;
    a = *(const float4*)(from_a + 1LL * (brow * kBm + tid / (kBk / 4)) * k + t * kBk +
                         tid % (kBk / 4) * 4);
    b = *(const float4*)(from_b + 1LL * (t * kBk + tid / (kBn / 4)) * n + bcol * kBn +
                         tid % (kBn / 4) * 4);
  }
  __device__ void store(float* tile_a, float* tile_b) const {
    int tid = threadIdx.x;
    float* to = tile_a + tid % (kBk / 4) * 4 * kRowA + tid / (kBk / 4);
    to[0] = a.x;
    to[kRowA] = a.y;
    to[2 * kRowA] = a.z;
    to[3 * kRowA] = a.w;
    *(float4*)(tile_b + tid * 4) = b;
  }
};

// The pieces of the two tiles that a step of a thread's tile needs.
struct Fragment {
  float a[kTm], b[kTn];

  __device__ void load(const float* tile_a, const float* tile_b, int i) {
    int tx = threadIdx.x % (kBn / kTn), ty = threadIdx.x / (kBn / kTn);
#pragma unroll
    for (int f = 0; f < kTm / 4; ++f)
      *(float4*)(a + 4 * f) = *(const float4*)(tile_a + i * kRowA + ty * kTm + f * 4);
#pragma unroll
    for (int f = 0; f < kTn / 4; ++f)
      *(float4*)(b + 4 * f) = *(const float4*)(tile_b + i * kBn + (f * (kBn / kTn) + tx) * 4);
  }
  __device__ void multiply(float (&sum)[kTm][kTn]) const {
#pragma unroll
    for (int r = 0; r < kTm; ++r)
#pragma unroll
      for (int s = 0; s < kTn; ++s) sum[r][s] += a[r] * b[s];
  }
};

__device__ void write(const float (&sum)[kTm][kTn], float* c, int brow, int bcol, int n) {
  int tx = threadIdx.x % (kBn / kTn), ty = threadIdx.x / (kBn / kTn);
#pragma unroll
  for (int r = 0; r < kTm; ++r)
#pragma unroll
    for (int f = 0; f < kTn / 4; ++f)
      *(float4*)(c + 1LL * (brow * kBm + ty * kTm + r) * n + bcol * kBn +
                 (f * (kBn / kTn) + tx) * 4) =
          make_float4(sum[r][4 * f], sum[r][4 * f + 1], sum[r][4 * f + 2], sum[r][4 * f + 3]);
}

template <bool ahead>  // whether fragments are read a step ahead
__global__ void __launch_bounds__(kThreads)
    register_tile(const float* a, const float* b, float* c, int, int n, int k) {
  __shared__ __align__(16) float tile_a[kBk * kRowA], tile_b[kBk * kBn];
  float sum[kTm][kTn] = {};
  Staged staged;
  Fragment fragment[2];
  for (int t = 0; t < k / kBk; ++t) {
    staged.load(a, b, blockIdx.y, blockIdx.x, t, n, k);
    __syncthreads();
    staged.store(tile_a, tile_b);
    __syncthreads();
    if (ahead) {
      fragment[0].load(tile_a, tile_b, 0);
#pragma unroll
      for (int i = 1; i < kBk; ++i) {
        fragment[i % 2].load(tile_a, tile_b, i);
        fragment[(i + 1) % 2].multiply(sum);
      }
      fragment[(kBk - 1) % 2].multiply(sum);
    } else {
      for (int i = 0; i < kBk; ++i) {
        fragment[0].load(tile_a, tile_b, i);
        fragment[0].multiply(sum);
      }
    }
  }
  write(sum, c, blockIdx.y, blockIdx.x, n);
}

template <int strip>  // block columns of a strip; 0: blocks in their own order
__global__ void __launch_bounds__(kThreads)
    global_double_buffer(const float* a, const float* b, float* c, int, int n, int k) {
  __shared__ __align__(16) float tile_a[2][kBk * kRowA], tile_b[2][kBk * kBn];
  int brow = blockIdx.y, bcol = blockIdx.x;
  if constexpr (strip > 0) {
    int number = blockIdx.y * gridDim.x + blockIdx.x, of_strip = strip * gridDim.y;
    brow = number % of_strip / strip;
    bcol = number / of_strip * strip + number % strip;
  }
  float sum[kTm][kTn] = {};
  Staged staged;
  Fragment fragment[2];
  staged.load(a, b, brow, bcol, 0, n, k);
  staged.store(tile_a[0], tile_b[0]);
  __syncthreads();
  for (int t = 0; t < k / kBk; ++t) {
    const float *now_a = tile_a[t % 2], *now_b = tile_b[t % 2];
    if (t + 1 < k / kBk) staged.load(a, b, brow, bcol, t + 1, n, k);
    fragment[0].load(now_a, now_b, 0);
#pragma unroll
    for (int i = 1; i < kBk; ++i) {
      fragment[i % 2].load(now_a, now_b, i);
      fragment[(i + 1) % 2].multiply(sum);
    }
    fragment[(kBk - 1) % 2].multiply(sum);
    if (t + 1 < k / kBk) staged.store(tile_a[(t + 1) % 2], tile_b[(t + 1) % 2]);
    __syncthreads();
  }
  write(sum, c, brow, bcol, n);
}

int main() {
  Timer timer;
  using Kernel = void (*)(const float*, const float*, float*, int, int, int);
  struct Rung {
    const char* name;
    Kernel kernel;
    int tile;
    dim3 block;
  };
  const Rung rungs[] = {{"naive", naive, 16, dim3(16, 16)},
                        {"tiled", tiled, kTile, dim3(kTile, kTile)},
                        {"register_tile", register_tile<false>, kBm, dim3(kThreads)},
                        {"shared_double_buffer", register_tile<true>, kBm, dim3(kThreads)},
                        {"global_double_buffer", global_double_buffer<0>, kBm, dim3(kThreads)},
                        {"block_swizzle", global_double_buffer<8>, kBm, dim3(kThreads)}};
  for (int n : {1024, 2048, 4096}) {
    Array<float> a(1LL * n * n), b(1LL * n * n), c(1LL * n * n);
    a.fill(7);
    b.fill(8);
    std::mt19937 draw(9);
    std::vector<long long> looked_at(2000);
    std::vector<double> wanted;
    for (long long& at : looked_at) {
      at = draw() % (1LL * n * n);
      double sum = 0;
      for (int i = 0; i < n; ++i) sum += double(a.host[at / n * n + i]) * b.host[1LL * i * n + at % n];
      wanted.push_back(sum);
    }
    auto error = [&] {
      auto& read = c.read();
      std::vector<double> found;
      for (long long at : looked_at) found.push_back(read[at]);
      return difference(found, wanted);
    };
    std::string size = std::to_string(n);
    for (const Rung& rung : rungs) {
      c.poison();
      dim3 grid(n / rung.tile, n / rung.tile);
      timer.rung("gemm", rung.name, "m=" + size + ";n=" + size + ";k=" + size, 1e-5, [&] {
        rung.kernel<<<grid, rung.block>>>(a.device, b.device, c.device, n, n, n);
      }, error);
    }
  }
  return timer.status();
}
