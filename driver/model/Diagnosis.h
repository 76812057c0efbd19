// SPDX-License-Identifier: Apache-2.0
// The results of the rules for a kernel's counters.
#pragma once

#include "clang_plugin/output/Fields.h"

#include <string>
#include <utility>
#include <vector>

namespace kopt {

/// One rule that fired.
struct RuleHit {
  std::string id, severity; ///< severity: high, medium, low
  std::string finding;      ///< the message with the values of the metrics
  std::string action;
  std::vector<std::string> skills;     ///< names of documents in knowledge/skills
  std::vector<std::string> techniques; ///< ids of the rewrites that it recommends, best first
  std::vector<std::pair<std::string, double>> evidence; ///< metrics and values
};
KOPT_FIELDS(RuleHit, id, severity, finding, action, skills, techniques, evidence)

struct Diagnosis {
  std::vector<RuleHit> hits; ///< most severe first
  std::vector<std::string>
      skipped; ///< "rule-id: metric X is missing"; an unknown metric is never taken as zero
};
KOPT_FIELDS(Diagnosis, hits, skipped)

} // namespace kopt
