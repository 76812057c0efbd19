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
  /// In C syntax over the launch site's variables, the kernel's parameters and the candidate's
  /// constants; each takes the place of the launch site's.
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

/// A header that the candidate includes and the baseline's slice does not.
struct CandidateInclude {
  std::string header; ///< as it is spelled: "<cuda/barrier>"
  /// A header of the user's: the slice has what the kernel needs of it among `declarations`, as it
  /// has of the user's other headers.
  bool isUsers = false;
  bool operator==(const CandidateInclude &) const = default;
};
KOPT_FIELDS(CandidateInclude, header, isUsers)

/// A declaration, macro or using-declaration that the candidate adds to the slice.
struct CandidateDeclaration {
  std::string text;       ///< with the namespaces that it has and what it stands before has not
  std::size_t before = 0; ///< the slice's chunk that it stands before
  /// The user's file that has it already, or the header that brings it; empty: the patch writes it.
  std::string file;
  bool operator==(const CandidateDeclaration &) const = default;
};
KOPT_FIELDS(CandidateDeclaration, text, before, file)

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
  std::vector<CandidateInclude> includes{};
  std::vector<CandidateDeclaration> declarations{}; ///< in the order in which they stand

  /// Identity of what would run: equal hashes are the same trial. Who proposed it, from what and
  /// why does not count.
  std::string contentHash() const;
};
KOPT_FIELDS(Candidate, proposer, title, technique, parents, chunks, constants, launch, rationale,
            tunables, includes, declarations)

/// Fails with Usage, naming it, where the candidate has a form that kopt stores and cannot build
/// yet: own tunables.
Status refuseUnbuiltForms(const Candidate &candidate);
/// The same of its launch: a part that it has twice, as numbers and as expressions.
Status refuseUnbuiltForms(const LaunchOverride &launch);

} // namespace kopt
