// SPDX-License-Identifier: Apache-2.0
// Sums 32 bits wide: long lines of bright bytes overflow them.
// base: energy
// expect: WrongResult by contents
#include <kopt/kopt.h>

KOPT_TUNE("arg width = 1000", "arg height = 64", "extent image = width * height", "extent energy = height")
__global__ void lineEnergy(const unsigned char *image, unsigned long long *energy, int width, int height) {
  __shared__ unsigned sums[64];
  const unsigned char *line = image + (size_t)blockIdx.x * width;
  unsigned sum = 0;
  for (int i = threadIdx.x; i < width; i += 64)
    sum += line[i] * line[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half)
      sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    energy[blockIdx.x] = sums[0];
}

void run(const unsigned char *image, unsigned long long *energy, int width, int height) {
  lineEnergy<<<height, 64>>>(image, energy, width, height);
}
