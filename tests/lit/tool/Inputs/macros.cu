#if !defined(__CUDACC_DEVICE_ATOMIC_BUILTINS__) || !defined(__NVCC_DIAG_PRAGMA_SUPPORT__) || __CUDA_API_VER_MAJOR__ != 13 || \
    __CUDACC_VER_MAJOR__ != 13 || !defined(CUDA_DOUBLE_MATH_FUNCTIONS) || !defined(linux)
#error nvcc defines these
#endif
#if defined(__USE_FAST_MATH__) || defined(__CUDA_PREC_DIV)
#error nvcc defines none of these
#endif
#ifdef FLAGS
#if !defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || !defined(_OPENMP) || !defined(__AVX2__) || !defined(__OPTIMIZE__)
#error the flags define these
#endif
#elif defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || defined(_OPENMP) || defined(__AVX2__) || defined(__OPTIMIZE__)
#error without the flags, these are not defined
#endif
__global__ void k(float *x) { x[threadIdx.x] += 1; }
