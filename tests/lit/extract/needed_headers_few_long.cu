// A header comes along where the kernel uses something of it, and not otherwise; needed_headers_long.cu has more of them.
// REQUIRES: nvcc, long
// RUN: rm -rf %t && %with-toolkit %kopt-extract %s -o %t -- -std=c++17 | FileCheck %s --check-prefix=SUMMARY
// SUMMARY-DAG: bounded: slice, proven
// SUMMARY-DAG: summed: slice, proven
// RUN: FileCheck %s --implicit-check-not=#include --check-prefix=BOUNDED < %t/bounded/slice.cu
// RUN: FileCheck %s --implicit-check-not=#include --check-prefix=SUMMED < %t/summed/slice.cu
// Text that nvcc has not compared keeps every header.
// RUN: rm -rf %t && %kopt-extract %s --no-proof -o %t -- && FileCheck %s --check-prefix=ALL < %t/bounded/slice.cu
// ALL: #include <cooperative_groups.h>
// ALL: #include <cfloat>
// ALL: #include <vector>
#include <cooperative_groups.h>
#include <cfloat>
#include <vector>

// BOUNDED: #include <cfloat>
// BOUNDED: __global__ void bounded
__global__ void bounded(float *x) { x[threadIdx.x] = FLT_MAX; }

// SUMMED: #include <cooperative_groups.h>
// SUMMED: __global__ void summed
__global__ void summed(float *x) {
  cooperative_groups::this_thread_block().sync();
  x[threadIdx.x] += 1;
}

void run(float *x) {
  std::vector<int> sizes = {32};
  bounded<<<1, sizes[0]>>>(x);
  summed<<<1, 32>>>(x);
}
