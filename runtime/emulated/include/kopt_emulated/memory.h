// SPDX-License-Identifier: Apache-2.0
// Read-only and cache-hinted loads and stores, and address space predicates. The hints change no result, and the cache
// model ignores them.
#pragma once

#include "../vector_types.h"
#include "hooks.h"

#define KOPT_HINTED(T)                                                                             \
  KOPT_D T __ldg(const T *p) { return kopt_emulated_read_only(p, sizeof *p), *p; }                 \
  KOPT_D T __ldca(const T *p) { return *p; }                                                       \
  KOPT_D T __ldcg(const T *p) { return *p; }                                                       \
  KOPT_D T __ldcs(const T *p) { return *p; }                                                       \
  KOPT_D T __ldlu(const T *p) { return *p; }                                                       \
  KOPT_D T __ldcv(const T *p) { return *p; }                                                       \
  KOPT_D void __stwb(T *p, T value) { *p = value; }                                                \
  KOPT_D void __stcg(T *p, T value) { *p = value; }                                                \
  KOPT_D void __stcs(T *p, T value) { *p = value; }                                                \
  KOPT_D void __stwt(T *p, T value) { *p = value; }

KOPT_HINTED(char)
KOPT_HINTED(signed char)
KOPT_HINTED(unsigned char)
KOPT_HINTED(short)
KOPT_HINTED(unsigned short)
KOPT_HINTED(int)
KOPT_HINTED(unsigned int)
KOPT_HINTED(long)
KOPT_HINTED(unsigned long)
KOPT_HINTED(long long)
KOPT_HINTED(unsigned long long)
KOPT_HINTED(float)
KOPT_HINTED(double)
KOPT_HINTED(char2)
KOPT_HINTED(char4)
KOPT_HINTED(uchar2)
KOPT_HINTED(uchar4)
KOPT_HINTED(short2)
KOPT_HINTED(short4)
KOPT_HINTED(ushort2)
KOPT_HINTED(ushort4)
KOPT_HINTED(int2)
KOPT_HINTED(int4)
KOPT_HINTED(uint2)
KOPT_HINTED(uint4)
KOPT_HINTED(longlong2)
KOPT_HINTED(ulonglong2)
KOPT_HINTED(float2)
KOPT_HINTED(float4)
KOPT_HINTED(double2)

extern "C" __device__ unsigned kopt_emulated_is_shared(const void *address);
KOPT_D unsigned __isShared(const void *address) { return kopt_emulated_is_shared(address); }
KOPT_D unsigned __isGlobal(const void *address) { return !kopt_emulated_is_shared(address); }
