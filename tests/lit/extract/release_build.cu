// A release build: the toolkit's headers declare what assert() calls, without assert().
// REQUIRES: nvcc
// RUN: rm -rf %t && %with-toolkit %kopt-extract %s -o %t -- -std=c++17 -O3 -DNDEBUG 2>&1 | FileCheck %s --implicit-check-not=note:
#include <cassert>
#include <cooperative_groups.h>

// CHECK: sum: slice, proven
__global__ void sum(const float *in, float *out, int n) {
  assert(n > 0);
  const auto block = cooperative_groups::this_thread_block();
  for (int i = block.thread_rank(); i < n; i += block.size())
    atomicAdd(out, in[i]);
}

void run(const float *in, float *out, int n) {
  assert(n > 0);
  sum<<<1, 256>>>(in, out, n);
}
// CHECK: 1 kernels, 1 specializations, 1 proven
