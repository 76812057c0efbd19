// Whether a kernel could have its input as its output, too.
// RUN: %variants model %s all_of_it | FileCheck %s --check-prefix=ALL
// RUN: %variants model %s neighbours | FileCheck %s --check-prefix=NEAR
// RUN: %variants model %s own | FileCheck %s --check-prefix=OWN
// RUN: %variants model %s turned | FileCheck %s --check-prefix=TURNED
// RUN: %variants model %s waits | FileCheck %s --check-prefix=WAITS

// ALL: read across: in
__global__ void all_of_it(const double *in, double *out) {
  double sum = 0;
  for (int m = 0; m < 64; m++)
    sum += in[m];
  out[threadIdx.x] = sum * in[threadIdx.x];
}

// NEAR: read across: in
__global__ void neighbours(const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i + 1] - in[i];
}

// OWN: read across:{{$}}
__global__ void own(const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * in[i];
}

// That the places of others are among those is not certain.
// TURNED: read across:{{$}}
__global__ void turned(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[n - 1 - i];
}

// WAITS: read across:{{$}}
__global__ void waits(const float *in, float *out) {
  float next = in[threadIdx.x + 1];
  __syncthreads();
  out[threadIdx.x] = next;
}
