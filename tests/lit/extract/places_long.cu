// A kernel that says where it stands, as assert() does, says the same in its slice, and only such a slice has #line.
// REQUIRES: nvcc, long
// RUN: rm -rf %t && %with-toolkit %kopt-extract %s -o %t -- -std=c++17 | FileCheck %s
// RUN: FileCheck %s --check-prefix=ASSERT < %t/checked/slice.cu
// RUN: FileCheck %s --check-prefix=PLAIN < %t/plain/slice.cu
#include <cassert>

__global__ void checked(int *p, int n) {
  assert(n < 100);
  p[threadIdx.x] = n;
}
__global__ void whereAmI(int *p) { *p = __LINE__; }
__global__ void plain(int *p) { *p = 1; }

// CHECK-DAG: checked: slice, proven
// CHECK-DAG: whereAmI: slice, proven
// CHECK-DAG: plain: slice, proven
// ASSERT: #line 8 "{{.*}}places_long.cu"
// PLAIN-NOT: #line
