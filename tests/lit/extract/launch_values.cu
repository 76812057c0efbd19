// Geometry through variables: what they hold at the launch, by parts, over branches, and never what they held before.
// RUN: %kopt-extract %s --list -- | FileCheck %s

enum Shape { kNarrow = 64, kWide = kNarrow * 4 };
struct Config { dim3 grid, block; int bytes; };
struct Size { int width, height; };
static int gBlocks = 12;
const int kFixed = 3 * 32;
void change(int *value);
void fill(int &value);

__global__ void k(float *p, int n) { p[threadIdx.x] = n; }

void members(float *p, int n, int rows) {
  dim3 block;
  block.x = 32;
  block.y = 8;
  dim3 grid = {unsigned(n + 31) / 32, 1};
  grid.y = (rows + block.y - 1) / block.y;
  k<<<grid, block>>>(p, n);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  symbolic  grid (((n + 31) / 32), (((rows + 8) - 1) / 8), 1) block (32, 8, 1)
  dim3 same = grid;
  grid.x = 1;
  k<<<same, block>>>(p, n);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  symbolic  grid (((n + 31) / 32), (((rows + 8) - 1) / 8), 1) block (32, 8, 1)
  const dim3 &other = block;
  k<<<grid, other>>>(p, n);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  symbolic  grid (1, (((rows + 8) - 1) / 8), 1) block (32, 8, 1)
}

void choices(float *p, int n, bool wide, int mode) {
  int threads = 64;
  if (wide)
    threads = 256;
  else if (mode == 2)
    threads *= 2;
  k<<<n, threads>>>(p, n);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  symbolic  grid (n, 1, 1) block ((wide ? 256 : ((mode == 2) ? 128 : 64)), 1, 1)
  int blocks;
  switch (mode) {
  case 0:
    blocks = 1;
    k<<<blocks, 32>>>(p, n);
    // CHECK: launch_values.cu:[[#@LINE-1]]:5  k  exact  grid (1, 1, 1) block (32, 1, 1)
    break;
  case 1:
    blocks = 2;
  default:
    blocks += 2;
    k<<<blocks, 32>>>(p, n);
    // CHECK: launch_values.cu:[[#@LINE-1]]:5  k  symbolic  grid (blocks, 1, 1) block (32, 1, 1)
  }
}

// A value computed from what has changed since is the variable's own, not the expression's.
void order(float *p, int n) {
  int blocks = n / 64;
  n = n * 2;
  k<<<blocks, 64>>>(p, 7);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  symbolic  grid (blocks, 1, 1) block (64, 1, 1)
  for (int left = n; left > 0; left /= 2) {
    int now = left / 64;
    k<<<now, 64>>>(p, 7);
    // CHECK: launch_values.cu:[[#@LINE-1]]:5  k  symbolic  grid ((left / 64), 1, 1) block (64, 1, 1)
  }
  int half = n / 2;
  while (n > 1) {
    k<<<half, 64>>>(p, 7);
    // CHECK: launch_values.cu:[[#@LINE-1]]:5  k  symbolic  grid (half, 1, 1) block (64, 1, 1)
    n--;
  }
}

void jumps(float *p, int n) {
  int late = 8;
again:
  k<<<late, 64>>>(p, 7);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  symbolic  grid (late, 1, 1) block (64, 1, 1)
  late = 9;
  if (n-- > 0)
    goto again;
}

void hidden(float *p, int n) {
  dim3 grid(1);
  for (int i = 0; i < 2; ++i) {
    int inner = n / (i + 1);
    grid.x = inner;
  }
  k<<<grid, 32>>>(p, n);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  symbolic  grid (grid.x, 1, 1) block (32, 1, 1)
  int blocks = n / 16;
  {
    int n = 5;
    k<<<blocks, 32>>>(p, n);
    // CHECK: launch_values.cu:[[#@LINE-1]]:5  k  symbolic  grid (blocks, 1, 1) block (32, 1, 1)
  }
}

void changed(float *p, int n) {
  int a = n, b = n, c = n;
  change(&a);
  fill(b);
  auto later = [&c] { c = 1; };
  later();
  k<<<a, b>>>(p, 1);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  symbolic  grid (a, 1, 1) block (b, 1, 1)
  k<<<c, 1>>>(p, 1);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  symbolic  grid (c, 1, 1) block (1, 1, 1)
  int d = gBlocks * 2;
  k<<<d, 1>>>(p, 1);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  symbolic  grid ((gBlocks * 2), 1, 1) block (1, 1, 1)
  fill(b);
  k<<<d, 1>>>(p, 1);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  symbolic  grid (d, 1, 1) block (1, 1, 1)
}

void structs(float *p, Size size, Size *many, int i) {
  Config config = {dim3(size.width / 16, size.height), {16, 16}, 0};
  config.bytes = config.block.x * sizeof(float);
  k<<<config.grid, config.block, config.bytes>>>(p, 1);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  symbolic  grid ((size.width / 16), size.height, 1) block (16, 16, 1) shared 64
  int dims[2] = {size.width, kWide};
  k<<<dims[0], dims[1]>>>(p, 1);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  symbolic  grid (size.width, 1, 1) block ((kNarrow * 4), 1, 1)
  k<<<many[i].width, kFixed>>>(p, 1);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  symbolic  grid (many[i].width, 1, 1) block (kFixed, 1, 1)
  int width = many[i].width, height = size.height;
  k<<<2 * width, height>>>(p, height);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  symbolic  grid ((2 * width), 1, 1) block (height, 1, 1)
  k<<<many->height, 1>>>(p, 1);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  symbolic  grid (many->height, 1, 1) block (1, 1, 1)
}

void reals(float *p, int n, double share) {
  int a = ceil(n / 128.0), b = (int)floorf(n / 128.f) + 1, c = n * share;
  k<<<a, b>>>(p, 1);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  symbolic  grid ((int)ceil(((double)n / 128.0)), 1, 1) block (((int)floor((float)((float)n / 128.0)) + 1), 1, 1)
  k<<<c, (unsigned char)n>>>(p, 1);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  symbolic  grid (c, 1, 1) block (((unsigned char)n), 1, 1)
  k<<<ceil(n / 32), 32>>>(p, 1);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  symbolic  grid ((n / 32), 1, 1) block (32, 1, 1)
  k<<<(int)(n * share), 32>>>(p, 1);
  // CHECK: launch_values.cu:[[#@LINE-1]]:3  k  unresolved  grid ? block (32, 1, 1)
  // CHECK-NEXT: the grid depends on 'share' of type 'double'
}
// CHECK: constant        kNarrow = 64  enum
// CHECK: constant        kFixed = 96  const
