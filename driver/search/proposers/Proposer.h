// SPDX-License-Identifier: Apache-2.0
// Where candidates come from. A proposer reads records and returns candidates; it never runs or
// judges one.
#pragma once

#include "driver/model/Diagnosis.h"
#include "driver/model/Trial.h"

#include <string>
#include <vector>

namespace kopt {

struct ProposalContext {
  const KernelSpec &kernel;
  const Specialization &specialization;
  const Workload &workload;
  const std::string &sliceText; ///< of the baseline
  const Candidate
      &parent; ///< the incumbent; empty content hash of the baseline if none was accepted
  const Trial &parentTrial;          ///< its measurements
  const Diagnosis &diagnosis;        ///< rules that fired on the parent's counters
  const std::vector<Trial> &history; ///< all trials of this run, oldest first
  const DeviceInfo &device;
  int round = 0;
};

class Proposer {
public:
  virtual ~Proposer() = default;
  virtual std::string name() const = 0;
  /// At most `limit` new candidates, most promising first, none whose content hash is in the
  /// history. Empty: it has nothing more to offer for this parent. Must be a pure function of the
  /// context and of what it stored itself.
  virtual Result<std::vector<Candidate>> propose(const ProposalContext &context,
                                                 std::size_t limit) = 0;
};

} // namespace kopt
