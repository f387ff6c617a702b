// The rungs of perfmodel/kernels/library/attention.yaml, in fp16 and without a mask.
#include <cuda.h>

#include "wgmma.cuh"

constexpr int kD = 128;
constexpr float kLog2e = 1.4426950408889634f;

__device__ float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// ---- three_kernels ------------------------------------------------------------------------------

constexpr int kTile = 128, kBk = 32, kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    scores(const half* q, const half* k, half* s, int n, int share) {
  __shared__ struct {
    Tile<kTile, kBk> q, k;
  } tile;
  int head = blockIdx.z, kv = head / share, row = group_row();
  q += (1LL * head * n + blockIdx.y * kTile) * kD;
  k += (1LL * kv * n + blockIdx.x * kTile) * kD;
  Staged<kThreads, kTile, kBk> x, y;
  float sum[kTile / 2] = {};
  x.load(q, kD);
  y.load(k, kD);
  for (int t = 0; t < kD / kBk; ++t) {
    __syncthreads();
    x.store(tile.q);
    y.store(tile.k);
    barrier_before_products();
    begin_products();
#pragma unroll
    for (int depth = 0; depth < kBk; depth += 16)
      multiply<false>(sum, tile.q.along(row, depth), tile.k.along(0, depth), true);
    commit_products();
    if (t + 1 < kD / kBk) {
      x.load(q + (t + 1) * kBk, kD);
      y.load(k + (t + 1) * kBk, kD);
    }
    wait_for_products(sum);
  }
  __syncthreads();
  s += (1LL * head * n + blockIdx.y * kTile) * n + blockIdx.x * kTile;
  store_rows(sum, (half*)&tile, s, n);
}

template <int n>
__global__ void __launch_bounds__(kThreads) softmax(const half* s, half* p) {
  constexpr int kSteps = n / (kRun * kWarp);
  long long row = blockIdx.x * (kThreads / kWarp) + threadIdx.x / kWarp;
  int lane = threadIdx.x % kWarp;
  float f[kSteps][kRun], highest = -INFINITY, total = 0;
#pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    uint4 x = *(const uint4*)(s + row * n + (i * kWarp + lane) * kRun);
#pragma unroll
    for (int j = 0; j < kRun; ++j) {
      f[i][j] = __half2float(((const half*)&x)[j]);
      highest = fmaxf(highest, f[i][j]);
    }
  }
#pragma unroll
  for (int offset = kWarp / 2; offset > 0; offset /= 2)
    highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, offset));
#pragma unroll
  for (int i = 0; i < kSteps; ++i)
#pragma unroll
    for (int j = 0; j < kRun; ++j) {
      f[i][j] = exp2_of(f[i][j] * kLog2e - highest * kLog2e);
      total += f[i][j];
    }
#pragma unroll
  for (int offset = kWarp / 2; offset > 0; offset /= 2)
    total += __shfl_xor_sync(0xffffffffu, total, offset);
  float r = __fdividef(1, total);
#pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    uint4 h;
#pragma unroll
    for (int j = 0; j < kRun; j += 2)
      ((half2*)&h)[j / 2] = __floats2half2_rn(f[i][j] * r, f[i][j + 1] * r);
    *(uint4*)(p + row * n + (i * kWarp + lane) * kRun) = h;
  }
}

