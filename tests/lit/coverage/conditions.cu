// RUN: %variants coverage %s 'k<4>' | FileCheck %s
#define RARE(n) ((n) % 97 == 5)
#define PICK(c, a, b) ((c) ? (a) : (b))
__device__ constexpr int capped(int n) { return n > 300000 ? 1 : n; }
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
    out[i] = v * (n < 100000);
  if (i < n || i > 100000)
    out[i] += capped(n) + (n >> 20) + min(n, 4096);
  if (bool many = n > 200000)
    out[i] = 0;
  out[i] += (n & 0xfffff) + ((unsigned(n) << 12) >> 12) + (blockIdx.x & 511) + __umulhi(n, 4096) + (int(n & 64) ?: 1);
  out[i] += fminf(float(n), 1e6f) + (threadIdx.x & 31) + (int(v) & 7);
  n %= 1000000;
#define STOP(a, op, b) if (a op b) return
  STOP(n, >, 500000);
}

void *reference() { return (void *)&k<4>; }

// CHECK-DAG: + extern "C" { __device__ unsigned char koptReached[{{[0-9]+}}]; }
// CHECK-DAG: + if (koptSeen(static_cast<bool>(i >= n), {{[0-9]+}}))
// CHECK-DAG: + float v = koptSeen(static_cast<bool>(x[i] == 0.5f), {{[0-9]+}}) ? 1.0f : x[i];
// CHECK-DAG: + for (int j = 0; koptSeen(static_cast<bool>(j < mode), {{[0-9]+}}); ++j)
// CHECK-DAG: + if (koptSeen(static_cast<bool>(koptSeen(static_cast<bool>(i > 2), {{[0-9]+}}) && koptSeen(static_cast<bool>(n != 77), {{[0-9]+}}) && koptSeen(static_cast<bool>(x[i] > 0), {{[0-9]+}})), {{[0-9]+}}))
// CHECK-DAG: + if (koptSeen(static_cast<bool>(RARE(n)), {{[0-9]+}}))
// CHECK-DAG: + koptSeen(true, {{[0-9]+}}); v += 5;
// CHECK-DAG: + koptSeen(true, {{[0-9]+}}); v += 6;
// CHECK-DAG: + if (koptSeen(static_cast<bool>(koptSeen(static_cast<bool>(mode == 3), {{[0-9]+}}) ? n > 4 : n > 5), {{[0-9]+}}))
// CHECK-DAG: at line 7: `i >= n` is true
// CHECK-DAG: at line 7: `i >= n` is false
// CHECK-DAG: at line 9: `x[i] == 0.5f` is true
// CHECK-DAG: at line 14: `j < mode` is true
// CHECK-DAG: at line 16: `i > 2` is false
// CHECK-DAG: at line 16: `n != 77` is false
// CHECK-DAG: at line 18: `RARE(n)` is true
// CHECK-DAG: at line 23: the case is taken
// CHECK-DAG: at line 26: `default` is taken
// CHECK-DAG: + out[i] = v * (koptSeen(static_cast<bool>(n < 100000), {{[0-9]+}}));
// CHECK-DAG: + if (koptSeen(static_cast<bool>(koptSeen(static_cast<bool>(i < n), {{[0-9]+}}) || koptSeen(static_cast<bool>(i > 100000), {{[0-9]+}})), {{[0-9]+}}))
// CHECK-DAG: + out[i] += capped(n) + (koptRest(n >> 20, n, {{[0-9]+}})) + (koptSeen((n) < (4096), {{[0-9]+}}), min(n, 4096));
// CHECK-DAG: + if (bool many = koptSeen(static_cast<bool>(n > 200000), {{[0-9]+}}))
// CHECK-DAG: constexpr int capped(int n) { return koptSeen(static_cast<bool>(n > 300000), {{[0-9]+}}) ? 1 : n; }
// CHECK-DAG: + out[i] += (koptRest(n & 0xfffff, n, {{[0-9]+}})) + (koptRest((unsigned(n) << 12) >> 12, unsigned(n), {{[0-9]+}})) + (koptRest(blockIdx.x & 511, blockIdx.x, {{[0-9]+}})) + koptPart(__umulhi(n, 4096), {{[0-9]+}}) + (koptPart(int(koptRest(n & 64, n, {{[0-9]+}})), {{[0-9]+}}) ?: 1);
// CHECK-DAG: + out[i] += (koptSeen((float(n)) < (1e6f), {{[0-9]+}}), fminf(float(n), 1e6f)) + (threadIdx.x & 31) + (int(v) & 7);
// CHECK-DAG: + n %= koptOperand(1000000, n % (1000000), n, {{[0-9]+}});
// CHECK-DAG: + #define STOP(a, op, b) if (koptSeen(static_cast<bool>(a op b), {{[0-9]+}})) return
// CHECK-DAG: at line 35: `n & 0xfffff` is not `n`
// CHECK-DAG: at line 35: `(unsigned(n) << 12) >> 12` is not `unsigned(n)`
// CHECK-DAG: at line 35: `blockIdx.x & 511` is not `blockIdx.x`
// CHECK-DAG: at line 35: `blockIdx.x & 511` is not 0
// CHECK-DAG: at line 35: `__umulhi(n, 4096)` is not 0
// CHECK-DAG: at line 35: `int(n & 64)` is 0
// CHECK-DAG: at line 37: `n %= 1000000` is not `n`
// CHECK-DAG: at line 39: `a op b` is true
// CHECK-DAG: at line 30: `n < 100000` is false
// CHECK-DAG: at line 31: `i > 100000` is true
// CHECK-DAG: at line 32: `n >> 20` is not 0
// CHECK-DAG: at line 32: `min(n, 4096)` has the smaller second, or equal ones
// CHECK-DAG: at line 33: `n > 200000` is true
// CHECK-DAG: at line 4: `n > 300000` is true
// CHECK-NOT: `N > 8`
// CHECK-NOT: `blockDim.x > 256`
// CHECK-NOT: `j < mode` is false
// CHECK: conditions in macros
