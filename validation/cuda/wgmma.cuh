// Products of fp16 tiles in shared memory by groups of 128 threads (wgmma of sm_90a), the layout of
// such tiles, and what brings them there.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

#include "common.cuh"

constexpr int kGroup = 128;  // threads that multiply 64 rows together
constexpr int kRun = 8;      // halves of 16 bytes, what a lane moves at once

__device__ inline unsigned shared_address(const void* pointer) {
  return unsigned(__cvta_generic_to_shared(pointer));
}

// A tile in shared memory, in panels of up to 64 columns. The runs of a panel's row are permuted
// (the 128-byte swizzle, or the 64-byte one where there are but 32 columns), so that neither eight
// rows of a column of runs, as products read them, nor a row, as copies write it, meet in a bank.
template <int rows, int columns>
struct alignas(1024) Tile {
  static constexpr int kWidth = columns < 64 ? columns : 64, kRuns = kWidth / kRun;
  static constexpr int kPanel = rows * kWidth;
  static_assert((kWidth == 32 || kWidth == 64) && columns % kWidth == 0 && rows % 8 == 0);
  half data[rows * columns];

  __device__ half* run(int row, int run) {
    int permuted = (run % kRuns) ^ (row * kRuns / 8 % kRuns);
    return data + run / kRuns * kPanel + row * kWidth + permuted * kRun;
  }

  // As an operand whose depth runs along the rows, from this row and depth on ...
  __device__ uint64_t along(int row, int depth) const {
    return descriptor(depth / kWidth * kPanel + row * kWidth + depth % kWidth);
  }
  // ... and as one whose depth runs across them, from this depth on.
  __device__ uint64_t across(int depth) const { return descriptor(depth * kWidth); }

 private:
  // Start, from panel to panel, from eight rows to the next eight (in 16 bytes), and the swizzle.
  __device__ uint64_t descriptor(int at) const {
    constexpr uint64_t kFixed = uint64_t(kPanel / kRun) << 16 | uint64_t(kWidth) << 32 |
                                uint64_t(kWidth == 64 ? 1 : 2) << 62;
    return kFixed | shared_address(data + at) >> 4;
  }
};

// ---- products -----------------------------------------------------------------------------------

// Of the 64 x n sums of a group a thread has sum[4 * j + 2 * h + i] in row lane / 4 + 8 * h of the
// 16 rows of its warp and in column 8 * j + lane % 4 * 2 + i. Operands in registers lie likewise.
#define NAMES_16 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define NAMES_64                                                                                  \
  NAMES_16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,"    \
           "%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56," \
           "%57,%58,%59,%60,%61,%62,%63"
#define NAMES_128                                                                                 \
  NAMES_64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,"    \
           "%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103," \
           "%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,"     \
           "%120,%121,%122,%123,%124,%125,%126,%127"
#define SUMS_4(i) "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3])
#define SUMS_16(i) SUMS_4(i), SUMS_4(i + 4), SUMS_4(i + 8), SUMS_4(i + 12)
#define SUMS_64(i) SUMS_16(i), SUMS_16(i + 16), SUMS_16(i + 32), SUMS_16(i + 48)
#define SUMS_128(i) SUMS_64(i), SUMS_64(i + 64)
#define WGMMA(n, names, keep, operands)                                                        \
  "{\n.reg .pred keep;\nsetp.ne.b32 keep, " keep ", 0;\n"                                      \
  "wgmma.mma_async.sync.aligned.m64n" n "k16.f32.f16.f16 {" names "}, " operands ";\n}\n"

// sum[64, n] = a[64, 16] x b[16, n], added to what it was where `keep`. With `turned` the depth of
// b runs across the rows of its tile.
template <bool turned>
__device__ inline void multiply(float (&sum)[16], uint64_t a, uint64_t b, bool keep) {
  asm volatile(WGMMA("32", NAMES_16, "%18", "%16, %17, keep, 1, 1, 0, %19")
               : SUMS_16(0) : "l"(a), "l"(b), "r"(int(keep)), "n"(int(turned)) : "memory");
}
template <bool turned>
__device__ inline void multiply(float (&sum)[64], uint64_t a, uint64_t b, bool keep) {
  asm volatile(WGMMA("128", NAMES_64, "%66", "%64, %65, keep, 1, 1, 0, %67")
               : SUMS_64(0) : "l"(a), "l"(b), "r"(int(keep)), "n"(int(turned)) : "memory");
}
template <bool turned>
__device__ inline void multiply(float (&sum)[64], const unsigned (&a)[4], uint64_t b, bool keep) {
  asm volatile(WGMMA("128", NAMES_64, "%69", "{%64, %65, %66, %67}, %68, keep, 1, 1, %70")
               : SUMS_64(0)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(keep)),
                 "n"(int(turned))
               : "memory");
}
template <bool turned>
__device__ inline void multiply(float (&sum)[128], uint64_t a, uint64_t b, bool keep) {
  asm volatile(WGMMA("256", NAMES_128, "%130", "%128, %129, keep, 1, 1, 0, %131")
               : SUMS_128(0) : "l"(a), "l"(b), "r"(int(keep)), "n"(int(turned)) : "memory");
}

// Before the first of some products: registers that they use are written.
__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

// After the last of them.
__device__ inline void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Until all products are there; the compiler reads their sums no earlier.
template <typename... Sums>
__device__ inline void wait_for_products(Sums&... sums) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  auto hold = [](auto& sum) {
#pragma unroll
    for (float& each : sum) asm volatile("" : "+f"(each)::"memory");
  };
  (hold(sums), ...);
}

// ---- tiles from and to memory -------------------------------------------------------------------

// The first of the rows that the thread's group multiplies. The shuffle tells the compiler that it
// is the same for a warp, so that operands are named by uniform registers.
__device__ inline int group_row() {
  return __shfl_sync(0xffffffffu, threadIdx.x / kGroup, 0) * 64;
}

// A barrier of the block, after which products see what its threads stored or copied before.
__device__ inline void barrier_before_products() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
}

// What a thread brings of a tile in registers.
template <int threads, int rows, int columns>
struct Staged {
  static constexpr int kRuns = columns / kRun, kCount = rows * kRuns / threads;
  static_assert(rows * kRuns % threads == 0);
  uint4 runs[kCount];

  __device__ void load(const half* from, long long pitch) {
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      int e = threadIdx.x + j * threads;
      runs[j] = *(const uint4*)(from + e / kRuns * pitch + e % kRuns * kRun);
    }
  }
  __device__ void store(Tile<rows, columns>& to) const {
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      int e = threadIdx.x + j * threads;
      *(uint4*)to.run(e / kRuns, e % kRuns) = runs[j];
    }
  }
};

// Writes a warp's 16 rows of sums as whole runs. They go through 2 KiB of `room` a warp, 64 columns
// at a time.
template <int count>
__device__ inline void store_rows(const float (&sum)[count], half* room, half* to,
                                  long long pitch) {
  int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  room += warp * 16 * 64;
  to += warp * 16 * pitch;
  auto at = [&](int row, int run) { return room + (row * 8 + (run ^ row % 8)) * kRun; };
#pragma unroll
  for (int part = 0; part < count / 32; ++part) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 32; i += 2)
      *(half2*)(at(lane / 4 + i % 4 * 4, i / 4) + lane % 4 * 2) =
          __floats2half2_rn(sum[part * 32 + i], sum[part * 32 + i + 1]);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      int row = i * 4 + lane / 8, run = lane % 8;
      *(uint4*)(to + row * pitch + part * 64 + run * kRun) = *(uint4*)at(row, run);
    }
  }
}
