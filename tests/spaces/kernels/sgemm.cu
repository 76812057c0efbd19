// SPDX-License-Identifier: Apache-2.0
// A product of two matrices, and a space of its blocks and tiles: what kopt and Kernel Tuner search beside each other
// (../kernel_tuner_beside.py).
#include <kopt/kopt.h>

constexpr int BLOCK_X = 16;
constexpr int BLOCK_Y = 16;
constexpr int TILE_X = 2;
constexpr int TILE_Y = 2;
constexpr int DEPTH = 8;
constexpr int PAD = 0;

KOPT_TUNE("param BLOCK_X in {8, 16, 32}", "param BLOCK_Y in {4, 8, 16, 32}", "param TILE_X in {2, 4, 8}",
          "param TILE_Y in {2, 4, 8}", "param DEPTH in {8, 16, 32}", "param PAD in {0, 1}",
          "require BLOCK_X * BLOCK_Y >= 64",
          "require (BLOCK_Y * TILE_Y + PAD + BLOCK_X * TILE_X) * DEPTH * 4 <= 49152",
          "extent a = m * k", "extent b = k * n", "extent c = m * n", "tolerance relative=1e-4 absolute=1e-4",
          "launch square: m=1024, n=1024, k=1024 on cuda", "launch tiny: m=48, n=40, k=24 on emulated")
__global__ void sgemm(const float *a, const float *b, float *c, int m, int n, int k) {
  constexpr int ROWS = BLOCK_Y * TILE_Y, COLUMNS = BLOCK_X * TILE_X, THREADS = BLOCK_X * BLOCK_Y;
  __shared__ float as[DEPTH][ROWS + PAD];
  __shared__ float bs[DEPTH][COLUMNS];
  const int top = blockIdx.y * ROWS, left = blockIdx.x * COLUMNS;
  const int thread = threadIdx.y * BLOCK_X + threadIdx.x;
  float sums[TILE_Y][TILE_X] = {};
  for (int begin = 0; begin < k; begin += DEPTH) {
    for (int i = thread; i < ROWS * DEPTH; i += THREADS) {
      const int row = i / DEPTH, step = i % DEPTH;
      as[step][row] = top + row < m && begin + step < k ? a[(top + row) * k + begin + step] : 0.0f;
    }
    for (int i = thread; i < COLUMNS * DEPTH; i += THREADS) {
      const int step = i / COLUMNS, column = i % COLUMNS;
      bs[step][column] = left + column < n && begin + step < k ? b[(begin + step) * n + left + column] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int step = 0; step < DEPTH; ++step) {
      float rows[TILE_Y], columns[TILE_X];
#pragma unroll
      for (int y = 0; y < TILE_Y; ++y)
        rows[y] = as[step][threadIdx.y + y * BLOCK_Y];
#pragma unroll
      for (int x = 0; x < TILE_X; ++x)
        columns[x] = bs[step][threadIdx.x + x * BLOCK_X];
#pragma unroll
      for (int y = 0; y < TILE_Y; ++y) {
#pragma unroll
        for (int x = 0; x < TILE_X; ++x)
          sums[y][x] += rows[y] * columns[x];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int y = 0; y < TILE_Y; ++y) {
#pragma unroll
    for (int x = 0; x < TILE_X; ++x) {
      const int row = top + threadIdx.y + y * BLOCK_Y, column = left + threadIdx.x + x * BLOCK_X;
      if (row < m && column < n)
        c[row * n + column] = sums[y][x];
    }
  }
}

void multiply(const float *a, const float *b, float *c, int m, int n, int k) {
  const dim3 grid((n + BLOCK_X * TILE_X - 1) / (BLOCK_X * TILE_X), (m + BLOCK_Y * TILE_Y - 1) / (BLOCK_Y * TILE_Y));
  sgemm<<<grid, dim3(BLOCK_X, BLOCK_Y)>>>(a, b, c, m, n, k);
}
