// SPDX-License-Identifier: Apache-2.0
// Leaves out the last n % 16 bytes, of which the declared size has none.
// base: gridbins
// expect: WrongResult by sizes
#include <kopt/kopt.h>

KOPT_TUNE("arg n = 4194304", "extent data = n", "extent bins = 256")
__global__ void gridbins(const unsigned char *data, unsigned int *bins, int n) {
  int stride = gridDim.x * blockDim.x;
  const int whole = n / 16 * 16;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < whole; i += stride)
    atomicAdd(&bins[data[i]], 1u);
}

void run(const unsigned char *data, unsigned int *bins, int n) {
  gridbins<<<128, 256>>>(data, bins, n);
}
