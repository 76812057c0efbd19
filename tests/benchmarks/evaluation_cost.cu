// SPDX-License-Identifier: Apache-2.0
// A kernel of about 100 us on an H200 with 64 MiB in and 64 MiB out, and a space of 45 variants: what evaluation_cost.py
// measures the evaluations of.
#include <kopt/kopt.h>

constexpr int BLOCK = 256;
constexpr int ITEMS = 1;
constexpr int UNROLL = 1;

KOPT_TUNE("param BLOCK in {64, 128, 256, 512, 1024}", "param ITEMS in {1, 2, 4, 8}", "param UNROLL in {1, 2, 4}",
          "require UNROLL <= ITEMS", "extent in = n", "extent out = n",
          "launch 64MiB: n=16777216 on cuda", "launch 64KiB: n=16384 on emulated")
__global__ void relax(const float *in, float *out, int n) {
  const int base = blockIdx.x * (BLOCK * ITEMS) + threadIdx.x;
#pragma unroll UNROLL
  for (int item = 0; item < ITEMS; ++item) {
    const int i = base + item * BLOCK;
    if (i < n) {
      float x = in[i];
      for (int step = 0; step < 140; ++step)
        x = x * 0.999f + 0.0005f;
      out[i] = x;
    }
  }
}

void relaxAll(const float *in, float *out, int n) {
  relax<<<(n + BLOCK * ITEMS - 1) / (BLOCK * ITEMS), BLOCK>>>(in, out, n);
}
