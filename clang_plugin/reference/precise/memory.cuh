// SPDX-License-Identifier: Apache-2.0
// There is no __ldg() for double4; a plain load reads the same value.
namespace kopt_precise {
template <class T> __device__ __forceinline__ T load(const T *from) { return *from; }
template <class T, class V> __device__ __forceinline__ void store(T *to, V value) { *to = value; }
}
