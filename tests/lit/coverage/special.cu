// RUN: %variants coverage %s k | FileCheck %s
// A case that a number of the text singles out is special; what sizes, the block and alignment decide is not.
#define BLOCK 1024
__device__ int limited(int at, int many, int limit) { return many > limit ? 0 : at; }
__global__ void k(const float *x, float *out, int n, int rows) {
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  __shared__ float partial[BLOCK / 32];
  float v = lane < BLOCK / 32 ? x[t] : 0.0f;
  if (warp < 33)
    partial[warp] = v;
  if (lane < 16)
    v += 1;
  for (int i = t + 4 * BLOCK; i < n; i += BLOCK)
    v += x[i];
  for (int i = 70000; i < n; ++i)
    v = 3;
  if (n % 4 != 0)
    v += partial[0];
  if (n % 97 == 0)
    v = 4;
  if (n == 12345)
    v = 5;
  if (n - rows == 0)
    v = 6;
  if (n - 12345 == 0)
    v = 7;
  if (out < x)
    v = 8;
  if (v == 0.3330001f)
    v = 9;
  if (v > 0)
    v = 10;
  if (n < 1)
    v = 11;
  if (n * 40 <= v)
    v = 12;
  if (rows == -1)
    v = 13;
  if (blockIdx.x & 512)
    v = 14;
  v += limited(1, rows, 5000);
  const bool aligned = ((size_t)x % 16) == 0 && n % 4 == 0;
  if (aligned)
    v += 15;
  const float range = v - x[0];
  const bool small = range < 65536.0f;
  if (small)
    v += 16;
  __builtin_assume(rows < 1000000);
  out[t] = v;
}

void *reference() { return (void *)&k; }

// CHECK: at line 4: `many > limit` is true [{{.*}}], special
// CHECK: at line 8: `lane < BLOCK / 32` is true [{{[^]]*}}]{{$}}
// CHECK-NOT: `lane < BLOCK / 32` is false
// CHECK-NOT: `warp < 33` is false
// CHECK: at line 11: `lane < 16` is true [{{[^]]*}}]{{$}}
// CHECK: at line 13: `i < n` is true [{{[^]]*}}]{{$}}
// CHECK: at line 15: `i < n` is true [{{[^]]*}}], special
// CHECK: at line 17: `n % 4 != 0` is true [{{[^]]*}}]{{$}}
// CHECK: at line 17: `n % 4` is not 0 [{{[^]]*}}]{{$}}
// CHECK: at line 19: `n % 97 == 0` is true [{{[^]]*}}], special
// CHECK: at line 21: `n == 12345` is true [{{[^]]*}}], special
// CHECK: at line 23: `n - rows == 0` is true [{{[^]]*}}]{{$}}
// CHECK: at line 25: `n - 12345 == 0` is true [{{[^]]*}}], special
// CHECK: at line 27: `out < x` is true [{{[^]]*}}], special
// CHECK: at line 29: `v == 0.3330001f` is true [{{[^]]*}}], special
// CHECK: at line 31: `v > 0` is true [{{[^]]*}}]{{$}}
// CHECK: at line 33: `n < 1` is true [{{[^]]*}}]{{$}}
// CHECK: at line 35: `n * 40 <= v` is true [{{[^]]*}}], special
// CHECK: at line 37: `rows == -1` is true [{{[^]]*}}], special
// CHECK: at line 39: `blockIdx.x & 512` is {{.*}}, special
// CHECK: at line 43: `aligned` is true [{{[^]]*}}]{{$}}
// CHECK: at line 47: `small` is true {{.*}}], special
// CHECK: decided: `n % 97 == 0` is true by 97, 0, $2{{$}}
// CHECK: decided: `v == 0.3330001f` is true by 0.333, {{.*}}data
// CHECK: decided: `blockIdx.x & 512` is {{.*}} by 512, blocks
// CHECK: decided: `small` is true by 65536, {{.*}}$0{{.*}}data
// CHECK: decided: `rows < 1000000` is false by 1e+06, $3, assumed
