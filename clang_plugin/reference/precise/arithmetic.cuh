// SPDX-License-Identifier: Apache-2.0
namespace kopt_precise {
__host__ __device__ __forceinline__ double same(double x) { return x; }
template <class I> __host__ __device__ __forceinline__ double fromInteger(I x) { return (double)x; }
__host__ __device__ __forceinline__ double divide(double a, double b) { return a / b; }
__device__ __forceinline__ double saturate(double x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }
template <class T, class V> __device__ __forceinline__ T exchange(T *at, V value) { return atomicExch(at, (T)value); }
template <class V> __device__ __forceinline__ double exchange(double *at, V value) {
  return __longlong_as_double((long long)atomicExch((unsigned long long *)at, (unsigned long long)__double_as_longlong((double)value)));
}
}
