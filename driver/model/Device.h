// SPDX-License-Identifier: Apache-2.0
// What is asked of a device, and what it answers: plain data.
#pragma once

#include "driver/model/Counters.h"
#include "driver/model/Fields.h"
#include "driver/model/Workload.h"
#include "driver/support/Clock.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

enum class DeviceKind {
  Auto, ///< asked for: a CUDA device where one answers, otherwise the emulated one
  Cuda,
  Emulated,
};
template <> struct EnumNames<DeviceKind> {
  static constexpr std::pair<DeviceKind, const char *> kAll[] = {
      {DeviceKind::Auto, "auto"}, {DeviceKind::Cuda, "cuda"}, {DeviceKind::Emulated, "emulated"}};
};

struct DeviceConfig {
  DeviceKind kind = DeviceKind::Auto;
  int ordinal = 0;      ///< of the CUDA device
  std::string modelGpu; ///< emulated: a file name in knowledge/gpus; empty: H200
  unsigned runners =
      1; ///< that share this machine's memory: each takes that part of what one would
};
KOPT_FIELDS(DeviceConfig, kind, ordinal, modelGpu, runners)

struct DeviceInfo {
  DeviceKind kind = DeviceKind::Auto; ///< Cuda or Emulated; Auto: no device has answered yet
  std::string name;                   ///< "NVIDIA H200", or the modelled GPU's name
  std::string arch;                   ///< "sm_90"
  std::string driver;                 ///< driver version, or "emulated"
  std::string uuid;
  bool modelled = false; ///< times are modelled, never a measured win
  std::uint64_t l2Bytes = 0, memoryBytes = 0;
  double dramBytesPerSecond = 0,
         storeBytesPerSecond = 0;           ///< at most, of the whole device; 0: not known
  std::map<std::string, std::string> facts; ///< for the record: driver_version, power_limit_w, ecc,
                                            ///< mig, pci_bus, visible_devices, …
};
KOPT_FIELDS(DeviceInfo, kind, name, arch, driver, uuid, modelled, l2Bytes, memoryBytes,
            dramBytesPerSecond, storeBytesPerSecond, facts)

/// A fact that kopt adds: "watched" where TimingOutcome::otherLoad says who else computes, else why
/// nobody can tell.
inline constexpr const char *kOtherLoadFact = "other_load";

using ModuleId = std::uint32_t;

struct ModuleInfo {
  ModuleId id = 0;
  std::string symbol;
  std::uint32_t registers = 0, sharedBytes = 0, localBytes = 0, constBytes = 0, maxThreads = 0;
};
KOPT_FIELDS(ModuleInfo, id, symbol, registers, sharedBytes, localBytes, constBytes, maxThreads)

/// Seconds by stage, named as in runtime/runner/README.md; and "lock": waiting for another kopt.
using StageSeconds = std::map<std::string, double>;

/// Whose doing a failure is.
enum class FaultClass {
  None,
  Candidate,      ///< the kernel's: it is judged by it
  Infrastructure, ///< the machine's, or another program's: nobody is judged by it
  Ambiguous,      ///< the same again in a fresh process decides, once
};

/// Something that went wrong beside what was asked, or was tried again.
struct Incident {
  FaultClass fault = FaultClass::None;
  std::string what;
};

/// How one launch ended. Numbers are stored: never renumber.
enum class RunStatus : int {
  Ok = 0,
  LaunchFailed = 1,  ///< refused by the driver: configuration, resources
  Fault = 2,         ///< illegal address, trap; emulated: out of bounds, misaligned
  Race = 3,          ///< emulated device only
  Uninitialised = 4, ///< emulated: a value nobody wrote reached an address, a branch or an output
  Divergence = 5,    ///< emulated: a barrier that not all threads of the block reach
  TimedOut = 6,
  Crashed = 7,      ///< the runner died with it
  GuardTouched = 8, ///< wrote beside a buffer
  InputChanged = 9, ///< wrote to a read-only buffer
};

struct RunOutcome {
  RunStatus status = RunStatus::Ok;
  std::string detail; ///< first finding in words: which buffer, index, thread, source line
  /// One file per Launch::buffers with its contents after the launch; empty where the buffer is
  /// read-only: then the runner has found it unchanged.
  std::vector<std::filesystem::path> buffers;
  /// Per buffer: elements that still held the poison after two launches with different poisons; 0
  /// unless Buffer::output.
  std::vector<std::uint64_t> unwritten;
  StageSeconds stages;
};

struct TimingSample {
  double a = 0, b = 0; ///< seconds of the two modules, taken next to each other in random order
  std::uint32_t process = 0; ///< of the processes that were timed one after the other, which one:
                             ///< samples of one are alike
};
KOPT_FIELDS(TimingSample, a, b, process)

