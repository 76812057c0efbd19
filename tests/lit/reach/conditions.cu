// RUN: %variants reach %s 'k<4>' | FileCheck %s
#define RARE(n) ((n) % 97 == 5)
#define PICK(c, a, b) ((c) ? (a) : (b))
template <int N> __global__ void k(const float *x, float *out, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = x[i] == 0.5f ? 1.0f : x[i];
  if (N > 8)
    v = 0;
  if (blockDim.x > 256)
    v += 1;
  for (int j = 0; j < mode; ++j)
    v *= 2;
  if (i > 2 && n != 77 && x[i] > 0)
    v += 1;
  if (RARE(n))
    v = 3;
  v = PICK(i > 5, v, 0.0f);
  switch (mode) {
  case 1:
  case 2:
    v += 5;
    break;
  default:
    v += 6;
  }
  if (mode == 3 ? n > 4 : n > 5)
    out[i] = v;
}

void *reference() { return (void *)&k<4>; }

// CHECK-DAG: + extern "C" { __device__ unsigned char koptReached[{{[0-9]+}}]; }
// CHECK-DAG: + if (koptSeen(static_cast<bool>(i >= n), {{[0-9]+}}))
// CHECK-DAG: + float v = koptSeen(static_cast<bool>(x[i] == 0.5f), {{[0-9]+}}) ? 1.0f : x[i];
// CHECK-DAG: + for (int j = 0; koptSeen(static_cast<bool>(j < mode), {{[0-9]+}}); ++j)
// CHECK-DAG: + if (koptSeen(static_cast<bool>(i > 2 && koptSeen(static_cast<bool>(n != 77), {{[0-9]+}}) && x[i] > 0), {{[0-9]+}}))
// CHECK-DAG: + if (koptSeen(static_cast<bool>(RARE(n)), {{[0-9]+}}))
// CHECK-DAG: + koptSeen(true, {{[0-9]+}}); v += 5;
// CHECK-DAG: + koptSeen(true, {{[0-9]+}}); v += 6;
// CHECK-DAG: + if (koptSeen(static_cast<bool>(koptSeen(static_cast<bool>(mode == 3), {{[0-9]+}}) ? n > 4 : n > 5), {{[0-9]+}}))
// CHECK-DAG: at line 6: `i >= n` is true
// CHECK-DAG: at line 6: `i >= n` is false
// CHECK-DAG: at line 8: `x[i] == 0.5f` is true
// CHECK-DAG: at line 13: `j < mode` is true
// CHECK-DAG: at line 15: `n != 77` is false
// CHECK-DAG: at line 17: `RARE(n)` is true
// CHECK-DAG: at line 22: the case is taken
// CHECK-DAG: at line 25: `default` is taken
// CHECK-NOT: `N > 8`
// CHECK-NOT: `blockDim.x > 256`
// CHECK-NOT: `j < mode` is false
// CHECK: conditions in macros
