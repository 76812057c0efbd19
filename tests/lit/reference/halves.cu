// half and bfloat16: types, conversions and intrinsics.
// RUN: %variants reference %s k | FileCheck %s
// RUN: %variants reference %s b | FileCheck %s --check-prefix=B
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void k(const half *x, const __half2 *pairs, half *y, float a) {
  extern __shared__ half tile[];
  int i = threadIdx.x;
  tile[i] = __hfma(x[i], __float2half(a), __half(1.0f));
  half2 p = __hmul2(pairs[i], __half2half2(x[i]));
  float2 f = __half22float2(p + pairs[0]);
  half h = x[i];
  if (__hgt(h, tile[0]))
    h = hexp(h) * x[i + 1];
  y[i] = __float2half_rn(__half2float(h) + f.x + __low2float(p));
}
__global__ void b(const __nv_bfloat16 *x, __nv_bfloat16 *y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[i] = __float2bfloat16(__bfloat162float(x[i]) * 0.5f);
}

// CHECK: + __global__ void k(const double *x, const kopt_precise::Pair *pairs, double *y, double a) {
// CHECK: + extern __shared__ double tile[];
// CHECK: + tile[i] = kopt_precise::hfma(x[i], kopt_precise::same(a), double(1.0));
// CHECK: + kopt_precise::Pair p = kopt_precise::hmul2(pairs[i], kopt_precise::bothOf(x[i]));
// CHECK: + double2 f = kopt_precise::pairToDouble2(p + pairs[0]);
// CHECK: + y[i] = kopt_precise::same(kopt_precise::same(h) + f.x + kopt_precise::lowOf(p));
// CHECK: param: x* 2 -> 8 bytes: f16@0->f64@0
// CHECK: param: pairs* 4 -> 16 bytes: f16@0->f64@0 f16@2->f64@8
// CHECK: param: a 4 -> 8 bytes: f32@0->f64@0
// CHECK: shared factor: 4
// B: param: x* 2 -> 8 bytes: bf16@0->f64@0
// B: param: n 4 -> 4 bytes: unchanged
