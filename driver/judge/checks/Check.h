// SPDX-License-Identifier: Apache-2.0
// One reason to refuse a candidate. Checks run in order, the cheapest first; a check that could not
// run says so and is never taken for one that passed.
#pragma once

#include "driver/judge/checks/CheckContext.h"
#include "driver/support/JobQueue.h"

#include <memory>
#include <string>
#include <vector>

namespace kopt {

/// How hard to look. A gain that is hard to believe is looked at harder, not turned down.
struct Strength {
  int freshDraws =
      1; ///< of the inputs of each declared launch and of one derived launch of each kind
  int repeats = 10; ///< launches of a repeatability test
  static Strength full() { return {5, 40}; }
};

/// On a GPU, which of the checks that cost much are asked.
enum class Depth {
  Search, ///< none: most candidates are no winners
  Trial,  ///< those that take the CPU a second or two
  Win,    ///< those too that take the GPU seconds
};
template <> struct EnumNames<Depth> {
  static constexpr std::pair<Depth, const char *> kAll[] = {
      {Depth::Search, "search"}, {Depth::Trial, "trial"}, {Depth::Win, "win"}};
};

/// Seconds of a GPU that parts of the judgement take at most where launches are large, as captured
/// ones are: a baseline is to be ready in ten, a candidate in one, a winner in five. At least one
/// launch of each kind is tried whatever it takes.
struct GpuSeconds {
  static constexpr double kLearn = 4;          ///< of the baseline
  static constexpr double kLearnForSearch = 1; ///< of these, before the first candidate
  static constexpr double replays(Depth depth) { return depth == Depth::Search ? 0.3 : 1.5; }
  static constexpr double kRepeats = 1;
  /// A run that takes longer, as of gigabytes it does: a search makes do with one of each kind.
  static constexpr double kLongRun = 0.15;
};

/// One candidate in front of the checks.
struct Examination {
  const Candidate &candidate;
  const Built &built;
  std::uint64_t freshSeed =
      0; ///< drawn from the frozen candidate: nothing can have been made for it
  Strength strength;
  Depth depth = Depth::Search;
  Trial &trial; ///< gets findings, stages and the checks' records
};

/// What compilers are about to be asked for.
struct CompileAhead {
  std::shared_ptr<const Subject> subject;
  std::shared_ptr<const Candidate> candidate; ///< of no edits: the original
  bool isOriginal = false;
  JobQueue &jobs; ///< which it goes into
};

class Check {
public:
  virtual ~Check() = default;
  virtual std::string name() const = 0; ///< of its check
  /// Whether a kernel that computes something wrong can be told by it: those that cannot are no
  /// part of the mutation test.
  virtual bool seesResults() const { return true; }
  /// On a GPU, the depth from which on it is asked. A modelled device asks all at any depth.
  virtual Depth from() const { return Depth::Trial; }
  /// Once for each kernel and workload, before any candidate that it is asked of: what the original
  /// does in this check. Findings go into `trial`.
  virtual Status learn(CheckContext &context, Trial &trial) = 0;
  /// Has compiled, on other threads, what learn() will ask compilers for of the original, or ask()
  /// of a candidate: they remember it. Called from any one thread.
  virtual void compileAhead(const CompileAhead &) {}
  /// Puts what it did into `record`. A failure is the candidate's; an Error is kopt's or the
  /// machine's.
  Result<std::optional<Failure>> check(CheckContext &context, Examination &examination,
                                       CheckRecord &record) {
    if (!context.runner().device().modelled && examination.depth < from())
      return notRun(record, kForWinners);
    return ask(context, examination, record);
  }

protected:
  /// Whether a search leaves to winners what another run would show.
  static bool isBrief(const CheckContext &context, const Examination &examination) {
    return examination.depth == Depth::Search && !context.runner().device().modelled &&
           context.heaviest() < context.baselineSeconds.size() &&
           context.baselineSeconds[context.heaviest()] > GpuSeconds::kLongRun;
  }
  virtual Result<std::optional<Failure>> ask(CheckContext &context, Examination &examination,
                                             CheckRecord &record) = 0;
  /// What check() returns where the check could not be asked, or was not.
  std::optional<Failure> notRun(CheckRecord &record, std::string why) const {
    record = {name(), CheckState::NotRun, std::move(why)};
    return std::nullopt;
  }
  /// The same where there is nothing that the check could show.
  std::optional<Failure> notApplicable(CheckRecord &record, std::string why) const {
    record = {name(), CheckState::NotApplicable, std::move(why)};
    return std::nullopt;
  }
  static constexpr const char *kForWinners =
      "it is asked of winners, and where screening flagged something";
};

} // namespace kopt
