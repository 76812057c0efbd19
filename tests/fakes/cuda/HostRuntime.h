// SPDX-License-Identifier: Apache-2.0
// As much of the CUDA runtime as a harness needs, on the host: threads run one after the other,
// without barriers. A harness.cu is compiled as C++ with this header before it (-x c++ -include),
// so that its logic is tested without a GPU.
#pragma once

#define __CUDA_RUNTIME_H__
#define __global__
#define __device__
#define __constant__
#define __host__
#define __restrict__

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <utility>

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
static dim3 blockIdx, threadIdx, blockDim, gridDim;

typedef int cudaError_t;
typedef void *cudaStream_t;
typedef int cudaEvent_t;
enum {
  cudaSuccess,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaLimitStackSize,
  cudaFuncAttributeMaxDynamicSharedMemorySize
};

inline const char *cudaGetErrorString(cudaError_t) { return "an error of the fake runtime"; }
inline cudaError_t cudaMalloc(void **memory, std::size_t bytes) {
  return (*memory = std::malloc(bytes)) ? 0 : 1;
}
inline cudaError_t cudaFree(void *memory) { return std::free(memory), 0; }
inline cudaError_t cudaMemcpy(void *to, const void *from, std::size_t bytes, int) {
  return std::memcpy(to, from, bytes), 0;
}
template <class T> cudaError_t cudaGetSymbolAddress(void **address, const T &symbol) {
  *address = const_cast<void *>(static_cast<const void *>(&symbol));
  return 0;
}
inline cudaError_t cudaDeviceSetLimit(int, std::size_t) { return 0; }
inline cudaError_t cudaFuncSetAttribute(const void *, int, int) { return 0; }
inline cudaError_t cudaDeviceSynchronize() { return 0; }
inline cudaError_t cudaEventCreate(cudaEvent_t *) { return 0; }
inline cudaError_t cudaEventRecord(cudaEvent_t) { return 0; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return 0; }
inline cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t, cudaEvent_t) {
  return *milliseconds = 0.25f, 0;
}

inline long long clock64() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

/// How to call a function with the arguments of a launch; FAKE_KERNEL(scale) makes it known.
static std::map<const void *, std::function<void(void **)>> fakeKernels;

template <class... A, std::size_t... I>
void fakeCall(void (*f)(A...), void **arguments, std::index_sequence<I...>) {
  f(*static_cast<A *>(arguments[I])...);
}
template <class... A> bool fakeKernel(void (*f)(A...)) {
  fakeKernels[reinterpret_cast<const void *>(f)] = [f](void **arguments) {
    fakeCall(f, arguments, std::index_sequence_for<A...>());
  };
  return true;
}
#define FAKE_KERNEL(name) static const bool fake_##name = fakeKernel(name);

inline cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **arguments,
                                    std::size_t, cudaStream_t) {
  if (!fakeKernels.count(f) || block.x * block.y * block.z > 1024)
    return 1;
  gridDim = grid;
  blockDim = block;
  for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < block.x; ++threadIdx.x)
      fakeKernels[f](arguments);
  return 0;
}
inline cudaError_t cudaLaunchCooperativeKernel(const void *f, dim3 grid, dim3 block,
                                               void **arguments, std::size_t shared,
                                               cudaStream_t stream) {
  return cudaLaunchKernel(f, grid, block, arguments, shared, stream);
}
