// SPDX-License-Identifier: Apache-2.0
// The functions of CUPTI's range profiler that kopt uses, declared here so that kopt builds without
// a toolkit, and found at run time. Layouts and numbers are those of cupti_profiler_host.h,
// cupti_profiler_target.h, cupti_range_profiler.h and cupti_target.h (CUDA 12.6 and later); a test
// compares them with the headers.
#pragma once

#include "runtime/cuda/DriverApi.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace kopt::runtime::cuda::cupti {

using Result = int;

enum : Result {
  kOk = 0,
  kInsufficientPrivileges = 35,
  kVirtualizedInsufficientPrivileges = 40,
};

enum ProfilerType : int { kRangeProfiler = 0 };
enum Range : int { kAutoRange = 1 }; ///< one range for each kernel
enum ReplayMode : int { kUserReplay = 3 };

struct HostObject;
struct RangeProfilerObject;

/// A parameter block with its size set, which every call requires.
template <class Params> Params params() {
  Params made{};
  made.structSize = Params::size();
  return made;
}

// Each block's size() ends with its last member, without the padding after it: as CUPTI's own macro
// does.
#define KOPT_CUPTI_SIZE(last)                                                                      \
  static constexpr std::size_t size() { return offsetof(Self, last) + sizeof(Self::last); }

struct InitializeParams {
  using Self = InitializeParams;
  std::size_t structSize;
  void *priv;
  KOPT_CUPTI_SIZE(priv)
};
struct ChipNameParams {
  using Self = ChipNameParams;
  std::size_t structSize;
  void *priv;
  std::size_t deviceIndex;
  const char *chipName;
  KOPT_CUPTI_SIZE(chipName)
};
struct CounterAvailabilityParams {
  using Self = CounterAvailabilityParams;
  std::size_t structSize;
  void *priv;
  CuContext context;
  std::size_t imageSize;
  std::uint8_t *image;
  KOPT_CUPTI_SIZE(image)
};
struct HostInitializeParams {
  using Self = HostInitializeParams;
  std::size_t structSize;
  void *priv;
  ProfilerType profilerType;
  const char *chipName;
  const std::uint8_t *counterAvailabilityImage;
  HostObject *host;
  KOPT_CUPTI_SIZE(host)
};
struct HostDeinitializeParams {
  using Self = HostDeinitializeParams;
  std::size_t structSize;
  void *priv;
  HostObject *host;
  KOPT_CUPTI_SIZE(host)
};
struct AddMetricsParams {
  using Self = AddMetricsParams;
  std::size_t structSize;
  void *priv;
  HostObject *host;
  const char **names;
  std::size_t count;
  KOPT_CUPTI_SIZE(count)
};
struct ConfigImageSizeParams {
  using Self = ConfigImageSizeParams;
  std::size_t structSize;
  void *priv;
  HostObject *host;
  std::size_t imageSize;
  KOPT_CUPTI_SIZE(imageSize)
};
struct ConfigImageParams {
  using Self = ConfigImageParams;
  std::size_t structSize;
  void *priv;
  HostObject *host;
  std::size_t imageSize;
  std::uint8_t *image;
  KOPT_CUPTI_SIZE(image)
};
struct PassesParams {
  using Self = PassesParams;
  std::size_t structSize;
  void *priv;
  std::size_t imageSize;
  std::uint8_t *image;
  std::size_t passes;
  KOPT_CUPTI_SIZE(passes)
};
struct EvaluateParams {
  using Self = EvaluateParams;
  std::size_t structSize;
  void *priv;
  HostObject *host;
  const std::uint8_t *counterData;
  std::size_t counterDataSize;
  std::size_t rangeIndex;
  const char **names;
  std::size_t count;
  double *values;
  KOPT_CUPTI_SIZE(values)
};
struct EnableParams {
  using Self = EnableParams;
  std::size_t structSize;
  void *priv;
  CuContext context;
  RangeProfilerObject *profiler;
  KOPT_CUPTI_SIZE(profiler)
};
/// Parameters of Disable and Start.
struct ProfilerParams {
  using Self = ProfilerParams;
  std::size_t structSize;
  void *priv;
  RangeProfilerObject *profiler;
  KOPT_CUPTI_SIZE(profiler)
};
struct CounterDataSizeParams {
  using Self = CounterDataSizeParams;
  std::size_t structSize;
  void *priv;
  RangeProfilerObject *profiler;
  const char **names;
  std::size_t count;
  std::size_t maxRanges;
  std::uint32_t maxRangeTreeNodes;
  std::size_t counterDataSize;
  KOPT_CUPTI_SIZE(counterDataSize)
};
struct CounterDataParams {
  using Self = CounterDataParams;
  std::size_t structSize;
  void *priv;
  RangeProfilerObject *profiler;
  std::size_t counterDataSize;
  std::uint8_t *counterData;
  KOPT_CUPTI_SIZE(counterData)
};
struct SetConfigParams {
  using Self = SetConfigParams;
  std::size_t structSize;
  void *priv;
  RangeProfilerObject *profiler;
  std::size_t configSize;
  const std::uint8_t *config;
  std::size_t counterDataSize;
  std::uint8_t *counterData;
  Range range;
  ReplayMode replayMode;
  std::size_t maxRangesPerPass;
  std::uint16_t nestingLevels;
  std::uint16_t minNestingLevel;
  std::size_t passIndex;
  std::uint16_t targetNestingLevel;
  KOPT_CUPTI_SIZE(targetNestingLevel)
};
struct StopParams {
  using Self = StopParams;
  std::size_t structSize;
  void *priv;
  RangeProfilerObject *profiler;
  std::size_t passIndex;
  std::size_t targetNestingLevel;
  std::uint8_t allPassesSubmitted;
  KOPT_CUPTI_SIZE(allPassesSubmitted)
};
struct DecodeParams {
  using Self = DecodeParams;
  std::size_t structSize;
  void *priv;
  RangeProfilerObject *profiler;
  std::size_t rangesDropped;
  KOPT_CUPTI_SIZE(rangesDropped)
};
struct CounterDataInfoParams {
  using Self = CounterDataInfoParams;
  std::size_t structSize;
  void *priv;
  const std::uint8_t *counterData;
  std::size_t counterDataSize;
  std::size_t ranges;
  KOPT_CUPTI_SIZE(ranges)
};
#undef KOPT_CUPTI_SIZE

