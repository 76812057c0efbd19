// Launch configurations as expressions: through dim3, locals, macros, helper functions, ceil and cudaLaunchKernel.
// RUN: %kopt-extract %s --list -- | FileCheck %s

#define BLOCK 128
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
constexpr int kRows = 4;
constexpr int kThreads = kRows * 32;
inline int divideUp(int a, int b) { return (a + b - 1) / b; }

__global__ void k(float *p, int n) { p[threadIdx.x] = n; }

void run(float *p, int n, int rows, bool wide) {
  k<<<CEIL_DIV(n, BLOCK), BLOCK>>>(p, n);
  // CHECK: geometry.cu:[[#@LINE-1]]:3  k  symbolic  grid ((((n + BLOCK) - 1) / BLOCK), 1, 1) block (BLOCK, 1, 1) shared 0
  k<<<divideUp(n, kThreads), kThreads, BLOCK * sizeof(float)>>>(p, n);
  // CHECK: geometry.cu:[[#@LINE-1]]:3  k  symbolic  grid ((((n + (kRows * 32)) - 1) / (kRows * 32)), 1, 1) block ((kRows * 32), 1, 1) shared (BLOCK * 4)
  dim3 block(32, kRows), grid((rows + 31) / 32);
  grid.y = rows;
  k<<<grid, block>>>(p, n);
  // CHECK: geometry.cu:[[#@LINE-1]]:3  k  symbolic  grid (((rows + 31) / 32), rows, 1) block (32, kRows, 1)
  int threads = wide ? 256 : 64;
  k<<<(int)ceil((float)n / threads), threads>>>(p, n);
  // CHECK: geometry.cu:[[#@LINE-1]]:3  k  symbolic  grid ((int)ceil((float)((float)n / (float)(wide ? 256 : 64))), 1, 1) block ((wide ? 256 : 64), 1, 1)
  dim3 changed(1);
  if (wide)
    changed.x = 7;
  k<<<changed, 1>>>(p, n);
  // CHECK: geometry.cu:[[#@LINE-1]]:3  k  symbolic  grid ((wide ? 7 : 1), 1, 1) block (1, 1, 1)
  int step = 1;
  for (step = 2; step < 8; step *= 2)
    k<<<step, min(step, 32)>>>(p, n);
  // CHECK: geometry.cu:[[#@LINE-1]]:5  k  symbolic  grid (step, 1, 1) block ((step < 32 ? step : 32), 1, 1)
  void *args[] = {&p, &n};
  cudaLaunchKernel((const void *)k, dim3(n / BLOCK), dim3(BLOCK), args, 64, nullptr);
  // CHECK: geometry.cu:[[#@LINE-1]]:3  k  symbolic  grid ((n / BLOCK), 1, 1) block (BLOCK, 1, 1) shared 64
}
// CHECK: constant        BLOCK = 128  macro
// CHECK: constant        kRows = 4  constexpr
// CHECK-NOT: kThreads =
