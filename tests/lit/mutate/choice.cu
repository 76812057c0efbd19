// The same seed chooses the same mutants, another one others; what macros spell is left out and counted; each operator has
// its share.
// RUN: %variants mutate %s ns::k'<float>' --at_most=6 --seed=1 > %t.1
// RUN: %variants mutate %s ns::k'<float>' --at_most=6 --seed=1 | diff %t.1 -
// RUN: %variants mutate %s ns::k'<float>' --at_most=6 --seed=2 > %t.2
// RUN: not diff %t.1 %t.2
// RUN: FileCheck %s < %t.1
// RUN: FileCheck %s < %t.2
// RUN: %variants mutate %s ns::k'<float>' --at_most=1000 --file='"k.cu"' | FileCheck %s --check-prefix=ALL
// RUN: not %variants mutate %s ns::k'<float>' --operators='["odd"]' | FileCheck %s --check-prefix=ODD
// RUN: not %variants mutate %s ns::none | FileCheck %s --check-prefix=NONE
#define GUARD(i, n) if ((i) >= (n)) return
namespace ns {
template <class T> __device__ T twice(T x) { return x + x; }
template <class T> __global__ void k(const T *x, T *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  GUARD(i, n);
  y[i] = twice(x[i]) * T(0.5);
}
template __global__ void k<float>(const float *, float *, int);
template __global__ void k<double>(const double *, double *, int);
}

// CHECK: chosen 6 of
// CHECK-SAME: {{[1-9][0-9]*}} places in macros
// ALL-DAG: arithmetic (value): `+` made `-` at k.cu:14
// ALL-DAG: arithmetic (value): `*` made `/` at k.cu:18
// ODD: error: there is no mutation operator 'odd'; there are empty-body,
// NONE: error: the slice defines no kernel 'ns::none'
