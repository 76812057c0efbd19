// A lambda can only be named where it is written: its host function comes along. local_types_long.cu has more types.
// REQUIRES: nvcc
// RUN: rm -rf %t && %with-toolkit %kopt-extract %s -o %t -- -std=c++17 --extended-lambda --expt-relaxed-constexpr | FileCheck %s
template <class F> __global__ void apply(F f, float *out, float *in) { out[threadIdx.x] = f(in[threadIdx.x]); }

void run(float *p, int n) {
  float offset = n;
  apply<<<1, 32>>>([=] __device__(float x) { return x + offset; }, p, p);
}

// CHECK: slice, proven
// CHECK: 1 kernels, 1 specializations, 1 proven
