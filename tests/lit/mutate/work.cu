// RUN: %variants mutate %s scale --operators='["empty-body", "skipped-block", "skipped-threads", "skipped-tail", "lost-remainder"]' | FileCheck %s
// RUN: %variants mutate %s tiled --operators='["skipped-block", "skipped-threads"]' | FileCheck %s --check-prefix=TILED
__global__ void scale(const float *x, float *y, int n, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  if (i < 100)
    y[i] = 2 * x[i];
}

// CHECK:      empty-body (value): empty body at line 3
// CHECK:      + __global__ void scale(const float *x, float *y, int n, int rows) {}
// CHECK:      skipped-block (value): the last block does nothing at line 3
// CHECK:      + __global__ void scale(const float *x, float *y, int n, int rows) { if (blockIdx.x == gridDim.x - 1 &&
// CHECK-SAME: ) return;
// CHECK:      skipped-threads (value): the last 1/128 of the threads do nothing at line 3
// CHECK:      if (koptThread >= koptAll - (koptAll + 127) / 128) return; }
// CHECK-NEXT: note: the same where the last threads of the grid have nothing to do
// CHECK-DAG:  skipped-tail (value): the last 1/128 below n left out at line 5
// CHECK-DAG:  + if (i >= ((n) - ((n) + 127) / 128))
// CHECK-DAG:  lost-remainder (value): n rounded down to a multiple of 32 at line 5
// CHECK-DAG:  + if (i >= ((n) / 32 * 32))
// CHECK:      chosen 5 of 5, 0 places in macros

// Threads that wait for each other leave as a block or not at all.
__global__ void tiled(float *x) {
  __shared__ float tile[256];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[255 - threadIdx.x];
}
// TILED:     skipped-block
// TILED-NOT: skipped-threads
// TILED:     chosen 1 of 1
