// SPDX-License-Identifier: Apache-2.0
// A candidate is device code plus declared launch parameters, never host code.
#pragma once

#include "driver/model/Workload.h"
#include "driver/support/Result.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// What the candidate launches differently. Unset members follow the launch site with the
/// candidate's constants.
struct LaunchOverride {
  std::optional<Dim3> block;
  /// With a new block: grid = ceil(old grid * old block / new block) in each dimension.
  bool coverGrid = false;
  std::optional<std::uint32_t> sharedBytes;
  /// In C syntax over the launch site's variables and the candidate's constants; each takes the
  /// place of the launch site's.
  std::optional<std::array<std::string, 3>> gridExpressions, blockExpressions;
  std::optional<std::string> sharedExpression; ///< in bytes
  /// The launch asks for more dynamic shared memory than a kernel has without cudaFuncSetAttribute.
  bool largeShared = false;
};
KOPT_FIELDS(LaunchOverride, block, coverGrid, sharedBytes, gridExpressions, blockExpressions,
            sharedExpression, largeShared)

/// A tunable that came with the candidate's own text, not with the user's declaration.
struct CandidateTunable {
  std::string name;
  std::vector<std::int64_t> values; ///< in their order, no duplicates, never empty
  std::vector<std::string>
      requirements;       ///< expressions over tunables and constants: all true, or it is not tried
  std::int64_t value = 0; ///< the chosen one of `values`
  /// Its placeholder, which the chosen value replaces: bytes of the new text of that chunk.
  std::size_t chunk = 0;
  std::uint64_t begin = 0, end = 0;
};
KOPT_FIELDS(CandidateTunable, name, values, requirements, value, chunk, begin, end)

struct Candidate {
  std::string proposer;  ///< params, transform, llm, person
  std::string title;     ///< one line for people: "TILE = 32", "pad tile by 1"
  std::string technique; ///< catalogue id: key of knowledge and tabu
  std::vector<std::string>
      parents; ///< content hashes of the candidates it was made from; none: of the baseline alone
  std::map<std::size_t, std::string> chunks; ///< new text of changed slice chunks
  std::map<std::string, std::int64_t>
      constants; ///< new values of named constants and integral template arguments
  LaunchOverride launch;
  std::string rationale;                    ///< the finding or the model's words that led to it
  std::vector<CandidateTunable> tunables{}; ///< its own
  std::vector<std::string> includes{};      ///< new ones, as they are spelled: "<cuda/barrier>"
  std::vector<std::string>
      declarations{}; ///< new ones, as text, in the order in which they stand before the kernel

  /// Identity of what would run: equal hashes are the same trial. Who proposed it, from what and
  /// why does not count.
  std::string contentHash() const;
};
KOPT_FIELDS(Candidate, proposer, title, technique, parents, chunks, constants, launch, rationale,
            tunables, includes, declarations)

/// Fails with Usage, naming it, where the candidate has a form that kopt stores and cannot build
/// yet: own tunables, new includes, new declarations.
Status refuseUnbuiltForms(const Candidate &candidate);
/// The same of its launch: expressions, and opting in to large shared memory.
Status refuseUnbuiltForms(const LaunchOverride &launch);

} // namespace kopt
