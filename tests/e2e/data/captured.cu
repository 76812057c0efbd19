// SPDX-License-Identifier: Apache-2.0
// The kernels of tests/fakes/cuda/FakeApp.cpp, which launches them as host functions. Every element is one product of
// floats after the other: there is one right answer, bit by bit.
#include <cuda_runtime.h>

namespace app {
__constant__ float weights[4];
}

struct Span {
  float *data;
  int count;
};

__global__ void scale(float *out, const float *in, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = factor * in[i];
}

__global__ void weigh(Span out, const float *in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < out.count)
    out.data[i] = app::weights[i % 4] * in[i];
}

__global__ void gather(float *out, const float *const *rows, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] += *rows[i];
}

__global__ void blend(float *out, const float *in, const float *add, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = factor * in[i] + add[i];
}

void launchAll(float *out, const float *in, const float *const *rows, float factor, int n, cudaStream_t stream) {
  scale<<<(n + 127) / 128, 128, 0, stream>>>(out, in, factor, n);
  weigh<<<(n + 127) / 128, 128, 0, stream>>>(Span{out, n}, in);
  gather<<<(n + 127) / 128, 128, 0, stream>>>(out, rows, n);
  blend<<<(n + 127) / 128, 128, 0, stream>>>(out, in, in, factor, n);
}
