// What has no clone says so, and where.
// RUN: %variants reference %s integers | FileCheck %s --check-prefix=INTEGERS
// RUN: %variants reference %s doubles | FileCheck %s --check-prefix=DOUBLES
// RUN: %variants reference %s punned | FileCheck %s --check-prefix=PUNNED
// RUN: %variants reference %s assembly | FileCheck %s --check-prefix=ASSEMBLY
// RUN: %variants reference %s lanes | FileCheck %s --check-prefix=LANES
// RUN: %variants reference %s sizes'<float>' | FileCheck %s --check-prefix=SIZES
// RUN: %variants reference %s sizesOutside'<float>' | FileCheck %s --check-prefix=OUTSIDE
// RUN: %variants reference %s looksUp | FileCheck %s --check-prefix=INDEX
// RUN: %variants reference %s converges | FileCheck %s --check-prefix=LOOP
// RUN: %variants reference %s quantizes | FileCheck %s --check-prefix=NOTE
// RUN: %variants reference %s views | FileCheck %s --check-prefix=VIEWS
// RUN: %variants reference %s untyped | FileCheck %s --check-prefix=UNTYPED
// RUN: %variants reference %s large | FileCheck %s --check-prefix=LARGE
// RUN: %variants reference %s carved | FileCheck %s --check-prefix=CARVED
// RUN: %variants reference %s carvedByBytes | FileCheck %s --check-prefix=BYTES
// RUN: %variants reference %s copies | FileCheck %s --check-prefix=COPIES
// RUN: %variants reference %s branches | FileCheck %s --check-prefix=BRANCHES
// RUN: %variants reference %s constants | FileCheck %s --check-prefix=CONSTANTS

__global__ void integers(unsigned *x) { x[threadIdx.x] = x[threadIdx.x] * 747796405u + 1; }
// INTEGERS: refused: integers at line [[@LINE-1]]: the kernel computes with integers only

__global__ void doubles(double *x) { x[threadIdx.x] *= 2; }
// DOUBLES: refused: double at line [[@LINE-1]]: the kernel computes in double precision already

union Bits {
  float f;
  unsigned u;
};
__device__ float fromUnion(unsigned x) {
  Bits bits;
  bits.u = x;
  return bits.f;
}
__global__ void punned(float *x, unsigned *bits) {
  int i = threadIdx.x;
  x[i] = __uint_as_float(bits[i]);
  bits[i] = *(unsigned *)&x[i];
  float4 *four = reinterpret_cast<float4 *>(bits);
  x[i] += four->x + fromUnion(1);
  atomicCAS(reinterpret_cast<int *>(x), 0, 1);
}
// PUNNED-DAG: refused: bits at line [[@LINE-6]]: the bits of a number are looked at by __uint_as_float()
// PUNNED-DAG: refused: bits at line [[@LINE-6]]: memory is taken for another type in `(unsigned *)&x[i]`
// PUNNED-DAG: refused: bits at line [[@LINE-6]]: memory is taken for another type in `reinterpret_cast<float4 *>(bits)`
// PUNNED-DAG: refused: bits at line [[@LINE-5]]: memory is taken for another type in `reinterpret_cast<int *>(x)`
// PUNNED-DAG: refused: bits at line {{[0-9]+}}: a union of floating point with something else in `bits.f`

__global__ void assembly(float *x) {
  asm("sqrt.approx.f32 %0, %1;" : "=f"(x[0]) : "f"(x[1]));
}
// ASSEMBLY: refused: asm at line [[@LINE-2]]: inline PTX that may touch floating-point data

__global__ void lanes(float *x) {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  x[lane] *= 2;
}
// LANES: kernel: lanes

template <class T> __global__ void sizes(T *x) {
  int perWord = 16 / sizeof(T);
  x[threadIdx.x * perWord] = 1;
}
template __global__ void sizes<float>(float *);
// SIZES: refused: size at line [[@LINE-4]]: the size of a floating-point type decides something in `sizeof(T)`

