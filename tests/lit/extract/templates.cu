// Every specialization that is launched, with the text that its template arguments stand in.
// RUN: %kopt-extract %s --list -- | FileCheck %s
// RUN: rm -rf %t && %kopt-extract %s -o %t -- && FileCheck %s --check-prefix=SLICE < %t/ns_fill_float_4/slice.cu
// RUN: FileCheck %s --check-prefix=JSON < %t/kernels.json
// RUN: %python -c "import json,sys; [print(l['template_args']) for k in json.load(open(sys.argv[1]))['kernels'] for l in k['launches']]" %t/kernels.json | FileCheck %s --check-prefix=SPELLED

namespace ns {
template <typename T, int N = 4> __global__ void fill(T *out, T value) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    out[threadIdx.x * N + i] = value;
}
} // namespace ns

template <typename T> __global__ void nobody(T *out) { *out = T(); }

template <typename T, int N> void launch(T *out) { ns::fill<T, N><<<1, N * 32>>>(out, T(1)); }

void run(float *f, double *d, int *i) {
  const int width = 2;
  ns::fill<float><<<2, 128>>>(f, 1.0f);
  ns::fill<int, width><<<2, 64 * width>>>(i, 1);
  launch<double, 8>(d);
}

// CHECK: ns::fill
// CHECK-DAG: specialization  ns::fill<float, 4>
// CHECK-DAG: specialization  ns::fill<double, 8>
// CHECK-DAG: specialization  ns::fill<int, 2>
// CHECK-DAG: ns::fill<float, 4>  exact  grid (2, 1, 1) block (128, 1, 1)
// CHECK-DAG: ns::fill<double, 8>  exact  grid (1, 1, 1) block (256, 1, 1)
// CHECK-DAG: ns::fill<int, 2>  exact  grid (2, 1, 1) block ((64 * width), 1, 1)
// CHECK-DAG: constant        width = 2  const
// CHECK: note: {{.*}}nobody is a template that nothing in this unit launches

// SLICE: namespace ns {
// SLICE: template <typename T, int N = 4>
// SLICE: (const void *)ns::fill<float, 4>

// SPELLED-DAG: ['float']
// SPELLED-DAG: ['int', 'width']
// SPELLED-DAG: ['T', 'N']

// JSON: "role": "instantiation"
// JSON: "expression": "ns::fill<float, 4>"
// JSON: "symbol": "_ZN2ns4fillIfLi4EEEvPT_S1_"
