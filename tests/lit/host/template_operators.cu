// SPDX-License-Identifier: Apache-2.0
// In a template, `n + 255` names every operator that a header declares; arithmetic of a header's
// types still only computes.
// RUN: %variants host %s scaled | FileCheck %s
#include <cuda_fp16.h>

__global__ void scaled(const float *in, float *out, int n) {
  out[threadIdx.x] = in[threadIdx.x] * n;
}

template <class N> void dependent(const float *in, float *out, N n) {
  dim3 grid((n + 255) / 256);
  scaled<<<grid, 256>>>(in, out, n);
}
// CHECK: function dependent(
// CHECK-NEXT: template < class N > void dependent ( const float * in , float * out , N n ) {
// CHECK-NEXT: scaled <<< >>> ( in , out , n ) ;
