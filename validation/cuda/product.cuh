// A matrix product to be measured, and the check of its result.
#pragma once

#include "common.cuh"

template <typename T>
struct Check {
  const T *a, *b, *c;
  int n, k;
  long long checked, count;
  __device__ Pair operator()(long long i) const {
    long long at = sampled(i, checked, count), row = at / n, column = at % n;
    double sum = 0;
    for (int j = 0; j < k; ++j) sum += double(float(a[row * k + j])) * double(float(b[1LL * j * n + column]));
    return {double(float(c[at])), sum};
  }
};

template <typename T>
struct Problem {
  Report& report;
  int m, n, k;
  Array<T> a{1LL * m * k}, b{1LL * k * n}, c{1LL * m * n};

  Problem(Report& to, int m_, int n_, int k_) : report(to), m(m_), n(n_), k(k_) {
    a.randomize(1);
    b.randomize(2);
  }

  void run(const char* rung, void (*kernel)(const T*, const T*, T*, int, int, int), dim3 grid, dim3 block,
           const std::string& more = "") {
    std::string parameters = "m=" + std::to_string(m) + ";n=" + std::to_string(n) +
                             ";k=" + std::to_string(k) + more + ";type=" + type_name<T>();
    report.run({rung, parameters, tolerance<T>(), [&] { c.poison(); },
                [=] { kernel<<<grid, block>>>(a, b, c, m, n, k); },
                [&] {
                  long long count = 1LL * m * n, checked = std::min(count, 16384LL);
                  return relative_error(checked, Check<T>{a, b, c, n, k, checked, count});
                }});
  }
};
