// SPDX-License-Identifier: Apache-2.0
// The parameters of driver calls as CUPTI passes them: cuNAME_params of generated_cuda_meta.h.
#pragma once

#include "runtime/capture/adapter/CuptiApi.h"

namespace kopt::runtime::capture {

struct LaunchKernelCall {
  CuFunction function;
  std::uint32_t grid[3], block[3], sharedBytes;
  CuStream stream;
  void **parameters;
  void **extra;
};

struct LaunchCooperativeCall {
  CuFunction function;
  std::uint32_t grid[3], block[3], sharedBytes;
  CuStream stream;
  void **parameters;
};

struct LaunchAttribute { // CUlaunchAttribute
  std::uint32_t id;
  char pad[4];
  union {
    char bytes[64];
    int cooperative;
    std::uint32_t cluster[3];
  } value;
};
enum : std::uint32_t {
  kAttributeIgnore = 0,
  kAttributeCooperative = 2,
  kAttributeCluster = 4,
  kAttributePreferredCluster = 11
};
/// Access policy window, synchronization policy, cluster scheduling, programmatic launch and its
/// event, priority, memory synchronization domains, completion event, updatable node, shared memory
/// carveout, NVLink scheduling: none of these changes what a kernel computes when it runs alone.
inline constexpr std::uint32_t kAttributesOfSpeed[] = {1, 3, 5, 6, 7, 8, 9, 10, 12, 13, 14, 16};

struct LaunchConfig { // CUlaunchConfig
  std::uint32_t grid[3], block[3], sharedBytes;
  CuStream stream;
  const LaunchAttribute *attributes;
  std::uint32_t attributeCount;
};

struct LaunchKernelExCall {
  const LaunchConfig *config;
  CuFunction function;
  void **parameters;
  void **extra;
};

struct MultiDeviceLaunchCall {
  const LaunchCooperativeCall *launches; // CUDA_LAUNCH_PARAMS has the same fields
  std::uint32_t count, flags;
};

struct KernelNodeParameters { // CUDA_KERNEL_NODE_PARAMS_v2; v1 ends before `kernel`
  CuFunction function;
  std::uint32_t grid[3], block[3], sharedBytes;
  void **parameters;
  void **extra;
  CuKernel kernel;
  CuContext context;
};

struct GraphInstantiateCall { // all versions begin with these members
  CuGraphExec *exec;
  CuGraph graph;
};
struct GraphLaunchCall {
  CuGraphExec exec;
  CuStream stream;
};
struct GraphExecDestroyCall {
  CuGraphExec exec;
};
struct GraphExecUpdateCall {
  CuGraphExec exec;
  CuGraph graph;
};
struct GraphExecKernelNodeSetParamsCall {
  CuGraphExec exec;
  CuGraphNode node;
  const KernelNodeParameters *parameters;
};

struct MemAllocCall { // also Async, FromPoolAsync and Managed, which begin with the same members
  CuDevicePointer *pointer;
  std::size_t bytes;
};
struct MemAllocPitchCall {
  CuDevicePointer *pointer;
  std::size_t *pitch;
  std::size_t width, height;
};
struct MemFreeCall { // also FreeAsync
  CuDevicePointer pointer;
};
struct MemHostAllocCall { // also cuMemAllocHost
  void **pointer;
  std::size_t bytes;
};
struct MemHostRegisterCall {
  void *pointer;
  std::size_t bytes;
};
struct MemHostPointerCall { // cuMemFreeHost, cuMemHostUnregister
  void *pointer;
};
struct MemMapCall { // also cuMemUnmap, which begins with the same members
  CuDevicePointer pointer;
  std::size_t bytes;
};

struct GetGlobalCall { // cuModuleGetGlobal, cuLibraryGetGlobal
  CuDevicePointer *pointer;
  std::size_t *bytes;
  void *owner;
  const char *name;
};
struct LibraryGetKernelCall {
  CuKernel *kernel;
  CuLibrary library;
  const char *name;
};
struct LibraryEnumerateKernelsCall {
  CuKernel *kernels;
  std::uint32_t count;
  CuLibrary library;
};

} // namespace kopt::runtime::capture
