// RUN: %variants model %s counters | FileCheck %s --check-prefix=COUNT
// RUN: %variants model %s strided | FileCheck %s --check-prefix=STRIDED
// RUN: %variants model %s reductions | FileCheck %s --check-prefix=RED
// RUN: %variants model %s contents | FileCheck %s --check-prefix=CONTENT
// RUN: %variants model %s barriers | FileCheck %s --check-prefix=BARRIER
// RUN: %variants model %s sentinel | FileCheck %s --check-prefix=SENTINEL

__global__ void counters(float *a, int n, unsigned m) {
  for (int i = 0; i < 10; i += 3)
    a[i] = 0; // 0, 3, 6, 9
  for (int i = n - 1; i >= 0; --i)
    a[i] = 1;
  for (unsigned i = 4; i != m; i += 2)
    a[i] = 2;
  int j = 0;
  do {
    a[j++] = 3;
  } while (j < n);
  // Here the first store comes before the first test.
  for (int i = 0;; ++i) {
    a[i] = 4;
    if (i >= 7)
      break;
  }
  // COUNT: loop (i = 0; i < 10; i += 3), 4 times, stores
  // COUNT: store a[i]: global a, 4 bytes at 12 * iteration(i), lanes (0, 0, 0), i 12
  // COUNT: loop (i = n - 1; i >= 0; i += -1), stores
  // COUNT: store a[i]: global a, 4 bytes at -4 * iteration(i) + 4 * n - 4, lanes (0, 0, 0), i -4
  // COUNT: loop (i = 4; i != m; i += 2), stores
  // COUNT: store a[i]: global a, 4 bytes at 8 * iteration(i) + 16, lanes (0, 0, 0), i 8, if 2 * iteration(i) + 4 fits uint32
  // COUNT: loop, stores
  // COUNT: store a[j++]: global a, 4 bytes at 4 * iteration@{{[0-9]+}}, lanes (0, 0, 0)
  // COUNT: loop, 8 times, stores
}

// Threads leave such a loop at different times.
__global__ void strided(float *a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    a[i] *= 2;
  // STRIDED: loop (i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x), not uniform, stores
  // STRIDED: store a[i]: {{.*}}, lanes (4, 0, 0), i 4 * blockDim.x * gridDim.x, if
}

__global__ void reductions(const float *a, const int *b, float *out, int n) {
  float sum = 0, top = 0, decayed = 0, kept = 0;
  int count = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < 4; ++j)
      sum += a[i * 4 + j];
    top = fmaxf(top, a[i]);
    decayed = decayed * 0.5f + a[i]; // uses what it accumulates in two ways
    kept += a[i];
    out[i] = kept; // read in the loop
    if (b[i] > 2)
      count += b[i];
  }
  out[n] = sum + top + decayed + kept + count;
  // RED: loop (i = 0; i < n; i += 1), stores,
  // RED-DAG: fadd into sum
  // RED-DAG: fmax into top
  // RED-DAG: conditional add into count
  // RED-NOT: into decayed
  // RED-NOT: into kept
  // RED: loop (j = 0; j < 4; j += 1), 4 times, fadd into sum
}

__global__ void contents(int *a, int n) {
  for (int i = 0; i < n; ++i) {
    if (a[i] == 3)
      break;
    atomicAdd(a, 1);
  }
  for (int i = 0; i < n; ++i)
    __syncthreads();
  // CONTENT: loop (i = 0; i < n; i += 1), not uniform, atomics, other exits
  // CONTENT: condition a[i] == 3: a[i] == 3
  // CONTENT: loop (i = 0; i < n; i += 1), barriers
  // CONTENT-NEXT: barrier of block, in i
}

__global__ void barriers(float *a, int n) {
  if (n > 3)
    __syncthreads();
  if (threadIdx.x > 3)
    __syncthreads();
  __syncwarp();
  if (threadIdx.y >= n)
    return;
  if (blockIdx.x > 4)
    __syncthreads();
  // BARRIER: condition n > 3: n > 3, uniform
  // BARRIER-NEXT: barrier of block{{$}}
  // BARRIER: condition threadIdx.x > 3: threadIdx.x > 3{{$}}
  // BARRIER-NEXT: barrier of block, maybe not uniform
  // BARRIER-NEXT: barrier of warp{{$}}
  // BARRIER-NEXT: condition threadIdx.y >= n: {{.*}}, the kernel ends where it is true
  // BARRIER-NEXT: condition blockIdx.x > 4: blockIdx.x > 4, uniform
  // BARRIER-NEXT: barrier of block, maybe not uniform
}

// The bound is memory that the loop writes: it may change, and threads may see different values.
__global__ void sentinel(int *end, float *a) {
  for (int i = 0; i < *end; ++i)
    a[i] = 0;
  // SENTINEL: loop (i = 0; ?; i += 1), not uniform, stores
}