__global__ void __launch_bounds__(kThreads)
    output(const half* p, const half* v, half* o, int n, int share) {
  __shared__ struct {
    Tile<kTile, kBk> p;
    Tile<kBk, kD> v;
  } tile;
  int head = blockIdx.z, kv = head / share, row = group_row();
  p += (1LL * head * n + blockIdx.y * kTile) * n;
  v += 1LL * kv * n * kD;
  Staged<kThreads, kTile, kBk> x;
  Staged<kThreads, kBk, kD> y;
  float sum[kD / 2] = {};
  x.load(p, n);
  y.load(v, kD);
  for (int t = 0; t < n / kBk; ++t) {
    __syncthreads();
    x.store(tile.p);
    y.store(tile.v);
    barrier_before_products();
    begin_products();
#pragma unroll
    for (int depth = 0; depth < kBk; depth += 16)
      multiply<true>(sum, tile.p.along(row, depth), tile.v.across(depth), true);
    commit_products();
    if (t + 1 < n / kBk) {
      x.load(p + (t + 1) * kBk, n);
      y.load(v + 1LL * (t + 1) * kBk * kD, kD);
    }
    wait_for_products(sum);
  }
  __syncthreads();
  store_rows(sum, (half*)&tile, o + (1LL * head * n + blockIdx.y * kTile) * kD, kD);
}

// ---- what the fused rungs share -----------------------------------------------------------------

constexpr int kBr = 128, kBc = 32;  // queries of a block, keys of a tile
using QueryTile = Tile<kBr, kD>;
using KeyTile = Tile<kBc, kD>;

struct Heads {
  int n, heads, kv_heads;

  __device__ long long queries() const {  // row of q and o at which the block's begin
    return 1LL * (blockIdx.z * heads + blockIdx.y) * n + blockIdx.x * kBr;
  }
  __device__ long long keys() const {  // row of k and v at which the head's begin
    return 1LL * (blockIdx.z * kv_heads + blockIdx.y / (heads / kv_heads)) * n;
  }
};

template <int rows>
__device__ void copy(Tile<rows, kD>& to, const half* from) {
  constexpr int kRuns = kD / kRun;
#pragma unroll
  for (int j = 0; j < rows * kRuns / (2 * kBr); ++j) {
    int e = threadIdx.x + j * (2 * kBr);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     shared_address(to.run(e / kRuns, e % kRuns))),
                 "l"(from + e * kRun)
                 : "memory");
  }
}

// Until what the block copied is there for products; this takes a barrier, as each thread knows of
// its own copies alone.
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
  barrier_before_products();
}

// A group's scores of a tile of keys, when they are waited for.
__device__ void multiply_keys(float (&s)[kBc / 2], const QueryTile& q, int row, const KeyTile& k) {
  begin_products();
#pragma unroll
  for (int depth = 0; depth < kD; depth += 16)
    multiply<false>(s, q.along(row, depth), k.along(0, depth), depth > 0);
  commit_products();
}

// A group's probabilities for a tile of keys, as an operand in registers.
struct Probabilities {
  unsigned p[kBc / 16][4];

  __device__ explicit Probabilities(const float (&e)[kBc / 2]) {
#pragma unroll
    for (int i = 0; i < kBc / 2; i += 2) {
      half2 pair = __floats2half2_rn(e[i], e[i + 1]);
      p[i / 8][i / 2 % 4] = *(unsigned*)&pair;
    }
  }
  // Adds their product with a tile of values to `out`, when it is waited for.
  __device__ void multiply_values(float (&out)[kD / 2], const KeyTile& v) const {
    begin_products();
#pragma unroll
    for (int i = 0; i < kBc / 16; ++i) multiply<true>(out, p[i], v.across(i * 16), true);
    commit_products();
  }
};

// Maximum and sum of a thread's two rows; the sum is that of its own columns, until `finish`.
struct Softmax {
  float highest[2] = {-INFINITY, -INFINITY}, total[2] = {0, 0};
  float shrink[2];  // what sums so far are to be multiplied by

  // Takes in scores, and makes them exponentials.
  __device__ void update(float (&s)[kBc / 2]) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float before = highest[h];
#pragma unroll
      for (int i = 2 * h; i < kBc / 2; i += 4)
        highest[h] = fmaxf(highest[h], fmaxf(s[i], s[i + 1]));
      highest[h] = fmaxf(highest[h], __shfl_xor_sync(0xffffffffu, highest[h], 1));
      highest[h] = fmaxf(highest[h], __shfl_xor_sync(0xffffffffu, highest[h], 2));
      shrink[h] = exp2_of((before - highest[h]) * kLog2e);
      total[h] *= shrink[h];
    }
    exponentiate(s);
