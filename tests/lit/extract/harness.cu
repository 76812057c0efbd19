// A harness asks for what the launch takes from host objects, and its headers do not see the file's macros.
// REQUIRES: nvcc
// RUN: rm -rf %t && %kopt-extract %s --no-proof -o %t -- | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < %t/scale/harness.cu
// RUN: cd %t/scale && %nvcc harness.cu -o harness
#include <vector>
#define zero 0.f
constexpr int kBlock = 128;
struct Shape {
  int n;
  int pitch[2];
};

__global__ void scale(float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = out[i] > zero ? 2 * out[i] : zero;
}

void run(float *out, const std::vector<Shape> &shapes, const Shape &shape) {
  scale<<<(shape.n + kBlock - 1) / kBlock * shapes[1].pitch[0], kBlock>>>(out, shape.n);
}

// CHECK: scale: slice
// TEXT: #undef zero
// TEXT: #include <chrono>
// TEXT: #pragma pop_macro("zero")
// TEXT: const long long kBlock = 128;
// TEXT: const long long shapes_1_pitch_0 = static_cast<long long>(number("shapes_1_pitch_0", 1024)); // shapes[1].pitch[0] at the launch
// TEXT: const long long shape_n = n; // shape.n at the launch
// TEXT: kopt_grid({{.*}}shape_n + kBlock{{.*}}shapes_1_pitch_0
