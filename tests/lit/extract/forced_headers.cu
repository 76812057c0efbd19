// A header that a flag forces in may hold code for the device, and a macro of a flag of nvcc's is defined, also
// without a toolkit.
// RUN: rm -rf %t && mkdir -p %t
// RUN: %kopt-extract %s --no-proof -o %t/none -- -include %S/Inputs/forced.h --expt-relaxed-constexpr -arch=sm_90 | FileCheck %s
// CHECK: k: slice
// CHECK: 1 kernels, 1 specializations

#if !defined(__CUDACC_RELAXED_CONSTEXPR__) || !defined(__NVCC__)
#error nvcc defines these
#endif
__global__ void k(float *x) { x[threadIdx.x] = twice(x[threadIdx.x]); }
void run(float *x) { k<<<1, 32>>>(x); }
