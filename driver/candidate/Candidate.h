// SPDX-License-Identifier: Apache-2.0
// A candidate is device code plus declared launch parameters, never host code. Host edits are what write-back will do
// to the launch sites; they are derived from the launch parameters and do not run while tuning.
#pragma once

#include "driver/project/KernelSpec.h"
#include "driver/workload/Workload.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// What the candidate launches differently. Unset members follow the launch site with the candidate's constants.
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
  std::map<std::string, std::int64_t> constants; ///< new values of named constants and integral template arguments
  LaunchOverride launch;
  std::string rationale; ///< the finding or the model's words that led to it

  /// Identity of what would run: equal hashes are the same trial. Titles and reasons do not count.
  std::string contentHash() const;
};

/// The slice text with the candidate's chunks and constants put in, and the expression it instantiates.
struct RenderedSlice {
  std::string text;
  std::string expression;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> chunks; ///< begin and end of each slice chunk in `text`
};

/// `sliceText` is the baseline's slice. A chunk with new text is taken as it is: constants inside it were put in by whoever
/// wrote that text. Fails with Internal where a constant has no place in the slice or the launch.
Result<RenderedSlice> renderSlice(const std::string &sliceText, const KernelSpec &kernel,
                                  const Specialization &specialization, const Candidate &candidate);

/// The named constants as the specialization's launch site sees them: where a name is declared more than once, the
/// declaration nearest before the launch counts.
std::vector<NamedConstant> constantsInScope(const KernelSpec &kernel, const Specialization &specialization);

/// The launch with the candidate's constants and override applied. Fails with Usage where geometry cannot be evaluated.
Result<Launch> applyToLaunch(const KernelSpec &kernel, const Launch &launch, const Candidate &candidate);

/// Edits of the user's files that make the program launch the candidate: chunks, constants, launch sites.
Result<std::vector<SourceEdit>> writeBackEdits(const KernelSpec &kernel, const Specialization &specialization,
                                               const Candidate &candidate);

} // namespace kopt
