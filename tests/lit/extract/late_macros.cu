// A macro of the command line that breaks a header which Clang includes by itself, and nvcc does not, breaks nothing.
// REQUIRES: nvcc
// RUN: rm -rf %t && %with-toolkit %kopt-extract %s -o %t -- -std=c++17 -DN=4 -D HEIGHT=2 -DTWICE(x)=((x)*2) -DFLAG -UHEIGHT | FileCheck %s
#ifndef HEIGHT
__global__ void k(float *p) { p[threadIdx.x] = TWICE(N) + FLAG; }
#endif

void run(float *p) { k<<<1, N>>>(p); }

// CHECK: k: slice, proven
// CHECK: note: the macros of the command line break CUDA headers
// CHECK: 1 kernels, 1 specializations, 1 proven
