// Names, literals, casts, math functions, vectors, macros, template arguments and module variables.
// RUN: %variants reference %s ns::k'<float, 4>' | FileCheck %s
#include <cuda_runtime.h>
#define SCALE(x) ((x) * 0.1f + 1.5f)
#define FLOATS float
typedef float real;
__constant__ float weights[2][8];
__device__ FLOATS bias = 0.25F;
struct Point {
  float x;
  int id;
  real y[2];
};
struct Options {
  real scale;
  unsigned mask;
};
namespace ns {
__device__ float square(float x) { return x * x; }
template <class T, int N>
__global__ void k(const T *__restrict__ x, float4 *v, Point *points, int *counts, T a, Options options) {
  __shared__ float tile[N][33];
  extern __shared__ float more[];
  int i = threadIdx.x, mask = 0xff, big = 0x1f;
  tile[0][i] = __ldg(x + i) + SCALE(a) + 1e-3f + 1'000.5f + 0x1p-3f + 2.0;
  more[i] = (float)i + static_cast<float>(mask) + float(big);
  float s = __sinf(x[i]) + fmaf(a, sqrtf(x[i]), std::fabs(x[i])) + __fdividef(a, rsqrtf(x[i])) + __expf(x[i]);
  s += __shfl_down_sync(0xffffffffu, s, 1) + fminf(a, x[i]) + powf(s, 2.0f) + weights[1][i] + bias + square(s);
  float4 four = make_float4(s, tile[0][i], more[0], 0.f);
  v[i] = four;
  points[i].y[1] = reinterpret_cast<const float2 *>(x)[i].x * options.scale;
  points[i].id = counts[i];
  atomicAdd(&points[i].x, s);
}
template __global__ void k<float, 4>(const float *, float4 *, Point *, int *, float, Options);
}

// CHECK:     + #define SCALE(x) ((x) * 0.10000000149011612 + 1.5)
// CHECK:     + #define FLOATS double
// CHECK:     + typedef double real;
// CHECK:     + __constant__ double weights[2][8];
// CHECK:     + __device__ FLOATS bias = 0.25;
// CHECK:     + __global__ void k(const T *__restrict__ x, kopt_double4 *v, Point *points, int *counts, T a, Options options) {
// CHECK:     + tile[0][i] = kopt_precise::load(x + i) + SCALE(a) + 0.0010000000474974513 + 1'000.5 + 0x1p-3 + 2.0;
// CHECK:     + more[i] = (double)i + static_cast<double>(mask) + double(big);
// CHECK:     + double s = sin(x[i]) + fma(a, sqrt(x[i]), std::fabs(x[i])) + kopt_precise::divide(a, rsqrt(x[i])) + exp(x[i]);
// CHECK:     fmin(a, x[i]) + pow(s, 2.0)
// CHECK:     + kopt_double4 four = kopt_make_double4(s, tile[0][i], more[0], 0.);
// CHECK:     reinterpret_cast<const double2 *>(x)[i].x
// CHECK:     kernel: ns::k<double, 4> _ZN2ns1kIdLi4EEE
// CHECK:      param: x* 4 -> 8 bytes: f32@0->f64@0
// CHECK-NEXT: param: v* 16 -> 32 bytes: f32@0->f64@0 f32@4->f64@8 f32@8->f64@16 f32@12->f64@24
// CHECK-NEXT: param: points* 16 -> 32 bytes: f32@0->f64@0 i32@4->i32@8 f32@8->f64@16 f32@12->f64@24
// CHECK-NEXT: param: counts* 4 -> 4 bytes: unchanged
// CHECK-NEXT: param: a 4 -> 8 bytes: f32@0->f64@0
// CHECK-NEXT: param: options 8 -> 16 bytes: f32@0->f64@0 u32@4->u32@8
// CHECK-NEXT: variable: bias[1] 4 -> 8 bytes: f32@0->f64@0
// CHECK-NEXT: variable: weights[16] 4 -> 8 bytes: f32@0->f64@0
// CHECK-NEXT: shared factor: 2
// CHECK-NOT:  note
