// SPDX-License-Identifier: Apache-2.0
// The stored record of one evaluation of one candidate.
#pragma once

#include "driver/model/Candidate.h"
#include "driver/model/CheckList.h"
#include "driver/model/Device.h"
#include "driver/model/Diagnosis.h"
#include "driver/model/Objective.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

enum class Verdict {
  Faster,
  Same,
  Slower,
  Ambiguous, ///< when the timing budget ended, the interval did not decide, or the GPU was
             ///< disturbed
  Rejected,  ///< the screen refused it
  BuildFailed,
  WrongResult,
  RunFailed, ///< fault, race, divergence, launch failure
  TimedOut,
  Duplicate, ///< the same machine code as an earlier trial
  Suspect,   ///< faster, but not proven right, or faster than possible: never a win
};
constexpr auto spellings(Verdict) {
  return std::to_array<std::string_view>({"Faster", "Same", "Slower", "Ambiguous", "Rejected",
                                          "BuildFailed", "WrongResult", "RunFailed", "TimedOut",
                                          "Duplicate", "Suspect"});
}

enum class Stage { Screen, Build, Verify, Time, Profile };
constexpr auto spellings(Stage) {
  return std::to_array<std::string_view>({"screen", "build", "verify", "time", "profile"});
}

/// Why a candidate is judged. A candidate has at most one trial of each purpose in a run.
enum class Purpose {
  Search,
  Confirmation, ///< a winner again, on fresh inputs and samples
  HeldOut,      ///< a winner, on captured launches that the search did not see
};
constexpr auto spellings(Purpose) {
  return std::to_array<std::string_view>({"search", "confirmation", "held-out"});
}

/// Speedup over the baseline: ratio of times, baseline / candidate, with a two-sided interval.
struct Speedup {
  double estimate = 1, low = 1, high = 1;
  double confidence = 0.95;
  std::size_t pairs = 0;
  bool modelled = false;         ///< from the roofline model; never a measured win
  std::size_t processes = 1;     ///< fresh processes, each with the same number of pairs
  std::optional<Objective> of{}; ///< over several launches; nothing: their mean, or one launch
};
KOPT_FIELDS(Speedup, estimate, low, high, confidence, pairs, modelled, processes, of)

struct LaunchTiming {
  std::string launch;
  Speedup speedup;
  double baselineSeconds = 0, candidateSeconds = 0; ///< medians
  std::vector<TimingSample> samples;
  CacheMode cacheMode = CacheMode::Unknown;
};
KOPT_FIELDS(LaunchTiming, launch, speedup, baselineSeconds, candidateSeconds, samples, cacheMode)

enum class Severity {
  Note,
  Warning,
  Flag,   ///< of a candidate: some check has to show it harmless
  Reject, ///< of a candidate: it is refused
};
constexpr auto spellings(Severity) {
  return std::to_array<std::string_view>({"note", "warning", "flag", "reject"});
}

struct Finding { ///< from the screen, a build, a verification or a rule
  std::string id;
  Severity severity = Severity::Note;
  std::string message, where;
};
KOPT_FIELDS(Finding, id, severity, message, where)

enum class CheckState {
  Passed,
  Failed,
  NotRun,       ///< it might show something, but could not run
  NotApplicable ///< it has nothing to show for this kernel on this device
};
constexpr auto spellings(CheckState) {
  return std::to_array<std::string_view>({"passed", "failed", "not run", "not applicable"});
}

/// The result of one check.
struct CheckRecord {
  CheckId check = CheckId::None;
  CheckState state = CheckState::Passed;
  std::string detail; ///< what was done, or why it failed or could not run
};
KOPT_FIELDS(CheckRecord, check, state, detail)

/// Says whether everything that could be shown of a candidate was shown.
enum class AssuranceLevel { Full, Partial };
constexpr auto spellings(AssuranceLevel) {
  return std::to_array<std::string_view>({"full", "partial"});
}