#pragma unroll
    for (int i = 0; i < kBc / 2; ++i) total[i / 2 % 2] += s[i];
  }
  __device__ void exponentiate(float (&s)[kBc / 2]) const {
#pragma unroll
    for (int i = 0; i < kBc / 2; ++i)
      s[i] = exp2_of(s[i] * kLog2e - highest[i / 2 % 2] * kLog2e);
  }
  __device__ void finish() {  // leaves the reciprocals of the whole sums
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      total[h] += __shfl_xor_sync(0xffffffffu, total[h], 1);
      total[h] += __shfl_xor_sync(0xffffffffu, total[h], 2);
      total[h] = __fdividef(1, total[h]);
    }
  }
};

template <int count>
__device__ void scale(float (&sum)[count], const float (&by)[2]) {
#pragma unroll
  for (int i = 0; i < count; ++i) sum[i] *= by[i / 2 % 2];
}

template <int count>
__device__ void take(float (&to)[count], const float (&from)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) to[i] = from[i];
}

// ---- online_two_passes, fused -------------------------------------------------------------------

__global__ void __launch_bounds__(2 * kBr)
    online_two_passes(const half* q, const half* k, const half* v, half* o, Heads size) {
  __shared__ QueryTile tile_q;
  __shared__ KeyTile tile_k, tile_v;
  k += size.keys() * kD;
  v += size.keys() * kD;
  float s[kBc / 2], out[kD / 2] = {};
  Softmax rows;
  int row = group_row();
  copy(tile_q, q + size.queries() * kD);
  for (int t = 0; t < size.n / kBc; ++t) {
    __syncthreads();
    copy(tile_k, k + 1LL * t * kBc * kD);
    wait_for_copies();
    multiply_keys(s, tile_q, row, tile_k);
    wait_for_products(s);
    rows.update(s);
  }
  rows.finish();
  for (int t = 0; t < size.n / kBc; ++t) {
    __syncthreads();
    copy(tile_k, k + 1LL * t * kBc * kD);
    copy(tile_v, v + 1LL * t * kBc * kD);
    wait_for_copies();
    multiply_keys(s, tile_q, row, tile_k);
    wait_for_products(s);
    rows.exponentiate(s);
    scale(s, rows.total);
    Probabilities(s).multiply_values(out, tile_v);
    wait_for_products(out);
  }
  __syncthreads();
  store_rows(out, tile_q.data, o + size.queries() * kD, kD);
}

__global__ void __launch_bounds__(2 * kBr)
    fused(const half* q, const half* k, const half* v, half* o, Heads size) {
  __shared__ QueryTile tile_q;
  __shared__ KeyTile tile_k, tile_v;
  k += size.keys() * kD;
  v += size.keys() * kD;
  float s[kBc / 2], out[kD / 2] = {};
  Softmax rows;
  int row = group_row();
  copy(tile_q, q + size.queries() * kD);
  for (int t = 0; t < size.n / kBc; ++t) {
    __syncthreads();
    copy(tile_k, k + 1LL * t * kBc * kD);
    copy(tile_v, v + 1LL * t * kBc * kD);
    wait_for_copies();
    multiply_keys(s, tile_q, row, tile_k);
    wait_for_products(s);
    rows.update(s);
    Probabilities p(s);
    scale(out, rows.shrink);
    p.multiply_values(out, tile_v);
    wait_for_products(out);
  }
  rows.finish();
  scale(out, rows.total);
  __syncthreads();
  store_rows(out, tile_q.data, o + size.queries() * kD, kD);
}

// ---- pipelined ----------------------------------------------------------------------------------

constexpr int kStages = 2;

struct Tiles {
  QueryTile q;
  KeyTile k[kStages], v[kStages];
};

