// The limits of float are not those of double: as numbers they stay, as traits of a type they forbid a clone.
// RUN: %variants reference %s numbers | FileCheck %s --check-prefix=NUMBERS
// RUN: %variants reference %s traits'<float>' | FileCheck %s --check-prefix=TRAITS
#include <cfloat>
#include <limits>
__global__ void numbers(float *x) { x[threadIdx.x] = fminf(x[threadIdx.x], FLT_MAX) + FLT_EPSILON; }
// NUMBERS: + __global__ void numbers(double *x) { x[threadIdx.x] = fmin(x[threadIdx.x], FLT_MAX) + FLT_EPSILON; }

template <class T> __global__ void traits(T *x) {
  x[threadIdx.x] = std::numeric_limits<T>::max();
}
template __global__ void traits<float>(float *);
// TRAITS: refused: limits at line [[@LINE-3]]: a limit of the type itself is used: `std::numeric_limits<T>::max()`
