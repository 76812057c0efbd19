// An option of nvcc's that stands apart from its value, and the macros of others, are nvcc's in the proof and in the parse.
// REQUIRES: nvcc
// RUN: rm -rf %t && %with-toolkit %kopt-extract %s -o %t -- -include %S/Inputs/forced.h -Werror all-warnings -arch sm_90a -jtd 4 -rdc true --extended-lambda | FileCheck %s
// CHECK: k: slice, proven
// CHECK-NOT: nvcc compiles what Clang does not
// CHECK: 1 kernels, 1 specializations, 1 proven

#if !defined(__CUDACC_RDC__) || !defined(__CUDACC_EXTENDED_LAMBDA__)
#error nvcc defines these
#endif
#if defined(__CUDA_ARCH__) && (!defined(__CUDA_ARCH_FEAT_SM90_ALL) || __CUDA_ARCH_SPECIFIC__ != 900)
#error nvcc defines these for the device
#endif
__global__ void k(float *x) { x[threadIdx.x] = twice(x[threadIdx.x]); }
void run(float *x) { k<<<1, 32>>>(x); }
