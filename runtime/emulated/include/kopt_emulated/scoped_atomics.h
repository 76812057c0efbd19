// SPDX-License-Identifier: Apache-2.0
// Atomic functions with an order and a scope (CUDA 12.8 and newer). Blocks run one after another here, so every scope
// is the whole device. A memory order becomes the fences that it implies.
#pragma once

#include "atomics.h"

#ifndef __NV_ATOMIC_RELAXED
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
#endif

namespace kopt_emulated {
KOPT_D void fenceOfScope(int scope) {
  kopt_emulated_fence(scope <= __NV_THREAD_SCOPE_BLOCK ? 0 : scope <= __NV_THREAD_SCOPE_DEVICE ? 1 : 2);
}
/// Fences before an operation that releases, and after one that acquires.
KOPT_D void fenceBefore(int order, int scope) {
  if (order >= __NV_ATOMIC_RELEASE)
    fenceOfScope(scope);
}
KOPT_D void fenceAfter(int order, int scope) {
  if (order != __NV_ATOMIC_RELAXED && order != __NV_ATOMIC_RELEASE)
    fenceOfScope(scope);
}
template <class T, class Update> KOPT_D T orderedUpdate(T *address, int order, int scope, Update update) {
  fenceBefore(order, scope);
  T old = atomicUpdate(address, update);
  fenceAfter(order, scope);
  return old;
}
// Signed sums wrap on the device.
template <class T> KOPT_D T sumThatWraps(T a, T b) { return T(a + b); }
template <class T> KOPT_D T differenceThatWraps(T a, T b) { return T(a - b); }
#define KOPT_WRAPPED(T)                                                                                                \
  KOPT_D T sumThatWraps(T a, T b) { return (T)((unsigned T)a + (unsigned T)b); }                                     \
  KOPT_D T differenceThatWraps(T a, T b) { return (T)((unsigned T)a - (unsigned T)b); }
KOPT_WRAPPED(int)
KOPT_WRAPPED(long)
KOPT_WRAPPED(long long)
#undef KOPT_WRAPPED
} // namespace kopt_emulated

template <class T> KOPT_D T __nv_atomic_load_n(T *address, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return kopt_emulated::orderedUpdate(address, order, scope, [](T old) -> T { return old; });
}
/// Also for memory that is read-only.
template <class T> KOPT_D T __nv_atomic_load_n(const T *address, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  kopt_emulated::fenceBefore(order, scope);
  T value = *(const volatile T *)address;
  kopt_emulated::fenceAfter(order, scope);
  return value;
}
template <class T>
KOPT_D void __nv_atomic_load(T *address, T *to, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  *to = __nv_atomic_load_n(address, order, scope);
}
template <class T, class V>
KOPT_D void __nv_atomic_store_n(T *address, V value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  kopt_emulated::orderedUpdate(address, order, scope, [=](T) -> T { return T(value); });
}
template <class T>
KOPT_D void __nv_atomic_store(T *address, T *value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __nv_atomic_store_n(address, *value, order, scope);
}
template <class T, class V>
KOPT_D T __nv_atomic_exchange_n(T *address, V value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return kopt_emulated::orderedUpdate(address, order, scope, [=](T) -> T { return T(value); });
}
template <class T>
KOPT_D void __nv_atomic_exchange(T *address, T *value, T *to, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  *to = __nv_atomic_exchange_n(address, *value, order, scope);
}
template <class T, class V>
KOPT_D bool __nv_atomic_compare_exchange_n(T *address, T *expected, V desired, bool, int success, int failure,
                                           int scope = __NV_THREAD_SCOPE_SYSTEM) {
  const T wanted = *expected;
  const int order = success > failure ? success : failure;
  const T old = kopt_emulated::orderedUpdate(address, order, scope,
                                             [=](T now) -> T { return now == wanted ? T(desired) : now; });
  if (old == wanted)
    return true;
  *expected = old;
  return false;
}
template <class T>
KOPT_D bool __nv_atomic_compare_exchange(T *address, T *expected, T *desired, bool weak, int success, int failure,
                                         int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return __nv_atomic_compare_exchange_n(address, expected, *desired, weak, success, failure, scope);
}
#define KOPT_SCOPED(NAME, EXPRESSION)                                                                                  \
  template <class T, class V>                                                                                          \
  KOPT_D T __nv_atomic_fetch_##NAME(T *address, V given, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {            \
    const T value = T(given);                                                                                          \
    return kopt_emulated::orderedUpdate(address, order, scope, [=](T old) -> T { return EXPRESSION; });                \
  }                                                                                                                    \
  template <class T, class V>                                                                                          \
  KOPT_D void __nv_atomic_##NAME(T *address, V value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {               \
    __nv_atomic_fetch_##NAME(address, value, order, scope);                                                            \
  }
KOPT_SCOPED(add, kopt_emulated::sumThatWraps(old, value))
KOPT_SCOPED(sub, kopt_emulated::differenceThatWraps(old, value))
KOPT_SCOPED(and, old &value)
KOPT_SCOPED(or, old | value)
KOPT_SCOPED(xor, old ^ value)
KOPT_SCOPED(min, value < old ? value : old)
KOPT_SCOPED(max, value > old ? value : old)
#undef KOPT_SCOPED
KOPT_D void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order != __NV_ATOMIC_RELAXED)
    kopt_emulated::fenceOfScope(scope);
}
