// SPDX-License-Identifier: Apache-2.0
// A convolution of an image with 9 x 9 numbers, and a space of its blocks, tiles and ways to read: what kopt and Kernel Tuner
// search beside each other (../kernel_tuner_beside.py).
#include <kopt/kopt.h>

constexpr int BLOCK_X = 32;
constexpr int BLOCK_Y = 8;
constexpr int TILE_X = 1;
constexpr int TILE_Y = 1;
constexpr int SHARED = 0;
constexpr int UNROLL = 1;

KOPT_TUNE("param BLOCK_X in {16, 32, 64, 128}", "param BLOCK_Y in {2, 4, 8, 16}", "param TILE_X in {1, 2, 4}",
          "param TILE_Y in {1, 2, 4, 8}", "param SHARED in {0, 1}", "param UNROLL in {1, 9}",
          "require BLOCK_X * BLOCK_Y <= 1024", "require TILE_X * TILE_Y <= 16",
          "require (BLOCK_X * TILE_X + 8) * (BLOCK_Y * TILE_Y + 8) * 4 * SHARED <= 49152",
          "extent in = (width + 8) * (height + 8)", "extent filter = 81", "extent out = width * height",
          "launch image: width=4096, height=2048 on cuda", "launch tiny: width=64, height=32 on emulated")
__global__ void convolve(const float *in, const float *filter, float *out, int width, int height) {
  constexpr int COLUMNS = BLOCK_X * TILE_X + 8;
  constexpr int ROWS = BLOCK_Y * TILE_Y + 8;
  __shared__ float cells[SHARED ? ROWS * COLUMNS : 1];
  const int left = blockIdx.x * (BLOCK_X * TILE_X), top = blockIdx.y * (BLOCK_Y * TILE_Y);
  const int pitch = width + 8;
  if (SHARED) {
    for (int y = threadIdx.y; y < ROWS; y += BLOCK_Y)
      for (int x = threadIdx.x; x < COLUMNS; x += BLOCK_X)
        cells[y * COLUMNS + x] = left + x < pitch && top + y < height + 8 ? in[(top + y) * pitch + left + x] : 0.0f;
    __syncthreads();
  }
  float sums[TILE_Y][TILE_X] = {};
#pragma unroll UNROLL
  for (int i = 0; i < 9; ++i) {
#pragma unroll UNROLL
    for (int j = 0; j < 9; ++j) {
      const float weight = filter[i * 9 + j];
#pragma unroll
      for (int ty = 0; ty < TILE_Y; ++ty) {
#pragma unroll
        for (int tx = 0; tx < TILE_X; ++tx) {
          const int x = threadIdx.x + tx * BLOCK_X + j, y = threadIdx.y + ty * BLOCK_Y + i;
          if (SHARED)
            sums[ty][tx] += weight * cells[y * COLUMNS + x];
          else if (left + x < pitch && top + y < height + 8)
            sums[ty][tx] += weight * in[(top + y) * pitch + left + x];
        }
      }
    }
  }
#pragma unroll
  for (int ty = 0; ty < TILE_Y; ++ty) {
#pragma unroll
    for (int tx = 0; tx < TILE_X; ++tx) {
      const int x = left + threadIdx.x + tx * BLOCK_X, y = top + threadIdx.y + ty * BLOCK_Y;
      if (x < width && y < height)
        out[y * width + x] = sums[ty][tx];
    }
  }
}

void convolveImage(const float *in, const float *filter, float *out, int width, int height) {
  const dim3 grid((width + BLOCK_X * TILE_X - 1) / (BLOCK_X * TILE_X), (height + BLOCK_Y * TILE_Y - 1) / (BLOCK_Y * TILE_Y));
  convolve<<<grid, dim3(BLOCK_X, BLOCK_Y)>>>(in, filter, out, width, height);
}
