// SPDX-License-Identifier: Apache-2.0
// The interface to sources of candidates. A proposer reads records and returns candidates; it never
// runs or judges one.
#pragma once

#include "driver/model/Diagnosis.h"
#include "driver/model/KernelSpec.h"
#include "driver/model/Trial.h"
#include "driver/support/Result.h"

#include <string>
#include <vector>

namespace kopt {

/// The subject of a search. The referenced records must outlive it.
struct SearchProblem {
  const KernelSpec &kernel;
  const Specialization &specialization;
  const Workload &workload;
  const std::string &sliceText; ///< the baseline's slice
  const DeviceInfo &device;
};

/// A trial to make candidates from, and the rules that fired on its counters.
struct Parent {
  const Trial &trial;
  Diagnosis diagnosis;
};

struct ProposalContext {
  const SearchProblem &problem;
  std::vector<Parent> parents;       ///< at least one; the first is the one to improve
  const std::vector<Trial> &history; ///< all trials of this run, oldest first
  int round = 0;
  std::string technique{}; ///< only candidates of this technique are wanted; empty: any

  const Trial &parentTrial() const { return parents.front().trial; }
  const Candidate &parent() const { return parents.front().trial.candidate; }
  const Diagnosis &diagnosis() const { return parents.front().diagnosis; }
};

class Proposer {
public:
  virtual ~Proposer() = default;
  virtual std::string name() const = 0;
  /// True if it only combines what the history has: instead of taking turns, it is asked whenever
  /// new trials give it a reason.
  virtual bool followsTrials() const { return false; }
  /// At most `limit` new candidates, the most promising first, none of them in the history. Empty
  /// if it has nothing more to offer for these parents. Must be a pure function of the context and
  /// of what the proposer stored itself. A failure costs the proposer its turn and does not end the
  /// search.
  virtual Result<std::vector<Candidate>> propose(const ProposalContext &context,
                                                 std::size_t limit) = 0;
};

} // namespace kopt
