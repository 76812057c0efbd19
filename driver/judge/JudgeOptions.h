// SPDX-License-Identifier: Apache-2.0
// What an evaluation needs, and how it is done.
#pragma once

#include "driver/device/Runner.h"
#include "driver/device/Toolchain.h"
#include "driver/judge/Statistics.h"
#include "driver/judge/checks/Check.h"
#include "driver/judge/checks/CheckList.h"
#include "driver/source/Frontend.h"
#include "driver/support/JobQueue.h"

#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kopt {

/// Counters of one launch of a built module; the runner's own, or Nsight Compute's where there is a
/// GPU.
using ProfileFunction = std::function<Result<ProfileOutcome>(
    ModuleId, const std::filesystem::path &module, const Launch &)>;

/// A device that candidates are judged on.
struct JudgeDevice {
  Runner &runner;
  ProfileFunction profile;
  std::string name; ///< as Trial::gpu
  JobQueue *thread =
      nullptr; ///< of one thread, on which alone the runner is used; null: on the caller's
};

/// Emulated devices beside GPUs, one for each judge that asks.
struct EmulatedDevices {
  Toolchain *toolchain = nullptr; ///< null: there are none
  /// From any thread; the runner is used from the one that opened it.
  std::function<Result<std::unique_ptr<Runner>>()> open{};
};

struct JudgeServices {
  Frontend &frontend; ///< called from several threads at a time, as the toolchain is
  Toolchain &toolchain;
  /// At least one. Several are of the same kind, and each has its thread.
  std::vector<JudgeDevice> devices;
  std::function<void(const std::string &)>
      tell; ///< what happens to the devices, for people; from any thread
  EmulatedDevices emulated{};
};

struct JudgeOptions {
  std::filesystem::path scratch; ///< modules and expected contents live here while the judge does
  std::string arch;              ///< "sm_90"
  std::uint64_t seed =
      1; ///< of everything random; the same seed repeats a run on a modelled device
  VerdictPolicy policy;
  TimeOptions timing;
  /// By the names of captured launches, what ones like them took in the program: they are timed
  /// with the cache that comes nearer to it.
  std::map<std::string, double> programSeconds{};
  std::uint32_t processes = 5; ///< fresh ones that a winner is timed in, one after the other; not
                               ///< where times are modelled
  unsigned buildThreads =
      0; ///< candidates that are screened and built while others run; 0: each in its turn
  CheckSwitches checks; ///< those left out make every Faster a Suspect
  bool keepGoing =
      false; ///< ask the other checks too once one has refused: the first still decides
  Depth depth = Depth::Search; ///< of the look at each candidate; a confirmation has Depth::Win
  double escalateAbove = 3;    ///< a larger speedup is verified again at full strength
  AssurancePolicy assurance = AssurancePolicy::Standard;
  bool ownLaunchesOnly = false; ///< only the checks on the workload's own launches
  bool times = true;            ///< the baseline; not where nothing is going to be timed
  bool counters =
      true; ///< of the baseline, on a GPU; not where no rule, prompt or report reads them
  std::size_t mostDerived = std::numeric_limits<std::size_t>::max(); ///< of a captured launch
  bool testAdequacy =
      true; ///< wrong versions of the kernel are tried; not where another workload has been tested
  /// Of a GPU, for wrong versions of the kernel; under AssurancePolicy::Strict they have all the
  /// time that they take.
  double mutantSeconds = 4;
  std::filesystem::path
      cache; ///< folder in which mutation tests are kept from run to run; empty: they are not
};
KOPT_FIELDS(JudgeOptions, scratch, arch, seed, policy, timing, programSeconds, processes,
            buildThreads, checks, keepGoing, depth, escalateAbove, assurance, ownLaunchesOnly,
            times, counters, mostDerived, testAdequacy, mutantSeconds, cache)

} // namespace kopt
