// The rungs of perfmodel/kernels/library/vecadd.yaml.
#include "common.cuh"

__global__ void naive(const float* a, const float* b, float* c, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void vector_loads(const float4* a, const float4* b, float4* c, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n / 4) {
    float4 x = a[i], y = b[i];
    c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  }
}

int main() {
  Timer timer;
  for (int n : {1 << 16, 1 << 20, 1 << 22, 1 << 24, 1 << 26}) {
    Array<float> a(n), b(n), c(n);
    a.fill(1);
    b.fill(2);
    auto error = [&] {
      std::vector<double> wanted(n);
      for (int i = 0; i < n; ++i) wanted[i] = double(a.host[i]) + b.host[i];
      auto& read = c.read();
      return difference({read.begin(), read.end()}, wanted);
    };
    std::string size = "n=" + std::to_string(n);
    c.poison();
    timer.rung("vecadd", "naive", size, 1e-6, [&] {
      naive<<<(n + 1023) / 1024, 1024>>>(a.device, b.device, c.device, n);
    }, error);
    c.poison();
    timer.rung("vecadd", "vector_loads", size, 1e-6, [&] {
      vector_loads<<<(n / 4 + 255) / 256, 256>>>((float4*)a.device, (float4*)b.device,
                                                 (float4*)c.device, n);
    }, error);
  }
  return timer.status();
}
