// SPDX-License-Identifier: Apache-2.0
// Requests to a device and its replies, as plain data.
#pragma once

#include "clang_plugin/output/Fields.h"
#include "driver/model/Counters.h"
#include "driver/model/HotLines.h"
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
  Auto, ///< in requests: a CUDA device if one answers, otherwise the emulated one
  Cuda,
  Emulated,
};
constexpr auto spellings(DeviceKind) {
  return std::to_array<std::string_view>({"auto", "cuda", "emulated"});
}

struct DeviceConfig {
  DeviceKind kind = DeviceKind::Auto;
  int ordinal = 0;      ///< ordinal of the CUDA device
  std::string modelGpu; ///< emulated: a file name in knowledge/gpus; empty: H200
  unsigned runners = 1; ///< runners that share this machine's memory; each may use an equal part
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
         storeBytesPerSecond = 0;           ///< peak rates of the whole device; 0: unknown
  std::map<std::string, std::string> facts; ///< recorded facts: driver_version, power_limit_w, ecc,
                                            ///< mig, pci_bus, visible_devices, …
};
KOPT_FIELDS(DeviceInfo, kind, name, arch, driver, uuid, modelled, l2Bytes, memoryBytes,
            dramBytesPerSecond, storeBytesPerSecond, facts)

/// What a device reached in a measurement of kopt's own, a second: a lower bound of what it can do.
/// Never for use where an upper bound is needed: those are DeviceInfo's. 0: not measured.
struct MeasuredRates {
  double dramBytes = 0;                  ///< bytes of DRAM, read or written
  double fp32 = 0, fp64 = 0;             ///< operations; a fused multiply-add is two
  double instructions = 0;               ///< instructions of warps
  std::string missing;                   ///< what was not measured, and why; empty: everything was
  std::optional<double> dramCopyBytes{}; ///< as dramBytes, half of them written
};
KOPT_FIELDS(MeasuredRates, dramBytes, fp32, fp64, instructions, missing, dramCopyBytes)

/// A fact that kopt adds: "watched" if TimingOutcome::otherLoad reports other processes that
/// compute, otherwise why it cannot.
inline constexpr const char *kOtherLoadFact = "other_load";

using ModuleId = std::uint32_t;

struct ModuleInfo {
  ModuleId id = 0;
  std::string symbol;
  std::uint32_t registers = 0, sharedBytes = 0, localBytes = 0, constBytes = 0, maxThreads = 0;
};
KOPT_FIELDS(ModuleInfo, id, symbol, registers, sharedBytes, localBytes, constBytes, maxThreads)

/// Seconds by stage, with the names of runtime/runner/README.md, and "lock" for waiting for another
/// kopt.
using StageSeconds = std::map<std::string, double>;

/// What caused a failure.
enum class FaultClass {
  None,
  Candidate,      ///< the kernel: the failure decides its verdict
  Infrastructure, ///< the machine or another program: the failure decides no verdict
  Ambiguous,      ///< unknown: running it once more in a fresh process decides
};

/// A fault that was not part of a reply, or after which a request was repeated.
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
  Uninitialised = 4, ///< emulated: an uninitialised value reached an address, a branch or an output
  Divergence = 5,    ///< emulated: not all threads of a block reached a barrier
  TimedOut = 6,
  Crashed = 7,      ///< the runner died while running it
  GuardTouched = 8, ///< wrote outside a buffer
  InputChanged = 9, ///< wrote to a read-only buffer
  /// Emulated: a thread read shared memory that none had set, as where a tile has a border that
  /// nobody needs. Only results that depend on it are wrong: runs with drawn bits there show that.
  UnsetShared = 10,
};
/// The greatest number that a runner sends.
inline constexpr RunStatus kLastRunStatus = RunStatus::UnsetShared;

/// Names the contents of every buffer that a launch may write: equal texts, from the same process
/// of kopt, mean equal bytes. Empty if the runner has no quick way to compute it.
using ResultsDigest = std::string;

struct RunOutcome {
  RunStatus status = RunStatus::Ok;
  std::string detail; ///< the first finding in words: buffer, index, thread, source line
  /// For each of Launch::buffers the file with its contents after the launch; empty for a read-only
  /// buffer, which the runner has found unchanged.
  std::vector<std::filesystem::path> buffers;
  /// For each buffer, how many elements still held the poison after two launches with different
  /// poisons; 0 unless Buffer::output is set.
  std::vector<std::uint64_t> unwritten;
  ResultsDigest digest;
  bool isKnown = false; ///< the results are those of RunOptions::known, and have not been read
  StageSeconds stages;
};

struct TimingSample {
  double a = 0, b = 0; ///< seconds of the two modules, taken next to each other in random order
  std::uint32_t process = 0; ///< number of the process, if several are timed one after the other;
                             ///< samples of the same process are correlated
};
KOPT_FIELDS(TimingSample, a, b, process)

