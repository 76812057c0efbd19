// SPDX-License-Identifier: Apache-2.0
// One reason to refuse a candidate. Checks run in order, the cheapest first. A check that could not
// run says so and never counts as passed.
#pragma once

#include "driver/judge/context/CheckContext.h"
#include "driver/source/RenderSlice.h"
#include "driver/support/JobQueue.h"

#include <memory>
#include <string>

namespace kopt {

/// How thorough the checks are. A gain that is hard to believe is checked more thoroughly, not
/// refused.
struct Strength {
  int freshDraws =
      1; ///< draws of inputs for each declared launch, and for one derived launch of each kind
  int repeats = 10; ///< launches of a repeatability test
  static Strength full() { return {5, 40}; }
};

/// Which of the checks run.
enum class Depth {
  Look,   ///< one: of a judge, what is then faster is verified at Search
  Search, ///< none of the expensive ones: most candidates are not winners
  Trial,  ///< those that take a second or two of the CPU
  Win,    ///< also those that take seconds of the GPU
};
constexpr auto spellings(Depth) {
  return std::to_array<std::string_view>({"look", "search", "trial", "win"});
}

/// The most seconds of a GPU that parts of the judgement take where launches are large, as captured
/// ones are. The targets are ten seconds for a baseline, one for a candidate and five for a winner.
/// At least one launch of each kind is tried, however long it takes.
struct GpuSeconds {
  static constexpr double kLearn = 4;          ///< to learn from the baseline
  static constexpr double kLearnForSearch = 1; ///< of kLearn, before the first candidate
  static constexpr double replays(Depth depth) { return depth <= Depth::Search ? 0.3 : 1.5; }
  static constexpr double kRepeats = 1;
  /// A run that takes longer, as on gigabytes, is repeated as seldom as possible in a search.
  static constexpr double kLongRun = 0.15;
  /// A run from which on launches are derived from a smaller problem: there are some sixty of
  /// them, and to learn one takes about ten runs.
  static constexpr double kLightRun = 0.005;
  /// A run up to which the first launch of each kind has the workload's own size all the same.
  static constexpr double kOwnRun = 0.05;
};

/// A candidate, or a wrong version of the original, that the checks examine.
struct Examination {
  const RenderedCandidate &candidate;
  const Built &built;
  std::uint64_t freshSeed =
      0; ///< derived from the frozen candidate, so no candidate can be written for it
  Strength strength;
  Depth depth = Depth::Search;
  Trial &trial; ///< receives findings, stages and the checks' records
};

/// What the compilers will be asked for next.
struct CompileAhead {
  std::shared_ptr<const Subject> subject;
  std::shared_ptr<const RenderedCandidate> candidate;
  bool isOriginal = false;
  JobQueue &jobs; ///< where to add the compilations
};

class Check {
public:
  virtual ~Check() = default;
  virtual CheckId id() const = 0;
  /// True if the check can notice wrong results. Checks that cannot take no part in the mutation
  /// test.
  virtual bool seesResults() const { return true; }
  /// True if it runs the workload's own launches, at their full size.
  virtual bool runsWorkload() const { return false; }
  /// The least depth at which the check runs.
  virtual Depth from() const { return Depth::Trial; }
  /// Learns what the original does in this check. Called once for each kernel and workload, before
  /// the check is asked about a candidate. Adds findings to `trial`.
  virtual Status learn(CheckContext &context, Trial &trial) = 0;
  /// Starts, on other threads, the compilations that learn() will need for the original, or ask()
  /// for a candidate; the toolchain caches the results. May be called from any thread, one at a
  /// time.
  virtual void compileAhead(const CompileAhead &) {}
  /// Starts, on another thread, what check() will wait for. Called before the first check runs, and
  /// only for checks that run unless another one fails before them.
  virtual void begin(CheckContext &, const Examination &) {}
  /// Waits for what begin() has started on the device, if check() has not. Called after the checks.
  virtual void end() {}
  /// Runs the check and writes what it did to `record`. A Failure is the candidate's fault; an
  /// Error is kopt's or the machine's.
  Result<std::optional<Failure>> check(CheckContext &context, Examination &examination,
                                       CheckRecord &record) {
    if (examination.depth < from())
      return notRun(record, kForWinners);
    return ask(context, examination, record);
  }

protected:
  /// True if a search leaves to winners what a second run of the workload's launches would show.
  static bool isBrief(const CheckContext &context, const Examination &examination) {
    return examination.depth <= Depth::Search && !context.runner().device().modelled &&
           context.heaviest() < context.baselineSeconds.size() &&
           context.baselineSeconds[context.heaviest()] > GpuSeconds::kLongRun;
  }
  virtual Result<std::optional<Failure>> ask(CheckContext &context, Examination &examination,
                                             CheckRecord &record) = 0;
  /// What check() returns when the check could not run, or was not asked.
  std::optional<Failure> notRun(CheckRecord &record, std::string why) const {
    record = {id(), CheckState::NotRun, std::move(why)};
    return std::nullopt;
  }
  /// What check() returns when the check has nothing to show for this kernel or device.
  std::optional<Failure> notApplicable(CheckRecord &record, std::string why) const {
    record = {id(), CheckState::NotApplicable, std::move(why)};
    return std::nullopt;
  }
  static constexpr const char *kForWinners =
      "it runs only for winners and for candidates that the screen flagged";
};

} // namespace kopt
