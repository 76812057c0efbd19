// What depends on what stands before it in the file compiles to something else anywhere else: the slice is not used, and
// says why.
// REQUIRES: nvcc
// RUN: %with-toolkit %cached-extract %s --list -- | FileCheck %s
// RUN: rm -rf %t && %with-toolkit %cached-extract %s -o %t -- | FileCheck %s --check-prefix=SUMMARY
// RUN: not ls %t/howMany

int before = __COUNTER__;
__global__ void howMany(int *p) { *p = __COUNTER__; }

void run(int *p) { howMany<<<1, 1>>>(p); }

// CHECK: specialization  howMany  in-place
// CHECK-NEXT: PTX differs at line
// SUMMARY: 1 kernels, 1 specializations, 0 proven, 1 in place, 1 launches, written to
