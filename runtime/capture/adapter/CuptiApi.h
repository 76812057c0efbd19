// SPDX-License-Identifier: Apache-2.0
// The few functions and types of CUPTI and of the driver API that the capture library uses,
// declared here so that kopt builds without a toolkit; CallParametersTest compares them with the
// toolkit's headers if there is one. Names and numbers are NVIDIA's.
#pragma once

#include "runtime/cuda/DriverApi.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kopt::runtime::capture {

using cuda::CuContext;
using cuda::CuDevice;
using cuda::CuDevicePointer;
using cuda::CuFunction;
using cuda::CuGraph;
using cuda::CuGraphExec;
using cuda::CuModule;
using cuda::CuResult;
using cuda::CuStream;
using CuGraphNode = struct CuGraphNodeOpaque *;
using CuKernel = struct CuKernelOpaque *;
using CuLibrary = struct CuLibraryOpaque *;

enum CallbackDomain : int { kDomainDriver = 1, kDomainResource = 3 };
enum : std::uint32_t { kModuleLoaded = 6, kGraphNodeCloned = 20 };
enum ApiSite : int { kEnter = 0, kExit = 1 };
enum ActivityKind : std::uint32_t { kActivityKernel = 3, kActivityConcurrentKernel = 10 };

/// Driver functions whose calls are intercepted: CUPTI_DRIVER_TRACE_CBID_*.
enum DriverCall : std::uint32_t {
  kCtxDestroyV1 = 11,
  kModuleUnload = 22,
  kMemFreeHost = 38,
  kModuleGetGlobal = 241,
  kMemAlloc = 243,
  kMemAllocPitch = 244,
  kMemFree = 245,
  kMemHostAlloc = 271,
  kMemAllocHost = 294,
  kMemHostUnregister = 302,
  kLaunchKernel = 307,
  kCtxDestroy = 322,
  kMemAllocManaged = 371,
  kMemHostRegister = 379,
  kPrimaryCtxReset = 389,
  kLaunchKernelPtsz = 442,
  kLaunchCooperative = 477,
  kLaunchCooperativePtsz = 478,
  kLaunchCooperativeMultiDevice = 480,
  kBeginCaptureV1 = 495,
  kBeginCaptureV1Ptsz = 496,
  kEndCapture = 497,
  kEndCapturePtsz = 498,
  kGraphInstantiateV1 = 513,
  kGraphLaunch = 514,
  kGraphLaunchPtsz = 515,
  kGraphExecDestroy = 516,
  kGraphExecKernelNodeSetParamsV1 = 538,
  kBeginCapture = 539,
  kBeginCapturePtsz = 540,
  kPrimaryCtxResetV2 = 545,
  kMemMap = 551,
  kMemUnmap = 552,
  kGraphExecUpdateV1 = 561,
  kGraphInstantiateV2 = 578,
  kMemAllocAsync = 598,
  kMemAllocAsyncPtsz = 599,
  kMemFreeAsync = 600,
  kMemFreeAsyncPtsz = 601,
  kMemAllocFromPool = 611,
  kMemAllocFromPoolPtsz = 612,
  kGraphInstantiateWithFlags = 643,
  kLaunchKernelEx = 652,
  kLaunchKernelExPtsz = 653,
  kGraphInstantiateWithParams = 656,
  kGraphInstantiateWithParamsPtsz = 657,
  kLibraryUnload = 680,
  kLibraryGetKernel = 681,
  kLibraryGetGlobal = 684,
  kGraphExecKernelNodeSetParams = 692,
  kGraphExecUpdate = 696,
  kGraphExecNodeSetParams = 714,
  kBeginCaptureToGraph = 720,
  kBeginCaptureToGraphPtsz = 721,
  kLibraryEnumerateKernels = 740,
};

struct CallbackData { // CUpti_CallbackData
  ApiSite site;
  const char *functionName;
  const void *parameters;
  void *returnValue;
  const char *symbolName;
  CuContext context;
  std::uint32_t contextUid;
  std::uint64_t *correlationData;
  std::uint32_t correlationId;
};