__global__ void __launch_bounds__(2 * kBr)
    pipelined(const half* q, const half* k, const half* v, half* o, Heads size) {
  extern __shared__ Tiles tiles[];
  QueryTile& tile_q = tiles->q;
  auto &tile_k = tiles->k, &tile_v = tiles->v;
  k += size.keys() * kD;
  v += size.keys() * kD;
  int steps = size.n / kBc;
  float now[kBc / 2], before[kBc / 2], out[kD / 2] = {};
  Softmax rows;
  int row = group_row();
  copy(tile_q, q + size.queries() * kD);
  copy(tile_k[0], k);
  wait_for_copies();
  multiply_keys(before, tile_q, row, tile_k[0]);
  copy(tile_k[1], k + kBc * kD);
  copy(tile_v[0], v);
  wait_for_products(before);
#pragma unroll 2  // so that the two score tiles take turns, and no register is moved
  for (int t = 1; t < steps; ++t) {
    wait_for_copies();  // and for those who read what is overwritten now
    // Copies go first, as the compiler spreads the issue of products over the softmax.
    if (t + 1 < steps) copy(tile_k[(t + 1) % 2], k + 1LL * (t + 1) * kBc * kD);
    copy(tile_v[t % 2], v + 1LL * t * kBc * kD);
    multiply_keys(now, tile_q, row, tile_k[t % 2]);
    rows.update(before);
    Probabilities p(before);
    scale(out, rows.shrink);
    p.multiply_values(out, tile_v[(t - 1) % 2]);
    wait_for_products(now, out);
    take(before, now);
  }
  rows.update(before);
  Probabilities p(before);
  scale(out, rows.shrink);
  wait_for_copies();
  p.multiply_values(out, tile_v[(steps - 1) % 2]);
  wait_for_products(out);
  rows.finish();
  scale(out, rows.total);
  store_rows(out, tile_q.data, o + size.queries() * kD, kD);
}

// ---- warp_specialized ---------------------------------------------------------------------------

using Arrivals = uint64_t;  // a barrier in shared memory (mbarrier)

// A phase of the barrier ends with `count` arrivals and the bytes that they announced.
__device__ void make_ready(Arrivals& barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)), "r"(count)
               : "memory");
}

__device__ void arrive(Arrivals& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier))
               : "memory");
}

// Until the phase of this parity has ended; the one before the first has parity 1.
__device__ void wait_for(Arrivals& barrier, int parity) {
  int ended;
  do
    asm volatile(
        "{\n.reg .pred ended;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
        "selp.b32 %0, 1, 0, ended;\n}\n"
        : "=r"(ended)
        : "r"(shared_address(&barrier)), "r"(parity)
        : "memory");
  while (!ended);
}

// Copies whole rows of an array from this one on, and has the barrier wait for them.
template <int rows>
__device__ void bulk_copy(Tile<rows, kD>& to, const CUtensorMap& from, long long row,
                          Arrivals& barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   shared_address(&barrier)),
               "r"(int(sizeof to.data))
               : "memory");
  for (int column = 0; column < kD; column += to.kWidth)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to.run(0, column / kRun))),
        "l"(&from), "r"(column), "r"(int(row)), "r"(shared_address(&barrier))
        : "memory");
}

constexpr int kConsumers = 2 * kBr;

struct Channel {
  Arrivals full[kStages], empty[kStages];

  __device__ void make_ready() {
    for (int i = 0; i < kStages; ++i) {
      ::make_ready(full[i], 1);
      ::make_ready(empty[i], kConsumers / kWarp);
    }
  }
  __device__ Arrivals& acquire(int t) {
    wait_for(empty[t % kStages], t / kStages % 2 ^ 1);
    return full[t % kStages];
  }
  __device__ void wait(int t) { wait_for(full[t % kStages], t / kStages % 2); }
  __device__ void release(int t) {
    if (threadIdx.x % kWarp == 0) arrive(empty[t % kStages]);
  }
};

