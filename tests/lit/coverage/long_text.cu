// RUN: %variants coverage %s 'k' | FileCheck %s
__global__ void k(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  // What is long is cut, but never within a character.
  // CHECK: `x[i] > 0 /* yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…
  // CHECK-NOT: �
  if (x[i] > 0 /* yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyüüü */ && n < 100000)
    out[i] = x[i];
}
