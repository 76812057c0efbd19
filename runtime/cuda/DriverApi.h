// SPDX-License-Identifier: Apache-2.0
// The few functions and types of the CUDA driver API that CudaDevice uses, declared here so that
// kopt builds without a toolkit, and found in libcuda.so.1 at run time so that it starts without a
// driver. Names and numbers are those of cuda.h; each function is looked up by its exported
// (versioned) name.
#pragma once

#include <cstddef>
#include <string>

namespace kopt::runtime::cuda {

using CuResult = int;
using CuDevice = int;
using CuDevicePointer = unsigned long long;
using CuContext = struct CuContextOpaque *;
using CuModule = struct CuModuleOpaque *;
using CuFunction = struct CuFunctionOpaque *;
using CuStream = struct CuStreamOpaque *;
using CuEvent = struct CuEventOpaque *;
using CuGraph = struct CuGraphOpaque *;
using CuGraphExec = struct CuGraphExecOpaque *;

struct CuUuid {
  unsigned char bytes[16];
};

enum : CuResult {
  kSuccess = 0,
  kErrorInvalidValue = 1,
  kErrorOutOfMemory = 2,
  kErrorInvalidImage = 200,
  kErrorNoBinaryForGpu = 209,
  kErrorNotFound = 500,
  kErrorIllegalAddress = 700,
  kErrorLaunchOutOfResources = 701,
  kErrorLaunchTimeout = 702,
  kErrorAssert = 710,
  kErrorHardwareStack = 714,
  kErrorIllegalInstruction = 715,
  kErrorMisalignedAddress = 716,
  kErrorInvalidAddressSpace = 717,
  kErrorInvalidPc = 718,
  kErrorLaunchFailed = 719,
  kErrorCooperativeLaunchTooLarge = 720,
};

enum CuDeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kWarpSize = 10,
  kClockKilohertz = 13,
  kMultiprocessorCount = 16,
  kMemoryClockKilohertz = 36,
  kMemoryBusBits = 37,
  kL2CacheSize = 38,
  kMaxThreadsPerMultiprocessor = 39,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedMemoryPerMultiprocessor = 81,
  kMaxRegistersPerMultiprocessor = 82,
  kMaxSharedMemoryPerBlockOptin = 97,
  kMaxBlocksPerMultiprocessor = 106,
  kReservedSharedMemoryPerBlock = 111,
};

enum CuFunctionAttribute : int {
  kFunctionMaxThreads = 0,
  kFunctionSharedBytes = 1,
  kFunctionConstBytes = 2,
  kFunctionLocalBytes = 3,
  kFunctionRegisters = 4,
  kFunctionMaxDynamicSharedBytes = 8,
};

enum CuLimit : int {
  kLimitStackSize = 0,
};

inline constexpr int kCaptureThreadLocal = 1;
inline constexpr unsigned kEventDisableTiming = 2;