struct ResourceData { // CUpti_ResourceData
  CuContext context;
  void *resource;
  void *descriptor;
};

struct ModuleResource { // CUpti_ModuleResourceData
  std::uint32_t moduleId;
  std::size_t cubinSize;
  const char *cubin;
};

struct GraphResource { // CUpti_GraphData
  CuGraph graph, originalGraph;
  CuGraphNode node, originalNode;
  int nodeType;
  CuGraphNode dependency;
  CuGraphExec graphExec;
};

/// The fields of CUpti_ActivityKernel5 and later that are read. The layout up to graphNodeId has
/// not changed since.
struct KernelActivity {
  std::uint32_t kind;
  std::uint8_t cacheConfig, sharedMemoryConfig;
  std::uint16_t registersPerThread;
  std::uint32_t partitionedRequested, partitionedExecuted;
  std::uint64_t start, end, completed;
  std::uint32_t deviceId, contextId, streamId;
  std::int32_t grid[3], block[3], staticSharedMemory, dynamicSharedMemory;
  std::uint32_t localMemoryPerThread, localMemoryTotal, correlationId;
  std::int64_t gridId;
  const char *name;
  void *reserved0;
  std::uint64_t queued, submitted;
  std::uint8_t launchType, carveoutSet, carveout, padding;
  std::uint32_t sharedMemoryExecuted;
  std::uint64_t graphNodeId;
};

using Subscriber = struct SubscriberOpaque *;
using CallbackFunction = void (*)(void *user, CallbackDomain domain, std::uint32_t id,
                                  const void *data);
using RequestBuffer = void (*)(std::uint8_t **buffer, std::size_t *size, std::size_t *maxRecords);
using BufferComplete = void (*)(CuContext, std::uint32_t stream, std::uint8_t *buffer,
                                std::size_t size, std::size_t valid);

#define KOPT_CUPTI_FUNCTIONS(X)                                                                    \
  X(subscribe, "cuptiSubscribe", int(Subscriber *, CallbackFunction, void *))                      \
  X(unsubscribe, "cuptiUnsubscribe", int(Subscriber))                                              \
  X(enableCallback, "cuptiEnableCallback",                                                         \
    int(std::uint32_t, Subscriber, CallbackDomain, std::uint32_t))                                 \
  X(getVersion, "cuptiGetVersion", int(std::uint32_t *))                                           \
  X(getResultString, "cuptiGetResultString", int(int, const char **))                              \
  X(activityRegisterCallbacks, "cuptiActivityRegisterCallbacks",                                   \
    int(RequestBuffer, BufferComplete))                                                            \
  X(activityEnable, "cuptiActivityEnable", int(ActivityKind))                                      \
  X(activityFlushAll, "cuptiActivityFlushAll", int(std::uint32_t))                                 \
  X(activityGetNextRecord, "cuptiActivityGetNextRecord",                                           \
    int(std::uint8_t *, std::size_t, void **))                                                     \
  X(activityGetNumDroppedRecords, "cuptiActivityGetNumDroppedRecords",                             \
    int(CuContext, std::uint32_t, std::size_t *))
/// Null if CUPTI is too old.
#define KOPT_CUPTI_OPTIONAL(X)                                                                     \
  X(activityFlushPeriod, "cuptiActivityFlushPeriod", int(std::uint32_t))                           \
  X(getGraphNodeId, "cuptiGetGraphNodeId", int(CuGraphNode, std::uint64_t *))

struct CuptiApi {
#define KOPT_MEMBER(member, name, ...) cuda::FunctionPointer<__VA_ARGS__> member = nullptr;
  KOPT_CUPTI_FUNCTIONS(KOPT_MEMBER)
  KOPT_CUPTI_OPTIONAL(KOPT_MEMBER)
#undef KOPT_MEMBER
  std::string describe(int result) const;
};

