// What a program uses its constants for, and what a kernel's arithmetic needs of them.
// RUN: %kopt-extract %s --json -- -std=c++17 | %python %S/Inputs/sizes.py | FileCheck %s
#include <cstdio>
#include <cstdlib>

#define TILE 32
#define ROWS 8
constexpr int kStep = TILE / ROWS;
constexpr int kCells = 4096, kSamples = 100, kChunk = 64;

__device__ int column(int thread) { return thread % TILE; }

// A tile that the host only launches; kStep is looked through. The grid is exact, nothing is guarded.
// CHECK-LABEL: tiled: not guarded{{$}}
// CHECK-DAG: TILE: in_kernel in_other_kernels across_blocks tiles; no other use
// CHECK-DAG: ROWS: in_kernel in_other_kernels steps tiles; no other use
// CHECK: requirements: TILE % ROWS == 0
// CHECK: shared_bytes: TILE * (TILE + 1) * 4
__global__ void tiled(const float *in, float *out, int columns) {
  __shared__ float tile[TILE][TILE + 1];
  const int x = blockIdx.x * TILE + column(threadIdx.x);
  for (int i = 0; i < TILE; i += ROWS)
    tile[threadIdx.y + i][threadIdx.x] = in[i * columns + x];
  __syncthreads();
  for (int i = 0; i < kStep; ++i)
    out[i * columns + x] = tile[threadIdx.x][threadIdx.y * kStep + i];
}

// The loop does not name its counter: it has to run as often as now.
// CHECK-LABEL: again: guarded, reads blockDim{{$}}
// CHECK: kept: (TILE + ROWS - 1) / ROWS
__global__ void again(float *out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < TILE; i += ROWS)
    if (x < n)
      out[x] += 1;
}

// The size of the problem and a number of samples; a loop over the kernel's parameter in chunks.
// CHECK-LABEL: meaning: not guarded{{$}}
// CHECK-DAG: kCells: in_kernel tiles; an argument of '{{malloc|cudaMalloc}}' at sizes.cu:
// CHECK-DAG: kSamples: in_kernel tiles; a real number at sizes.cu:
// CHECK-DAG: kChunk: in_kernel steps tiles; no other use
// CHECK: requirements: n % kChunk == 0
__global__ void meaning(float *out, int n) {
  float sum = 0;
  for (int i = 0; i < kCells; ++i)
    for (int s = 0; s < kSamples; ++s)
      sum += float(i) / kSamples;
  for (int first = 0; first < n; first += kChunk)
    for (int i = 0; i < kChunk; ++i)
      out[first + i] = sum;
}

// A template parameter, and a constant that other device code names, too.
// CHECK-LABEL: reduce: guarded
// CHECK-DAG: kThreads: ; no other use
// CHECK-DAG: N: in_kernel across_blocks tiles; no other use
constexpr int kThreads = 256;
template <int N> __global__ void reduce(const float *in, float *out, int n) {
  __shared__ float sums[N];
  const int x = blockIdx.x * N + threadIdx.x;
  sums[threadIdx.x] = x < n ? in[x] : 0;
  for (int i = N / 2; i > 0; i /= 2) {
    __syncthreads();
    if (threadIdx.x < i)
      sums[threadIdx.x] += sums[threadIdx.x + i];
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = sums[0];
}

void run(float *in, float *out, int n) {
  if (n % TILE != 0) {
    printf("a tile has %d columns\n", TILE);
    return;
  }
  dim3 grid(n / TILE), block;
  block = dim3(TILE, ROWS);
  tiled<<<grid, block>>>(in, out, n);
  const int blocks = (n + kThreads - 1) / kThreads;
  again<<<blocks, kThreads>>>(out, n);
  meaning<<<1, 1>>>(out, n);
  reduce<kThreads><<<blocks, kThreads>>>(in, out, n);
  float *cells = (float *)malloc(kCells * sizeof(float));
  free(cells);
}
