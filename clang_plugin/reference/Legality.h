// SPDX-License-Identifier: Apache-2.0
// What in the original forbids a clone: code that depends on more of a narrow number than its
// value.
#pragma once

#include "clang_plugin/analysis/KernelView.h"
#include "clang_plugin/output/Variants.h"

namespace kopt::frontend {

struct Legality {
  std::vector<ReferenceNote> refusals, notes;
  unsigned sharedFactor = 1; ///< scales dynamic shared memory, by the narrow types in it
};

Legality checkOriginal(const KernelView &view);

/// Adds refusals for floats that decide which element is accessed or how often a loop runs, because
/// a clone that rounds differently would compute something else; and notes for other decisions on
/// floats.
void checkSteering(const KernelView &view, std::vector<ReferenceNote> &refusals,
                   std::vector<ReferenceNote> &notes);

/// Line of a location; 0 if it is not in the slice.
unsigned lineOf(const KernelView &view, clang::SourceLocation location);
/// The text of a range, in backquotes, cut after 80 characters.
std::string quoted(const KernelView &view, clang::SourceRange range);

} // namespace kopt::frontend
