// SPDX-License-Identifier: Apache-2.0
// Columns are written out while other lanes of the warp still add up their rows.
// base: rowsums
// expect: RunFailed by races
#include <kopt/kopt.h>

KOPT_TUNE("arg rows = 40", "arg columns = 70", "extent in = rows * columns", "extent out = rows * columns")
__global__ void rowSums(const float *in, float *out, int rows, int columns) {
  __shared__ float tile[32][33];
  int lane = threadIdx.x, first = blockIdx.x * 32, height = min(32, rows - first);
  float sum = 0.0f;
  for (int left = 0; left < columns; left += 32) {
    int width = min(32, columns - left);
    if (lane < width)
      for (int i = 0; i < height; ++i)
        tile[i][lane] = in[(first + i) * columns + left + lane];
    __syncwarp();
    if (lane < height)
      for (int i = 0; i < width; ++i) {
        sum += tile[lane][i];
        tile[lane][i] = sum;
      }
    if (lane < width)
      for (int i = 0; i < height; ++i)
        out[(first + i) * columns + left + lane] = tile[i][lane];
    __syncwarp();
  }
}

void run(const float *in, float *out, int rows, int columns) {
  rowSums<<<(rows + 31) / 32, 32>>>(in, out, rows, columns);
}
