// SPDX-License-Identifier: Apache-2.0
// Atomic functions. Each announces itself to the runtime and then does a plain read-modify-write. Threads of an
// emulated device are switched only inside calls of the runtime, so the operation cannot be interrupted.
#pragma once

#include "hooks.h"

namespace kopt_emulated {
template <class T, class Update> KOPT_D T atomicUpdate(T *address, Update update) {
  kopt_emulated_atomic((void *)address, sizeof(T));
  T old = __builtin_nontemporal_load(address);
  __builtin_nontemporal_store(update(old), address);
  return old;
}
} // namespace kopt_emulated

#define KOPT_ATOMIC(NAME, T, EXPRESSION)                                                           \
  KOPT_D T NAME(T *address, T value) {                                                             \
    return kopt_emulated::atomicUpdate(address, [=](T old) -> T { return EXPRESSION; });           \
  }                                                                                                \
  KOPT_D T NAME##_block(T *address, T value) { return NAME(address, value); }                      \
  KOPT_D T NAME##_system(T *address, T value) { return NAME(address, value); }

#define KOPT_ATOMIC_CAS(T)                                                                         \
  KOPT_D T atomicCAS(T *address, T compare, T value) {                                             \
    return kopt_emulated::atomicUpdate(address,                                                    \
                                       [=](T old) -> T { return old == compare ? value : old; });  \
  }                                                                                                \
  KOPT_D T atomicCAS_block(T *address, T compare, T value) {                                       \
    return atomicCAS(address, compare, value);                                                     \
  }                                                                                                \
  KOPT_D T atomicCAS_system(T *address, T compare, T value) {                                      \
    return atomicCAS(address, compare, value);                                                     \
  }

// Signed sums wrap on the device.
KOPT_ATOMIC(atomicAdd, int, (int)((unsigned)old + (unsigned)value))
KOPT_ATOMIC(atomicAdd, unsigned int, old + value)
KOPT_ATOMIC(atomicAdd, unsigned long long, old + value)
KOPT_ATOMIC(atomicAdd, float, old + value)
KOPT_ATOMIC(atomicAdd, double, old + value)
KOPT_ATOMIC(atomicSub, int, (int)((unsigned)old - (unsigned)value))
KOPT_ATOMIC(atomicSub, unsigned int, old - value)
KOPT_ATOMIC(atomicExch, int, value)
KOPT_ATOMIC(atomicExch, unsigned int, value)
KOPT_ATOMIC(atomicExch, unsigned long long, value)
KOPT_ATOMIC(atomicExch, float, value)
KOPT_ATOMIC(atomicMin, int, value < old ? value : old)
KOPT_ATOMIC(atomicMin, unsigned int, value < old ? value : old)
KOPT_ATOMIC(atomicMin, long long, value < old ? value : old)
KOPT_ATOMIC(atomicMin, unsigned long long, value < old ? value : old)
KOPT_ATOMIC(atomicMax, int, value > old ? value : old)
KOPT_ATOMIC(atomicMax, unsigned int, value > old ? value : old)
KOPT_ATOMIC(atomicMax, long long, value > old ? value : old)
KOPT_ATOMIC(atomicMax, unsigned long long, value > old ? value : old)
KOPT_ATOMIC(atomicInc, unsigned int, old >= value ? 0u : old + 1u)
KOPT_ATOMIC(atomicDec, unsigned int, old == 0u || old > value ? value : old - 1u)
KOPT_ATOMIC(atomicAnd, int, old &value)
KOPT_ATOMIC(atomicAnd, unsigned int, old &value)
KOPT_ATOMIC(atomicAnd, unsigned long long, old &value)
KOPT_ATOMIC(atomicOr, int, old | value)
KOPT_ATOMIC(atomicOr, unsigned int, old | value)
KOPT_ATOMIC(atomicOr, unsigned long long, old | value)
KOPT_ATOMIC(atomicXor, int, old ^ value)
KOPT_ATOMIC(atomicXor, unsigned int, old ^ value)
KOPT_ATOMIC(atomicXor, unsigned long long, old ^ value)
KOPT_ATOMIC_CAS(int)
KOPT_ATOMIC_CAS(unsigned int)
KOPT_ATOMIC_CAS(unsigned long long)
KOPT_ATOMIC_CAS(unsigned short)
#undef KOPT_ATOMIC
#undef KOPT_ATOMIC_CAS

// sm_90: the components are added one by one, each atomically.
KOPT_D float2 atomicAdd(float2 *address, float2 value) {
  return float2{atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};
}
KOPT_D float4 atomicAdd(float4 *address, float4 value) {
  return float4{atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y),
                atomicAdd(&address->z, value.z), atomicAdd(&address->w, value.w)};
}
