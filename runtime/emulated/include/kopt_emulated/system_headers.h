// SPDX-License-Identifier: Apache-2.0
// The C and C++ library as device code sees it. Functions that the CUDA programming guide offers on the device are
// declared for it before the host's headers declare them, so that std:: has both. <cmath> becomes callable from host
// and device.
#pragma once

#include "qualifiers.h"

extern "C" {
__device__ int abs(int) noexcept __attribute__((const));
__device__ long labs(long) noexcept __attribute__((const));
__device__ long long llabs(long long) noexcept __attribute__((const));
__device__ void *memcpy(void *, const void *, unsigned long) noexcept;
__device__ void *memmove(void *, const void *, unsigned long) noexcept;
__device__ void *memset(void *, int, unsigned long) noexcept;
__device__ int printf(const char *, ...);
__device__ __attribute__((noreturn)) void __assert_fail(const char *, const char *, unsigned,
                                                        const char *) noexcept;
}

#include <assert.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>
// Included here first, because <cmath> would include it within the pragma, and its functions are not for both sides.
#include <bits/stl_algobase.h>

#pragma clang force_cuda_host_device begin
#include <cmath>
#include <math.h>
#include <limits>
#pragma clang force_cuda_host_device end
