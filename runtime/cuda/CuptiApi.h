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

// What each block begins with. Its size() ends with its last member, without the padding after it:
// as CUPTI's own macro does.
#define KOPT_CUPTI_BLOCK(Self, last)                                                               \
  std::size_t structSize;                                                                          \
  void *priv;                                                                                      \
  static constexpr std::size_t size() { return offsetof(Self, last) + sizeof(Self::last); }

struct InitializeParams {
  KOPT_CUPTI_BLOCK(InitializeParams, priv)
};
struct ChipNameParams {
  KOPT_CUPTI_BLOCK(ChipNameParams, chipName)
  std::size_t deviceIndex;
  const char *chipName;
};
struct CounterAvailabilityParams {
  KOPT_CUPTI_BLOCK(CounterAvailabilityParams, image)
  CuContext context;
  std::size_t imageSize;
  std::uint8_t *image;
};
struct HostInitializeParams {
  KOPT_CUPTI_BLOCK(HostInitializeParams, host)
  ProfilerType profilerType;
  const char *chipName;
  const std::uint8_t *counterAvailabilityImage;
  HostObject *host;
};
struct HostDeinitializeParams {
  KOPT_CUPTI_BLOCK(HostDeinitializeParams, host)
  HostObject *host;
};
struct AddMetricsParams {
  KOPT_CUPTI_BLOCK(AddMetricsParams, count)
  HostObject *host;
  const char **names;
  std::size_t count;
};
struct ConfigImageSizeParams {
  KOPT_CUPTI_BLOCK(ConfigImageSizeParams, imageSize)
  HostObject *host;
  std::size_t imageSize;
};
struct ConfigImageParams {
  KOPT_CUPTI_BLOCK(ConfigImageParams, image)
  HostObject *host;
  std::size_t imageSize;
  std::uint8_t *image;
};
struct PassesParams {
  KOPT_CUPTI_BLOCK(PassesParams, passes)
  std::size_t imageSize;
  std::uint8_t *image;
  std::size_t passes;
};
struct EvaluateParams {
  KOPT_CUPTI_BLOCK(EvaluateParams, values)
  HostObject *host;
  const std::uint8_t *counterData;
  std::size_t counterDataSize;
  std::size_t rangeIndex;
  const char **names;
  std::size_t count;
  double *values;
};
struct EnableParams {
  KOPT_CUPTI_BLOCK(EnableParams, profiler)
  CuContext context;
  RangeProfilerObject *profiler;
};
/// Parameters of Disable and Start.
struct ProfilerParams {
  KOPT_CUPTI_BLOCK(ProfilerParams, profiler)
  RangeProfilerObject *profiler;
};
struct CounterDataSizeParams {
  KOPT_CUPTI_BLOCK(CounterDataSizeParams, counterDataSize)
  RangeProfilerObject *profiler;
  const char **names;
  std::size_t count;
  std::size_t maxRanges;
  std::uint32_t maxRangeTreeNodes;
  std::size_t counterDataSize;
};
struct CounterDataParams {
  KOPT_CUPTI_BLOCK(CounterDataParams, counterData)
  RangeProfilerObject *profiler;
  std::size_t counterDataSize;
  std::uint8_t *counterData;
};
struct SetConfigParams {
  KOPT_CUPTI_BLOCK(SetConfigParams, targetNestingLevel)
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
};
struct StopParams {
  KOPT_CUPTI_BLOCK(StopParams, allPassesSubmitted)
  RangeProfilerObject *profiler;
  std::size_t passIndex;
  std::size_t targetNestingLevel;
  std::uint8_t allPassesSubmitted;
};
struct DecodeParams {
  KOPT_CUPTI_BLOCK(DecodeParams, rangesDropped)
  RangeProfilerObject *profiler;
  std::size_t rangesDropped;
};
struct CounterDataInfoParams {
  KOPT_CUPTI_BLOCK(CounterDataInfoParams, ranges)
  const std::uint8_t *counterData;
  std::size_t counterDataSize;
  std::size_t ranges;
};
#undef KOPT_CUPTI_BLOCK

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

/// A function of CUPTI that takes one parameter block.
template <class Params> struct Function {
  using Pointer = FunctionPointer<Result(Params *)>;
  const char *name;
  Pointer pointer = nullptr;
  void operator=(Pointer found) { pointer = found; }
  Result operator()(Params &params) const { return pointer(&params); }
};

struct Api {
#define KOPT_CUPTI_MEMBER(member, name, Params) Function<Params> member{name};
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
