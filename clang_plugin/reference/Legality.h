// SPDX-License-Identifier: Apache-2.0
// What of the original forbids a clone: places where a narrow number is more than its value.
#pragma once

#include "clang_plugin/analysis/KernelView.h"
#include "clang_plugin/reference/Reference.h"

namespace kopt::frontend {

struct Legality {
  std::vector<ReferenceNote> refusals, notes;
  unsigned sharedFactor = 1; ///< of what the casts of dynamic shared memory make of it
};

Legality checkOriginal(const KernelView &view);

/// The refusals of floats that decide where memory is read or how often a loop runs: a clone that
/// rounds otherwise would compute something else.
void checkSteering(const KernelView &view, std::vector<ReferenceNote> &refusals,
                   std::vector<ReferenceNote> &notes);

/// Line of a location in the slice; 0 where it has none.
unsigned lineOf(const KernelView &view, clang::SourceLocation location);
/// The text at a place, shortened, in quotation marks.
std::string quoted(const KernelView &view, clang::SourceRange range);

} // namespace kopt::frontend
