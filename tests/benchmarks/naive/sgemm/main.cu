// SPDX-License-Identifier: Apache-2.0
// C = A B for n x n floats, one thread for each element: what one writes first.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

__global__ void sgemm(const float *A, const float *B, float *C, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n && col < n) {
    float sum = 0.0f;
    for (int k = 0; k < n; ++k)
      sum += A[row * n + k] * B[k * n + col];
    C[row * n + col] = sum;
  }
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 4096;
  const size_t bytes = sizeof(float) * n * n;
  std::vector<float> host(size_t(n) * n);
  for (size_t i = 0; i < host.size(); ++i)
    host[i] = float((i * 2654435761u >> 16) % 1000) / 1000 - 0.5f;
  float *A, *B, *C;
  cudaMalloc(&A, bytes);
  cudaMalloc(&B, bytes);
  cudaMalloc(&C, bytes);
  cudaMemcpy(A, host.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(B, host.data(), bytes, cudaMemcpyHostToDevice);
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  float best = 1e30f, ms;
  for (int i = 0; i < 4; ++i) {
    dim3 block(32, 8), grid((n + block.x - 1) / block.x, (n + block.y - 1) / block.y);
    cudaEventRecord(start);
    sgemm<<<grid, block>>>(A, B, C, n);
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&ms, start, stop);
    best = ms < best ? ms : best;
  }
  if (cudaMemcpy(host.data(), C, bytes, cudaMemcpyDeviceToHost) != cudaSuccess)
    return 1;
  printf("sgemm of %d: %.3f ms, %.1f TFLOP/s\n", n, best, 2.0 * n * n * n / best / 1e9);
  return 0;
}
