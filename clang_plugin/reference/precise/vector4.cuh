// SPDX-License-Identifier: Apache-2.0
// CUDA 13 renames the former double4 to double4_16a.
#ifndef KOPT_PRECISE_VECTOR4
#define KOPT_PRECISE_VECTOR4
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ >= 13
#define kopt_double4 double4_16a
#define kopt_make_double4 make_double4_16a
#else
#define kopt_double4 double4
#define kopt_make_double4 make_double4
#endif
#endif
