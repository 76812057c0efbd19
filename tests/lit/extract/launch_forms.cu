// Every way to launch: the runtime's and the driver's functions, graphs, macros, lambdas, kernels that launch kernels,
// kernels of other files, templates that are not used.
// REQUIRES: nvcc
// RUN: %with-toolkit %kopt-extract %s --list --no-proof -- -rdc=true | FileCheck %s
// RUN: %with-toolkit %kopt-extract %s %S/Inputs/far.cu --list --no-proof -- -rdc=true | FileCheck %s --check-prefix=BOTH
// RUN: %with-toolkit %kopt-extract %s --json --no-proof -- -rdc=true | %python -c "import json,sys; d=json.load(sys.stdin); t=open(sys.argv[1]).read(); r=lambda l,n: t[l[n]['begin']:l[n]['end']] if n in l else '-'; print([(r(l,'grid_range'), r(l,'block_range'), l['args'], l['variables']) for k in d['kernels'] if k['name'] == 'k' for l in k['launches'] if 'n / 8' in l['grid'][0] or 'n / 7' in l['grid'][0] or 'n / 5' in l['grid'][0] or 'THREADS' in l['grid'][0]]); print([k['defined'] for k in d['kernels']])" %s | FileCheck %s --check-prefix=RANGES
#include <cuda.h>
#include <cuda_runtime.h>

__global__ void k(float *p, int n) { p[threadIdx.x] = n; }
#define THREADS 96
#define CONFIG(n) (n) / THREADS, THREADS
#define LAUNCH(kernel, grid, block, ...) kernel<<<grid, block>>>(__VA_ARGS__)
#define RUN(p, n) k<<<(n) / 7, 7>>>(p, n)
#define CHECK(call)                                                                                                  \
  do {                                                                                                               \
    if ((call) != cudaSuccess)                                                                                       \
      return;                                                                                                        \
  } while (0)
template <class F> void each(F f) { f(); }

void run(float *p, int n, cudaStream_t stream, cudaLaunchConfig_t *given, CUfunction function) {
  cudaLaunchConfig_t config = {};
  config.gridDim = n / 32;
  config.blockDim = dim3(32, 2);
  config.dynamicSmemBytes = n * sizeof(float);
  config.stream = stream;
  CHECK(cudaLaunchKernelEx(&config, k, p, n));
  // CHECK: launch_forms.cu:[[#@LINE-1]]:9  k  symbolic  grid ((n / 32), 1, 1) block (32, 2, 1) shared (n * 4)
  config.blockDim.x = 64;
  void *args[] = {&p, &n};
  CHECK(cudaLaunchKernelExC(&config, (const void *)k, args));
  // CHECK: launch_forms.cu:[[#@LINE-1]]:9  k  symbolic  grid ((n / 32), 1, 1) block (64, 2, 1) shared (n * 4)
  cudaLaunchKernelEx(given, k, p, n);
  // CHECK: launch_forms.cu:[[#@LINE-1]]:3  k  symbolic  grid (given->gridDim.x, given->gridDim.y, given->gridDim.z) block (given->blockDim.x, given->blockDim.y, given->blockDim.z) shared given->dynamicSmemBytes
  CHECK(cudaLaunchCooperativeKernel((void *)k, n / 64, dim3(64), args, 0, stream));
  // CHECK: launch_forms.cu:[[#@LINE-1]]:9  k  symbolic  grid ((n / 64), 1, 1) block (64, 1, 1)
  k<<<CONFIG(n)>>>(p, n);
  // CHECK: launch_forms.cu:[[#@LINE-1]]:3  k  symbolic  grid ((n / THREADS), 1, 1) block (THREADS, 1, 1)
  LAUNCH(k, n / 8, dim3(8, 8), p, n);
  // CHECK: launch_forms.cu:[[#@LINE-1]]:10  k  symbolic  grid ((n / 8), 1, 1) block (8, 8, 1)
  RUN(p, n);
  // CHECK: launch_forms.cu:[[#@LINE-1]]:3  k  symbolic  grid ((n / 7), 1, 1) block (7, 1, 1)
  CHECK((k<<<n / 5, 5>>>(p, n), cudaGetLastError()));
  // CHECK: launch_forms.cu:[[#@LINE-1]]:10  k  symbolic  grid ((n / 5), 1, 1) block (5, 1, 1)
  each([=] { k<<<n / 3, 3>>>(p, n); });
  // CHECK: launch_forms.cu:[[#@LINE-1]]:14  k  symbolic  grid ((n / 3), 1, 1) block (3, 1, 1)
  int low = 0, threads = 0;
  cudaOccupancyMaxPotentialBlockSize(&low, &threads, k);
  k<<<(n + threads - 1) / threads, threads>>>(p, n);
  // CHECK: launch_forms.cu:[[#@LINE-1]]:3  k  symbolic  grid ((((n + threads) - 1) / threads), 1, 1) block (threads, 1, 1)
  cudaDeviceProp prop;
  cudaGetDeviceProperties(&prop, 0);
  k<<<prop.multiProcessorCount * 2, prop.maxThreadsPerBlock>>>(p, n);
  // CHECK: launch_forms.cu:[[#@LINE-1]]:3  k  symbolic  grid ((prop.multiProcessorCount * 2), 1, 1) block (prop.maxThreadsPerBlock, 1, 1)
  const uint3 shape = make_uint3(n / 12, 2, 1);
  k<<<shape, 12>>>(p, n);
  // CHECK: launch_forms.cu:[[#@LINE-1]]:3  k  symbolic  grid ((n / 12), 2, 1) block (12, 1, 1)
  cudaKernelNodeParams node = {0};
  node.func = (void *)k;
  node.gridDim = dim3(n / 16);
  node.blockDim = dim3(16);
  node.kernelParams = args;
  cudaGraph_t graph;
  cudaGraphNode_t added;
  cudaGraphAddKernelNode(&added, graph, nullptr, 0, &node);
  // CHECK: launch_forms.cu:[[#@LINE-1]]:3  k  symbolic  grid ((n / 16), 1, 1) block (16, 1, 1)
  cuLaunchKernel(function, n / 4, 1, 1, 4, 1, 1, 0, nullptr, args, nullptr);
}

