// The rung of perfmodel/kernels/library/gemm.yaml that uses the tensor unit.
#include "product.cuh"
#include "wgmma.cuh"

constexpr int kBm = 128, kBn = 256, kBk = 32, kThreads = kBm / 64 * kGroup;

template <int strip>  // block columns of a strip
__global__ void __launch_bounds__(kThreads)
    tensor(const half* a, const half* b, half* c, int, int n, int k) {
  __shared__ Tile<kBm, kBk> tile_a[2];
  __shared__ Tile<kBk, kBn> tile_b[2];
  int number = blockIdx.y * gridDim.x + blockIdx.x, of_strip = strip * gridDim.y;
  int brow = number % of_strip / strip, bcol = number / of_strip * strip + number % strip;
  int row = group_row();
  a += 1LL * brow * kBm * k;
  b += bcol * kBn;
  Staged<kThreads, kBm, kBk> staged_a;
  Staged<kThreads, kBk, kBn> staged_b;
  float sum[kBn / 2] = {};
  staged_a.load(a, k);
  staged_b.load(b, n);
  staged_a.store(tile_a[0]);
  staged_b.store(tile_b[0]);
  barrier_before_products();
  for (int t = 0; t < k / kBk; ++t) {
    if (t + 1 < k / kBk) {
      staged_a.load(a + (t + 1) * kBk, k);
      staged_b.load(b + 1LL * (t + 1) * kBk * n, n);
    }
    begin_products();
#pragma unroll
    for (int depth = 0; depth < kBk; depth += 16)
      multiply<true>(sum, tile_a[t % 2].along(row, depth),
                     tile_b[t % 2].across(depth), true);
    commit_products();
    if (t + 1 < k / kBk) {
      staged_a.store(tile_a[(t + 1) % 2]);
      staged_b.store(tile_b[(t + 1) % 2]);
    }
    wait_for_products(sum);
    barrier_before_products();
  }
  store_rows(sum, (half*)tile_a, c + 1LL * brow * kBm * n + bcol * kBn, n);
}

template <int strip>
void measure(Report& report, int m, int n, int k) {
  Problem<half> problem(report, m, n, k);
  dim3 grid(n / kBn, m / kBm);
  problem.run("tensor", tensor<strip>, grid, kThreads, ";strip=" + std::to_string(strip));
}

int main(int argc, char** argv) {
  Report report("gemm", argc, argv);
  // 6 MB and 24 MB (stay in the L2), 96 MB and 384 MB; a strip has to divide the block columns.
  measure<4>(report, 1024, 1024, 1024);
  measure<8>(report, 2048, 2048, 2048);
  measure<8>(report, 4096, 4096, 4096);
  measure<8>(report, 8192, 8192, 8192);
  // Sizes that are no powers of two, which are held out from any work on the model.
  measure<6>(report, 1536, 1536, 1536);
  measure<4>(report, 3072, 3072, 3072);
  measure<4>(report, 384, 5120, 5120);
  measure<8>(report, 6144, 6144, 6144);
  return report.status();
}
