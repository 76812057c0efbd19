// Clauses travel verbatim, with the line they stand in.
// RUN: %kopt-extract %s --json -o %t -- -I%source/runtime/include | FileCheck %s
#include <kopt/kopt.h>

constexpr int TILE = 8;

KOPT_TUNE("param TILE in {8, 16}",
          "extent p = n")
__global__ void k(float *p, int n) { p[threadIdx.x % TILE] = n; }

template <int N> [[kopt::tune("target 2")]] __global__ void t(float *p) { p[N] = 0; }

void run(float *p) {
  k<<<1, TILE>>>(p, 1);
  t<3><<<1, 1>>>(p);
}

// CHECK: "annotated": true
// CHECK: "line": 7,
// CHECK-NEXT: "text": "param TILE in {8, 16}"
// CHECK: "line": 8,
// CHECK-NEXT: "text": "extent p = n"
// CHECK: "kind": "constexpr"
// CHECK: "name": "TILE"
// CHECK: "used_by_kernel": true
// CHECK: "used_by_launch": true
// CHECK: "value": 8
// CHECK: "text": "target 2"
