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
template <> struct EnumNames<Verdict> {
  static constexpr std::pair<Verdict, const char *> kAll[] = {
      {Verdict::Faster, "Faster"},           {Verdict::Same, "Same"},
      {Verdict::Slower, "Slower"},           {Verdict::Ambiguous, "Ambiguous"},
      {Verdict::Rejected, "Rejected"},       {Verdict::BuildFailed, "BuildFailed"},
      {Verdict::WrongResult, "WrongResult"}, {Verdict::RunFailed, "RunFailed"},
      {Verdict::TimedOut, "TimedOut"},       {Verdict::Duplicate, "Duplicate"},
      {Verdict::Suspect, "Suspect"}};
};

enum class Stage : int { Screen = 0, Build = 1, Verify = 2, Time = 3, Profile = 4 };
template <> struct EnumNames<Stage> {
  static constexpr std::pair<Stage, const char *> kAll[] = {{Stage::Screen, "screen"},
                                                            {Stage::Build, "build"},
                                                            {Stage::Verify, "verify"},
                                                            {Stage::Time, "time"},
                                                            {Stage::Profile, "profile"}};
};

/// Why a candidate is judged. A candidate has at most one trial of each purpose in a run.
enum class Purpose : int {
  Search = 0,
  Confirmation = 1, ///< of a winner, on fresh inputs and samples
  HeldOut = 2,      ///< of a winner, on captured launches that the search did not see
};
template <> struct EnumNames<Purpose> {
  static constexpr std::pair<Purpose, const char *> kAll[] = {
      {Purpose::Search, "search"},
      {Purpose::Confirmation, "confirmation"},
      {Purpose::HeldOut, "held-out"}};
};

/// Speedup over the baseline: ratio of times, baseline / candidate, with a two-sided interval.
struct Speedup {
  double estimate = 1, low = 1, high = 1;
  double confidence = 0.95;
  std::size_t pairs = 0;
  bool modelled = false;     ///< from the roofline model: never a measured win
  std::size_t processes = 1; ///< fresh processes that the pairs come from, as many in each
};
KOPT_FIELDS(Speedup, estimate, low, high, confidence, pairs, modelled, processes)

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
  Flag,   ///< of a candidate: what the checks have to look at harder
  Reject, ///< of a candidate: it is refused
};
template <> struct EnumNames<Severity> {
  static constexpr std::pair<Severity, const char *> kAll[] = {{Severity::Note, "note"},
                                                               {Severity::Warning, "warning"},
                                                               {Severity::Flag, "flag"},
                                                               {Severity::Reject, "reject"}};
};

struct Finding { ///< of a screen, a build, a verification or a rule
  std::string id;
  Severity severity = Severity::Note;
  std::string message, where;
};
KOPT_FIELDS(Finding, id, severity, message, where)

enum class CheckState : int {
  Passed = 0,
  Failed = 1,
  NotRun = 2,       ///< it might have shown something, and could not be run
  NotApplicable = 3 ///< there is nothing that it could show of this kernel on this device
};
template <> struct EnumNames<CheckState> {
  static constexpr std::pair<CheckState, const char *> kAll[] = {
      {CheckState::Passed, "passed"},
      {CheckState::Failed, "failed"},
      {CheckState::NotRun, "not run"},
      {CheckState::NotApplicable, "not applicable"}};
};

/// What became of one check (driver/judge/checks/CheckList.h).
struct CheckRecord {
  std::string check;
  CheckState state = CheckState::Passed;
  std::string detail; ///< what was done, why it failed, why it could not run
};
KOPT_FIELDS(CheckRecord, check, state, detail)

/// How much of what could be shown of a candidate was shown.
enum class AssuranceLevel : int { Full = 0, Partial = 1 };
template <> struct EnumNames<AssuranceLevel> {
  static constexpr std::pair<AssuranceLevel, const char *> kAll[] = {
      {AssuranceLevel::Full, "full"}, {AssuranceLevel::Partial, "partial"}};
};

/// Something that was not shown, in words an engineer can act on.
struct AssuranceGap {
  std::string check; ///< that would have shown it; empty: none ran
  std::string what;
  bool operator==(const AssuranceGap &) const = default;
};
KOPT_FIELDS(AssuranceGap, check, what)

/// Which wins are taken. A wrong result, a fault or a race is a refusal under either.
enum class AssurancePolicy : int {
  Standard, ///< partial assurance is enough; what was not shown is listed
  Strict,   ///< full assurance alone
};
template <> struct EnumNames<AssurancePolicy> {
  static constexpr std::pair<AssurancePolicy, const char *> kAll[] = {
      {AssurancePolicy::Standard, "standard"}, {AssurancePolicy::Strict, "strict"}};
};

struct Assurance {
  AssuranceLevel level = AssuranceLevel::Partial;
  std::vector<AssuranceGap> gaps; ///< empty where it is full
};
KOPT_FIELDS(Assurance, level, gaps)

/// Full where checks ran, every one that applies passed, and nothing else is missing. `others` are
/// gaps of checks that passed, and of the workload.
Assurance assuranceOf(const std::vector<CheckRecord> &checks,
                      const std::vector<AssuranceGap> &others = {});

/// Adds a gap unless it is there.
void addGap(Assurance &assurance, AssuranceGap gap);

/// One line for each gap, `check: what`, each of at most `width` characters: longer ones end in an
/// ellipsis.
std::vector<std::string> inLines(const Assurance &assurance, std::size_t width = 240);

struct Trial {
  std::int64_t id = 0; ///< in the database
  std::string candidateHash;
  Candidate candidate;
  Verdict verdict = Verdict::Ambiguous;
  Stage stage = Stage::Screen;     ///< the stage that decided
  std::string reason;              ///< one sentence with the figures
  std::string check;               ///< check that decided (driver/judge/checks/CheckList.h);
                                   ///< empty: none did
  std::vector<CheckRecord> checks; ///< of those that ran, in order
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
  Purpose purpose = Purpose::Search;
  Assurance assurance; ///< while it is judged: gaps that checks that passed have left

  bool passed(const std::string &check) const; ///< it was asked, and had nothing to say
};
KOPT_FIELDS(Trial, id, candidateHash, candidate, verdict, stage, reason, check, checks, findings,
            sliceText, buildLog, moduleHash, resources, timings, speedup, counters, counterSource,
            gpu, seconds, stages, purpose, assurance)

} // namespace kopt