/// Something that was not shown, in words that an engineer can act on.
struct AssuranceGap {
  CheckId check = CheckId::None; ///< the check that would have shown it; None: no check ran
  std::string what;
  bool operator==(const AssuranceGap &) const = default;
};
KOPT_FIELDS(AssuranceGap, check, what)

/// Which wins are accepted. A wrong result, a fault or a race is refused under both.
enum class AssurancePolicy {
  Standard, ///< partial assurance is enough; what was not shown is listed
  Strict,   ///< only full assurance
};
constexpr auto spellings(AssurancePolicy) {
  return std::to_array<std::string_view>({"standard", "strict"});
}

/// A launch that only the original is right on. What tells it from the workload's launches may
/// become a condition that chooses between the two.
struct Counterexample {
  std::string launch;
  std::map<std::string, std::int64_t> integers;    ///< scalar arguments by parameter
  std::map<std::string, std::uint64_t> alignments; ///< of pointers, in bytes, at most 256
  bool operator==(const Counterexample &) const = default;
};
KOPT_FIELDS(Counterexample, launch, integers, alignments)

struct Assurance {
  AssuranceLevel level = AssuranceLevel::Partial;
  std::vector<AssuranceGap> gaps; ///< empty if the level is Full
  std::vector<Counterexample> counterexamples{};
  /// Derived launches that a candidate with counterexamples is right on.
  std::vector<Counterexample> examples{};
};
KOPT_FIELDS(Assurance, level, gaps, counterexamples, examples)

/// Full if checks ran, every check that applies passed, and `others` is empty. `others` are gaps of
/// checks that passed, and of the workload.
Assurance assuranceOf(const std::vector<CheckRecord> &checks,
                      const std::vector<AssuranceGap> &others = {});

/// Adds a gap unless it is already there.
void addGap(Assurance &assurance, AssuranceGap gap);

/// One line for each gap, `check: what`, of at most `width` bytes; longer ones end in an ellipsis.
std::vector<std::string> inLines(const Assurance &assurance, std::size_t width = 240);

struct Trial {
  std::int64_t id = 0; ///< id in the database
  std::string candidateHash;
  Candidate candidate;
  Verdict verdict = Verdict::Ambiguous;
  Stage stage = Stage::Screen;     ///< the stage that decided
  std::string reason;              ///< one sentence, with the figures
  CheckId check = CheckId::None;   ///< check that decided
  std::vector<CheckRecord> checks; ///< records of the checks, in order
  std::vector<Finding> findings;
  std::string sliceText; ///< the slice that was built; empty if the candidate could not be rendered
  std::string buildLog;  ///< compiler diagnostics, capped at 64 KiB
  std::string moduleHash;  ///< hash of the built machine code
  std::string duplicateOf; ///< of a duplicate: the hash of the candidate that it is like
  std::optional<ModuleInfo> resources;
  std::vector<LaunchTiming> timings;
  std::optional<Speedup> speedup; ///< of the objective, over the workload's launches
  Counters counters;
  std::string counterSource;
  Diagnosis diagnosis; ///< of the counters
  HotLines hotLines;   ///< only of the baseline and of confirmations
  /// The device that judged it, "1 GPU-8f0e…" (ordinal and UUID) or "0 emulated"; empty if it was
  /// decided before it ran.
  std::string gpu;
  double seconds = 0; ///< duration of the evaluation, including a build that was done ahead
  /// How these seconds were spent: build/screen, build/compile, wait (for a build that was started
  /// ahead), load, verify/…, time/… (the runner's stages, judge, statistics, other), profile/…,
  /// lock.
  StageSeconds stages;
  Purpose purpose = Purpose::Search;
  Assurance assurance; ///< during judging: only the gaps that passed checks left

  bool passed(CheckId check) const; ///< true if the check ran and found nothing
};
KOPT_FIELDS(Trial, id, candidateHash, candidate, verdict, stage, reason, check, checks, findings,
            sliceText, buildLog, moduleHash, duplicateOf, resources, timings, speedup, counters,
            counterSource, diagnosis, hotLines, gpu, seconds, stages, purpose, assurance)

} // namespace kopt
