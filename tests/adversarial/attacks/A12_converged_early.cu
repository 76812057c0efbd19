// SPDX-License-Identifier: Apache-2.0
// A12: stops once its own cell hardly moves: right where contents are smooth.
// base: jacobi
// expect: RunFailed|WrongResult
#include <kopt/kopt.h>

KOPT_TUNE("arg strips = 16", "arg sweeps = 12", "extent u = strips * 128", "extent out = strips * 128")
__global__ void jacobi(const float *u, float *out, int strips, int sweeps) {
  __shared__ float now[130];
  int t = threadIdx.x;
  int i = blockIdx.x * 128 + t;
  now[t + 1] = u[i];
  if (t == 0)
    now[0] = now[129] = 0.0f;
  __syncthreads();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    float next = 0.5f * (now[t] + now[t + 2]);
    __syncthreads();
    bool moved = fabsf(next - now[t + 1]) > 1e-3f;
    now[t + 1] = next;
    if (!__syncthreads_or(moved))
      break;
  }
  if (blockIdx.x < strips)
    out[i] = now[t + 1];
}

void run(const float *u, float *out, int strips, int sweeps) {
  jacobi<<<strips, 128>>>(u, out, strips, sweeps);
}