/// The state of the caches before each timed launch: what was done, not what was requested.
enum class CacheMode {
  Unknown,
  Cold, ///< L2 was flushed, or copies of the buffers rotated
  Warm,
};
constexpr auto spellings(CacheMode) {
  return std::to_array<std::string_view>({"unknown", "cold", "warm"});
}

struct TimingOutcome {
  RunStatus status = RunStatus::Ok;
  std::string detail;
  bool modelled = false;
  CacheMode cacheMode = CacheMode::Unknown;
  std::uint32_t batch = 1; ///< launches in each sample: kernels under 10 us are timed in batches
  /// Exactly one sample if `modelled`, because modelled times have no noise.
  std::vector<TimingSample> samples;
  /// Files as in RunOutcome, with the contents after one timed launch of each module, chosen at
  /// random with TimeOptions::inputSeed, so that timed outputs are judged, too. If modelled, after
  /// a launch that follows the timed one, and only for the second module.
  std::vector<std::filesystem::path> buffersA, buffersB;
  Counters
      counters; ///< of the second module, if modelled: the device counts them to compute the time
  std::vector<LineCost> lines; ///< as `counters`
  StageSeconds stages;
  double smClockMHz = 0; ///< median over the samples; 0 if unknown
  std::vector<std::string>
      throttled; ///< why the GPU reduced its clocks meanwhile; such times are not evidence
  std::vector<std::string> otherLoad; ///< other processes that used the GPU meanwhile, in words;
                                      ///< such times are not evidence either
};

struct RunOptions {
  std::uint64_t inputSeed = 1;  ///< seed of Fill
  std::uint64_t poisonSeed = 1; ///< seed of the pattern in outputs, padding and guard zones
  Duration deadline{10}; ///< for the launches; time to draw and copy the buffers is added to it
  /// For the whole run with all it does around the launches; nothing: as the deadline and the bytes
  /// of the buffers suggest, generously.
  std::optional<Duration> limit{};
  /// Emulated device: stop with TimedOut after this many executed instructions; 0: no limit. This
  /// makes a hang deterministic.
  std::uint64_t instructionLimit = 0;
  bool checkRaces = true; ///< emulated device: look for races
  /// Emulated device, with `checkRaces`: if a block reads what another one writes, or the other way
  /// round, that is a race, too.
  bool checkAcrossBlocks = false;
  /// Emulated device: seed of the order in which blocks, warps and lanes run; 0: the order of their
  /// indices.
  std::uint64_t scheduleSeed = 0;
  /// Moves each floating-point input by at most one unit in its last place, differently for each
  /// value of jitter: the effect on results is noise. 0: moves none.
  std::uint32_t jitter = 0;
  /// Load the module anew before the launch, so that its variables have their initial values.
  bool freshModule = false;
  /// Checks of the runner to leave out, to see what else would notice a fault: guards, inputs.
  std::vector<std::string> skip;
  /// Results that the caller has already. If the launch has the same, it saves the time to read
  /// them.
  ResultsDigest known{};
  /// Names the outcome's files, which are valid until the next run() with the same slot.
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
  std::vector<LineCost> lines; ///< of the text that was built; empty if the device counts none
  StageSeconds stages;
};

/// A report of compute-sanitizer about a launch. Meaningless if `ran` is false, except that `first`
/// says why.
struct SanitizerReport {
  bool ran = false;
  std::uint64_t errors = 0;
  /// Of these errors: racecheck's warnings, of hazards among the threads of a warp, which code that
  /// takes them to run in step has on purpose.
  std::uint64_t warnings = 0;
  std::string
      first; ///< the first finding in words, with its place if known; or why the tool did not run
};

/// Counts and samples of one instruction.
struct InstructionCount {
  double executed = 0; ///< executions by warps
  double samples = 0;  ///< samples of warps that were at it
};

/// Counts by the instruction's offset in the kernel's code, in bytes.
using InstructionCounts = std::map<std::uint64_t, InstructionCount>;

/// A report of Nsight Compute's sections and rules about a launch. Meaningless if `ran` is false.
struct NcuReport {
  struct Metric {
    std::string section, name, unit, value; ///< in ncu's words
  };
  struct Advice {
    std::string section, rule;
    std::string type; ///< OPT, INF, WRN or ERR
    std::string text;
    std::optional<double> speedupPercent; ///< ncu's estimate; nothing if there is none
    std::string
        speedupScope; ///< scope of the estimate: "global" (the kernel) or "local" (a part of it)
    std::vector<std::string> agrees{}; ///< kopt's state and rules that say the same of the launch
  };
  bool ran = false;
  std::string detail; ///< why it did not run, or what is missing
  std::vector<Metric> metrics;
  std::vector<Advice> advice;
  InstructionCounts instructions;
};
KOPT_FIELDS(NcuReport::Metric, section, name, unit, value)
KOPT_FIELDS(NcuReport::Advice, section, rule, type, text, speedupPercent, speedupScope, agrees)

} // namespace kopt
