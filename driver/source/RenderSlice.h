// SPDX-License-Identifier: Apache-2.0
// The texts that a candidate makes: the slice that is built, and the edits of the user's files that
// make the program launch it. Host edits are derived from the launch parameters and do not run
// while tuning.
#pragma once

#include "driver/model/Candidate.h"
#include "driver/model/KernelSpec.h"
#include "driver/support/Result.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// The slice text with the candidate's chunks and constants put in, and the expression it
/// instantiates.
struct RenderedSlice {
  std::string text;
  std::string expression;
  /// Begin and end of each slice chunk in `text`, and of each of the candidate's declarations: of
  /// one that is there already, an empty range.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> chunks, declarations;
};

/// `sliceText` is the baseline's slice. A chunk with new text is taken as it is: constants inside
/// it were put in by whoever wrote that text. Fails with Internal where a constant has no place in
/// the slice or the launch.
Result<RenderedSlice> renderSlice(const std::string &sliceText, const KernelSpec &kernel,
                                  const Specialization &specialization, const Candidate &candidate);

/// The named constants as the specialization's launch site sees them: where a name is declared more
/// than once, the declaration nearest before the launch counts.
std::vector<NamedConstant> constantsInScope(const KernelSpec &kernel,
                                            const Specialization &specialization);

/// Edits of the user's files that make the program launch the candidate: chunks, new declarations
/// and includes, constants, launch sites.
Result<std::vector<SourceEdit>> writeBackEdits(const KernelSpec &kernel,
                                               const Specialization &specialization,
                                               const Candidate &candidate);

} // namespace kopt
