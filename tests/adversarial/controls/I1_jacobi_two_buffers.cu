// SPDX-License-Identifier: Apache-2.0
// I1: two buffers by turns, one barrier a sweep.
// base: jacobi
// expect: accepted
#include <kopt/kopt.h>

KOPT_TUNE("arg strips = 16", "arg sweeps = 12", "extent u = strips * 128", "extent out = strips * 128")
__global__ void jacobi(const float *u, float *out, int strips, int sweeps) {
  __shared__ float buffers[2][130];
  float *now = buffers[0], *then = buffers[1];
  int t = threadIdx.x;
  int i = blockIdx.x * 128 + t;
  now[t + 1] = u[i];
  if (t == 0)
    now[0] = now[129] = then[0] = then[129] = 0.0f;
  __syncthreads();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    then[t + 1] = 0.5f * (now[t] + now[t + 2]);
    float *before = now;
    now = then;
    then = before;
    __syncthreads();
  }
  if (blockIdx.x < strips)
    out[i] = now[t + 1];
}

void run(const float *u, float *out, int strips, int sweeps) {
  jacobi<<<strips, 128>>>(u, out, strips, sweeps);
}
