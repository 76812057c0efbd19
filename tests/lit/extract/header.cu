// A kernel in a header, launched from here: its slice has no quoted include.
// RUN: rm -rf %t && %kopt-extract %s -o %t -- -I%S/Inputs && FileCheck %s --check-prefix=SLICE < %t/lib_twice_int/slice.cu
// RUN: FileCheck %s < %t/kernels.json
#include "twice.cuh"

void run(int *p) { lib::twice<int><<<1, 32>>>(p); }

// CHECK: "{{.*}}twice.cuh": "{{[0-9a-f]+}}"
// CHECK: "file": "{{.*}}Inputs/twice.cuh"
// CHECK: "unit": "{{.*}}header.cu"

// SLICE-NOT: #include "
// SLICE: #include <math.h>
// SLICE: #define TWICE_FACTOR 2
// SLICE: namespace lib {
// SLICE: __device__ inline int factor() { return TWICE_FACTOR; }
// SLICE: __global__ void twice(T *p)
