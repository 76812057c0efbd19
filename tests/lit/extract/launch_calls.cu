// Geometry across functions: helpers, constructors and methods are read, callers give constants, others stay names.
// RUN: %kopt-extract %s --list -- | FileCheck %s

__global__ void k(float *p, int n) { p[threadIdx.x] = n; }

constexpr int kThreads = 128;
struct Extent { int w, h; };
struct Plan {
  dim3 grid, block;
  int extra;
  Plan(Extent e, int threads) : grid((e.w + threads - 1) / threads, e.h), block(threads) { extra = threads * 2; }
  int bytes() const { return int(block.x) * 4; }
};
static unsigned up(unsigned x, unsigned to) {
  unsigned rest = x % to;
  if (rest == 0)
    return x / to;
  return x / to + 1;
}
static dim3 shape(int rows, bool wide = false) {
  dim3 result(32);
  if (wide) {
    result.x = 64;
    result.y = rows;
  }
  return result;
}
int power(int n) {
  int p = 1;
  while (p < n)
    p *= 2;
  return p;
}
int elsewhere(int n);
int limit();
template <int N> struct Traits { static constexpr int kBlock = N * 32; };

// All callers give one constant; or two; or another file may call.
static void launch(float *p, int n, int block) {
  k<<<up(n, block), block>>>(p, n);
  // CHECK: launch_calls.cu:[[#@LINE-1]]:3  k  symbolic  grid ((((n % kThreads) == 0) ? (n / kThreads) : ((n / kThreads) + 1)), 1, 1) block (kThreads, 1, 1)
}
static void either(float *p, int n, int block) {
  k<<<n, block>>>(p, n);
  // CHECK: launch_calls.cu:[[#@LINE-1]]:3  k  symbolic  grid (n, 1, 1) block (block, 1, 1)
}
void visible(float *p, int n, dim3 block) {
  k<<<n, block>>>(p, n);
  // CHECK: launch_calls.cu:[[#@LINE-1]]:3  k  symbolic  grid (n, 1, 1) block (block.x, block.y, block.z)
}

// Two instantiations have two values of the constant: its number stands.
template <int N> void generic(float *p, int n) {
  k<<<n / Traits<N>::kBlock, Traits<N>::kBlock>>>(p, n);
  // CHECK: launch_calls.cu:[[#@LINE-1]]:3  k  symbolic  grid ((n / 128), 1, 1) block (128, 1, 1)
  // CHECK: launch_calls.cu:[[#@LINE-2]]:3  k  symbolic  grid ((n / 64), 1, 1) block (64, 1, 1)
}

class Solver {
  int n_ = 0, blocks_ = 1;
  static const int kLanes = 32;
  int size() const { return n_ * 2; }
  void grow() { ++n_; }

public:
  void run(float *p) {
    k<<<size(), kLanes>>>(p, 1);
    // CHECK: launch_calls.cu:[[#@LINE-1]]:5  k  symbolic  grid ((n_ * 2), 1, 1) block (kLanes, 1, 1)
    int before = n_;
    grow();
    k<<<before, kLanes>>>(p, 1);
    // CHECK: launch_calls.cu:[[#@LINE-1]]:5  k  symbolic  grid (before, 1, 1) block (kLanes, 1, 1)
    blocks_ = n_ / 2;
    k<<<blocks_, kLanes>>>(p, 1);
    // CHECK: launch_calls.cu:[[#@LINE-1]]:5  k  symbolic  grid ((n_ / 2), 1, 1) block (kLanes, 1, 1)
    grow();
    k<<<blocks_, kLanes>>>(p, 1);
    // CHECK: launch_calls.cu:[[#@LINE-1]]:5  k  symbolic  grid (blocks_, 1, 1) block (kLanes, 1, 1)
  }
};

void run(float *p, int n, int rows, Extent e) {
  Plan plan(e, kThreads);
  k<<<plan.grid, plan.block, plan.bytes()>>>(p, plan.extra);
  // CHECK: launch_calls.cu:[[#@LINE-1]]:3  k  symbolic  grid ((((e.w + kThreads) - 1) / kThreads), e.h, 1) block (kThreads, 1, 1) shared (kThreads * 4)
  k<<<shape(rows, true), shape(rows)>>>(p, 1);
  // CHECK: launch_calls.cu:[[#@LINE-1]]:3  k  symbolic  grid (64, rows, 1) block (32, 1, 1)
  auto blocks = [&](int per) { return (n + per - 1) / per; };
  k<<<blocks(64), 64>>>(p, 1);
  // CHECK: launch_calls.cu:[[#@LINE-1]]:3  k  symbolic  grid ((((n + 64) - 1) / 64), 1, 1) block (64, 1, 1)
  int size = power(n);
  k<<<size, limit()>>>(p, 1);
  // CHECK: launch_calls.cu:[[#@LINE-1]]:3  k  symbolic  grid (size, 1, 1) block (limit(), 1, 1)
  k<<<power(n), 32>>>(p, 1);
  // CHECK: launch_calls.cu:[[#@LINE-1]]:3  k  unresolved  grid ? block (32, 1, 1)
  // CHECK-NEXT: the grid depends on a call of 'power'
  k<<<32, elsewhere(n)>>>(p, 1);
  // CHECK: launch_calls.cu:[[#@LINE-1]]:3  k  unresolved  grid (32, 1, 1) block ?
  // CHECK-NEXT: the block depends on a call of 'elsewhere'
  launch(p, n, kThreads);
  launch(p, 2 * n, kThreads);
  either(p, n, 64);
  either(p, n, 128);
  visible(p, n, 32);
  generic<4>(p, n);
  generic<2>(p, n);
  Solver().run(p);
}
// CHECK: constant        kThreads = 128  constexpr
// CHECK-NOT: kBlock =
