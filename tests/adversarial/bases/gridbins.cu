// SPDX-License-Identifier: Apache-2.0
// A fixed grid of many threads with a loop over the elements.
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 4194304", "extent data = n", "extent bins = 256")
__global__ void gridbins(const unsigned char *data, unsigned int *bins, int n) {
  int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
    atomicAdd(&bins[data[i]], 1u);
}

void run(const unsigned char *data, unsigned int *bins, int n) {
  gridbins<<<128, 256>>>(data, bins, n);
}
