// SPDX-License-Identifier: Apache-2.0
// Functions of known names in a namespace of the kernel's own.
// base: common
// expect: accepted
// expect on cuda: accepted|Duplicate
#include <kopt/kopt.h>

#define CLIP(v) fminf(fmaxf((v), 0.0f), 1.0f)
#define SHARE(v, k) ((v) * (1.0f / (k)))

constexpr int kTerms = 6;

__host__ __device__ inline int padded(int n) { return (n + 31) / 32 * 32; }
__device__ float root(float v) { return v > 0.0f ? sqrtf(v) : 0.0f; }
__device__ double soft(double v) { return v / sqrt(1.0 + v * v); }
template <class T> __device__ T limit(T v) { return v > T(1) ? T(1) : v; }
__device__ float term(float v, int k) { return SHARE(v, k) * root(v * v + k); }

namespace quick {
__device__ float root(float v) { return sqrtf(v); }
}

KOPT_TUNE("arg n = 5000", "extent in = n", "extent out = (n + 31) / 32 * 32", "fill in = uniform(-1, 1)")
__global__ void weigh(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= padded(n))
    return;
  float sum = 0.0f, v = i < n ? in[i] : 0.0f;
  for (int k = 1; k <= kTerms; ++k)
    sum += CLIP(limit(SHARE(v, k) * quick::root(v * v + k)));
  out[i] = sum;
}

__global__ void level(const float *in, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  double sum = soft(in[i]) + root(in[i]) + CLIP(in[i]) + limit(in[i]);
  for (int k = 1; k < kTerms; ++k)
    sum += in[i] / k;
  out[i] = sum;
}

void run(const float *in, float *out, double *levels, int n) {
  weigh<<<(padded(n) + 127) / 128, 128>>>(in, out, n);
  level<<<(n + 127) / 128, 128>>>(in, levels, n);
}
