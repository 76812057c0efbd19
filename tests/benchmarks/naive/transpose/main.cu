// SPDX-License-Identifier: Apache-2.0
// The transpose of a matrix, beside a copy of it on the device.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

__global__ void transpose(const float *in, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height)
    out[x * height + y] = in[y * width + x];
}

int main(int argc, char **argv) {
  const int width = argc > 1 ? atoi(argv[1]) : 16384, height = argc > 2 ? atoi(argv[2]) : 16384;
  const size_t bytes = sizeof(float) * width * height;
  std::vector<float> host(size_t(width) * height);
  for (size_t i = 0; i < host.size(); ++i)
    host[i] = float(i % 65521);
  float *in, *out;
  cudaMalloc(&in, bytes);
  cudaMalloc(&out, bytes);
  cudaMemcpy(in, host.data(), bytes, cudaMemcpyHostToDevice);
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  float best = 1e30f, copy = 1e30f, ms;
  for (int i = 0; i < 20; ++i) {
    cudaEventRecord(start);
    cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice);
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&ms, start, stop);
    copy = ms < copy ? ms : copy;
    dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
    cudaEventRecord(start);
    transpose<<<grid, block>>>(in, out, width, height);
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&ms, start, stop);
    best = ms < best ? ms : best;
  }
  if (cudaMemcpy(host.data(), out, bytes, cudaMemcpyDeviceToHost) != cudaSuccess)
    return 1;
  printf("transpose of %d x %d: %.0f GB/s, %.1f%% of a copy\n", width, height, 2e-6 * bytes / best, 100 * copy / best);
  return 0;
}
