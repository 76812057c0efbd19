// A lambda can only be named where it is written: its host function comes along.
// REQUIRES: nvcc, long
// RUN: rm -rf %t && %with-toolkit %kopt-extract %s -o %t -- -std=c++17 --extended-lambda --expt-relaxed-constexpr | FileCheck %s
// RUN: %with-toolkit %kopt-extract %s --json -o %t -- -std=c++17 --extended-lambda --expt-relaxed-constexpr | FileCheck %s --check-prefix=JSON
struct Scale {
  float factor;
  __device__ float operator()(float x) const { return x * factor; }
};

template <class F, class... Ts> __global__ void apply(F f, float *out, Ts... in) {
  out[threadIdx.x] = f(in[threadIdx.x]...);
}
template <class F> struct Twice {
  F f;
  __device__ float operator()(float x) const { return f(f(x)); }
};

__managed__ int launches;

template <class T> void runAs(float *p, T by) {
  apply<<<1, 32>>>([=] __device__(float x) { return x + by; }, p, p);
}

void run(float *p, int n) {
  apply<<<1, 32>>>(Scale{2}, p, p);
  auto square = [] __device__(float x) { return x * x; };
  apply<<<1, 32>>>(square, p, p);
  apply<<<1, 32>>>(Twice<decltype(square)>{square}, p, p);
  float offset = n;
  apply<<<1, 32>>>([=] __device__(float x, float y) { return x * y + offset; }, p, p, p);
  runAs(p, 3);
  runAs(p, 3.0);
  ++launches;
}

// CHECK-COUNT-6: slice, proven
// CHECK: 1 kernels, 6 specializations, 6 proven
// JSON-DAG: "symbol": "_Z5applyIZ3runPfiEUlfE_JS0_EEvT_S0_DpT0_"
