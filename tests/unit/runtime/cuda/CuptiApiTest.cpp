// SPDX-License-Identifier: Apache-2.0
// kopt's declarations of CUPTI against the toolkit's own headers. Compiled only where those are.
#include "runtime/cuda/CuptiApi.h"

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <gtest/gtest.h>

namespace {

using namespace kopt::runtime::cuda::cupti;

#define SAME(ours, theirs) EXPECT_EQ(ours::size(), theirs##_STRUCT_SIZE) << #ours
#define AT(ours, member, theirs, other)                                                            \
  EXPECT_EQ(offsetof(ours, member), offsetof(theirs, other)) << #ours "::" #member;                \
  EXPECT_EQ(sizeof(ours::member), sizeof(theirs::other)) << #ours "::" #member

TEST(Cupti, LayoutsAreTheHeaders) {
  SAME(InitializeParams, CUpti_Profiler_Initialize_Params);
  SAME(ChipNameParams, CUpti_Device_GetChipName_Params);
  AT(ChipNameParams, deviceIndex, CUpti_Device_GetChipName_Params, deviceIndex);
  SAME(CounterAvailabilityParams, CUpti_Profiler_GetCounterAvailability_Params);
  AT(CounterAvailabilityParams, context, CUpti_Profiler_GetCounterAvailability_Params, ctx);
  AT(CounterAvailabilityParams, imageSize, CUpti_Profiler_GetCounterAvailability_Params,
     counterAvailabilityImageSize);
  SAME(HostInitializeParams, CUpti_Profiler_Host_Initialize_Params);
  AT(HostInitializeParams, profilerType, CUpti_Profiler_Host_Initialize_Params, profilerType);
  AT(HostInitializeParams, chipName, CUpti_Profiler_Host_Initialize_Params, pChipName);
  AT(HostInitializeParams, counterAvailabilityImage, CUpti_Profiler_Host_Initialize_Params,
     pCounterAvailabilityImage);
  SAME(HostDeinitializeParams, CUpti_Profiler_Host_Deinitialize_Params);
  SAME(AddMetricsParams, CUpti_Profiler_Host_ConfigAddMetrics_Params);
  AT(AddMetricsParams, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
  SAME(ConfigImageSizeParams, CUpti_Profiler_Host_GetConfigImageSize_Params);
  SAME(ConfigImageParams, CUpti_Profiler_Host_GetConfigImage_Params);
  AT(ConfigImageParams, imageSize, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
  SAME(PassesParams, CUpti_Profiler_Host_GetNumOfPasses_Params);
  AT(PassesParams, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
  SAME(EvaluateParams, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
  AT(EvaluateParams, counterData, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
     pCounterDataImage);
  AT(EvaluateParams, rangeIndex, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
  AT(EvaluateParams, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
  SAME(EnableParams, CUpti_RangeProfiler_Enable_Params);
  AT(EnableParams, context, CUpti_RangeProfiler_Enable_Params, ctx);
  SAME(ProfilerParams, CUpti_RangeProfiler_Disable_Params);
  SAME(ProfilerParams, CUpti_RangeProfiler_Start_Params);
  SAME(CounterDataSizeParams, CUpti_RangeProfiler_GetCounterDataSize_Params);
  AT(CounterDataSizeParams, names, CUpti_RangeProfiler_GetCounterDataSize_Params, pMetricNames);
  AT(CounterDataSizeParams, maxRanges, CUpti_RangeProfiler_GetCounterDataSize_Params,
     maxNumOfRanges);
  AT(CounterDataSizeParams, maxRangeTreeNodes, CUpti_RangeProfiler_GetCounterDataSize_Params,
     maxNumRangeTreeNodes);
  SAME(CounterDataParams, CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
  AT(CounterDataParams, counterDataSize, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
     counterDataSize);
  SAME(SetConfigParams, CUpti_RangeProfiler_SetConfig_Params);
  AT(SetConfigParams, config, CUpti_RangeProfiler_SetConfig_Params, pConfig);
  AT(SetConfigParams, counterData, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
  AT(SetConfigParams, range, CUpti_RangeProfiler_SetConfig_Params, range);
  AT(SetConfigParams, replayMode, CUpti_RangeProfiler_SetConfig_Params, replayMode);
  AT(SetConfigParams, maxRangesPerPass, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass);
  AT(SetConfigParams, nestingLevels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels);
  AT(SetConfigParams, minNestingLevel, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel);
  AT(SetConfigParams, passIndex, CUpti_RangeProfiler_SetConfig_Params, passIndex);
  SAME(StopParams, CUpti_RangeProfiler_Stop_Params);
  AT(StopParams, passIndex, CUpti_RangeProfiler_Stop_Params, passIndex);
  SAME(DecodeParams, CUpti_RangeProfiler_DecodeData_Params);
  SAME(CounterDataInfoParams, CUpti_RangeProfiler_GetCounterDataInfo_Params);
  AT(CounterDataInfoParams, counterData, CUpti_RangeProfiler_GetCounterDataInfo_Params,
     pCounterDataImage);
}

TEST(Cupti, NumbersAreTheHeaders) {
  EXPECT_EQ(int(kOk), int(CUPTI_SUCCESS));
  EXPECT_EQ(int(kInsufficientPrivileges), int(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES));
  EXPECT_EQ(int(kVirtualizedInsufficientPrivileges),
            int(CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES));
  EXPECT_EQ(int(kRangeProfiler), int(CUPTI_PROFILER_TYPE_RANGE_PROFILER));
  EXPECT_EQ(int(kAutoRange), int(CUPTI_AutoRange));
  EXPECT_EQ(int(kUserReplay), int(CUPTI_UserReplay));
}

} // namespace
