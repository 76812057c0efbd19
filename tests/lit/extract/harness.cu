// A harness asks for what the launch takes from host objects, and its headers do not see the file's macros. It has the
// unedited text beside it, which it is compared with; harness_build_long.test builds it.
// REQUIRES: nvcc
// RUN: rm -rf %t && %kopt-extract %s --no-proof -o %t -- -I%source/runtime/include | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < %t/scale/harness.cu
// RUN: FileCheck %s --check-prefix=VECTOR < %t/paint/harness.cu
// RUN: FileCheck %s --check-prefix=BUILD < %t/scale/build.sh
// RUN: cmp %t/scale/harness.cu %t/scale/original.cu
#include <kopt/kopt.h>
#include <vector>
#define zero 0.f
constexpr int kBlock = 128;
struct Shape {
  int n;
  int pitch[2];
};

namespace app {
__constant__ float factors[4];
}
__device__ int calls;

KOPT_TUNE("tolerance relative=1e-3 absolute=0.5")
__global__ void scale(float *out, int n) {
  out += calls;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = out[i] > zero ? 2 * out[i] * app::factors[i % 4] : zero;
}

void run(float *out, const std::vector<Shape> &shapes, const Shape &shape) {
  scale<<<(shape.n + kBlock - 1) / kBlock * shapes[1].pitch[0], kBlock>>>(out, shape.n);
}

// A constant of the kernel's own namespace.
namespace deep {
constexpr int kWide = 64;
__global__ void wide(float *p) { p[threadIdx.x % kWide] = 0; }
} // namespace deep
void more(float *p) { deep::wide<<<1, deep::kWide>>>(p); }

// A vector by value is made of its members.
__global__ void paint(float *p, const float4 color) { p[threadIdx.x] = color.x + color.w; }
void drawn(float *p, float4 color) { paint<<<1, 32>>>(p, color); }

// CHECK: scale: slice
// TEXT: #undef zero
// TEXT: #include <algorithm>
// TEXT: #pragma pop_macro("zero")
// TEXT: int n = static_cast<int>(kopt_harness::number("n", 1024));
// TEXT: arguments[0] = kopt_harness::pointer(kopt_launch, "out", kopt_elements * 4, "f32");
// TEXT: arguments[1] = kopt_harness::value(n);
// TEXT: addBuffer(kopt_launch, "app::factors", 16, "f32").variable = "app::factors";
// TEXT: const long long kBlock = 128;
// TEXT: const long long shapes_1_pitch_0 = static_cast<long long>(kopt_harness::number("shapes_1_pitch_0", 1024)); // shapes[1].pitch[0] at the launch
// TEXT: const long long shape_n = n; // shape.n at the launch
// TEXT: kopt_launch.grid = dim3({{.*}}shape_n + kBlock{{.*}}shapes_1_pitch_0
// TEXT: scale<<<grid, block, shared>>>(out, n);
// TEXT: (*const kopt_function)(float *, int) = scale;
// TEXT: addVariable(kopt_kernel, "app::factors", app::factors);
// TEXT: addVariable(kopt_kernel, "calls", calls);
// TEXT: run(kopt_kernel, kopt_declare, "relative=1e-3 absolute=0.5");
// VECTOR: float4 color{};
// VECTOR-NEXT: color.x = static_cast<decltype(color.x)>(kopt_harness::number("color.x", 1));
// VECTOR: color.w =
// VECTOR: arguments[1] = kopt_harness::value(color);
// BUILD: [ original -nt original.cu ] || nvcc{{.*}} original.cu -o original
// BUILD: nvcc{{.*}} harness.cu -o harness