__global__ void parent(float *p, int n) {
  if (threadIdx.x == 0)
    k<<<n / 2, 2>>>(p, n);
  // CHECK: launch_forms.cu:[[#@LINE-1]]:5  k  symbolic  grid ((n / 2), 1, 1) block (2, 1, 1)
  k<<<gridDim.x * 2, blockDim.y>>>(p, n);
  // CHECK: launch_forms.cu:[[#@LINE-1]]:3  k  symbolic  grid ((gridDim.x * 2), 1, 1) block (blockDim.y, 1, 1)
}

extern __global__ void far(float *p);
void more(float *p) { far<<<2, 64>>>(p); }
// CHECK-LABEL: {{^}}far  {{.*}}launch_forms.cu:
// CHECK-NEXT: launch_forms.cu:[[#@LINE-2]]:23  _Z3farPf  exact  grid (2, 1, 1) block (64, 1, 1)
// BOTH-NOT: {{^}}far  {{.*}}launch_forms.cu:
// BOTH-LABEL: {{^}}far  {{.*}}far.cu:
// BOTH: launch_forms.cu:[[#@LINE-5]]:23  far  exact  grid (2, 1, 1) block (64, 1, 1)

// CHECK-LABEL: launches of unknown kernels
// CHECK-NEXT: function  symbolic  grid ((n / 4), 1, 1) block (4, 1, 1)

template <class T> void never(T *p, int n) { k<<<n, 9>>>(p, n); }
// CHECK: note: {{.*}}launch_forms.cu:[[#@LINE-1]]: a launch in a template that nothing in this unit instantiates

template <class T> void neither(T *kernel, void **args) { cudaLaunchKernel(kernel, 1, 9, args, 0, nullptr); }
// CHECK: note: {{.*}}launch_forms.cu:[[#@LINE-1]]: a launch in a template that nothing in this unit instantiates

// What comes out of a macro's own text cannot be edited; a macro's arguments can.
// RANGES: [('-', '-', ['p', 'n'], ['n']), ('n / 8', 'dim3(8, 8)', ['p', 'n'], ['n']), ('-', '-', ['p', 'n'], ['n']), ('n / 5', '5', ['p', 'n'], ['n'])]
// RANGES-NEXT: [True, True, False]
