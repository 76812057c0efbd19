// Where accesses go: the expectations stand beside them.
// RUN: %variants model %s rows | FileCheck %s --check-prefix=ROWS
// RUN: %variants model %s transpose | FileCheck %s --check-prefix=TRANS
// RUN: %variants model %s structs | FileCheck %s --check-prefix=STRUCT
// RUN: %variants model %s pointers | FileCheck %s --check-prefix=POINTER
// RUN: %variants model %s gather | FileCheck %s --check-prefix=GATHER
// RUN: %variants model %s updates | FileCheck %s --check-prefix=UPDATE
// RUN: %variants model %s calls | FileCheck %s --check-prefix=CALL
// RUN: %variants model %s local | FileCheck %s --check-prefix=LOCAL

// The sum of row i: lanes are a row apart. The index is signed, so only what is unsigned in it may wrap.
__global__ void rows(const float *a, float *out, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m)
    return;
  float sum = 0;
  for (int j = 0; j < n; ++j)
    sum += a[i * n + j];
  out[i] = sum;
  // ROWS: 14:9 condition i >= m: blockDim.x * blockIdx.x + threadIdx.x >= m, guard, the kernel ends where it is true, if blockDim.x * blockIdx.x + threadIdx.x fits int32
  // ROWS: 17:3 loop (j = 0; j < n; j += 1), fadd into sum
  // ROWS: 18:12 load a[i * n + j]: global a, 4 bytes at 4 * blockDim.x * blockIdx.x * n + 4 * j + 4 * n * threadIdx.x, lanes (4 * n, 0, 0), j 4, where not i >= m, if blockDim.x * blockIdx.x + threadIdx.x fits int32
  // ROWS: 19:10 store out[i]: global out, 4 bytes at 4 * blockDim.x * blockIdx.x + 4 * threadIdx.x, lanes (4, 0, 0), where not i >= m, if
}

__global__ void transpose(float *out, const float *in, size_t width) {
  __shared__ float tile[32][32];
  size_t x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  out[x * width + y] = tile[threadIdx.x][threadIdx.y];
  // Products of block and thread are 32 bits wide and unsigned: too many blocks would wrap x, but not y.
  // TRANS: load in[y * width + x]: global in, 4 bytes at {{.*}}, lanes (4, 4 * width, 0), if 32 * blockIdx.x + threadIdx.x fits uint32
  // TRANS: barrier of block
  // TRANS-NOT: maybe
  // TRANS: store out[x * width + y]: global out, 4 bytes at {{.*}}, lanes (4 * width, 4, 0), if 32 * blockIdx.x + threadIdx.x fits uint32
  // TRANS: load tile[threadIdx.x][threadIdx.y]: shared tile, 4 bytes at 128 * threadIdx.x + 4 * threadIdx.y, lanes (128, 4, 0){{$}}
}

struct Particle { float x, y, z; int id; };
struct Field { float4 *cells; int2 size; };

__global__ void structs(Particle *p, Field f) {
  p[threadIdx.x].id = 0;
  float4 cell = f.cells[threadIdx.y * f.size.x + threadIdx.x];
  p[threadIdx.x].y = cell.x + cell.y + cell.z + cell.w;
  // STRUCT: store p[threadIdx.x].id: global p, 4 bytes at 16 * threadIdx.x + 12, lanes (16, 0, 0)
  // A copy of a struct is one access, and members of a parameter are named as the host names them.
  // STRUCT: load f.cells[threadIdx.y * f.size.x + threadIdx.x]: global f.cells, 16 bytes at 16 * f.size.x * threadIdx.y + 16 * threadIdx.x, lanes (16, 16 * f.size.x, 0), if f.size.x * threadIdx.y + threadIdx.x fits uint32
  // STRUCT: store p[threadIdx.x].y: global p, 4 bytes at 16 * threadIdx.x + 4, lanes (16, 0, 0)
}

__global__ void pointers(float *a, float *b, int n, int c) {
  float *at = a + threadIdx.x;
  for (int i = 0; i < 8; ++i, at += 32)
    *at += 1;
  float *either = c ? a : b;
  either[threadIdx.x] = 1;
  // POINTER: load *at: global a, 4 bytes at 128 * i + 4 * threadIdx.x, lanes (4, 0, 0), i 128
  // POINTER: store *at: global a, 4 bytes at 128 * i + 4 * threadIdx.x, lanes (4, 0, 0), i 128
  // POINTER: store either[threadIdx.x]: unknown ?, 4 bytes, the pointer depends on the path to it
}

// What was written elsewhere in the kernel may change an index; what is only read does not.
__global__ void gather(const int *__restrict__ idx, const float *a, float *b, const int *rows) {
  int row = idx[blockIdx.x], lane = idx[threadIdx.x];
  b[row + threadIdx.x] = a[lane];
  b[rows[0]] = 0;
  // GATHER: store b[row + threadIdx.x]: global b, 4 bytes at 4 * idx[blockIdx.x] + 4 * threadIdx.x, lanes (4, 0, 0)
  // GATHER: load a[lane]: global a, 4 bytes at 4 * idx[threadIdx.x], lanes (?, 0, 0)
  // GATHER: store b[rows[0]]: global b, 4 bytes at 4 * rows[0], lanes (?, ?, ?)
}

__global__ void updates(int *bins, const unsigned char *in, unsigned n) {
  __shared__ int own[256];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&own[in[i]], 1);
  atomicAdd(bins + threadIdx.x, __ldg(bins + 4));
  asm volatile("membar.gl;");
  // What `bins` points to may be what `in` points to.
  // UPDATE: atomic atomicAdd(&own[in[i]], 1): shared own, 4 bytes at 4 * in[i], lanes (?, ?, ?)
  // UPDATE: load in[i]: global in, 1 bytes at {{.*}}, lanes (1, 0, 0), where i < n, if
  // UPDATE: atomic atomicAdd(bins + threadIdx.x, __ldg(bins + 4)): global bins, 4 bytes at 4 * threadIdx.x, lanes (4, 0, 0)
  // UPDATE: load __ldg(bins + 4): global bins, 4 bytes at 16, lanes (0, 0, 0)
  // UPDATE: unknown: inline assembly
}

__device__ float pick(const float *from, int at) { return from[at * 2]; }
extern __device__ float elsewhere(float *all);

__global__ void calls(float *a) {
  a[threadIdx.x] = pick(a, threadIdx.x) + pick(a + 1, 3);
  elsewhere(a);
  // One function, called twice: two accesses at one place.
  // CALL: load from[at * 2]: global a, 4 bytes at 8 * threadIdx.x, lanes (8, 0, 0)
  // CALL: load from[at * 2]: global a, 4 bytes at 28, lanes (0, 0, 0)
  // CALL: store a[threadIdx.x]: global a, 4 bytes at 4 * threadIdx.x, lanes (4, 0, 0)
  // CALL: unknown: a call of elsewhere(float*)
}

__global__ void local(float *a, int k) {
  float own[8];
  for (int i = 0; i < 8; ++i)
    own[i] = a[threadIdx.x & 7 + i];
  a[0] = own[k / 3];
  // LOCAL: store own[i]: local own, 4 bytes at 4 * i, lanes (0, 0, 0), i 4
  // LOCAL: load a[threadIdx.x & 7 + i]: global a, 4 bytes at 4 * (threadIdx.x & (i + 7)), lanes (?, 0, 0), i ?
  // LOCAL: load own[k / 3]: local own, 4 bytes at 4 * (k / 3), lanes (0, 0, 0)
}
