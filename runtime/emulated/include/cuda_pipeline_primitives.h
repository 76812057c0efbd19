// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies of a thread to shared memory: begun, committed as a group, and waited for.
#pragma once
#define _CUDA_PIPELINE_PRIMITIVES_H_

#include "kopt_emulated/device.h"

KOPT_D void __pipeline_memcpy_async(void *target, const void *source, size_t bytes, size_t zeros = 0) {
  kopt_emulated_async_copy(target, source, bytes, zeros);
}
KOPT_D void __pipeline_commit() { kopt_emulated_async_commit(); }
/// At most 8 groups can be left.
KOPT_D void __pipeline_wait_prior(size_t prior) { kopt_emulated_async_wait(prior < 8 ? prior : 8); }
