// SPDX-License-Identifier: Apache-2.0
// How much the launching function allocates for each pointer.
// RUN: %kopt-extract %s --json -o %t -- | %python -c "import json,sys; [print(p['root'], p['offset'] or '-', p['bytes'] or '-') for p in json.load(sys.stdin)['kernels'][0]['launches'][0]['pointers']]" | FileCheck %s
#include <cstdlib>

__global__ void k(float *a, double *b, int *c, float *d, char *e, float *f) { a[0] = *b + *c + *d + *e + *f; }

void checked(cudaError_t error) {
  if (error != cudaSuccess)
    exit(1);
}
void launch(int n, int rows, float *given) {
  float *a, *d, *f;
  double *b;
  int *c;
  char *e;
  const size_t bytes = sizeof(float) * n * rows;
  checked(cudaMalloc((void **)&a, bytes));
  cudaMallocManaged(&b, (n + 1) * sizeof(double));
  if (rows > 7)
    cudaMalloc(&c, n);
  else
    cudaMalloc(&c, 2 * n);
  cudaMalloc((void **)&d, rows * sizeof(float));
  n += 4;
  cudaMalloc((void **)&e, 100);
  k<<<rows, 64>>>(a, b, c, d, e + 3, given);
}
// CHECK: a 0 bytes
// CHECK: b 0 -
// CHECK: c 0 -
// CHECK: d 0 (rows * 4)
// CHECK: e 3 -
// CHECK: given 0 -
