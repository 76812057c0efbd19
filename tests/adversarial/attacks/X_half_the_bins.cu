// SPDX-License-Identifier: Apache-2.0
// Seven bits of each byte: right for the declared contents, which are below 101.
// base: gridbins
// expect: WrongResult by contents
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 4194304", "extent data = n", "extent bins = 256")
__global__ void gridbins(const unsigned char *data, unsigned int *bins, int n) {
  int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
    atomicAdd(&bins[data[i] & 127], 1u);
}

void run(const unsigned char *data, unsigned int *bins, int n) {
  gridbins<<<128, 256>>>(data, bins, n);
}
