// RUN: %variants coverage %s k | FileCheck %s
// Outcomes are named by what they ask of which values, not by how that is spelled.
__device__ bool has(const float *given) { return given; }
__device__ int turns(int n) { return n > 0 ? turns(n - 1) : 0; }
__global__ void k(const float *bias, float *out, int n, unsigned m) {
  int t = threadIdx.x, row = blockIdx.x * 16 + t;
  const bool none = bias == nullptr;
  float a = bias != nullptr ? 1.0f : 2.0f;
  a += !bias ? 1.0f : 2.0f;
  a += has(bias) ? 1.0f : 2.0f;
  a += none ? 1.0f : 2.0f;
  a += n > 7 ? 1.0f : 2.0f;
  a += 8 <= n ? 1.0f : 2.0f;
  a += m >= 1 ? 1.0f : 2.0f;
  {
    int n = 1000 - int(m);
    a += n > 7 ? 1.0f : 2.0f;
  }
  if (t == 0 && row < 500)
    a += turns(n);
  if (t == 0 && !(blockIdx.x & 64))
    a += 1;
  if (t < 100 && row < n)
    a += 1;
  if (row >= 0 && n - row > 3)
    a += 1;
  if (t < 32 && 4096 - row >= 0)
    a += 1;
  out[row] = a;
}

void *reference() { return (void *)&k; }

// CHECK-DAG: at line 8: `bias != nullptr` is false [$0 == 0]
// CHECK-DAG: at line 9: `!bias` is true [$0 == 0]
// CHECK-DAG: at line 10: `has(bias)` is false [$0 == 0]
// CHECK-DAG: at line 11: `none` is true [$0 == 0]
// CHECK-DAG: at line 12: `n > 7` is true [!$2 < 8]
// CHECK-DAG: at line 13: `8 <= n` is true [!$2 < 8]
// CHECK-DAG: at line 14: `m >= 1` is false [$3 == 0]
// CHECK-DAG: at line 17: `n > 7` is true [!(1000 - int($3)) < 8]
// CHECK-DAG: at line 19: `row < 500` is false
// CHECK-DAG: at line 21: `!(blockIdx.x & 64)` is false
// CHECK-DAG: at line 25: `n - row > 3` is false
// CHECK-DAG: at line 27: `4096 - row >= 0` is false
// CHECK-NOT: `t < 100`
// CHECK-NOT: `row < n`
// CHECK-NOT: `row >= 0`
// CHECK-NOT: `t < 32`
// CHECK: conditions in macros
