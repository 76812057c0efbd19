// SPDX-License-Identifier: Apache-2.0
// A candidate is device code plus declared launch parameters, never host code.
#pragma once

#include "driver/model/Workload.h"

#include <map>
#include <optional>
#include <string>

namespace kopt {

/// What the candidate launches differently. Unset members follow the launch site with the
/// candidate's constants.
struct LaunchOverride {
  std::optional<Dim3> block;
  /// With a new block: grid = ceil(old grid * old block / new block) in each dimension.
  bool coverGrid = false;
  std::optional<std::uint32_t> sharedBytes;
};

struct Candidate {
  std::string proposer;  ///< params, transform, llm, person
  std::string title;     ///< one line for people: "TILE = 32", "pad tile by 1"
  std::string technique; ///< catalogue id: key of knowledge and tabu
  std::string parent;    ///< content hash of the candidate it was made from; empty: the baseline
  std::map<std::size_t, std::string> chunks; ///< new text of changed slice chunks
  std::map<std::string, std::int64_t>
      constants; ///< new values of named constants and integral template arguments
  LaunchOverride launch;
  std::string rationale; ///< the finding or the model's words that led to it

  /// Identity of what would run: equal hashes are the same trial. Titles and reasons do not count.
  std::string contentHash() const;
};

} // namespace kopt
