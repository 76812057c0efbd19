// What nvcc 13 and the host compiler that preprocesses for it define, in both passes, and what they do not: with
// the flags of the command line and of the environment.
// REQUIRES: nvcc
// RUN: rm -rf %t && %with-toolkit NVCC_PREPEND_FLAGS=-DFIRST=1 NVCC_APPEND_FLAGS="-arch=sm_90a -DLAST=2" %kopt-extract %s -o %t -- -arch=sm_80 -default-stream per-thread -O3 -Xcompiler "-fopenmp -mavx2,-ffast-math" -Xcompiler=-pthread -DFLAGS | FileCheck %s
// RUN: %with-toolkit %kopt-extract %s -o %t -- -use_fast_math -dw | FileCheck %s
// CHECK: k: slice, proven

#if !defined(__CUDACC_DEVICE_ATOMIC_BUILTINS__) || !defined(__NVCC_DIAG_PRAGMA_SUPPORT__) || __CUDA_API_VER_MAJOR__ < 13 || \
    !defined(__CUDA_API_VER_MINOR__) || !defined(linux)
#error nvcc defines these
#endif
#if defined(__CUDA_ARCH__) != defined(CUDA_DOUBLE_MATH_FUNCTIONS)
#error nvcc defines this for the device
#endif
#if defined(__USE_FAST_MATH__) || defined(__CUDA_PREC_DIV) || defined(__CUDA_FTZ) || defined(__STRICT_ANSI__) || \
    defined(__CUDACC_RDC__)
#error nvcc defines none of these
#endif
#ifdef FLAGS
#if !defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || _OPENMP != 201511 || !defined(__AVX2__) || !defined(__OPTIMIZE__) || \
    !defined(__FAST_MATH__) || !defined(_REENTRANT) || FIRST + LAST != 3
#error the flags define these
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH_SPECIFIC__ != 900
#error the last architecture counts
#endif
#elif defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || defined(_OPENMP) || defined(__AVX2__) || defined(__OPTIMIZE__) || \
    defined(__FAST_MATH__)
#error without the flags, these are not defined
#endif
__global__ void k(float *x) { x[threadIdx.x] += 1; }
void run(float *x) { k<<<1, 32>>>(x); }
