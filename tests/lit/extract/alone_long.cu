// Specializations that are proven together are given one by one. nvcc's optimiser treats each of these
// differently alone: the only call of the helper has a constant argument then.
// REQUIRES: nvcc, long
// RUN: rm -rf %t && %with-toolkit %kopt-extract --json %s -o %t -- -std=c++17 | FileCheck %s
__device__ __noinline__ float series(float x, int n) {
  float sum = 0;
  for (int i = 1; i <= n; ++i)
    sum = sum * x + float(i);
  return sum;
}
template <int N> __global__ void evaluate(float *out, const float *in) {
  out[threadIdx.x] = series(in[threadIdx.x], N);
}
template <int N> __global__ void shift(float *out, const float *in) {
  out[threadIdx.x] = in[threadIdx.x] + N;
}
void run(float *out, const float *in) {
  evaluate<3><<<1, 32>>>(out, in);
  evaluate<5><<<1, 32>>>(out, in);
  shift<1><<<1, 32>>>(out, in);
  shift<2><<<1, 32>>>(out, in);
}

// CHECK-COUNT-2: "reason": "equal before optimisation; nvcc optimises it differently beside other kernels"
// CHECK-NOT: "reason": "equal
