// Headers of the C++ library that cost next to nothing and hold on the device come along where the file includes them, needed or not:
// a candidate for the kernel may use them. What costs more, or serves the host, stays behind.
// REQUIRES: nvcc
// RUN: rm -rf %t && %with-toolkit %kopt-extract %s -o %t -- -std=c++17 && FileCheck %s --implicit-check-not=vector < %t/twice/slice.cu
// Text that nvcc has not compared keeps every header.
// RUN: rm -rf %t && %kopt-extract %s --no-proof -o %t -- && FileCheck %s --check-prefix=ALL < %t/twice/slice.cu
// CHECK: #include <cfloat>
// CHECK-NEXT: #include <cstdint>
// CHECK-NEXT: #include <limits>
// CHECK: __global__ void twice
// ALL: #include <cfloat>
// ALL: #include <vector>
#include <cfloat>
#include <cstdint>
#include <limits>
#include <vector>

__global__ void twice(float *x) { x[threadIdx.x] *= 2.0f; }

void run(float *x) {
  std::vector<int> sizes = {32};
  twice<<<1, sizes[0]>>>(x);
}
