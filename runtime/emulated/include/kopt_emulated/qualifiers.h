// SPDX-License-Identifier: Apache-2.0
// The language level of CUDA C++: function and variable qualifiers as Clang attributes. Must be included first.
#pragma once

// With these include guards, toolkit headers do not include their own versions of these headers.
#define __HOST_DEFINES_H__
#define __HOST_CONFIG_H__
#define __BUILTIN_TYPES_H__

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __constant__ __attribute__((constant))
#ifdef KOPT_EMULATED
// The instrumentation recognises shared memory by this annotation, because a CPU has only one address space.
#define __shared__ __attribute__((shared, annotate("kopt.shared")))
#else
#define __shared__ __attribute__((shared))
#endif
#define __managed__ __attribute__((device))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __maxnreg__(n)
#define __cluster_dims__(...)
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __nv_pure__
#define CUDARTAPI
#define CUDART_CB
#define CUDAAPI
#define CUDA_CB

#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#endif
#ifndef CUDART_VERSION
#define CUDART_VERSION 13000
#endif
#ifndef CUDA_VERSION
#define CUDA_VERSION 13000
#endif

// For functions that kopt defines itself: callable from host and device code, and not emitted if unused.
#define KOPT_HD static __inline__ __attribute__((host, device, always_inline, unused))
#define KOPT_D static __inline__ __attribute__((device, always_inline, unused))
#define KOPT_D_MEMBER __inline__ __attribute__((device, always_inline))
