// What host code says apart from its launches: comments, launch configurations and the variables that only feed
// them are left out; what has another use stays.
// RUN: %variants host %s scaled | FileCheck %s
// RUN: %variants host %s other | FileCheck %s --check-prefix=OTHER
#define BLOCK 256
#define DIV_UP(a, b) (((a) + (b)-1) / (b))

struct Event {
  ~Event() {}
};
extern void note(int);
static int queried = 0;
int query() { return ++queried; }
int rounded(int n, int by) {
  int whole = n / by;
  if (whole * by < n)
    ++whole;
  return whole;
}

template <class T, int PER> __global__ void scaled(const T *in, T *out, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * PER;
  for (int k = 0; k < PER; ++k)
    if (i + k < n)
      out[i + k] = 2 * in[i + k];
}
__global__ void other(float *x) { x[threadIdx.x] = 0; }

__host__ __device__ inline int both(int a) { return a + 1; }
__device__ int deviceOnly(int a) { return a + 1; }

// CHECK-NOT: rounded
// CHECK-NOT: deviceOnly
// CHECK: function both(int)

void locals(const float *in, float *out, int n, cudaStream_t stream) {
  const int threads = 128, shown = 2; // a comment
  int blocks = DIV_UP(n, threads * 4);
  dim3 grid(blocks, 1);
  if (grid.x > 65535)
    grid.x = 65535;
  grid.y = rounded(n, 1 << 30);
  note(shown);
  scaled<float, 4><<<grid, threads, threads * sizeof(float), stream>>>(in, out, n);
}
// CHECK: function locals(const float *, float *, int, cudaStream_t) launches
// CHECK-NEXT: void locals ( const float * in , float * out , int n , cudaStream_t stream ) {
// CHECK-NEXT: note ( 2 ) ;
// CHECK-NEXT: scaled <<< stream >>> ( in , out , n ) ;
// CHECK-NEXT: }
// OTHER: function rounded(int, int)
// OTHER: function locals(const float *, float *, int, cudaStream_t)
// OTHER-NOT: launches
// OTHER: dim3 grid ( blocks , 1 ) ;
// OTHER: scaled < float , 4 > <<< grid , 128 , 128 * sizeof ( float ) , stream >>> ( in , out , n ) ;

void used(const float *in, float *out, int n) {
  int blocks = n / 256;
  int asked = query();
  Event event;
  note(blocks);
  scaled<float, 4><<<blocks, asked>>>(in, out, n);
}
// CHECK: function used(
// CHECK: int blocks = n / 256 ;
// CHECK-NEXT: int asked = query ( ) ;
// CHECK-NEXT: Event event ;
// CHECK-NEXT: note ( blocks ) ;
// CHECK-NEXT: scaled <<< >>> ( in , out , n ) ;

// A constant is what it is made of, if that does not change.
void sized(const float *in, float *out, int rows, int columns) {
  const int total = rows * columns;
  int many = columns;
  const int before = many + 1;
  ++many;
  scaled<float, 4><<<DIV_UP(total, 256), 256>>>(in, out, total);
  note(total - before);
}
// CHECK: function sized(
// CHECK-NEXT: {
// CHECK-NEXT: int many = columns ;
// CHECK-NEXT: const int before = many + 1 ;
// CHECK-NEXT: ++ many ;
// CHECK-NEXT: scaled <<< >>> ( in , out , rows * columns ) ;
// CHECK-NEXT: note ( ( rows * columns ) - before ) ;

void given(const float *in, float *out, int n, int block) {
  scaled<float, 4><<<n / block, block, 0, 0>>>(in, out, n);
}
void caller(const float *in, float *out) {
  given(in, out, 1000, 128);
  auto again = [&](int k) { scaled<float, 8><<<k, BLOCK>>>(in, out, k); };
  again(7);
  other<<<1, 32>>>(out);
}
// CHECK: function given(
// CHECK: scaled <<< >>> ( in , out , n ) ;
// CHECK: function caller(
// CHECK: given ( in , out , 1000 , ) ;
// CHECK-NEXT: auto again = [ & ] ( int k ) {
// CHECK-NEXT: scaled <<< >>> ( in , out , k ) ;
// CHECK: other <<< 1 , 32 >>> ( out ) ;
// OTHER: function caller(const float *, float *) launches
// OTHER: other <<< >>> ( out ) ;

template <class T> void large(const T *in, T *out, int n) {
  static bool once = false;
  const size_t bytes = 64 * 1024;
  if (!once) {
    cudaFuncSetAttribute(scaled<T, 4>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    once = true;
  }
  scaled<T, 4><<<dim3((n + 255) / 256), 256, bytes>>>(in, out, n);
}
template void large<float>(const float *, float *, int);
// CHECK: function large(const T *, T *, int) launches
// CHECK-NEXT: template < class T > void large ( const T * in , T * out , int n ) {
// CHECK-NEXT: scaled <<< >>> ( in , out , n ) ;
// CHECK-NEXT: }

template <class T> void rows(const T *in, T *out, int n) {
  static const int Threads = 256;
  static const int RowsPerThread = 4;
  static const int RowsPerBlock = (Threads / 32) * RowsPerThread;
  dim3 grid((n + (T)RowsPerBlock - 1) / RowsPerBlock);
  scaled<T, RowsPerThread><<<grid, Threads>>>(in, out, n);
  other<<<(n + Threads - 1) / Threads, Threads>>>(out);
}
template void rows<float>(const float *, float *, int);
// CHECK: function rows(const T *, T *, int) launches
// CHECK-NEXT: template < class T > void rows ( const T * in , T * out , int n ) {
// CHECK-NEXT: scaled <<< >>> ( in , out , n ) ;
// CHECK-NEXT: other <<< ( n + 256 - 1 ) / 256 , 256 >>> ( out ) ;

// In a template's own text an operator may be any that there is; what it is made into says which.
struct Pair {
  int a;
};
Pair operator+(Pair a, Pair b);
template <class T> T divided(T a, T by) { return (a + by - 1) / by; }
void fromTemplate(const float *in, float *out, int n) {
  int blocks = divided(n, 512);
  scaled<float, 4><<<blocks, 128>>>(in, out, n);
}
// CHECK: function fromTemplate(const float *, float *, int) launches
// CHECK-NEXT: void fromTemplate (
// CHECK-NEXT: scaled <<< >>> ( in , out , n ) ;

void scoped(const float *in, float *out, int n) {
  {
    dim3 grid((n + 255) / 256);
    scaled<float, 4><<<grid, 256>>>(in, out, n);
  }
  {
    Event event;
    note(n);
  }
}
// CHECK: function scoped(
// CHECK-NEXT: void scoped ( const float * in , float * out , int n ) {
// CHECK-NEXT: scaled <<< >>> ( in , out , n ) ;
// CHECK-NEXT: {
// CHECK-NEXT: Event event ;
// CHECK-NEXT: note ( n ) ;
// CHECK-NEXT: }
// CHECK-NEXT: }

// CHECK: variable queried
// CHECK: macro DIV_UP
// CHECK-NEXT: # define DIV_UP ( a , b ) ( ( ( a ) + ( b ) - 1 ) / ( b ) )
// CHECK: large shared memory: scaled
// OTHER: if ( ! once ) {
// OTHER-NOT: large shared memory
