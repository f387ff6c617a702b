// Cycles of products of a group of four warps (wgmma): so many one after another into the same sums,
// then waited for; by the columns of the product, and from one group or two at the same time.
//
// Build and run (compute capability 9.0, moments):
//     nvcc -O3 -std=c++17 -gencode=arch=compute_90a,code=sm_90a -o wgmma wgmma.cu
//     ./wgmma > h200_wgmma.csv

#include "../cuda/wgmma.cuh"

constexpr int kTurns = 1000;

template <int columns, int count>
__global__ void chain(long long* cycles, float* never) {
  extern __shared__ char room[];
  auto& a = *(Tile<128, 64>*)room;
  auto& b = *(Tile<64, columns>*)(room + sizeof a);
  for (int i = threadIdx.x; i < 128 * 64; i += blockDim.x) a.data[i] = half(0.01f);
  for (int i = threadIdx.x; i < 64 * columns; i += blockDim.x) b.data[i] = half(0.01f);
  barrier_before_products();
  float sum[columns / 2] = {};
  int row = group_row();
  long long start = clock64();
#pragma unroll 1
  for (int turn = 0; turn < kTurns; ++turn) {
    begin_products();
#pragma unroll
    for (int i = 0; i < count; ++i)
      multiply<true>(sum, a.along(row, i % 4 * 16), b.across(i % 4 * 16), true);
    commit_products();
    wait_for_products(sum);
  }
  long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - start;
  float all = 0;
  for (float each : sum) all += each;
  if (all == -93) *never = all;
}

template <int columns, int count>
void measure(long long* cycles, int groups) {
  int bytes = int(sizeof(Tile<128, 64>) + sizeof(Tile<64, columns>));
  cuda_ok(cudaFuncSetAttribute(chain<columns, count>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  long long host = 0;
  for (int i = 0; i < 3; ++i) {
    chain<columns, count><<<1, groups * kGroup, bytes>>>(cycles, (float*)cycles);
    cuda_ok(cudaDeviceSynchronize());
  }
  cuda_ok(cudaMemcpy(&host, cycles, sizeof host, cudaMemcpyDeviceToHost));
  std::printf("%d,%d,%d,%.2f\n", columns, count, groups, double(host) / kTurns);
}

template <int columns>
void every(long long* cycles) {
  for (int groups : {1, 2}) {
    measure<columns, 1>(cycles, groups);
    measure<columns, 2>(cycles, groups);
    measure<columns, 4>(cycles, groups);
    measure<columns, 8>(cycles, groups);
    measure<columns, 16>(cycles, groups);
  }
}

int main() {
  Array<long long> cycles(2);
  std::printf("columns,products,groups,cycles\n");
  every<32>(cycles);
  every<128>(cycles);
  every<256>(cycles);
  return 0;
}
