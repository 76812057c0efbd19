// Helper functions, types, constants, aliases, namespaces, macros and device variables come along, in order.
// RUN: rm -rf %t && %kopt-extract %s -o %t -- && FileCheck %s --check-prefix=SLICE < %t/app_detail_accumulate/slice.cu
// RUN: %kopt-extract %s --json -o %t -- | FileCheck %s --check-prefix=JSON

#define SCALE 3
#define SCALED(x) ((x) * SCALE)
#define NOT_USED 7

// As PyTorch's headers do: the namespace is there before anything is in it.
namespace later::inner {}
namespace app {
using namespace later::inner;
namespace short_name = later;
using Real = float;
typedef struct Tag { Real a, b; } Pair;
enum Mode { kFast = 1, kExact = 2 };
inline namespace v1 {
template <class T> struct Box { T value; __device__ T get() const { return value; } };
}
} // namespace app
namespace later::inner {
constexpr int kOne = 1;
}
namespace app {
namespace detail {
constexpr int kWidth = 32 * kOne * short_name::inner::kOne;
extern "C" {
__device__ float from_c(float x) { return x; }
}
__device__ Real helper(Pair p);
__device__ Real other(Real x) { return x; }
__constant__ Real table[4];
__device__ int counter;

__global__ void accumulate(Real *out, int n) {
  __shared__ Real tile[kWidth];
  tile[threadIdx.x] = helper(Pair{SCALED(1.0f), table[0]});
  __syncthreads();
#ifdef NEVER_DEFINED
  other(1.0f);
#endif
  if (kExact == n)
    atomicAdd(&counter, 1);
  out[blockIdx.x] = tile[0] + Box<Real>{1.0f}.get();
}

__device__ Real helper(Pair p) { return from_c(p.a) + p.b; }
} // namespace detail
} // namespace app

void run(float *out) { app::detail::accumulate<<<1, app::detail::kWidth>>>(out, 1); }

// SLICE: #define SCALE 3
// SLICE: #define SCALED(x) ((x) * SCALE)
// SLICE-NOT: NOT_USED
// SLICE: namespace later {
// SLICE-NEXT: namespace inner {
// SLICE-NEXT: }
// SLICE: namespace app {
// SLICE: using namespace later::inner;
// SLICE: using Real = float;
// SLICE: typedef struct Tag { Real a, b; } Pair;
// SLICE: enum Mode { kFast = 1, kExact = 2 };
// SLICE: inline namespace v1 {
// SLICE: template <class T> struct Box
// SLICE: namespace detail {
// SLICE: constexpr int kWidth = 32 * 
// SLICE: extern "C" {
// SLICE: from_c
// SLICE: __device__ Real helper(Pair p);
// SLICE-NOT: Real other
// SLICE: __constant__ Real table[4];
// SLICE: __device__ int counter;
// SLICE: __global__ void accumulate
// SLICE: __device__ Real helper(Pair p) { return
// SLICE-NOT: run

// JSON: "geometry": "exact"
