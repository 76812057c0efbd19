// SPDX-License-Identifier: Apache-2.0
// What a clone must be: nothing narrow left in it, and everything else as it was.
#pragma once

#include "clang_plugin/analysis/KernelView.h"
#include "clang_plugin/reference/Reference.h"

namespace kopt::frontend {

/// Narrow numbers that are left in the clone, and integers, branches, loops and arrays that are not
/// those of the original.
void compareToOriginal(const KernelView &original, const KernelView &clone,
                       std::vector<ReferenceNote> &refusals);

} // namespace kopt::frontend