// X(member, exported name, signature): a driver without one of these is too old.
#define KOPT_DRIVER_REQUIRED(X)                                                                    \
  X(init, "cuInit", CuResult(unsigned))                                                            \
  X(driverGetVersion, "cuDriverGetVersion", CuResult(int *))                                       \
  X(getErrorName, "cuGetErrorName", CuResult(CuResult, const char **))                             \
  X(getErrorString, "cuGetErrorString", CuResult(CuResult, const char **))                         \
  X(deviceGetCount, "cuDeviceGetCount", CuResult(int *))                                           \
  X(deviceGet, "cuDeviceGet", CuResult(CuDevice *, int))                                           \
  X(deviceGetName, "cuDeviceGetName", CuResult(char *, int, CuDevice))                             \
  X(deviceGetUuid, "cuDeviceGetUuid_v2", CuResult(CuUuid *, CuDevice))                             \
  X(deviceGetAttribute, "cuDeviceGetAttribute", CuResult(int *, CuDeviceAttribute, CuDevice))      \
  X(deviceTotalMem, "cuDeviceTotalMem_v2", CuResult(std::size_t *, CuDevice))                      \
  X(deviceGetPciBusId, "cuDeviceGetPCIBusId", CuResult(char *, int, CuDevice))                     \
  X(primaryCtxRetain, "cuDevicePrimaryCtxRetain", CuResult(CuContext *, CuDevice))                 \
  X(primaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", CuResult(CuDevice))                         \
  X(ctxSetCurrent, "cuCtxSetCurrent", CuResult(CuContext))                                         \
  X(ctxGetLimit, "cuCtxGetLimit", CuResult(std::size_t *, CuLimit))                                \
  X(ctxSetLimit, "cuCtxSetLimit", CuResult(CuLimit, std::size_t))                                  \
  X(moduleLoadData, "cuModuleLoadData", CuResult(CuModule *, const void *))                        \
  X(moduleUnload, "cuModuleUnload", CuResult(CuModule))                                            \
  X(moduleGetFunction, "cuModuleGetFunction", CuResult(CuFunction *, CuModule, const char *))      \
  X(moduleGetGlobal, "cuModuleGetGlobal_v2",                                                       \
    CuResult(CuDevicePointer *, std::size_t *, CuModule, const char *))                            \
  X(funcGetAttribute, "cuFuncGetAttribute", CuResult(int *, CuFunctionAttribute, CuFunction))      \
  X(funcSetAttribute, "cuFuncSetAttribute", CuResult(CuFunction, CuFunctionAttribute, int))        \
  X(memAlloc, "cuMemAlloc_v2", CuResult(CuDevicePointer *, std::size_t))                           \
  X(memFree, "cuMemFree_v2", CuResult(CuDevicePointer))                                            \
  X(memcpyHtoD, "cuMemcpyHtoD_v2", CuResult(CuDevicePointer, const void *, std::size_t))           \
  X(memcpyDtoH, "cuMemcpyDtoH_v2", CuResult(void *, CuDevicePointer, std::size_t))                 \
  X(memcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                                       \
    CuResult(CuDevicePointer, const void *, std::size_t, CuStream))                                \
  X(memcpyDtoHAsync, "cuMemcpyDtoHAsync_v2",                                                       \
    CuResult(void *, CuDevicePointer, std::size_t, CuStream))                                      \
  X(memAllocHost, "cuMemAllocHost_v2", CuResult(void **, std::size_t))                             \
  X(memFreeHost, "cuMemFreeHost", CuResult(void *))                                                \
  X(memcpyDtoDAsync, "cuMemcpyDtoDAsync_v2",                                                       \
    CuResult(CuDevicePointer, CuDevicePointer, std::size_t, CuStream))                             \
  X(memsetD32Async, "cuMemsetD32Async",                                                            \
    CuResult(CuDevicePointer, unsigned, std::size_t, CuStream))                                    \
  X(streamCreate, "cuStreamCreate", CuResult(CuStream *, unsigned))                                \
  X(streamSynchronize, "cuStreamSynchronize", CuResult(CuStream))                                  \
  X(streamBeginCapture, "cuStreamBeginCapture_v2", CuResult(CuStream, int))                        \
  X(streamEndCapture, "cuStreamEndCapture", CuResult(CuStream, CuGraph *))                         \
  X(graphInstantiate, "cuGraphInstantiateWithFlags",                                               \
    CuResult(CuGraphExec *, CuGraph, unsigned long long))                                          \
  X(graphUpload, "cuGraphUpload", CuResult(CuGraphExec, CuStream))                                 \
  X(graphLaunch, "cuGraphLaunch", CuResult(CuGraphExec, CuStream))                                 \
  X(graphExecDestroy, "cuGraphExecDestroy", CuResult(CuGraphExec))                                 \
  X(graphDestroy, "cuGraphDestroy", CuResult(CuGraph))                                             \
  X(launchKernel, "cuLaunchKernel",                                                                \
    CuResult(CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
             CuStream, void **, void **))                                                          \
  X(launchCooperativeKernel, "cuLaunchCooperativeKernel",                                          \
    CuResult(CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
             CuStream, void **))                                                                   \
  X(eventCreate, "cuEventCreate", CuResult(CuEvent *, unsigned))                                   \
  X(eventRecord, "cuEventRecord", CuResult(CuEvent, CuStream))                                     \
  X(eventSynchronize, "cuEventSynchronize", CuResult(CuEvent))                                     \
  X(eventElapsedTime, "cuEventElapsedTime", CuResult(float *, CuEvent, CuEvent))                   \
  X(occupancyMaxActiveBlocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                       \
    CuResult(int *, CuFunction, int, std::size_t))

// Null if the driver is older than CUDA 12.4.
#define KOPT_DRIVER_OPTIONAL(X)                                                                    \
  X(moduleGetFunctionCount, "cuModuleGetFunctionCount", CuResult(unsigned *, CuModule))            \
  X(moduleEnumerateFunctions, "cuModuleEnumerateFunctions",                                        \
    CuResult(CuFunction *, unsigned, CuModule))                                                    \
  X(funcGetName, "cuFuncGetName", CuResult(const char **, CuFunction))                             \
  X(funcGetParamInfo, "cuFuncGetParamInfo",                                                        \
    CuResult(CuFunction, std::size_t, std::size_t *, std::size_t *))

template <class Signature> using FunctionPointer = Signature *;

struct DriverApi {
#define KOPT_DRIVER_MEMBER(member, name, ...) FunctionPointer<__VA_ARGS__> member = nullptr;
  KOPT_DRIVER_REQUIRED(KOPT_DRIVER_MEMBER)
  KOPT_DRIVER_OPTIONAL(KOPT_DRIVER_MEMBER)
#undef KOPT_DRIVER_MEMBER

  /// "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered".
  std::string describe(CuResult result) const;
};

/// Opens libcuda.so.1 for the life of the process. False, with the reason in `why`, if it or a
/// function is missing.
bool loadDriverApi(DriverApi &api, std::string &why);

} // namespace kopt::runtime::cuda
