// RUN: %variants coverage %s k | FileCheck %s
// A kernel that is written for the values of some launches: the function has them as constants there, and else as they come.
struct Size {
  int x, y;
};
static __device__ void k_body(const float *x, float *out, int n, Size size, float p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 == n)
    out[i] = 1;
  else if (size.x < size.y)
    out[i] = x[i] * p;
}
__global__ void k(const float *x, float *out, int n, Size size, float p, int m) {
  if (n == 4096 && size.x == 3 && p == 2.0f) {
    auto size2 = size;
    size2.x = 3;
    k_body(x, out, 4096, size2, 2.0f);
  } else {
    k_body(x, out, n, size, p);
  }
  // Without another way for the others, each of the values counts.
  if (n == 4096 && m == 7)
    out[0] = 2;
}
void *reference() { return (void *)&k; }

// The function's conditions are named, and singled out, as they would be in the kernel itself.
// CHECK-DAG: at line 8: `i + 1 == n` is true [$2 == (((blockDim.0 * blockIdx.0) + threadIdx.0) + 1)]{{$}}
// CHECK-DAG: at line 10: `size.x < size.y` is false [!x($3) < y($3)]{{$}}
// It does not matter which value another launch does not have.
// CHECK-DAG: at line 14: `n == 4096 && size.x == 3 && p == 2.0f` is true {{.*}}, special
// CHECK-DAG: at line 14: `n == 4096 && size.x == 3 && p == 2.0f` is false {{.*}}, special
// CHECK-DAG: at line 22: `n == 4096` is false {{.*}}, special
// CHECK-DAG: at line 22: `m == 7` is false {{.*}}, special
// CHECK-NOT: at line 14: `p == 2.0f`
// CHECK: conditions in macros