struct Channels {
  Tiles tiles;
  Channel keys, values;
  Arrivals queries;
};

__global__ void __launch_bounds__(kConsumers + kWarp)
    warp_specialized(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
                     const __grid_constant__ CUtensorMap v, half* o, Heads size) {
  extern __shared__ Channels channels[];
  Tiles& tiles = channels->tiles;
  Channel &keys = channels->keys, &values = channels->values;
  Arrivals& queries = channels->queries;
  int steps = size.n / kBc;
  if (threadIdx.x == 0) {
    keys.make_ready();
    values.make_ready();
    make_ready(queries, 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= kConsumers) {
    if (threadIdx.x > kConsumers) return;
    for (int t = 0; t < steps; ++t) {
      long long row = size.keys() + t * kBc;
      bulk_copy(tiles.k[t % kStages], k, row, keys.acquire(t));
      bulk_copy(tiles.v[t % kStages], v, row, values.acquire(t));
    }
    return;
  }
  float now[kBc / 2], before[kBc / 2], out[kD / 2] = {};
  Softmax rows;
  int row = group_row();
  if (threadIdx.x == 0) bulk_copy(tiles.q, q, size.queries(), queries);
  wait_for(queries, 0);
  keys.wait(0);
  multiply_keys(before, tiles.q, row, tiles.k[0]);
  wait_for_products(before);
  keys.release(0);
#pragma unroll 2  // so that the two score tiles take turns, and no register is moved
  for (int t = 1; t < steps; ++t) {
    keys.wait(t);
    multiply_keys(now, tiles.q, row, tiles.k[t % kStages]);
    rows.update(before);
    Probabilities p(before);
    wait_for_products(now);
    keys.release(t);
    values.wait(t - 1);
    scale(out, rows.shrink);
    p.multiply_values(out, tiles.v[(t - 1) % kStages]);
    wait_for_products(out);
    values.release(t - 1);
    take(before, now);
  }
  rows.update(before);
  Probabilities p(before);
  values.wait(steps - 1);
  scale(out, rows.shrink);
  p.multiply_values(out, tiles.v[(steps - 1) % kStages]);
  wait_for_products(out);
  rows.finish();
  scale(out, rows.total);
  // Nobody reads the queries any more.
  asm volatile("bar.sync 1, %0;" ::"n"(kConsumers) : "memory");
  store_rows(out, tiles.q.data, o + size.queries() * kD, kD);
}

// ---- measurement --------------------------------------------------------------------------------

// How the bulk-copy engine is to see an array: rows of a head, that many of them in a tile.
CUtensorMap map_rows(const Array<half>& array, unsigned rows) {
  void* encode;
  cudaDriverEntryPointQueryResult found;
  cuda_ok(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000,
                                         cudaEnableDefault, &found));
  CUtensorMap map;
  cuuint64_t size[] = {kD, cuuint64_t(array.count() / kD)}, pitch[] = {kD * sizeof(half)};
  cuuint32_t box[] = {KeyTile::kWidth, rows}, step[] = {1, 1};
  CUresult result = decltype(&cuTensorMapEncodeTiled)(encode)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (half*)array, size, pitch, box, step,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) throw std::runtime_error("no tensor map");
  return map;
}

constexpr int kChecked = 64;  // rows of the result that are looked at

// A block works out one of these rows; every thread adds up one column.
__global__ void expected_rows(const half* q, const half* k, const half* v, int n, int share,
                              long long rows, double* scores, double* expected) {
  long long row = sampled(blockIdx.x, kChecked, rows), keys = row / n / share * n;
  double* e = scores + 1LL * blockIdx.x * n;
  for (int j = threadIdx.x; j < n; j += blockDim.x) {
    double s = 0;
    for (int i = 0; i < kD; ++i)
      s += double(__half2float(q[row * kD + i])) * double(__half2float(k[(keys + j) * kD + i]));
    e[j] = exp(s);
  }
  __syncthreads();
  double total = 0, sum = 0;
  for (int j = 0; j < n; ++j) {
    total += e[j];
    sum += e[j] * double(__half2float(v[(keys + j) * kD + threadIdx.x]));
  }
  expected[blockIdx.x * kD + threadIdx.x] = sum / total;
}

