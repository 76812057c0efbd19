// SPDX-License-Identifier: Apache-2.0
// One evaluation of one candidate, as it is stored. The numbers of the enums are on disk: add,
// never change.
#pragma once

#include "driver/model/Candidate.h"
#include "driver/model/Device.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

enum class Verdict : int {
  Faster = 0,
  Same = 1,
  Slower = 2,
  Ambiguous =
      3, ///< the interval contains both a gain and a loss worth having at the end of the budget
  Rejected = 4, ///< screening refused it
  BuildFailed = 5,
  WrongResult = 6,
  RunFailed = 7, ///< fault, race, divergence, launch failure
  TimedOut = 8,
  Duplicate = 9, ///< the same machine code as an earlier trial
  Suspect = 10,  ///< faster, but not proven right, or faster than can be: never a win
};

enum class Stage : int { Screen = 0, Build = 1, Verify = 2, Time = 3, Profile = 4 };

/// Speedup over the baseline: ratio of times, baseline / candidate, with a two-sided interval.
struct Speedup {
  double estimate = 1, low = 1, high = 1;
  double confidence = 0.95;
  std::size_t pairs = 0;
  bool modelled = false;     ///< from the roofline model: never a measured win
  std::size_t processes = 1; ///< fresh processes that the pairs come from, as many in each
};

struct LaunchTiming {
  std::string launch;
  Speedup speedup;
  double baselineSeconds = 0, candidateSeconds = 0; ///< medians
  std::vector<TimingSample> samples;
  std::string cacheMode;
};

struct Finding { ///< of a screen, a build, a verification or a rule
  std::string id, severity, message, where;
};

enum class CheckState : int { Passed = 0, Failed = 1, NotRun = 2 };

/// What became of one layer of verification (driver/judge/checks/CheckList.h).
struct CheckRecord {
  std::string check;
  CheckState state = CheckState::Passed;
  std::string detail; ///< what was done, why it failed, why it could not run
};

struct Trial {
  std::int64_t id = 0; ///< in the database
  std::string candidateHash;
  Candidate candidate;
  Verdict verdict = Verdict::Ambiguous;
  Stage stage = Stage::Screen; ///< the stage that decided
  std::string reason;          ///< one sentence with the figures
  std::string check; ///< layer of verification that decided (driver/judge/checks/CheckList.h);
                     ///< empty: none did
  std::vector<CheckRecord> checks; ///< of those that had their say, in order
  std::vector<Finding> findings;
  std::string
      sliceText; ///< the slice as it was built; empty where the candidate could not be rendered
  std::string buildLog;   ///< compiler diagnostics, capped at 64 KiB
  std::string moduleHash; ///< of the built machine code
  std::optional<ModuleInfo> resources;
  std::vector<LaunchTiming> timings;
  std::optional<Speedup> speedup; ///< weighted over the workload's launches
  Counters counters;
  std::string counterSource;
  /// Where it was judged, "1 GPU-8f0e…": ordinal and UUID; "0 emulated". Empty: decided before it
  /// ran.
  std::string gpu;
  double seconds = 0; ///< that the evaluation took, building included where it was done ahead
  /// What they were spent on: build/screen, build/compile, wait (for a build that was begun ahead),
  /// load, verify/…, time/… (the runner's stages, judge, statistics, other), profile/…, lock.
  StageSeconds stages;

  bool passed(const std::string &check) const; ///< it was asked, and had nothing to say
};

const char *toString(Verdict verdict);
const char *toString(Stage stage);
const char *toString(CheckState state);

} // namespace kopt
