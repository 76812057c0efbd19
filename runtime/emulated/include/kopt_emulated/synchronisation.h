// SPDX-License-Identifier: Apache-2.0
// Barriers, fences, votes and shuffles of the CUDA C++ programming guide.
#pragma once

#include "hooks.h"

static constexpr int warpSize = 32;

#ifdef KOPT_EMULATED
KOPT_D void __syncthreads() { (void)kopt_emulated_barrier(0, 0); }
#else
extern "C" __device__ void __syncthreads(); // a Clang builtin if the target is a GPU
#endif
KOPT_D int __syncthreads_count(int predicate) { return kopt_emulated_barrier(predicate, 1); }
KOPT_D int __syncthreads_and(int predicate) { return kopt_emulated_barrier(predicate, 2); }
KOPT_D int __syncthreads_or(int predicate) { return kopt_emulated_barrier(predicate, 3); }
KOPT_D void __syncwarp(unsigned mask = 0xffffffffu) { kopt_emulated_warp_barrier(mask); }
KOPT_D void __threadfence_block() { kopt_emulated_fence(0); }
KOPT_D void __threadfence() { kopt_emulated_fence(1); }
KOPT_D void __threadfence_system() { kopt_emulated_fence(2); }

KOPT_D unsigned __activemask() { return kopt_emulated_vote(0, 0, 3); }
KOPT_D unsigned __ballot_sync(unsigned mask, int predicate) {
  return kopt_emulated_vote(mask, predicate != 0, 0);
}
KOPT_D int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
KOPT_D int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }
KOPT_D int __uni_sync(unsigned mask, int predicate) {
  unsigned set = __ballot_sync(mask, predicate);
  return set == 0 || __ballot_sync(mask, !predicate) == 0;
}

namespace kopt_emulated {
/// Converts a value of up to 8 bytes to the bits that lanes exchange, and back.
template <class T> KOPT_D unsigned long long toBits(T value) {
  static_assert(sizeof(T) <= 8, "lanes exchange at most 8 bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T> KOPT_D T fromBits(unsigned long long bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}
} // namespace kopt_emulated

#define KOPT_SHUFFLES(T)                                                                           \
  KOPT_D T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {                 \
    return kopt_emulated::fromBits<T>(                                                             \
        kopt_emulated_shuffle(mask, kopt_emulated::toBits(value), source, width, 0));              \
  }                                                                                                \
  KOPT_D T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {          \
    return kopt_emulated::fromBits<T>(                                                             \
        kopt_emulated_shuffle(mask, kopt_emulated::toBits(value), (int)delta, width, 1));          \
  }                                                                                                \
  KOPT_D T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {        \
    return kopt_emulated::fromBits<T>(                                                             \
        kopt_emulated_shuffle(mask, kopt_emulated::toBits(value), (int)delta, width, 2));          \
  }                                                                                                \
  KOPT_D T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = warpSize) {              \
    return kopt_emulated::fromBits<T>(                                                             \
        kopt_emulated_shuffle(mask, kopt_emulated::toBits(value), lanes, width, 3));               \
  }

KOPT_SHUFFLES(int)
KOPT_SHUFFLES(unsigned int)
KOPT_SHUFFLES(long)
KOPT_SHUFFLES(unsigned long)
KOPT_SHUFFLES(long long)
KOPT_SHUFFLES(unsigned long long)
KOPT_SHUFFLES(float)
KOPT_SHUFFLES(double)

#define KOPT_MATCH(T)                                                                              \
  KOPT_D unsigned __match_any_sync(unsigned mask, T value) {                                       \
    return kopt_emulated_vote(mask, kopt_emulated::toBits(value), 1);                              \
  }                                                                                                \
  KOPT_D unsigned __match_all_sync(unsigned mask, T value, int *predicate) {                       \
    unsigned equal = kopt_emulated_vote(mask, kopt_emulated::toBits(value), 2);                    \
    *predicate = equal != 0;                                                                       \
    return equal;                                                                                  \
  }
KOPT_MATCH(int)
KOPT_MATCH(unsigned int)
KOPT_MATCH(long)
KOPT_MATCH(unsigned long)
KOPT_MATCH(long long)
KOPT_MATCH(unsigned long long)
KOPT_MATCH(float)
KOPT_MATCH(double)
#undef KOPT_MATCH

KOPT_D int __reduce_add_sync(unsigned mask, int v) { return (int)kopt_emulated_reduce(mask, v, 0); }
KOPT_D int __reduce_min_sync(unsigned mask, int v) { return (int)kopt_emulated_reduce(mask, v, 1); }
KOPT_D int __reduce_max_sync(unsigned mask, int v) { return (int)kopt_emulated_reduce(mask, v, 2); }
KOPT_D unsigned __reduce_add_sync(unsigned mask, unsigned v) { return kopt_emulated_reduce(mask, v, 0); }
KOPT_D unsigned __reduce_min_sync(unsigned mask, unsigned v) { return kopt_emulated_reduce(mask, v, 3); }
KOPT_D unsigned __reduce_max_sync(unsigned mask, unsigned v) { return kopt_emulated_reduce(mask, v, 4); }
KOPT_D unsigned __reduce_and_sync(unsigned mask, unsigned v) { return kopt_emulated_reduce(mask, v, 5); }
KOPT_D unsigned __reduce_or_sync(unsigned mask, unsigned v) { return kopt_emulated_reduce(mask, v, 6); }
KOPT_D unsigned __reduce_xor_sync(unsigned mask, unsigned v) { return kopt_emulated_reduce(mask, v, 7); }

KOPT_D long long clock64() { return kopt_emulated_clock(); }
KOPT_D int clock() { return (int)kopt_emulated_clock(); }
KOPT_D void __trap() { kopt_emulated_trap(); }
KOPT_D void __brkpt() { kopt_emulated_trap(); }
KOPT_D void __nanosleep(unsigned) {}

// Nothing to do: the previous kernel has ended, and the next one waits for this one.
KOPT_D void cudaGridDependencySynchronize() {}
KOPT_D void cudaTriggerProgrammaticLaunchCompletion() {}
