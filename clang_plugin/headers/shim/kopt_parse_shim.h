// SPDX-License-Identifier: Apache-2.0
// Force-included when kopt parses with the user's CUDA toolkit: declares what nvcc declares
// implicitly and Clang's CUDA wrapper does not. Declarations only, because code that is parsed with
// it never runs.
#pragma once

// Clang's CUDA wrapper defines them for the toolkit's headers, nvcc does not.
#if defined(__USE_FAST_MATH__) && !__USE_FAST_MATH__
#undef __USE_FAST_MATH__
#endif
#undef __CUDA_PREC_DIV

// nvcc includes these before the user's first line.
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __cplusplus
#include <new>
#include <utility>
#ifdef __CUDACC_EXTENDED_LAMBDA__
#include <functional>
#endif
#endif

#if defined(__CUDA__) && defined(__cplusplus) && __has_include(<vector_types.h>)
#include <vector_types.h>

// Clang supports managed variables only for HIP. Host code may name __device__ variables too.
#undef __managed__
#define __managed__ __device__

// Cache-hint loads and stores: Clang replaces the toolkit header that declares them.
#define KOPT_SHIM_LOAD(T)                                                                          \
  __device__ T __ldcg(const T *);                                                                  \
  __device__ T __ldca(const T *);                                                                  \
  __device__ T __ldcs(const T *);                                                                  \
  __device__ T __ldlu(const T *);                                                                  \
  __device__ T __ldcv(const T *);                                                                  \
  __device__ void __stwb(T *, T);                                                                  \
  __device__ void __stcg(T *, T);                                                                  \
  __device__ void __stcs(T *, T);                                                                  \
  __device__ void __stwt(T *, T);
KOPT_SHIM_LOAD(char)
KOPT_SHIM_LOAD(signed char)
KOPT_SHIM_LOAD(short)
KOPT_SHIM_LOAD(int)
KOPT_SHIM_LOAD(long)
KOPT_SHIM_LOAD(long long)
KOPT_SHIM_LOAD(unsigned char)
KOPT_SHIM_LOAD(unsigned short)
KOPT_SHIM_LOAD(unsigned int)
KOPT_SHIM_LOAD(unsigned long)
KOPT_SHIM_LOAD(unsigned long long)
KOPT_SHIM_LOAD(float)
KOPT_SHIM_LOAD(double)
KOPT_SHIM_LOAD(char2)
KOPT_SHIM_LOAD(char4)
KOPT_SHIM_LOAD(short2)
KOPT_SHIM_LOAD(short4)
KOPT_SHIM_LOAD(int2)
KOPT_SHIM_LOAD(int4)
KOPT_SHIM_LOAD(longlong2)
KOPT_SHIM_LOAD(uchar2)
KOPT_SHIM_LOAD(uchar4)
KOPT_SHIM_LOAD(ushort2)
KOPT_SHIM_LOAD(ushort4)
KOPT_SHIM_LOAD(uint2)
KOPT_SHIM_LOAD(uint4)
KOPT_SHIM_LOAD(ulonglong2)
KOPT_SHIM_LOAD(float2)
KOPT_SHIM_LOAD(float4)
KOPT_SHIM_LOAD(double2)
#undef KOPT_SHIM_LOAD

// min and max of mixed types on the host, as crt/math_functions.h overloads them for nvcc.
#define KOPT_SHIM_MINMAX(R, A, B)                                                                  \
  __host__ inline R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; }                            \
  __host__ inline R max(A a, B b) { return (R)a < (R)b ? (R)b : (R)a; }
KOPT_SHIM_MINMAX(int, int, int)
KOPT_SHIM_MINMAX(unsigned, unsigned, unsigned)
KOPT_SHIM_MINMAX(unsigned, int, unsigned)
KOPT_SHIM_MINMAX(unsigned, unsigned, int)
KOPT_SHIM_MINMAX(long, long, long)
KOPT_SHIM_MINMAX(unsigned long, unsigned long, unsigned long)
KOPT_SHIM_MINMAX(unsigned long, long, unsigned long)
KOPT_SHIM_MINMAX(unsigned long, unsigned long, long)
KOPT_SHIM_MINMAX(long long, long long, long long)
KOPT_SHIM_MINMAX(unsigned long long, unsigned long long, unsigned long long)
KOPT_SHIM_MINMAX(unsigned long long, long long, unsigned long long)
KOPT_SHIM_MINMAX(unsigned long long, unsigned long long, long long)
KOPT_SHIM_MINMAX(float, float, float)
KOPT_SHIM_MINMAX(double, double, double)
KOPT_SHIM_MINMAX(double, float, double)
KOPT_SHIM_MINMAX(double, double, float)
#undef KOPT_SHIM_MINMAX

// Surface access: the toolkit's definitions need compiler built-ins that Clang lacks.
#if __has_include(<surface_types.h>)
#include <surface_types.h>
template <class T>
__device__ void surf1Dread(T *, cudaSurfaceObject_t, int,
                           cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T>
__device__ T surf1Dread(cudaSurfaceObject_t, int, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T>
__device__ void surf1Dwrite(T, cudaSurfaceObject_t, int,
                            cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T>
__device__ void surf2Dread(T *, cudaSurfaceObject_t, int, int,
                           cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T>
__device__ T surf2Dread(cudaSurfaceObject_t, int, int,
                        cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T>
__device__ void surf2Dwrite(T, cudaSurfaceObject_t, int, int,
                            cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T>
__device__ void surf3Dread(T *, cudaSurfaceObject_t, int, int, int,
                           cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T>
__device__ T surf3Dread(cudaSurfaceObject_t, int, int, int,
                        cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T>
__device__ void surf3Dwrite(T, cudaSurfaceObject_t, int, int, int,
                            cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T>
__device__ void surf2DLayeredread(T *, cudaSurfaceObject_t, int, int, int,
                                  cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T>
__device__ T surf2DLayeredread(cudaSurfaceObject_t, int, int, int,
                               cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
template <class T>
__device__ void surf2DLayeredwrite(T, cudaSurfaceObject_t, int, int, int,
                                   cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
#endif

// Scoped atomics of CUDA 12.8 and newer.
#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4
template <class T> __device__ T __nv_atomic_load_n(T *, int, int = 4);
template <class T, class V> __device__ void __nv_atomic_store_n(T *, V, int, int = 4);
template <class T, class V> __device__ T __nv_atomic_exchange_n(T *, V, int, int = 4);
template <class T, class V> __device__ T __nv_atomic_fetch_add(T *, V, int, int = 4);
template <class T, class V> __device__ T __nv_atomic_fetch_sub(T *, V, int, int = 4);
template <class T, class V> __device__ T __nv_atomic_fetch_and(T *, V, int, int = 4);
template <class T, class V> __device__ T __nv_atomic_fetch_or(T *, V, int, int = 4);
template <class T, class V> __device__ T __nv_atomic_fetch_xor(T *, V, int, int = 4);
template <class T, class V> __device__ T __nv_atomic_fetch_min(T *, V, int, int = 4);
template <class T, class V> __device__ T __nv_atomic_fetch_max(T *, V, int, int = 4);
template <class T, class V>
__device__ bool __nv_atomic_compare_exchange_n(T *, V *, V, bool, int, int, int = 4);
#endif