// X(member, exported name, parameter block)
#define KOPT_CUPTI_FUNCTIONS(X)                                                                    \
  X(initialize, "cuptiProfilerInitialize", InitializeParams)                                       \
  X(chipName, "cuptiDeviceGetChipName", ChipNameParams)                                            \
  X(counterAvailability, "cuptiProfilerGetCounterAvailability", CounterAvailabilityParams)         \
  X(hostInitialize, "cuptiProfilerHostInitialize", HostInitializeParams)                           \
  X(hostDeinitialize, "cuptiProfilerHostDeinitialize", HostDeinitializeParams)                     \
  X(addMetrics, "cuptiProfilerHostConfigAddMetrics", AddMetricsParams)                             \
  X(configImageSize, "cuptiProfilerHostGetConfigImageSize", ConfigImageSizeParams)                 \
  X(configImage, "cuptiProfilerHostGetConfigImage", ConfigImageParams)                             \
  X(passes, "cuptiProfilerHostGetNumOfPasses", PassesParams)                                       \
  X(evaluate, "cuptiProfilerHostEvaluateToGpuValues", EvaluateParams)                              \
  X(enable, "cuptiRangeProfilerEnable", EnableParams)                                              \
  X(disable, "cuptiRangeProfilerDisable", ProfilerParams)                                          \
  X(counterDataSize, "cuptiRangeProfilerGetCounterDataSize", CounterDataSizeParams)                \
  X(counterDataInitialize, "cuptiRangeProfilerCounterDataImageInitialize", CounterDataParams)      \
  X(setConfig, "cuptiRangeProfilerSetConfig", SetConfigParams)                                     \
  X(start, "cuptiRangeProfilerStart", ProfilerParams)                                              \
  X(stop, "cuptiRangeProfilerStop", StopParams)                                                    \
  X(decode, "cuptiRangeProfilerDecodeData", DecodeParams)                                          \
  X(counterDataInfo, "cuptiRangeProfilerGetCounterDataInfo", CounterDataInfoParams)

struct Api {
#define KOPT_CUPTI_MEMBER(member, name, Params) FunctionPointer<Result(Params *)> member = nullptr;
  KOPT_CUPTI_FUNCTIONS(KOPT_CUPTI_MEMBER)
#undef KOPT_CUPTI_MEMBER
  FunctionPointer<Result(Result, const char **)> resultString = nullptr;

  /// "CUPTI_ERROR_HARDWARE_BUSY (26)".
  std::string describe(Result result) const;
};

/// Opens libcupti for the life of the process. KOPT_CUPTI, which kopt sets, lists files separated
/// by colons; the first that loads is used, and an empty list means no CUPTI. If it is unset,
/// libcupti is found by name. False, with the reason and the remedy in `why`, if CUPTI or a
/// function of it is missing.
bool load(Api &api, std::string &why);

} // namespace kopt::runtime::cuda::cupti
