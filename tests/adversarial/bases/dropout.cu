// SPDX-License-Identifier: Apache-2.0
// Numbers left out at random, the others divided by how many stay.
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 6000", "arg keep = 0.75", "arg seed = 1234", "extent in = n", "extent out = n", "fill in = uniform(0, 1)")
__global__ void dropout(const float *in, float *out, float keep, unsigned seed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned random = (i ^ seed) * 2654435761u;
  random = (random ^ (random >> 15)) * 2246822519u;
  bool stays = float(random >> 8) * 0x1p-24f < keep;
  out[i] = stays ? in[i] / keep : 0.0f;
}

void run(const float *in, float *out, float keep, unsigned seed, int n) {
  dropout<<<(n + 127) / 128, 128>>>(in, out, keep, seed, n);
}
