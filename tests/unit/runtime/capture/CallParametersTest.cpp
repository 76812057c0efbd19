// SPDX-License-Identifier: Apache-2.0
// The adapter's own declarations against those of the toolkit that is installed here.
#include "runtime/capture/adapter/CallParameters.h"

#include <cuda.h>
#include <cupti.h>
#include <gtest/gtest.h>

namespace {

namespace own = kopt::runtime::capture;

#define SAME(ours, member, theirs, field)                                                          \
  static_assert(offsetof(ours, member) == offsetof(theirs, field) &&                               \
                sizeof(static_cast<ours *>(nullptr)->member) >=                                    \
                    sizeof(static_cast<theirs *>(nullptr)->field))

SAME(own::CallbackData, site, CUpti_CallbackData, callbackSite);
SAME(own::CallbackData, parameters, CUpti_CallbackData, functionParams);
SAME(own::CallbackData, returnValue, CUpti_CallbackData, functionReturnValue);
SAME(own::CallbackData, symbolName, CUpti_CallbackData, symbolName);
SAME(own::CallbackData, context, CUpti_CallbackData, context);
SAME(own::CallbackData, correlationId, CUpti_CallbackData, correlationId);
SAME(own::ResourceData, descriptor, CUpti_ResourceData, resourceDescriptor);
SAME(own::ModuleResource, cubinSize, CUpti_ModuleResourceData, cubinSize);
SAME(own::ModuleResource, cubin, CUpti_ModuleResourceData, pCubin);
SAME(own::GraphResource, node, CUpti_GraphData, node);
SAME(own::GraphResource, originalNode, CUpti_GraphData, originalNode);

#if CUPTI_API_VERSION >= 130000
using Kernel = CUpti_ActivityKernel10;
#else
using Kernel = CUpti_ActivityKernel9;
#endif
SAME(own::KernelActivity, kind, Kernel, kind);
SAME(own::KernelActivity, start, Kernel, start);
SAME(own::KernelActivity, end, Kernel, end);
SAME(own::KernelActivity, correlationId, Kernel, correlationId);
SAME(own::KernelActivity, name, Kernel, name);
SAME(own::KernelActivity, graphNodeId, Kernel, graphNodeId);
static_assert(sizeof(own::KernelActivity) <= sizeof(Kernel));

SAME(own::LaunchKernelCall, function, cuLaunchKernel_params, f);
SAME(own::LaunchKernelCall, grid, cuLaunchKernel_params, gridDimX);
SAME(own::LaunchKernelCall, block, cuLaunchKernel_params, blockDimX);
SAME(own::LaunchKernelCall, sharedBytes, cuLaunchKernel_params, sharedMemBytes);
SAME(own::LaunchKernelCall, stream, cuLaunchKernel_params, hStream);
SAME(own::LaunchKernelCall, parameters, cuLaunchKernel_params, kernelParams);
SAME(own::LaunchKernelCall, extra, cuLaunchKernel_params, extra);
SAME(own::LaunchCooperativeCall, parameters, cuLaunchCooperativeKernel_params, kernelParams);
SAME(own::LaunchCooperativeCall, parameters, CUDA_LAUNCH_PARAMS, kernelParams);
static_assert(sizeof(own::LaunchCooperativeCall) == sizeof(CUDA_LAUNCH_PARAMS));
SAME(own::MultiDeviceLaunchCall, count, cuLaunchCooperativeKernelMultiDevice_params, numDevices);
SAME(own::LaunchKernelExCall, config, cuLaunchKernelEx_params, config);
SAME(own::LaunchKernelExCall, extra, cuLaunchKernelEx_params, extra);
SAME(own::LaunchConfig, stream, CUlaunchConfig, hStream);
SAME(own::LaunchConfig, attributes, CUlaunchConfig, attrs);
SAME(own::LaunchConfig, attributeCount, CUlaunchConfig, numAttrs);
SAME(own::LaunchAttribute, value, CUlaunchAttribute, value);
static_assert(sizeof(own::LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(int(own::kAttributeCooperative) == int(CU_LAUNCH_ATTRIBUTE_COOPERATIVE));
static_assert(int(own::kAttributeCluster) == int(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION));
SAME(own::KernelNodeParameters, function, CUDA_KERNEL_NODE_PARAMS, func);
SAME(own::KernelNodeParameters, grid, CUDA_KERNEL_NODE_PARAMS, gridDimX);
SAME(own::KernelNodeParameters, sharedBytes, CUDA_KERNEL_NODE_PARAMS, sharedMemBytes);
SAME(own::KernelNodeParameters, parameters, CUDA_KERNEL_NODE_PARAMS, kernelParams);
SAME(own::KernelNodeParameters, kernel, CUDA_KERNEL_NODE_PARAMS, kern);
static_assert(sizeof(own::KernelNodeParameters) == sizeof(CUDA_KERNEL_NODE_PARAMS));
SAME(own::GraphInstantiateCall, graph, cuGraphInstantiateWithFlags_params, hGraph);
SAME(own::GraphInstantiateCall, graph, cuGraphInstantiateWithParams_params, hGraph);
SAME(own::GraphLaunchCall, stream, cuGraphLaunch_params, hStream);
SAME(own::GraphExecUpdateCall, graph, cuGraphExecUpdate_v2_params, hGraph);
SAME(own::GraphExecKernelNodeSetParamsCall, node, cuGraphExecKernelNodeSetParams_v2_params, hNode);
SAME(own::GraphExecKernelNodeSetParamsCall, parameters, cuGraphExecKernelNodeSetParams_v2_params,
     nodeParams);
SAME(own::MemAllocCall, bytes, cuMemAlloc_v2_params, bytesize);
SAME(own::MemAllocCall, bytes, cuMemAllocManaged_params, bytesize);
SAME(own::MemAllocCall, bytes, cuMemAllocAsync_params, bytesize);
SAME(own::MemAllocCall, bytes, cuMemAllocFromPoolAsync_params, bytesize);
SAME(own::MemAllocPitchCall, pitch, cuMemAllocPitch_v2_params, pPitch);
SAME(own::MemAllocPitchCall, width, cuMemAllocPitch_v2_params, WidthInBytes);
SAME(own::MemAllocPitchCall, height, cuMemAllocPitch_v2_params, Height);
SAME(own::MemFreeCall, pointer, cuMemFree_v2_params, dptr);
SAME(own::MemFreeCall, pointer, cuMemFreeAsync_params, dptr);
SAME(own::MemHostAllocCall, pointer, cuMemHostAlloc_params, pp);
SAME(own::MemHostAllocCall, bytes, cuMemHostAlloc_params, bytesize);
SAME(own::MemHostAllocCall, bytes, cuMemAllocHost_v2_params, bytesize);
SAME(own::MemHostRegisterCall, bytes, cuMemHostRegister_v2_params, bytesize);
SAME(own::MemHostPointerCall, pointer, cuMemFreeHost_params, p);
SAME(own::MemHostPointerCall, pointer, cuMemHostUnregister_params, p);
SAME(own::MemMapCall, bytes, cuMemMap_params, size);
SAME(own::MemMapCall, bytes, cuMemUnmap_params, size);
SAME(own::GetGlobalCall, bytes, cuModuleGetGlobal_v2_params, bytes);
SAME(own::GetGlobalCall, name, cuLibraryGetGlobal_params, name);
SAME(own::LibraryGetKernelCall, name, cuLibraryGetKernel_params, name);
SAME(own::LibraryEnumerateKernelsCall, count, cuLibraryEnumerateKernels_params, numKernels);

#define CALL(ours, theirs) static_assert(int(own::ours) == int(CUPTI_DRIVER_TRACE_CBID_##theirs))
CALL(kCtxDestroyV1, cuCtxDestroy);
CALL(kModuleUnload, cuModuleUnload);
CALL(kMemFreeHost, cuMemFreeHost);
CALL(kModuleGetGlobal, cuModuleGetGlobal_v2);
CALL(kMemAlloc, cuMemAlloc_v2);
CALL(kMemAllocPitch, cuMemAllocPitch_v2);
CALL(kMemFree, cuMemFree_v2);
CALL(kMemHostAlloc, cuMemHostAlloc_v2);
CALL(kMemAllocHost, cuMemAllocHost_v2);
CALL(kMemHostUnregister, cuMemHostUnregister);
CALL(kLaunchKernel, cuLaunchKernel);
CALL(kCtxDestroy, cuCtxDestroy_v2);
CALL(kMemAllocManaged, cuMemAllocManaged);
CALL(kMemHostRegister, cuMemHostRegister_v2);
CALL(kPrimaryCtxReset, cuDevicePrimaryCtxReset);
CALL(kLaunchKernelPtsz, cuLaunchKernel_ptsz);
CALL(kLaunchCooperative, cuLaunchCooperativeKernel);
CALL(kLaunchCooperativePtsz, cuLaunchCooperativeKernel_ptsz);
CALL(kLaunchCooperativeMultiDevice, cuLaunchCooperativeKernelMultiDevice);
CALL(kBeginCaptureV1, cuStreamBeginCapture);
CALL(kBeginCaptureV1Ptsz, cuStreamBeginCapture_ptsz);
CALL(kEndCapture, cuStreamEndCapture);
CALL(kEndCapturePtsz, cuStreamEndCapture_ptsz);
CALL(kGraphInstantiateV1, cuGraphInstantiate);
CALL(kGraphLaunch, cuGraphLaunch);
CALL(kGraphLaunchPtsz, cuGraphLaunch_ptsz);
CALL(kGraphExecDestroy, cuGraphExecDestroy);
CALL(kGraphExecKernelNodeSetParamsV1, cuGraphExecKernelNodeSetParams);
CALL(kBeginCapture, cuStreamBeginCapture_v2);
CALL(kBeginCapturePtsz, cuStreamBeginCapture_v2_ptsz);
CALL(kPrimaryCtxResetV2, cuDevicePrimaryCtxReset_v2);
CALL(kMemMap, cuMemMap);
CALL(kMemUnmap, cuMemUnmap);
CALL(kGraphExecUpdateV1, cuGraphExecUpdate);
CALL(kGraphInstantiateV2, cuGraphInstantiate_v2);
CALL(kMemAllocAsync, cuMemAllocAsync);
CALL(kMemAllocAsyncPtsz, cuMemAllocAsync_ptsz);
CALL(kMemFreeAsync, cuMemFreeAsync);
CALL(kMemFreeAsyncPtsz, cuMemFreeAsync_ptsz);
CALL(kMemAllocFromPool, cuMemAllocFromPoolAsync);
CALL(kMemAllocFromPoolPtsz, cuMemAllocFromPoolAsync_ptsz);
CALL(kGraphInstantiateWithFlags, cuGraphInstantiateWithFlags);
CALL(kLaunchKernelEx, cuLaunchKernelEx);
CALL(kLaunchKernelExPtsz, cuLaunchKernelEx_ptsz);
CALL(kGraphInstantiateWithParams, cuGraphInstantiateWithParams);
CALL(kGraphInstantiateWithParamsPtsz, cuGraphInstantiateWithParams_ptsz);
CALL(kLibraryUnload, cuLibraryUnload);
CALL(kLibraryGetKernel, cuLibraryGetKernel);
CALL(kLibraryGetGlobal, cuLibraryGetGlobal);
CALL(kGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v2);
CALL(kGraphExecUpdate, cuGraphExecUpdate_v2);
CALL(kGraphExecNodeSetParams, cuGraphExecNodeSetParams);
CALL(kBeginCaptureToGraph, cuStreamBeginCaptureToGraph);
CALL(kBeginCaptureToGraphPtsz, cuStreamBeginCaptureToGraph_ptsz);
CALL(kLibraryEnumerateKernels, cuLibraryEnumerateKernels);

static_assert(int(own::kDomainDriver) == int(CUPTI_CB_DOMAIN_DRIVER_API));
static_assert(int(own::kDomainResource) == int(CUPTI_CB_DOMAIN_RESOURCE));
static_assert(int(own::kModuleLoaded) == int(CUPTI_CBID_RESOURCE_MODULE_LOADED));
static_assert(int(own::kGraphNodeCloned) == int(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED));
static_assert(int(own::kEnter) == int(CUPTI_API_ENTER) && int(own::kExit) == int(CUPTI_API_EXIT));
static_assert(int(own::kActivityConcurrentKernel) == int(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
static_assert(int(own::kActivityKernel) == int(CUPTI_ACTIVITY_KIND_KERNEL));

TEST(AdapterAbi, MatchesTheToolkitsHeaders) { SUCCEED() << "checked when this was compiled"; }

} // namespace