struct Check {
  const half* o;
  const double* expected;
  long long rows;
  __device__ Pair operator()(long long i) const {
    return {double(__half2float(o[sampled(i / kD, kChecked, rows) * kD + i % kD])), expected[i]};
  }
};

template <int n>
void measure(Report& report, int heads, int kv_heads) {
  static_assert(n % kBr == 0 && n / kBc % 2 == 0 && n % 512 == 0);
  int share = heads / kv_heads;
  long long rows = 1LL * heads * n;
  Heads size{n, heads, kv_heads};
  Array<half> q(rows * kD), k(1LL * kv_heads * n * kD), v(1LL * kv_heads * n * kD), o(rows * kD);
  Array<double> scores_of_rows(1LL * kChecked * n), expected(kChecked * kD);
  q.randomize(1, -0.5, 0.5);
  k.randomize(2, -0.5, 0.5);
  v.randomize(3);
  expected_rows<<<kChecked, kD>>>(q, k, v, n, share, rows, scores_of_rows, expected);
  std::string parameters = "batch=1;heads=" + std::to_string(heads) + ";kv_heads=" +
                           std::to_string(kv_heads) + ";n=" + std::to_string(n) +
                           ";d=" + std::to_string(kD) + ";type=fp16";
  auto run = [&](const char* rung, const Work& launch) {
    report.run({rung, parameters, tolerance<half>(), [&] { o.poison(); }, launch,
                [&] { return relative_error(1LL * kChecked * kD, Check{o, expected, rows}); }});
  };
  if constexpr (n < 8192) {  // a longer row of scores does not fit a warp's registers
    Array<half> s(rows * n), p(rows * n);
    run("three_kernels", [&] {
      scores<<<dim3(n / kTile, n / kTile, heads), kThreads>>>(q, k, s, n, share);
      softmax<n><<<unsigned(rows / (kThreads / kWarp)), kThreads>>>(s, p);
      output<<<dim3(1, n / kTile, heads), kThreads>>>(p, v, o, n, share);
    });
  }
  dim3 grid(n / kBr, heads);
  run("online_two_passes", [&] { online_two_passes<<<grid, 2 * kBr>>>(q, k, v, o, size); });
  run("fused", [&] { fused<<<grid, 2 * kBr>>>(q, k, v, o, size); });
  run("pipelined", [&] { pipelined<<<grid, 2 * kBr, sizeof(Tiles)>>>(q, k, v, o, size); });
  CUtensorMap map_q = map_rows(q, kBr), map_k = map_rows(k, kBc), map_v = map_rows(v, kBc);
  run("warp_specialized", [&] {
    warp_specialized<<<grid, kConsumers + kWarp, sizeof(Channels)>>>(map_q, map_k, map_v, o, size);
  });
}

int main(int argc, char** argv) {
  Report report("attention", argc, argv);
  cuda_ok(cudaFuncSetAttribute(pipelined, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Tiles)));
  cuda_ok(cudaFuncSetAttribute(warp_specialized, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               sizeof(Channels)));
  // 4 MB and 32 MB (stay in the L2), 64 MB and 256 MB of queries, keys, values and result.
  measure<512>(report, 8, 8);
  measure<2048>(report, 16, 16);
  measure<4096>(report, 16, 16);
  measure<8192>(report, 32, 32);
  // Sizes that are no powers of two, which are held out from any work on the model.
  measure<1536>(report, 12, 12);
  measure<3072>(report, 12, 4);
  measure<2560>(report, 20, 20);
  measure<6144>(report, 24, 24);
  return report.status();
}
