// SPDX-License-Identifier: Apache-2.0
// What a kernel needs of its launch in addition to geometry, arguments and memory.
#pragma once

#include "clang_plugin/output/Extraction.h"
#include "clang_plugin/parse/SourceIndex.h"

namespace kopt::frontend {

struct LaunchNeeds {
  /// Textures and surfaces that the kernel takes as parameters, or that it or the user's functions
  /// that it calls read or write; and barriers of the whole grid. Each once, in order of
  /// appearance.
  std::vector<LaunchNeed> needs;
  /// The __constant__ variables that they read and that host code must set.
  std::vector<ConstantVariable> constantVariables;
  /// For each parameter, the integers that the kernel compares it with: KernelParam::comparedWith.
  std::vector<std::vector<std::int64_t>> comparedWith;
  /// They call isnan() or its like, or name an infinity or a NaN.
  bool testsNonFinite = false;
};

LaunchNeeds launchNeeds(const SourceIndex &index, const clang::FunctionDecl &kernel);

} // namespace kopt::frontend
