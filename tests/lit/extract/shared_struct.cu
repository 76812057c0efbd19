// Dynamic shared memory may be a struct, which nvcc takes and Clang does not.
// RUN: rm -rf %t
// RUN: %kopt-extract %s --no-proof -o %t -- | FileCheck %s
// CHECK: k: slice
// CHECK: 1 kernels, 1 specializations

struct S {
  float rows[64];
};
extern __shared__ S s;
__global__ void k(float *x) {
  s.rows[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s.rows[63 - threadIdx.x];
}
void run(float *x) { k<<<1, 64, sizeof(S)>>>(x); }
