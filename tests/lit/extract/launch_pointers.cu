// Kernels launched through variables, tables, functions and wrappers; what cannot be told is listed as such.
// RUN: %kopt-extract %s --list -- | FileCheck %s
// RUN: %kopt-extract %s --json -o %t -- | %python -c "import json,sys; d=json.load(sys.stdin); print([(u['callee'], u['geometry'], u['symbol']) for u in d['unresolved_launches']]); print([(l['column'], 'grid_range' in l, l['args']) for k in d['kernels'] if k['name'] == 'c' for l in k['launches']])" | FileCheck %s --check-prefix=JSON

__global__ void a(float *p, int n) { p[0] = n; }
__global__ void b(float *p, int n) { p[1] = n; }
__global__ void c(float *p, int n) { p[2] = n; }
__global__ void d(float *p, int n) { p[3] = n; }
template <int N> __global__ void t(float *p, int n) { p[N] = n; }
using Kernel = void (*)(float *, int);

static const Kernel table[] = {a, &b};
struct Entry { const char *name; Kernel kernel; };
static Entry entries[] = {{"c", c}, {"d", d}};
Kernel pick(int i) {
  switch (i) {
  case 0: return a;
  case 1: return t<5>;
  }
  return nullptr;
}
void settled(float *p, int n, bool wide) {
  Kernel kernel = a;
  kernel<<<n, 11>>>(p, n);
  kernel = b;
  kernel<<<n, 12>>>(p, n);
  if (wide)
    kernel = &t<2>;
  kernel<<<n, 13>>>(p, n);
  auto copy = kernel;
  (*copy)<<<n, 14>>>(p, n);
  void *args[] = {&p, &n};
  cudaLaunchKernel((const void *)kernel, dim3(n), dim3(15), args, 0, nullptr);
}
void tables(float *p, int n, int i) {
  table[i]<<<n, 21>>>(p, n);
  entries[i].kernel<<<n, 22>>>(p, n);
  pick(i)<<<n, 23>>>(p, n);
}
static void wrapped(Kernel kernel, int threads, float *p, int n) { kernel<<<n, threads>>>(p, n); }
template <class F, class... Args> void spread(F kernel, dim3 grid, dim3 block, Args... args) {
  kernel<<<grid, block>>>(args...);
}
template <Kernel K> void fixed(float *p, int n) { K<<<n, 33>>>(p, n); }
void open(Kernel kernel, float *p, int n) { kernel<<<n, 34>>>(p, n); }
void use(float *p, int n, void *handle) {
  wrapped(a, 31, p, n);
  wrapped(b, 32, p, n);
  spread(c, dim3(n), 36, p, n);
  spread(d, n / 2, 37, p, n);
  fixed<c>(p, n);
  auto each = [&](auto kernel) { kernel<<<n, 35>>>(p, n); };
  each(t<7>);
  cudaLaunchKernel(handle, n, 38, nullptr, 0, nullptr);
}

// CHECK-LABEL: {{^}}a  {{.*}}launch_pointers.cu:
// CHECK: :[[#]]:3  a  symbolic  grid (n, 1, 1) block (11, 1, 1)
// CHECK-NEXT: a  symbolic  grid (n, 1, 1) block (21, 1, 1)
// CHECK-NEXT: a  symbolic  grid (n, 1, 1) block (23, 1, 1)
// CHECK-NEXT: a  symbolic  grid (n, 1, 1) block (31, 1, 1)
// CHECK-LABEL: {{^}}b  {{.*}}launch_pointers.cu:
// CHECK: b  symbolic  grid (n, 1, 1) block (12, 1, 1)
// CHECK-NEXT: b  symbolic  grid (n, 1, 1) block (13, 1, 1)
// CHECK-NEXT: b  symbolic  grid (n, 1, 1) block (14, 1, 1)
// CHECK-NEXT: b  symbolic  grid (n, 1, 1) block (15, 1, 1)
// CHECK-NEXT: b  symbolic  grid (n, 1, 1) block (21, 1, 1)
// CHECK-NEXT: b  symbolic  grid (n, 1, 1) block (32, 1, 1)
// CHECK-LABEL: {{^}}c  {{.*}}launch_pointers.cu:
// CHECK: c  symbolic  grid (n, 1, 1) block (22, 1, 1)
// CHECK-NEXT: c  symbolic  grid (grid.x, 1, 1) block (36, 1, 1)
// CHECK-NEXT: c  symbolic  grid (n, 1, 1) block (33, 1, 1)
// CHECK-LABEL: {{^}}d  {{.*}}launch_pointers.cu:
// CHECK: d  symbolic  grid (n, 1, 1) block (22, 1, 1)
// CHECK-NEXT: d  symbolic  grid (grid.x, 1, 1) block (37, 1, 1)
// CHECK-LABEL: {{^}}t  {{.*}}launch_pointers.cu:
// CHECK: t<2>  symbolic  grid (n, 1, 1) block (13, 1, 1)
// CHECK-NEXT: t<2>  symbolic  grid (n, 1, 1) block (14, 1, 1)
// CHECK-NEXT: t<2>  symbolic  grid (n, 1, 1) block (15, 1, 1)
// CHECK-NEXT: t<5>  symbolic  grid (n, 1, 1) block (23, 1, 1)
// CHECK-NEXT: t<7>  symbolic  grid (n, 1, 1) block (35, 1, 1)
// CHECK-LABEL: launches of unknown kernels
// CHECK: kernel  symbolic  grid (n, 1, 1) block (34, 1, 1)
// CHECK-NEXT: the kernel is 'kernel', which nothing in this file gives a kernel
// CHECK: handle  symbolic  grid (n, 1, 1) block (38, 1, 1)

// JSON: [('kernel', 'symbolic', ''), ('handle', 'symbolic', '')]
// What several kernels are launched by is not edited for one of them; a pack's elements have no names.
// JSON-NEXT: [(3, False, ['p', 'n']), (3, False, ['', '']), (51, True, ['p', 'n'])]