template <class T> struct PerWord {
  static constexpr int value = 16 / sizeof(T);
};
template <class T> __global__ void sizesOutside(T *x) { x[threadIdx.x * PerWord<T>::value] = 1; }
template __global__ void sizesOutside<float>(float *);
// OUTSIDE: refused: differs at line [[@LINE-2]]: the width of a type decides what the code does: `value=4` became `value=2`

__global__ void looksUp(const float *x, const float *table, float *y) {
  int bin = (int)(x[threadIdx.x] * 16.0f);
  int next = bin + 1;
  y[threadIdx.x] = table[next];
}
// INDEX: refused: float-index at line [[@LINE-2]]: a floating-point number, rounded, decides which element is taken: `next`

__global__ void converges(float *x) {
  float error = 1;
  while (error > 1e-6f)
    error *= x[0];
  for (int i = 0; i < 9; ++i)
    if (x[i] < error)
      break;
  x[0] = error;
}
// LOOP-DAG: refused: float-loop at line [[@LINE-7]]: a floating-point number decides how often the loop on `error > 1e-6f` runs
// LOOP-DAG: refused: float-loop at line [[@LINE-5]]: a floating-point number decides when a loop is left: `x[i] < error`

__global__ void quantizes(const float *x, int *y) { y[threadIdx.x] = __float2int_rn(x[threadIdx.x]); }
// NOTE: + __global__ void quantizes(const double *x, int *y) { y[threadIdx.x] = __double2int_rn(x[threadIdx.x]); }
// NOTE: note: to-integer at line [[@LINE-2]]: a floating-point number becomes an integer

struct View {
  float *data;
  int n;
};
__global__ void views(View view) { view.data[threadIdx.x] = view.n; }
// VIEWS: refused: layout at line [[@LINE-1]]: parameter view is a struct with pointers to floating point

__global__ void untyped(void *x) { ((float *)x)[threadIdx.x] = 1; }
// UNTYPED: refused: bits at line [[@LINE-1]]: memory is taken for another type in `(float *)x`

__global__ void large(float *x) {
  __shared__ float tile[100][100];
  tile[threadIdx.x][0] = x[threadIdx.x];
  x[threadIdx.x] = tile[0][0];
}
// LARGE: refused: shared-memory at line [[@LINE-5]]: its static shared memory would be 80000 bytes, of which a block has 49152

__global__ void carved(float *x, int n) {
  extern __shared__ char raw[];
  float *first = (float *)raw, *second = reinterpret_cast<float *>(raw + n * sizeof(float));
  second[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = first[0];
}
// CARVED: second = reinterpret_cast<double *>(raw + n * sizeof(double));
// CARVED: shared factor: 2

__global__ void carvedByBytes(float *x, int n) {
  extern __shared__ char raw[];
  float *second = reinterpret_cast<float *>(raw + 256);
  second[threadIdx.x] = x[threadIdx.x];
}
// BYTES: refused: bits at line [[@LINE-3]]: memory is taken for another type in `reinterpret_cast<float *>(raw + 256)`

struct Particle {
  float position[3], mass;
};
__global__ void copies(Particle *p) { p[threadIdx.x] = p[threadIdx.x + 1]; }
// COPIES: param: p* 16 -> 32 bytes: f32@0->f64@0 f32@4->f64@8 f32@8->f64@16 f32@12->f64@24

__global__ void constants(float *x, int half) {
  x[threadIdx.x + half] = -INFINITY;
}
// CONSTANTS: + __global__ void constants(double *x, int half) {

__global__ void branches(float *x) {
  if (x[0] < x[1])
    x[2] = floorf(x[2]);
}
// BRANCHES: note: float-branch at line [[@LINE-3]]:
// BRANCHES: note: rounding at line [[@LINE-3]]:
