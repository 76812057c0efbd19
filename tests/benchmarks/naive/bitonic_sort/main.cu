// SPDX-License-Identifier: Apache-2.0
// A bitonic sort of at most 4096 numbers by one block, in device memory.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

__global__ void bitonicSort(float *keys, int n) {
  for (int size = 2; size <= n; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int other = i ^ stride;
        if (other > i && (keys[i] > keys[other]) == ((i & size) == 0)) {
          float key = keys[i];
          keys[i] = keys[other];
          keys[other] = key;
        }
      }
      __syncthreads();
    }
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 4096;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i)
    host[i] = float(i * 2654435761u >> 8);
  float *keys;
  cudaMalloc(&keys, sizeof(float) * n);
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  float best = 1e30f, ms;
  for (int i = 0; i < 20; ++i) {
    cudaMemcpy(keys, host.data(), sizeof(float) * n, cudaMemcpyHostToDevice);
    cudaEventRecord(start);
    bitonicSort<<<1, 1024>>>(keys, n);
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&ms, start, stop);
    best = ms < best ? ms : best;
  }
  std::vector<float> sorted(n);
  if (cudaMemcpy(sorted.data(), keys, sizeof(float) * n, cudaMemcpyDeviceToHost) != cudaSuccess)
    return 1;
  for (int i = 1; i < n; ++i)
    if (sorted[i - 1] > sorted[i])
      return 2;
  printf("sort of %d numbers: %.3f ms\n", n, best);
  return 0;
}
