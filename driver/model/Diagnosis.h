// SPDX-License-Identifier: Apache-2.0
// What a kernel's counters say of it.
#pragma once

#include "clang_plugin/output/Fields.h"

#include <array>
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

/// What kind of resource a kernel spends its time on.
enum class BoundKind {
  Unknown, ///< no counter of a resource was read
  Memory,  ///< bandwidth of DRAM or of a cache
  Compute, ///< the units that execute
  Issue,   ///< instructions, whatever they do
  Latency, ///< none is busy: threads wait
};
constexpr auto spellings(BoundKind) {
  return std::to_array<std::string_view>({"unknown", "memory", "compute", "issue", "latency"});
}

struct Bound {
  BoundKind kind = BoundKind::Unknown;
  std::string resource; ///< the busiest: "DRAM"
  double percent = 0;   ///< of its peak
};
KOPT_FIELDS(Bound, kind, resource, percent)

struct Diagnosis {
  std::string state;   ///< an id of knowledge/states.json, or "other:memory"; empty: not known
  std::string finding; ///< the state with the values of the metrics
  /// States that come before it and lack a counter: "tensor-pipe: metric X is missing".
  std::vector<std::string> unjudged;
  Bound bound;
  /// At most how many times as fast the kernel could run: until DRAM is at its peak with the bytes
  /// that have to be moved, or nothing but the launch is left. 0: not known.
  double headroom = 0;
  std::vector<RuleHit> hits; ///< most severe first
  std::vector<std::string>
      skipped; ///< "rule-id: metric X is missing"; an unknown metric is never taken as zero
};
KOPT_FIELDS(Diagnosis, state, finding, unjudged, bound, headroom, hits, skipped)

} // namespace kopt
