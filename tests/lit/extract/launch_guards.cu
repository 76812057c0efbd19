// What a function's own checks say of the launches that it makes.
// RUN: %kopt-extract %s --json -- | FileCheck %s

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

constexpr int kMost = 64;
__global__ void k(float *p, int n, int m) { p[threadIdx.x] = n + m; }

[[noreturn]] void stop();
void usage() {
  printf("usage\n");
  exit(1);
}
void warn(int n) {
  if (n > 7)
    return;
  exit(1);
}
#define CHECK(what) do { if (!(what)) { printf("bad\n"); stop(); } } while (0)
#define LIKELY(what) __builtin_expect(static_cast<bool>(what), 1)

// CHECK: "guards": [
// CHECK-NEXT: "(!(m < 1))",
// CHECK-NEXT: "(!(m > 64))",
// CHECK-NEXT: "(!(rows < m))"
// CHECK-NEXT: ],
// CHECK-NEXT: "line": [[#@LINE+4]],
int returns(float *p, int n, int m, int rows, bool *flag) {
  if (m < 1 || m > kMost || rows < m || !flag)
    return 1;
  k<<<1, 32>>>(p, n, m);
  return 0;
}

// CHECK: "guards": [
// CHECK-NEXT: "((n % 4) == 0)",
// CHECK-NEXT: "(m >= 0)",
// CHECK-NEXT: "(n > 0)",
// CHECK-NEXT: "(!(m > 9))",
// CHECK-NEXT: "((m % 2) == 0)",
// CHECK-NEXT: "(!(n < m))"
// CHECK-NEXT: ],
// CHECK-NEXT: "line": [[#@LINE+11]],
void dispatches(float *p, int n, int m) {
  assert(n > 0);
  if (m > 9)
    usage();
  CHECK(LIKELY(m % 2 == 0));
  if (n < m)
    throw std::runtime_error("few");
  if (n > 100)
    warn(n);
  if (n % 4 == 0 && m >= 0)
    k<<<1, 32>>>(p, n, m);
}

// What changes after it was checked, or is checked in another case, says nothing.
// CHECK: "guards": [
// CHECK-NEXT: "(!(i == 3))"
// CHECK-NEXT: ],
// CHECK-NEXT: "line": [[#@LINE+17]],
void changes(float *p, int n, int m, int way) {
  if (n % 4)
    return;
  n /= 2;
  do {
    if (m == 7)
      break;
    if (m == 8)
      return;
  } while (m < 0);
  switch (way) {
    if (m == 5)
      return;
  case 1:
    for (int i = 0; i < 9; ++i) {
      if (i == 3) continue;
      k<<<1, 32>>>(p, n, m + 0 * i);
    }
  }
}

// CHECK: "guards": [],
void jumps(float *p, int n, int m) {
  if (n % 4)
    goto there;
  if (m == 2)
    return;
there:
  k<<<1, 32>>>(p, n, m);
}
