// SPDX-License-Identifier: Apache-2.0
// One load of four floats where they are aligned, else four.
// base: pack
// expect: accepted
#include <kopt/kopt.h>

struct Grey {
  float gain, offset;
  int mode;
};

KOPT_TUNE("arg n = 5000", "extent in = 4 * n", "extent out = n", "fill in = uniform(-20, 300)")
__global__ void pack(const float *in, unsigned *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float4 v;
  if (reinterpret_cast<size_t>(in) % 16 == 0)
    v = reinterpret_cast<const float4 *>(in)[i];
  else
    v = make_float4(in[4 * i], in[4 * i + 1], in[4 * i + 2], in[4 * i + 3]);
  const int a = max(0, min(255, __float2int_rn(v.x))), b = max(0, min(255, __float2int_rn(v.y)));
  const int c = max(0, min(255, __float2int_rn(v.z))), d = max(0, min(255, __float2int_rn(v.w)));
  out[i] = unsigned(a) | unsigned(b) << 8 | unsigned(c) << 16 | unsigned(d) << 24;
}

void run(const float *in, unsigned *out, int n) {
  pack<<<(n + 127) / 128, 128>>>(in, out, n);
}
