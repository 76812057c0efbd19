// The toolkit's headers give the same model as kopt's own: what their functions do is known by their names.
// REQUIRES: nvcc
// RUN: %with-toolkit %variants model %s k | FileCheck %s
// RUN: %variants model %s k | FileCheck %s
__global__ void k(float *a, const float4 *__restrict__ b, int *count, int n) {
  __shared__ float own[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float top = 0;
  for (int j = 0; j < n; ++j)
    top = fmaxf(top, __ldg(&b[j]).x);
  own[threadIdx.x] = top + __shfl_down_sync(0xffffffffu, top, 1) + sinf(top);
  __syncthreads();
  if (__syncthreads_or(i > n))
    atomicAdd(&count[blockIdx.y], 1);
  a[i] = own[255 - threadIdx.x];
  // CHECK: 9:3 loop (j = 0; j < n; j += 1), fmax into top
  // CHECK-NEXT: 10:22 load __ldg(&b[j]): global b, 16 bytes at 16 * j, lanes (0, 0, 0), j 16
  // CHECK-NEXT: 11:20 store own[threadIdx.x]: shared own, 4 bytes at 4 * threadIdx.x, lanes (4, 0, 0)
  // CHECK-NEXT: 12:3 barrier of block{{$}}
  // CHECK-NEXT: 13:7 barrier of block{{$}}
  // CHECK: 14:5 atomic atomicAdd(&count[blockIdx.y], 1): global count, 4 bytes at 4 * blockIdx.y, lanes (0, 0, 0)
  // CHECK: 15:8 store a[i]: global a, 4 bytes at {{.*}}, lanes (4, 0, 0), if blockDim.x * blockIdx.x + threadIdx.x fits int32
  // CHECK-NEXT: 15:10 load own[255 - threadIdx.x]: shared own, 4 bytes at -4 * threadIdx.x + 1020, lanes (-4, 0, 0)
  // CHECK-NOT: unknown
}
