// SPDX-License-Identifier: Apache-2.0
// Kernels with one cause of slowness each, named after the state that kopt profile is to find on an L4.
#include <kopt/kopt.h>

#define PLANTED KOPT_TUNE("arg n = 131072", "extent in = n", "extent out = n")
constexpr int BLOCK = 256;
#define EACH int i = blockIdx.x * BLOCK + threadIdx.x

// Every element once, in order: nothing is left to gain on an L4. An H200 has five times the bandwidth for each thread, and there
// one float of each is too little under way: memory-latency.
KOPT_TUNE("arg n = 2097152", "extent in = n", "extent out = n")
__global__ void dram_bound(const float *in, float *out, int n) {
  EACH;
  if (i < n)
    out[i] = in[i];
}

// Neighbours read 512 bytes apart.
KOPT_TUNE("arg n = 524288", "extent in = n", "extent out = n")
__global__ void uncoalesced(const float *in, float *out, int n) {
  EACH;
  const int height = n / 128;
  out[i] = in[i % height * 128 + i / height];
}

// A column of a tile without padding: 32 lanes on one bank.
PLANTED __global__ void bank_conflicts(const float *in, float *out, int n) {
  __shared__ float tile[32][32];
  EACH;
  for (int k = threadIdx.x; k < 1024; k += BLOCK)
    tile[k / 32][k % 32] = in[(i + k) % n];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 32; ++k)
    sum += tile[threadIdx.x % 32][k];
  out[i] = sum;
}

// All threads on one address.
KOPT_TUNE("arg n = 131072", "extent in = n", "extent out = 1")
__global__ void atomics(const int *in, int *out, int n) {
  EACH;
  if (i < n)
    atomicAdd(&out[0], in[i] & 1);
}

// One lane of a warp works.
PLANTED __global__ void divergence(const float *in, float *out, int n) {
  EACH;
  float value = in[i];
  if (threadIdx.x % 32 == 0)
    for (int k = 0; k < 400; ++k)
      value = value * 0.5f + 1.0f;
  out[i] = value;
}

// A literal without f: each product is made in double precision.
PLANTED __global__ void fp64_pipe(const float *in, float *out, int n) {
  EACH;
  float value = in[i];
  for (int k = 0; k < 16; ++k)
    value = value * 0.999 + 0.1;
  out[i] = value;
}

// A chain of roots.
PLANTED __global__ void special_function(const float *in, float *out, int n) {
  EACH;
  float value = in[i];
  for (int k = 0; k < 32; ++k)
    value = rsqrtf(value + 1.0f);
  out[i] = value;
}

PLANTED __global__ void integer_pipe(const int *in, int *out, int n) {
  EACH;
  unsigned value = in[i];
  for (int k = 0; k < 64; ++k)
    value = (value ^ (value << 13)) * 1664525u + (value >> 7);
  out[i] = int(value);
}

PLANTED __global__ void fp32_pipe(const float *in, float *out, int n) {
  EACH;
  float a = in[i], b = a + 1, c = a + 2, d = a + 3;
#pragma unroll 32
  for (int k = 0; k < 256; ++k) {
    a = a * 0.5f + 1.0f;
    b = b * 0.5f + 1.0f;
    c = c * 0.5f + 1.0f;
    d = d * 0.5f + 1.0f;
  }
  out[i] = a + b + c + d;
}

// Each load names the next. On a GPU, where stalls are counted, this is memory-latency.
KOPT_TUNE("arg n = 178176", "extent in = n", "extent out = n")
__global__ void dependency_latency(const int *in, int *out, int n) {
  EACH;
  int at = i;
  for (int k = 0; k < 16; ++k)
    at = (in[at] & 7) + i / 8 * 8;
  out[i] = at;
}

// Four blocks for a whole GPU.
KOPT_TUNE("arg n = 1024", "extent in = n", "extent out = n")
__global__ void small_grid(const float *in, float *out, int n) {
  EACH;
  float value = in[i];
  for (int k = 0; k < 256; ++k)
    value = value * 0.5f + in[(i + 32 * k) % n];
  out[i] = value;
}

void run(const float *in, float *out, const int *numbers, int *counts, int n) {
  dim3 block(BLOCK), grid(n / BLOCK);
  dram_bound<<<grid, block>>>(in, out, n);
  uncoalesced<<<grid, block>>>(in, out, n);
  bank_conflicts<<<grid, block>>>(in, out, n);
  atomics<<<grid, block>>>(numbers, counts, n);
  divergence<<<grid, block>>>(in, out, n);
  fp64_pipe<<<grid, block>>>(in, out, n);
  special_function<<<grid, block>>>(in, out, n);
  integer_pipe<<<grid, block>>>(numbers, counts, n);
  fp32_pipe<<<grid, block>>>(in, out, n);
  dependency_latency<<<grid, block>>>(numbers, counts, n);
  small_grid<<<grid, block>>>(in, out, n);
}
