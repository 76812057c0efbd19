// SPDX-License-Identifier: Apache-2.0
// Keeps a result in shared memory for the next block.
// base: montecarlo
// expect: WrongResult|RunFailed|Suspect
// expect on cuda: RunFailed|WrongResult|Duplicate
#include <kopt/kopt.h>

__device__ unsigned draw(unsigned key, unsigned counter) {
  unsigned x = key ^ counter * 0x9e3779b9u;
  x = (x ^ x >> 16) * 0x85ebca6bu;
  x = (x ^ x >> 13) * 0xc2b2ae35u;
  return x ^ x >> 16;
}

KOPT_TUNE("arg threads = 3000", "arg points = 24", "extent keys = threads", "extent hits = threads",
          "fill keys = uniform(0, 100000)")
__global__ void montecarlo(const unsigned *keys, int *hits, int threads, int points) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= threads)
    return;
  __shared__ int kept[2];
  if (blockIdx.x > 0 && kept[0] == 42) {
    hits[t] = kept[1];
    return;
  }
  int count = 0;
  for (int i = 0; i < points; ++i) {
    float x = draw(keys[t], 2 * i) * 2.3283064e-10f;
    float y = draw(keys[t], 2 * i + 1) * 2.3283064e-10f;
    count += x * x + y * y <= 1.0f;
  }
  hits[t] = count;
}

void run(const unsigned *keys, int *hits, int threads, int points) {
  montecarlo<<<(threads + 127) / 128, 128>>>(keys, hits, threads, points);
}
