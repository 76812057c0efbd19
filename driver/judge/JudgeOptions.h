// SPDX-License-Identifier: Apache-2.0
// Services and options for evaluating candidates.
#pragma once

#include "driver/device/Runner.h"
#include "driver/device/Toolchain.h"
#include "driver/judge/Statistics.h"
#include "driver/judge/context/Check.h"
#include "driver/model/CheckList.h"
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

/// Takes the counters of one launch of a built module, with the runner or, on a GPU, with Nsight
/// Compute.
using ProfileFunction = std::function<Result<ProfileOutcome>(
    ModuleId, const std::filesystem::path &module, const Launch &)>;

/// The costs of the lines of a built module's code.
using LinesFunction =
    std::function<Result<std::vector<LineCost>>(const std::filesystem::path &module)>;

/// A device that candidates are judged on.
struct JudgeDevice {
  Runner &runner;
  ProfileFunction profile;
  std::string name;           ///< as Trial::gpu
  JobQueue *thread = nullptr; ///< queue with the only thread that uses the runner; null: the
                              ///< caller's thread uses it
  LinesFunction lines{};      ///< empty: there is none; unused if times are modelled
};

/// Emulated devices beside GPUs; each judge opens its own.
struct EmulatedDevices {
  Toolchain *toolchain = nullptr; ///< null: there are none
  /// May be called from any thread; the runner is used by the thread that opened it.
  std::function<Result<std::unique_ptr<Runner>>()> open{};
};

struct JudgeServices {
  Frontend &frontend; ///< called from several threads at a time; so is the toolchain
  Toolchain &toolchain;
  /// At least one. If there are several, they are of the same kind and each has its own thread.
  std::vector<JudgeDevice> devices;
  std::function<void(const std::string &)>
      tell; ///< reports to the user what happens to the devices; called from any thread
  EmulatedDevices emulated{};
  /// The seconds that a confirmation may still take: what cannot be done in them is left out and
  /// named. Called from any thread; empty: no limit.
  std::function<double()> secondsLeft{};
  /// False: a candidate is a duplicate only of what Judge::remember() was told of.
  bool findsDuplicates = true;
};

struct JudgeOptions {
  std::filesystem::path
      scratch;      ///< folder for modules and expected contents, as long as the judge lives
  std::string arch; ///< "sm_90"
  std::uint64_t seed =
      1; ///< seed of everything random; the same seed repeats a run on a modelled device
  VerdictPolicy policy;
  TimeOptions timing; ///< its budget is for all launches of the workload together
  /// Seconds that launches took in the program, by the name of the captured launch. Each is timed
  /// with a warm or a cold cache, whichever is nearer, unless `cacheMode` says which.
  std::map<std::string, double> programSeconds{};
  CacheMode cacheMode = CacheMode::Unknown; ///< of the L2; times may be modelled without
  std::uint32_t processes = 5; ///< fresh processes in which a winner is timed, one after the other;
                               ///< unused where times are modelled
  unsigned buildThreads =
      0; ///< threads that screen and build candidates while others run; 0: build each in its turn
  CheckSwitches checks; ///< with any left out, every Faster becomes Suspect
  bool keepGoing =
      false; ///< run the other checks after one has refused; the first refusal still decides
  /// For each candidate; a confirmation has Depth::Win. Look: most candidates of a search are not
  /// faster, and are only timed; the others are verified at Depth::Search.
  Depth depth = Depth::Search;
  double escalateAbove = 3; ///< a larger speedup is verified again at full strength
  /// What looks faster is confirmed next: a GPU then verifies it as thoroughly as `depth` only
  /// once.
  bool confirmsNext = false;
  AssurancePolicy assurance = AssurancePolicy::Standard;
  bool ownLaunchesOnly = false; ///< run only the checks on the workload's own launches
  bool times = true;            ///< time the baseline; false if nothing will be timed
  bool counters = true; ///< take the baseline's counters on a GPU; false if no rule, prompt or
                        ///< report reads them
  std::size_t mostDerived =
      std::numeric_limits<std::size_t>::max(); ///< derived from a captured launch
  bool testAdequacy =
      true; ///< try wrong versions of the kernel; false if another workload was tested
  /// The most instructions of a run of the baseline on a modelled device; a baseline that takes
  /// more fails. 0: no limit.
  std::uint64_t mostInstructions = 0;
  /// Seconds of a GPU for wrong versions of the kernel; unlimited under AssurancePolicy::Strict.
  double mutantSeconds = 4;
  /// Of the launches, where another device of the kind measured the baseline; empty: learned.
  std::vector<double> weights{};
  std::filesystem::path
      cache; ///< folder in which mutation tests are kept from run to run; empty: they are not kept
};
KOPT_FIELDS(JudgeOptions, scratch, arch, seed, policy, timing, programSeconds, cacheMode, processes,
            buildThreads, checks, keepGoing, depth, escalateAbove, confirmsNext, assurance,
            ownLaunchesOnly, times, counters, mostDerived, testAdequacy, mostInstructions,
            mutantSeconds, weights, cache)

} // namespace kopt
