// SPDX-License-Identifier: Apache-2.0
// Eight elements a thread, with a type of its own beside the kernel.
// base: copyscale
// expect: accepted
#include <kopt/kopt.h>

struct Scale {
  float factor;
  __device__ float4 of(float4 v) const { return make_float4(factor * v.x, factor * v.y, factor * v.z, factor * v.w); }
};

KOPT_TUNE("arg n = 12000", "arg factor = 1.5", "extent in = n", "extent out = n")
__global__ void copyScale(const float *in, float *out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (8 * i + 7 < n && (size_t(in) | size_t(out)) % 16 == 0) {
    Scale scale{factor};
    float4 v = reinterpret_cast<const float4 *>(in)[2 * i], w = reinterpret_cast<const float4 *>(in)[2 * i + 1];
    reinterpret_cast<float4 *>(out)[2 * i] = scale.of(v);
    reinterpret_cast<float4 *>(out)[2 * i + 1] = scale.of(w);
  } else {
    for (int k = 8 * i; k < n && k < 8 * i + 8; ++k)
      out[k] = factor * in[k];
  }
}

void run(const float *in, float *out, float factor, int n) {
  copyScale<<<(n + 127) / 128, 128>>>(in, out, factor, n);
}
