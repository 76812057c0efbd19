// SPDX-License-Identifier: Apache-2.0
// Takes the counters of a version, and what its lines cost.
#pragma once

#include "driver/judge/CandidateTimer.h"
#include "driver/source/RenderSlice.h"

#include <future>
#include <vector>

namespace kopt {

class CandidateProfiler {
public:
  CandidateProfiler(JudgeBench &bench, const CandidateTimer &timer)
      : bench_(bench), timer_(timer) {}

  /// Adds the counters of the workload's heaviest launch, or a finding that says why there are
  /// none. `built` is loaded.
  Status count(const Built &built, Trial &trial);

  /// What a version's lines cost, from another thread: on a GPU that takes a compilation. Not valid
  /// where no lines are wanted, or the device counted them while it timed.
  using LineCosts = std::future<Result<std::vector<LineCost>>>;
  LineCosts costLines(const RenderedCandidate &candidate, const std::string &candidateHash) const;
  /// Records hot lines: of the module timed last if times are modelled, otherwise of the machine
  /// code. If there are none, the record says why.
  void addHotLines(const RenderedCandidate &candidate, LineCosts costs, Trial &trial) const;

private:
  Result<std::vector<LineCost>> linesOfCode(const RenderedSlice &slice,
                                            const std::string &candidateHash) const;

  JudgeBench &bench_;
  const CandidateTimer &timer_;
};

} // namespace kopt
