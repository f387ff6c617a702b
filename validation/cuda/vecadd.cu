// Vector addition: the rungs of perfmodel/kernels/library/vecadd.yaml.
#include "common.cuh"

template <typename T>
__global__ void __launch_bounds__(1024) naive(const T* __restrict__ a, const T* __restrict__ b,
                                              T* __restrict__ c, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) c[i] = T(float(a[i]) + float(b[i]));
}

template <typename T>
__global__ void __launch_bounds__(256) vector_loads(const Vector<T>* __restrict__ a,
                                                    const Vector<T>* __restrict__ b,
                                                    Vector<T>* __restrict__ c, int vectors) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < vectors) {
    Vector<T> x = a[i], y = b[i], z;
#pragma unroll
    for (int e = 0; e < int(16 / sizeof(T)); ++e) z.at[e] = T(float(x.at[e]) + float(y.at[e]));
    c[i] = z;
  }
}

template <typename T>
struct Check {
  const T *a, *b, *c;
  __device__ Pair operator()(long long i) const {
    return {double(float(c[i])), double(float(a[i])) + double(float(b[i]))};
  }
};

template <typename T>
void measure(Report& report, int n) {
  Array<T> a(n), b(n), c(n);
  a.randomize(1);
  b.randomize(2);
  auto run = [&](const char* rung, const Work& launch) {
    report.run({rung, "n=" + std::to_string(n) + ";type=" + type_name<T>(), tolerance<T>(),
                [&] { c.poison(); }, launch, [&] { return relative_error(n, Check<T>{a, b, c}); }});
  };
  run("naive", [&] { naive<T><<<unsigned(ceil_div(n, 1024)), 1024>>>(a, b, c, n); });
  run("vector_loads", [&] {
    int vectors = n / int(16 / sizeof(T));
    vector_loads<T><<<unsigned(ceil_div(vectors, 256)), 256>>>(
        (const Vector<T>*)(T*)a, (const Vector<T>*)(T*)b, (Vector<T>*)(T*)c, vectors);
  });
}

int main(int argc, char** argv) {
  Report report("vecadd", argc, argv);
  // 0.8 MB, 12 MB and 48 MB (stay in the L2), 192 MB and 768 MB of fp32.
  // Then sizes that are no powers of two, which are held out from any work on the model.
  for (int n : {1 << 16, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 98304, 1500000, 6000000, 20000000, 100000000}) {
    measure<float>(report, n);
    measure<half>(report, n);
  }
  return report.status();
}
