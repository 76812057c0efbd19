// Which kernels treat infinities or NaNs by themselves, in functions of the user's as well.
// RUN: %kopt-extract %s --json --no-proof -o %t -- > %t.json
// RUN: %python -c "import json,sys; [print(s['expression'], s['tests_non_finite']) for k in json.load(open(sys.argv[1]))['kernels'] for s in k['specializations']]" %t.json | FileCheck %s
#include <cmath>
#include <limits>

template <class T> __device__ T known(T x) { return isnan(x) ? T(0) : x; }
__device__ float inflated(float x) { return x * 2; }

// CHECK-DAG: asks<float> True
template <class T> __global__ void asks(T *out) { out[0] = known(out[1]); }
template __global__ void asks<float>(float *);
// CHECK-DAG: names True
__global__ void names(float *out) { out[0] = -INFINITY; }
// CHECK-DAG: limits True
__global__ void limits(double *out) { out[0] = std::numeric_limits<double>::quiet_NaN(); }
// CHECK-DAG: neither False
__global__ void neither(float *out) { out[0] = fminf(inflated(out[1]), std::numeric_limits<float>::max()); }
