// SPDX-License-Identifier: Apache-2.0
// Found before the toolkit's header of this name. With NDEBUG that header declares __assert_fail
// for both sides, as nvcc allows; Clang's CUDA wrapper has already defined it for the device.
#pragma once

#if defined(NDEBUG) && defined(__cplusplus)
extern "C" void __assert_fail(const char *, const char *, unsigned int, const char *) noexcept
    __attribute__((__noreturn__));
#define __assert_fail kopt_shim_assert_fail
#include_next <cuda/std/__cccl/assert.h>
#undef __assert_fail
#else
#include_next <cuda/std/__cccl/assert.h>
#endif
