// SPDX-License-Identifier: Apache-2.0
// Says what a candidate is worth. Never proposes one, and never decides what happens next.
#pragma once

#include "driver/model/Trial.h"
#include "driver/model/Workload.h"
#include "driver/support/Result.h"

#include <vector>

namespace kopt {

/// The user's own kernel as it was measured.
struct Baseline {
  Trial trial;
  Workload workload; ///< with what was learned: pure outputs, weights
};

/// LocalJudge judges on devices, RecallingJudge remembers what a store has (--resume),
/// RecordedJudge answers from records alone. Used from one thread.
class Judge {
public:
  virtual ~Judge() = default;

  /// Must succeed before anything else is asked. Fails with BaselineFailed, saying what is wrong
  /// with the user's kernel, or with Environment.
  virtual Result<Baseline> baseline() = 0;

  /// These candidates will be asked for, in this order: an implementation may begin early. It
  /// changes no verdict.
  virtual void begin(const std::vector<Candidate> &) {}

  /// One full evaluation; Confirmation judges again on fresh inputs and samples. A candidate's
  /// failure is a verdict; fails only with Environment (no device is left), Internal or
  /// Interrupted.
  virtual Result<Trial> judge(const Candidate &candidate, Purpose purpose) = 0;

  /// How many times as fast as `other` the candidate is, on fresh samples that alternate between
  /// the two; both came out Faster. Nothing where either no longer runs. It chooses between
  /// candidates, and claims nothing: one process takes all samples. Fails as judge() does.
  virtual Result<std::optional<Speedup>> compare(const Candidate &candidate,
                                                 const Candidate &other) = 0;

  /// Adds counters to a timed trial that has none.
  virtual Status addCounters(Trial &trial) = 0;

  /// Tells of a trial that was judged before this judge existed, so that the same machine code is
  /// recognised again. Call it after baseline().
  virtual void remember(const Trial &) {}
};

} // namespace kopt
