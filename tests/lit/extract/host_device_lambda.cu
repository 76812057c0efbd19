// nvcc passes a __host__ __device__ lambda with captures with a pointer to the host's copy of it behind them.
// RUN: rm -rf %t && %kopt-extract %s -o %t --json --no-proof -- -std=c++17 --extended-lambda | FileCheck %s
template <class F> __global__ void apply(F f, float *out) { out[threadIdx.x] = f(out[threadIdx.x]); }

void run(float *p, double offset, int n) {
  apply<<<1, 32>>>([=] __host__ __device__(float x) { return float(x + offset + n); }, p);
  apply<<<1, 32>>>([=] __device__(float x) { return float(x + offset + n); }, p);
  apply<<<1, 32>>>([] __host__ __device__(float x) { return x + 1; }, p);
}

// CHECK: "name": "f"
// CHECK: "size": 24
// CHECK: "name": "f"
// CHECK: "size": 16
// CHECK: "name": "f"
// CHECK: "size": 1
