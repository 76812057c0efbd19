// What depends on the line it stands in compiles to something else anywhere else: the slice is not used, and says why.
// REQUIRES: nvcc
// RUN: %with-toolkit %kopt-extract %s --list -- | FileCheck %s

__global__ void whereAmI(int *p) { *p = __LINE__; }

void run(int *p) { whereAmI<<<1, 1>>>(p); }

// CHECK: specialization  whereAmI  overlay
// CHECK-NEXT: PTX differs at line
