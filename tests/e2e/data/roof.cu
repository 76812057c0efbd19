// SPDX-License-Identifier: Apache-2.0
// Three kernels at the roof of a V100's DRAM, and three that move as many bytes without need.
#include <kopt/kopt.h>

#define N "arg n = 2097152"
constexpr int BLOCK = 256;
#define EACH int i = blockIdx.x * BLOCK + threadIdx.x

KOPT_TUNE(N, "extent in = n", "extent out = n")
__global__ void copy(const float4 *in, float4 *out, int n) {
  EACH;
  out[i] = in[i];
}

// In place: what is written was read. The pointer to what is only read is not const.
KOPT_TUNE(N, "arg a = 0.5", "extent x = n", "extent y = n")
__global__ void axpy(float4 *x, float4 *y, float a, int n) {
  EACH;
  float4 from = x[i], to = y[i];
  y[i] = make_float4(a * from.x + to.x, a * from.y + to.y, a * from.z + to.z, a * from.w + to.w);
}

KOPT_TUNE(N, "extent a = n", "extent b = n", "extent out = n")
__global__ void add(const float4 *a, const float4 *b, float4 *out, int n) {
  EACH;
  float4 one = a[i], other = b[i];
  out[i] = make_float4(one.x + other.x, one.y + other.y, one.z + other.z, one.w + other.w);
}

// Reads everything twice, too far apart for the L2 cache.
KOPT_TUNE(N, "extent in = n", "extent out = n")
__global__ void twice(float4 *in, float4 *out, int n) {
  EACH;
  float4 here = in[i], there = in[(i + n / 2) % n];
  out[i] = make_float4(here.x + there.x, here.y + there.y, here.z + there.z, here.w + there.w);
}

// Of every sector that is read, an eighth is used.
KOPT_TUNE(N, "extent in = 8 * n", "extent out = n")
__global__ void strided(const float *in, float *out, int n) {
  EACH;
  out[i] = in[8 * i];
}

// A temporary result goes through memory.
KOPT_TUNE(N, "extent in = n", "extent temporary = n", "extent out = n")
__global__ void detour(const float4 *in, float4 *temporary, float4 *out, int n) {
  EACH;
  float4 value = in[i];
  temporary[i] = make_float4(2 * value.x, 2 * value.y, 2 * value.z, 2 * value.w);
  __syncthreads();
  value = temporary[i / BLOCK * BLOCK + (i + 1) % BLOCK];
  out[i] = make_float4(value.x + 1, value.y + 1, value.z + 1, value.w + 1);
}

void run(float4 *a, float4 *b, float4 *c, float *in, float *out, int n) {
  dim3 block(BLOCK), grid(n / BLOCK);
  copy<<<grid, block>>>(a, b, n);
  axpy<<<grid, block>>>(a, b, 0.5f, n);
  add<<<grid, block>>>(a, b, c, n);
  twice<<<grid, block>>>(a, b, n);
  strided<<<grid, block>>>(in, out, n);
  detour<<<grid, block>>>(a, b, c, n);
}
