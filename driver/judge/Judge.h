// SPDX-License-Identifier: Apache-2.0
// Says what a candidate is worth. Never proposes candidates, and never decides what happens next.
#pragma once

#include "driver/model/Trial.h"
#include "driver/model/Workload.h"
#include "driver/support/Result.h"

#include <vector>

namespace kopt {

/// The user's own kernel, measured.
struct Baseline {
  Trial trial;
  Workload workload; ///< with what the measurement learned: pure outputs, weights
};

/// LocalJudge judges on devices, RecallingJudge returns recorded trials from a store (--resume).
/// Used from one thread.
class Judge {
public:
  virtual ~Judge() = default;

  /// Measures the user's own kernel. Must succeed before any other call. Fails with BaselineFailed,
  /// saying what is wrong with the kernel, or with Environment.
  virtual Result<Baseline> baseline() = 0;

  /// Announces that judge() will be called for these candidates, in this order, so that an
  /// implementation can start early. Changes no verdict.
  virtual void begin(const std::vector<Candidate> &) {}

  /// Evaluates a candidate; Purpose::Confirmation judges it again on fresh inputs and samples. A
  /// candidate's failure is a verdict. A trial that ends after an earlier stage than Time is only a
  /// look: if nothing speaks against the candidate, its verdict is Ambiguous; it is not recorded.
  /// Fails only with Environment (no device is left), Internal or Interrupted.
  virtual Result<Trial> judge(const Candidate &candidate, Purpose purpose,
                              Stage upTo = Stage::Time) = 0;

  /// How many times as fast as `other` the candidate is, on fresh samples that alternate between
  /// the two. Both must have been Faster. Nothing if either no longer runs. The result only serves
  /// to choose between candidates, not to claim a gain, as one process takes all samples. Fails as
  /// judge() does.
  virtual Result<std::optional<Speedup>> compare(const Candidate &candidate,
                                                 const Candidate &other) = 0;

  /// Adds counters to a timed trial that has none.
  virtual Status addCounters(Trial &trial) = 0;

  /// Tells the judge about a trial from before it existed, so that it recognises the same machine
  /// code. Call it after baseline().
  virtual void remember(const Trial &) {}
};

} // namespace kopt
