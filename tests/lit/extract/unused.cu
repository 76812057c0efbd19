// What the file declares for the device before the kernel, and the kernel does not use, a candidate may use: it is listed, of a macro
// the last definition. Host functions are not, nor what comes later.
// RUN: rm -rf %t && %kopt-extract %s --json -o %t -- > %t.json
// RUN: %python %S/Inputs/unused.py %t.json

#define STEP 1
#undef STEP
#define STEP 2
#define USED 3
constexpr int kTile = 32;
const int kRows = 8;
struct Pair { int a, b; };
namespace app { enum Mode { kFast }; }
namespace alias = app;
using app::Mode;
__constant__ float taps[2] = {0.5f, 0.25f};
__constant__ float weights[2];
__device__ int counter;
template <class T> __device__ T half(T v) { return v / T(2); }
int hostOnly(int v) { return v; }
__global__ void other(float *out) { out[0] = half(taps[0]); }

__global__ void k(float *out) { out[threadIdx.x] = USED; }

constexpr int kLater = 3;
void run(float *out) {
  cudaMemcpyToSymbol(weights, out, 8);
  k<<<1, 32>>>(out);
}
