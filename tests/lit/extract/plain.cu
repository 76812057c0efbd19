// A kernel without anything around it; what it does not need stays behind.
// RUN: %kopt-extract %s --list -- | FileCheck %s
// RUN: rm -rf %t && %kopt-extract %s -o %t -- && FileCheck %s --check-prefix=SLICE < %t/scale/slice.cu

struct Unused { int a; };
__device__ float unused(float x) { return x; }

__global__ void scale(float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= a;
}

void run(float *x, int n) { scale<<<(n + 255) / 256, 256>>>(x, 2.0f, n); }

// CHECK: scale {{.*}}plain.cu:8
// CHECK-NEXT: specialization  scale  slice
// CHECK-NEXT: not compared
// CHECK-NEXT: launch {{.*}}plain.cu:14:29  scale  symbolic  grid (((n + 255) / 256), 1, 1) block (256, 1, 1) shared 0
// CHECK: note: no CUDA toolkit was found
// CHECK: note: no nvcc was found: the slices could not be compared

// SLICE-NOT: nused
// SLICE: __global__ void scale(float *x, float a, int n) {
// SLICE: x[i] *= a;
// SLICE-NOT: run
