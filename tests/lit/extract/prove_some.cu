// Only what was asked for is proven; the rest is listed all the same.
// REQUIRES: nvcc
// RUN: rm -rf %t && %with-toolkit %kopt-extract %s -o %t --prove _Z5scaleIfEvPT_i | FileCheck %s
// RUN: %with-toolkit %kopt-extract %s -o %t.none --prove _Z4nonev | FileCheck %s --check-prefix=NONE
template <class T> __global__ void scale(T *data, int n) {
  if (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n)
    data[i] *= 2;
}
__global__ void fill(int *data) { data[threadIdx.x] = 1; }

void run(float *f, double *d, int *i, int n) {
  scale<<<n, 32>>>(f, n);
  scale<<<n, 64>>>(d, n);
  fill<<<1, 32>>>(i);
}

// CHECK-DAG: scale<float>: slice, proven
// CHECK-DAG: scale<double>: slice (not compared with the original's PTX: nobody asked for it)
// CHECK-DAG: fill: slice (not compared with the original's PTX: nobody asked for it)
// CHECK: 3 specializations, 1 proven, 2 not compared

// NONE: 3 specializations, 0 proven, 3 not compared
