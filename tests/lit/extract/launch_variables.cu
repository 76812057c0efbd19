// The variables that a launch's grid and block are, and what their initializers can name.
// RUN: %kopt-extract %s --json -- | %python %S/Inputs/launch_variables.py %s | FileCheck %s

__global__ void k(float *p, int n, int m) { p[threadIdx.x] = n + m; }
int changed(int &n);
constexpr int kThreads = 128;
int loose = 64;

// Declared later, as in a loop, is not there yet.
// CHECK: k<<<grid, block>>>(p, left, border): grid is 'n / 256' with border n p; block is '256' with border n p
void loop(float *p, int n, int rows) {
  const int border = 2;
  dim3 grid(n / 256), block(256);
  for (int t = 0; t < rows; ++t) {
    int left = n - t;
    k<<<grid, block>>>(p, left, border);
  }
}

// Changed in between, by a call, too.
// CHECK: k<<<blocks, threads>>>(p, n, m): grid is '(n + threads - 1) / threads' with n p; block is '256' with n p
void changes(float *p, int n, int m) {
  int threads = 256, blocks = (n + threads - 1) / threads;
  m = changed(m);
  k<<<blocks, threads>>>(p, n, m);
}

// Shadowed at the launch; changed before the loop comes to it again.
// CHECK: k<<<grid, kThreads>>>(p, n, m): grid is 'dim3(n / 256, m)' with kThreads m p; block is '128' with nothing
// CHECK: k<<<grid, loose>>>(p, n, m): grid is 'dim3(n / 256, m)' with loose m p; block is no variable
void shadows(float *p, int n, int m) {
  auto grid = dim3(n / 256, m);
  {
    int n = 7;
    k<<<grid, kThreads>>>(p, n, m);
  }
  while (n) {
    k<<<grid, loose>>>(p, n, m);
    n /= 2;
  }
}

// A static is initialised once, a captured variable elsewhere; braces do not convert; a reference
// changes with what it refers to; itself it cannot name.
// CHECK: k<<<grid, threads>>>(p, n, m): grid is no variable; block is '64' with nothing
// CHECK: k<<<braced, grid>>>(p, n, m): grid is 'unsigned(n)' with nothing; block is 'n' with m n p
// CHECK: k<<<last, grid.x>>>(p, same, m): grid is 'dim3(other)' with m n p; block is no variable
// CHECK: k<<<written, m>>>(p, n, m): grid is no variable; block is no variable
void others(float *p, int n, int m) {
  static const int threads = 64;
  dim3 grid(n), braced{unsigned(n)};
  auto run = [&] { k<<<grid, threads>>>(p, n, m); };
  run();
  k<<<braced, grid>>>(p, n, m);
  int other = n, &same = other;
  dim3 last = dim3(other);
  changed(other);
  k<<<last, grid.x>>>(p, same, m);
  dim3 written(n);
  written.x += 1;
  k<<<written, m>>>(p, n, m);
}
