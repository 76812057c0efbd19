// SPDX-License-Identifier: Apache-2.0
// The C++ overloads of the runtime API: typed pointers and symbols in place of void *.
#pragma once

#include "../cuda_runtime_api.h"

template <class T> static inline cudaError_t cudaMalloc(T **ptr, size_t size) {
  return ::cudaMalloc((void **)ptr, size);
}
template <class T> static inline cudaError_t cudaMallocHost(T **ptr, size_t size, unsigned int flags = 0) {
  return ::cudaHostAlloc((void **)ptr, size, flags);
}
template <class T> static inline cudaError_t cudaHostAlloc(T **ptr, size_t size, unsigned int flags) {
  return ::cudaHostAlloc((void **)ptr, size, flags);
}
template <class T>
static inline cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned int flags) {
  return ::cudaHostGetDevicePointer((void **)device, host, flags);
}
template <class T>
static inline cudaError_t cudaMallocManaged(T **ptr, size_t size, unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged((void **)ptr, size, flags);
}
template <class T>
static inline cudaError_t cudaMallocPitch(T **ptr, size_t *pitch, size_t width, size_t height) {
  return ::cudaMallocPitch((void **)ptr, pitch, width, height);
}
template <class T> static inline cudaError_t cudaMallocAsync(T **ptr, size_t size, cudaStream_t stream) {
  return ::cudaMallocAsync((void **)ptr, size, stream);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *src, size_t count, size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol((const void *)&symbol, src, count, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t count, size_t offset = 0,
                                               cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(dst, (const void *)&symbol, count, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t count, size_t offset,
                                                  cudaMemcpyKind kind, cudaStream_t stream = 0) {
  return ::cudaMemcpyToSymbolAsync((const void *)&symbol, src, count, offset, kind, stream);
}
template <class T> static inline cudaError_t cudaGetSymbolAddress(void **ptr, const T &symbol) {
  return ::cudaGetSymbolAddress(ptr, (const void *)&symbol);
}
template <class T> static inline cudaError_t cudaGetSymbolSize(size_t *size, const T &symbol) {
  return ::cudaGetSymbolSize(size, (const void *)&symbol);
}
template <class T>
static inline cudaError_t cudaLaunchKernel(T *func, dim3 gridDim, dim3 blockDim, void **args,
                                           size_t sharedMem = 0, cudaStream_t stream = 0) {
  return ::cudaLaunchKernel((const void *)func, gridDim, blockDim, args, sharedMem, stream);
}
template <class T>
static inline cudaError_t cudaLaunchCooperativeKernel(T *func, dim3 gridDim, dim3 blockDim, void **args,
                                                      size_t sharedMem = 0, cudaStream_t stream = 0) {
  return ::cudaLaunchCooperativeKernel((const void *)func, gridDim, blockDim, args, sharedMem, stream);
}
template <class... Parameters, class... Arguments>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                                             Arguments &&...arguments) {
  return [&](Parameters... values) {
    void *pointers[] = {(void *)&values..., nullptr};
    return ::cudaLaunchKernelExC(config, (const void *)kernel, pointers);
  }(static_cast<Arguments &&>(arguments)...);
}
template <class T> static inline cudaError_t cudaFuncSetAttribute(T *func, cudaFuncAttribute attr, int value) {
  return ::cudaFuncSetAttribute((const void *)func, attr, value);
}
template <class T> static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attr, T *func) {
  return ::cudaFuncGetAttributes(attr, (const void *)func);
}
template <class T> static inline cudaError_t cudaFuncSetCacheConfig(T *func, cudaFuncCache config) {
  return ::cudaFuncSetCacheConfig((const void *)func, config);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T func, int blockSize,
                                                                        size_t dynamicSMemSize) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)func, blockSize,
                                                         dynamicSMemSize);
}
template <class T>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, T func,
                                               size_t dynamicSMemSize = 0, int blockSizeLimit = 0);
template <class T>
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *,
                                               T *, size_t) {
  return ::cudaGraphInstantiate(exec, graph, 0);
}
static inline cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) { return cudaExtent{w, h, d}; }
static inline cudaPitchedPtr make_cudaPitchedPtr(void *p, size_t pitch, size_t x, size_t y) {
  return cudaPitchedPtr{p, pitch, x, y};
}
