// SPDX-License-Identifier: Apache-2.0
// The functions that an emulated kernel calls in the process that runs it (runtime/emulated/execute/Hooks.cpp). User
// code does not call them directly.
#pragma once

#include "../vector_types.h"

extern "C" {
/// Special registers: constant for the life of one thread, set by the scheduler before it runs.
extern __device__ const uint3 threadIdx __asm__("kopt_emulated_threadIdx");
extern __device__ const uint3 blockIdx __asm__("kopt_emulated_blockIdx");
extern __device__ const dim3 blockDim __asm__("kopt_emulated_blockDim");
extern __device__ const dim3 gridDim __asm__("kopt_emulated_gridDim");

/// mode: 0 plain, 1 count, 2 and, 3 or.
__device__ int kopt_emulated_barrier(int predicate, int mode);
__device__ void kopt_emulated_warp_barrier(unsigned mask);
/// mode: 0 indexed, 1 up, 2 down, 3 xor.
__device__ unsigned long long kopt_emulated_shuffle(unsigned mask, unsigned long long value, int argument,
                                                    int width, int mode);
/// mode: 0 ballot, 1 match_any, 2 match_all (0 unless all are equal), 3 active mask.
__device__ unsigned kopt_emulated_vote(unsigned mask, unsigned long long value, int mode);
/// mode: 0 add, 1 min, 2 max, 3 unsigned min, 4 unsigned max, 5 and, 6 or, 7 xor.
__device__ unsigned kopt_emulated_reduce(unsigned mask, unsigned value, int mode);
/// scope: 0 block, 1 device, 2 system.
__device__ void kopt_emulated_fence(int scope);
/// Announces a read-modify-write of these bytes; the accesses that follow are not traced (they are non-temporal).
__device__ void kopt_emulated_atomic(void *address, unsigned size);
/// The asynchronous copies of <cuda_pipeline.h>.
__device__ void kopt_emulated_async_copy(void *to, const void *from, unsigned long bytes, unsigned long zeros);
__device__ void kopt_emulated_async_commit();
__device__ void kopt_emulated_async_wait(unsigned long prior);
__device__ long long kopt_emulated_clock();
__device__ void kopt_emulated_read_only(const void *address, unsigned bytes);
__device__ __attribute__((noreturn)) void kopt_emulated_trap();
}
