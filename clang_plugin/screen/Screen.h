// SPDX-License-Identifier: Apache-2.0
// Compares a candidate's slice with the baseline's, before anything of the candidate is built or
// run. A candidate may rewrite the kernel and add device functions, constants and types beside it;
// whatever else changes is refused, and what is legal but often wrong is flagged, so that
// verification stresses it.
#pragma once

#include "clang_plugin/output/Variants.h"

#include <llvm/Support/Error.h>

namespace kopt::frontend {

/// Every finding, rejects first. Fails only if the baseline itself does not parse or lacks the
/// kernel.
llvm::Expected<std::vector<ScreenFinding>> screenCandidate(const ScreenRequest &request);

} // namespace kopt::frontend
