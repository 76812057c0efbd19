// SPDX-License-Identifier: Apache-2.0
// The sum of each row of a matrix, beside a copy of the matrix on the device.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

__global__ void rowSums(const float *in, float *out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    for (int i = 0; i < columns; ++i)
      sum += in[row * columns + i];
    out[row] = sum;
  }
}

int main(int argc, char **argv) {
  const int rows = argc > 1 ? atoi(argv[1]) : 1000000, columns = argc > 2 ? atoi(argv[2]) : 100;
  const size_t bytes = sizeof(float) * rows * columns;
  std::vector<float> host(size_t(rows) * columns);
  for (size_t i = 0; i < host.size(); ++i)
    host[i] = float(i % 1021) / 1021;
  float *in, *out, *copied;
  cudaMalloc(&in, bytes);
  cudaMalloc(&copied, bytes);
  cudaMalloc(&out, sizeof(float) * rows);
  cudaMemcpy(in, host.data(), bytes, cudaMemcpyHostToDevice);
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  float best = 1e30f, copy = 1e30f, ms;
  for (int i = 0; i < 20; ++i) {
    cudaEventRecord(start);
    cudaMemcpyAsync(copied, in, bytes, cudaMemcpyDeviceToDevice);
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&ms, start, stop);
    copy = ms < copy ? ms : copy;
    cudaEventRecord(start);
    rowSums<<<(rows + 255) / 256, 256>>>(in, out, rows, columns);
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&ms, start, stop);
    best = ms < best ? ms : best;
  }
  if (cudaMemcpy(host.data(), out, sizeof(float) * rows, cudaMemcpyDeviceToHost) != cudaSuccess)
    return 1;
  // A copy moves each byte twice, the sums read them once.
  const double read = bytes / best, copied_bytes = 2.0 * bytes / copy;
  printf("sums of %d rows of %d: %.0f GB/s, %.1f%% of a copy\n", rows, columns, read / 1e6, 100 * read / copied_bytes);
  return 0;
}