/// What was done about the caches before each timed launch, not what was asked for.
enum class CacheMode {
  Unknown,
  Cold, ///< L2 flushed, or copies rotated
  Warm,
};
template <> struct EnumNames<CacheMode> {
  static constexpr std::pair<CacheMode, const char *> kAll[] = {
      {CacheMode::Unknown, "unknown"}, {CacheMode::Cold, "cold"}, {CacheMode::Warm, "warm"}};
};

struct TimingOutcome {
  RunStatus status = RunStatus::Ok;
  std::string detail;
  bool modelled = false;
  CacheMode cacheMode = CacheMode::Unknown;
  std::uint32_t batch = 1; ///< launches per sample: kernels under 10 us are timed in batches
  /// A modelled time has no noise: exactly one sample where `modelled`.
  std::vector<TimingSample> samples;
  /// One file per buffer as in RunOutcome, contents after one randomly chosen timed launch of each
  /// module, drawn from TimeOptions::inputSeed: timed outputs are judged too. Where modelled, of a
  /// launch right after the timed one, and only of the second module.
  std::vector<std::filesystem::path> buffersA, buffersB;
  Counters counters; ///< of the second module, where modelled: they are counted with the time
  StageSeconds stages;
  double smClockMHz = 0; ///< median over the samples, 0 where unknown
  std::vector<std::string>
      throttled; ///< why the GPU held its clocks down meanwhile: such times are no evidence
  std::vector<std::string>
      otherLoad; ///< who else computed on the GPU meanwhile, in words: no evidence either
};

struct RunOptions {
  std::uint64_t inputSeed = 1;  ///< of Fill
  std::uint64_t poisonSeed = 1; ///< pattern of outputs, padding and guard zones before the launch
  Duration deadline{10}; ///< of the launches; drawing and copying the buffers is allowed for on top
  /// Emulated device: stop as TimedOut after this many executed instructions; 0 = no limit. Makes a
  /// hang deterministic.
  std::uint64_t instructionLimit = 0;
  bool checkRaces = true; ///< emulated device
  /// Emulated device, with `checkRaces`: a block's reads of what others write and the other way
  /// round are races, too.
  bool checkAcrossBlocks = false;
  /// Emulated device: the order in which blocks, warps and lanes take their turns; 0: that of their
  /// indices.
  std::uint64_t scheduleSeed = 0;
  /// Each floating-point input is moved by at most one unit in its last place, otherwise for each
  /// number: what that changes is noise. 0: none is moved.
  std::uint32_t jitter = 0;
  /// The module is loaded anew before the launch: its variables have their first values.
  bool freshModule = false;
  /// Checks that are left out, to see what else would notice: guards, inputs.
  std::vector<std::string> skip;
  /// Where the outcome's files are: they last until the next run() into the same slot.
  std::string slot = "run";
};

struct TimeOptions {
  std::uint64_t inputSeed = 1;
  std::uint32_t minSamples = 10, maxSamples = 1000;
  Duration budget{2};
  bool coldCache = true;
  Duration deadline{30};
  std::string slot = "time";     ///< as RunOptions::slot
  std::vector<std::string> skip; ///< as RunOptions::skip
};
KOPT_FIELDS(TimeOptions, inputSeed, minSamples, maxSamples, budget, coldCache, deadline, slot, skip)

struct ProfileOutcome {
  RunStatus status = RunStatus::Ok;
  std::string detail, source; ///< source: "emulated", "cupti", "ncu", "ptxas"
  Counters counters;
  StageSeconds stages;
};

/// What compute-sanitizer says of a launch. Without `ran` it says nothing, whatever else is set.
struct SanitizerReport {
  bool ran = false;
  std::uint64_t errors = 0;
  std::string first; ///< the first finding in words, with its place where the tool names one; or
                     ///< why it did not run
};

/// What was counted or sampled of one instruction while a kernel ran.
struct InstructionCount {
  double executed = 0; ///< by warps
  double samples = 0;  ///< of warps that stood at it
};

/// By the instruction's offset in the kernel's code, in bytes.
using InstructionCounts = std::map<std::uint64_t, InstructionCount>;

/// What Nsight Compute's own sections and rules say of a launch. Without `ran` it says nothing.
struct NcuReport {
  struct Metric {
    std::string section, name, unit, value; ///< as ncu words them
  };
  struct Advice {
    std::string section, rule;
    std::string type; ///< OPT, INF, WRN or ERR
    std::string text;
    std::optional<double> speedupPercent; ///< that ncu estimates; nothing where it does not
    std::string
        speedupScope; ///< of the estimate: "global" (of the kernel) or "local" (of its part)
  };
  bool ran = false;
  std::string detail; ///< why not, or what of it is missing
  std::vector<Metric> metrics;
  std::vector<Advice> advice;
  InstructionCounts instructions;
};

} // namespace kopt
