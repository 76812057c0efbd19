// RUN: %variants mutate %s k --operators='["load-index"]' | FileCheck %s --check-prefix=INDEX
// RUN: %variants mutate %s k --operators='["other-input"]' | FileCheck %s --check-prefix=OTHER
// RUN: %variants mutate %s k --operators='["swapped-index"]' | FileCheck %s --check-prefix=SWAP
__global__ void k(const float *a, const float *b, const int *order, float *out, int width) {
  __shared__ float tile[16][17];
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = a[y * width + x] + __ldg(&b[order[x]]);
  __syncthreads();
  out[y * width + x] = tile[threadIdx.x][threadIdx.y] + *b;
}

// INDEX-DAG: + tile[threadIdx.y][threadIdx.x] = a[(y * width + x) + 1] + __ldg(&b[order[x]]);
// INDEX-DAG: + tile[threadIdx.y][threadIdx.x] = a[y * width + x] + __ldg(&b[(order[x]) + 1]);
// INDEX-DAG: + tile[threadIdx.y][threadIdx.x] = a[y * width + x] + __ldg(&b[order[(x) + 1]]);
// INDEX-DAG: + out[y * width + x] = tile[threadIdx.x][threadIdx.y] + *(b + 1);
// INDEX:     chosen 4 of 4

// OTHER-DAG: + tile[threadIdx.y][threadIdx.x] = b[y * width + x] + __ldg(&b[order[x]]);
// OTHER-DAG: + tile[threadIdx.y][threadIdx.x] = a[y * width + x] + __ldg(&a[order[x]]);
// OTHER-DAG: + out[y * width + x] = tile[threadIdx.x][threadIdx.y] + *a;
// OTHER:     chosen 3 of 3

// SWAP-DAG: + int x = blockIdx.y * blockDim.x + threadIdx.x;
// SWAP-DAG: + int x = blockIdx.x * blockDim.y + threadIdx.x;
// SWAP-DAG: note: the same where both extents are equal
// SWAP-DAG: + tile[threadIdx.y][threadIdx.y] = a[y * width + x] + __ldg(&b[order[x]]);
// SWAP-DAG: + tile[threadIdx.y][threadIdx.x] = a[x * width + y] + __ldg(&b[order[x]]);
// SWAP-DAG: + out[y * width + x] = tile[threadIdx.y][threadIdx.x] + *b;
// SWAP-DAG: + out[x * width + y] = tile[threadIdx.x][threadIdx.y] + *b;
// SWAP:     chosen 14 of 14

// Neither is null in a launch.
// RUN: %variants mutate %s given --operators='["other-input"]' | FileCheck %s --check-prefix=NULL
__global__ void given(const float *a, const float *b, float *out) {
  float first = a ? a[threadIdx.x] : 0.0f;
  out[threadIdx.x] = first + (b != nullptr ? b[threadIdx.x] : 0.0f);
}
// NULL-DAG: + float first = a ? b[threadIdx.x] : 0.0f;
// NULL-DAG: + out[threadIdx.x] = first + (b != nullptr ? a[threadIdx.x] : 0.0f);
// NULL:     chosen 2 of 2
