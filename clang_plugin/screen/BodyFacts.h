// SPDX-License-Identifier: Apache-2.0
// Facts about the function bodies of a slice, in a form in which two slices can be compared.
#pragma once

#include "clang_plugin/analysis/CudaFunctions.h"
#include "clang_plugin/analysis/KernelView.h"
#include "clang_plugin/output/Variants.h"

#include <map>
#include <set>

namespace kopt::frontend {

struct BodyFacts {
  /// What the bodies of the slice do, each with the line where it first occurs: "clock", "asm:…",
  /// "fast-math:__expf".
  std::map<std::string, unsigned> sideEffects;
  /// How many functions of each kind the kernel and its callees name.
  llvm::DenseMap<CudaFunction, unsigned> counts;
  /// By kernel parameter: comparisons of a varying value with it. `comparisons` counts all of
  /// them, clamps with min() and max() included; `guards` counts neither clamps nor comparisons
  /// that decide a loop.
  std::map<unsigned, unsigned> guards, comparisons;
  std::set<unsigned> usedParameters;
  /// By kernel parameter: width in bits of the narrowest integer that indexes its elements.
  std::map<unsigned, unsigned> indexBits;
  /// As `indexBits`, but without the indices that plainly fit (readIndex()).
  std::map<unsigned, unsigned> doubtfulBits;
  std::set<unsigned> floatBits; ///< widths of floating point arithmetic; bfloat16 counts as 15
  std::map<unsigned, unsigned> bodyRanges; ///< begin to end offset of every function body
};

BodyFacts readBodies(const KernelView &view);

void compareBodies(const KernelView &baselineView, const BodyFacts &baseline,
                   const BodyFacts &candidate, std::vector<ScreenFinding> &findings);

} // namespace kopt::frontend
