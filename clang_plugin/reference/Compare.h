// SPDX-License-Identifier: Apache-2.0
// Checks a clone: no narrow number may be left in it, and everything else must be unchanged.
#pragma once

#include "clang_plugin/analysis/KernelView.h"
#include "clang_plugin/reference/Reference.h"

namespace kopt::frontend {

/// Adds a refusal for each narrow number left in the clone; for integers, branches, loops and
/// arrays that differ from the original's; and for too much static shared memory.
void compareToOriginal(const KernelView &original, const KernelView &clone,
                       std::vector<ReferenceNote> &refusals);

} // namespace kopt::frontend
