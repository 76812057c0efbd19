// SPDX-License-Identifier: Apache-2.0
// What the function bodies of a slice do, in words that two slices can be compared by.
#pragma once

#include "clang_plugin/analysis/KernelView.h"
#include "clang_plugin/screen/Screen.h"

#include <map>
#include <set>

namespace kopt::frontend {

struct BodyFacts {
  /// What some body of the file does, with the line of the first: "clock", "asm:…",
  /// "fast-math:__expf".
  std::map<std::string, unsigned> sideEffects;
  /// How often the kernel and what it calls names each of: atomic, barrier, fence.
  std::map<std::string, unsigned> counts;
  /// By kernel parameter: comparisons of something variable with it, those that decide a loop
  /// included or not.
  std::map<unsigned, unsigned> guards, comparisons;
  std::set<unsigned> usedParameters;
  /// By kernel parameter: the narrowest integer, in bits, that its elements are numbered in.
  std::map<unsigned, unsigned> indexBits;
  /// The same, but for indices that plainly fit (readIndex()).
  std::map<unsigned, unsigned> doubtfulBits;
  std::set<unsigned> floatBits; ///< widths of floating point arithmetic; bfloat16 counts as 15
  std::map<unsigned, unsigned> bodyRanges; ///< begin to end of every function body of the text
};

BodyFacts readBodies(const KernelView &view);

void compareBodies(const KernelView &baselineView, const BodyFacts &baseline,
                   const BodyFacts &candidate, std::vector<ScreenFinding> &findings);

} // namespace kopt::frontend