/// Opens CUPTI: tries the given paths first, then the loader's search, then the toolkit's usual
/// places. False, with the reason in `why`, if none loads.
bool loadCupti(const std::vector<std::string> &paths, CuptiApi &api, std::string &why);

// Driver functions in addition to those of runtime/cuda. All are optional: without one of them, the
// trace contains less.
#define KOPT_CAPTURE_DRIVER(X)                                                                     \
  X(driverGetVersion, "cuDriverGetVersion", CuResult(int *))                                       \
  X(funcGetName, "cuFuncGetName", CuResult(const char **, CuFunction))                             \
  X(funcGetParamInfo, "cuFuncGetParamInfo",                                                        \
    CuResult(CuFunction, std::size_t, std::size_t *, std::size_t *))                               \
  X(funcGetModule, "cuFuncGetModule", CuResult(CuModule *, CuFunction))                            \
  X(kernelGetName, "cuKernelGetName", CuResult(const char **, CuKernel))                           \
  X(kernelGetParamInfo, "cuKernelGetParamInfo",                                                    \
    CuResult(CuKernel, std::size_t, std::size_t *, std::size_t *))                                 \
  X(kernelGetFunction, "cuKernelGetFunction", CuResult(CuFunction *, CuKernel))                    \
  X(moduleGetGlobal, "cuModuleGetGlobal_v2",                                                       \
    CuResult(CuDevicePointer *, std::size_t *, CuModule, const char *))                            \
  X(libraryGetGlobal, "cuLibraryGetGlobal",                                                        \
    CuResult(CuDevicePointer *, std::size_t *, CuLibrary, const char *))                           \
  X(streamQuery, "cuStreamQuery", CuResult(CuStream))                                              \
  X(streamIsCapturing, "cuStreamIsCapturing", CuResult(CuStream, int *))                           \
  X(streamCreate, "cuStreamCreate", CuResult(CuStream *, unsigned))                                \
  X(streamDestroy, "cuStreamDestroy_v2", CuResult(CuStream))                                       \
  X(streamSynchronize, "cuStreamSynchronize", CuResult(CuStream))                                  \
  X(memcpyDtoHAsync, "cuMemcpyDtoHAsync_v2",                                                       \
    CuResult(void *, CuDevicePointer, std::size_t, CuStream))                                      \
  X(ctxGetDevice, "cuCtxGetDevice", CuResult(CuDevice *))                                          \
  X(ctxGetLimit, "cuCtxGetLimit", CuResult(std::size_t *, cuda::CuLimit))                          \
  X(deviceGetName, "cuDeviceGetName", CuResult(char *, int, CuDevice))                             \
  X(deviceGetUuid, "cuDeviceGetUuid_v2", CuResult(cuda::CuUuid *, CuDevice))                       \
  X(graphGetNodes, "cuGraphGetNodes", CuResult(CuGraph, CuGraphNode *, std::size_t *))             \
  X(graphNodeGetType, "cuGraphNodeGetType", CuResult(CuGraphNode, int *))                          \
  X(graphKernelNodeGetParams, "cuGraphKernelNodeGetParams_v2", CuResult(CuGraphNode, void *))      \
  X(graphChildGetGraph, "cuGraphChildGraphNodeGetGraph", CuResult(CuGraphNode, CuGraph *))

struct CaptureDriver {
#define KOPT_MEMBER(member, name, ...) cuda::FunctionPointer<__VA_ARGS__> member = nullptr;
  KOPT_CAPTURE_DRIVER(KOPT_MEMBER)
#undef KOPT_MEMBER
};

/// Calls a function of the driver, if it has it.
template <class... Parameters, class... Arguments>
CuResult called(CuResult (*function)(Parameters...), Arguments... arguments) {
  return function ? function(arguments...) : CuResult(cuda::kErrorNotFound);
}

/// Finds the functions in the driver that the program has loaded. False, with the reason in `why`,
/// if that fails.
bool loadCaptureDriver(CaptureDriver &driver, std::string &why);

} // namespace kopt::runtime::capture
