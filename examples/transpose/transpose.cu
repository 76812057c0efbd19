// SPDX-License-Identifier: Apache-2.0
// Transposes a matrix on the GPU and compares every element with the CPU's result. The kernel is written the way a
// first version often is: the loads of a warp are contiguous, its stores are a whole row apart.
//
//   transpose [rows columns]        exit status: 0 PASS, 1 FAIL, 2 usage, 77 no CUDA device
#include <kopt/kopt.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int TILE = 32;  // edge of the square of elements that one block moves
constexpr int ROWS = 8;   // rows of that square that one block moves at a time
constexpr int STAGED = 0; // 1: turn the square round in shared memory, 0: store each element where it belongs

KOPT_TUNE("param TILE in {32, 64}",
          "param ROWS in {4, 8, 16}",
          "param STAGED in {0, 1}",
          "require TILE % ROWS == 0",
          "extent in = rows * columns",
          "extent out = rows * columns",
          "fill in = uniform(-1, 1)",
          "launch 4096x4096: rows=4096, columns=4096 on cuda",
          "launch 4000x2080: rows=4000, columns=2080 weight 0.25 on cuda",
          "launch 1000x1048: rows=1000, columns=1048 on emulated",
          "tolerance strict")
__global__ void transpose(const float *in, float *out, int rows, int columns) {
  const int firstColumn = blockIdx.x * TILE;
  const int firstRow = blockIdx.y * TILE;
  if constexpr (STAGED != 0) {
    __shared__ float tile[TILE][TILE];
    for (int y = threadIdx.y; y < TILE; y += ROWS) {
      const int row = firstRow + y;
      const int column = firstColumn + threadIdx.x;
      if (row < rows && column < columns)
        tile[y][threadIdx.x] = in[row * columns + column];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < TILE; y += ROWS) {
      const int row = firstRow + threadIdx.x;
      const int column = firstColumn + y;
      if (row < rows && column < columns)
        out[column * rows + row] = tile[threadIdx.x][y];
    }
  } else {
    for (int y = threadIdx.y; y < TILE; y += ROWS) {
      const int row = firstRow + y;
      const int column = firstColumn + threadIdx.x;
      if (row < rows && column < columns)
        out[column * rows + row] = in[row * columns + column];
    }
  }
}

void launchTranspose(const float *in, float *out, int rows, int columns) {
  const dim3 block(TILE, ROWS);
  const dim3 grid((columns + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
  transpose<<<grid, block>>>(in, out, rows, columns);
}

static void check(cudaError_t status, const char *what) {
  if (status == cudaSuccess)
    return;
  std::fprintf(stderr, "transpose: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

int main(int argc, char **argv) {
  const int rows = argc == 3 ? std::atoi(argv[1]) : 1000;
  const int columns = argc == 3 ? std::atoi(argv[2]) : 1777;
  if ((argc != 1 && argc != 3) || rows <= 0 || columns <= 0 || rows > 46340 || columns > 46340) {
    std::fprintf(stderr, "usage: transpose [rows columns], each from 1 to 46340\n");
    return 2;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "transpose: no CUDA device answers\n");
    return 77;
  }

  const std::size_t count = static_cast<std::size_t>(rows) * columns;
  std::vector<float> input(count), output(count);
  for (std::size_t i = 0; i < count; ++i)
    input[i] = static_cast<float>(i % 65521) - 32760.0f;

  float *in = nullptr, *out = nullptr;
  check(cudaMalloc(&in, count * sizeof(float)), "allocating the input");
  check(cudaMalloc(&out, count * sizeof(float)), "allocating the output");
  check(cudaMemcpy(in, input.data(), count * sizeof(float), cudaMemcpyHostToDevice), "copying the input");
  check(cudaMemset(out, 0xff, count * sizeof(float)), "clearing the output");
  launchTranspose(in, out, rows, columns);
  check(cudaGetLastError(), "launching the kernel");
  check(cudaDeviceSynchronize(), "running the kernel");
  check(cudaMemcpy(output.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost), "copying the output");
  check(cudaFree(in), "freeing the input");
  check(cudaFree(out), "freeing the output");

  std::size_t wrong = 0;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      wrong += !(output[static_cast<std::size_t>(column) * rows + row] ==
                 input[static_cast<std::size_t>(row) * columns + column]);
  std::printf("transpose %dx%d: %zu of %zu elements wrong\n%s\n", rows, columns, wrong, count,
              wrong == 0 ? "PASS" : "FAIL");
  return wrong == 0 ? 0 : 1;
}
