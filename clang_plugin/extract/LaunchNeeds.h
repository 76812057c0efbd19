// SPDX-License-Identifier: Apache-2.0
// What a kernel needs of its launch beside geometry, arguments and memory.
#pragma once

#include "clang_plugin/output/Extraction.h"
#include "clang_plugin/parse/SourceIndex.h"

namespace kopt::frontend {

struct LaunchNeeds {
  /// Textures and surfaces that the kernel takes, or that it and the user's functions that it calls
  /// read or write; and barriers of the whole grid. Each object or barrier once, in order of
  /// appearance.
  std::vector<LaunchNeed> needs;
  /// What they read of __constant__ memory that the file leaves to host code.
  std::vector<ConstantVariable> constantVariables;
  /// Of each parameter, the integers that the kernel itself tells it by: KernelParam::comparedWith.
  std::vector<std::vector<std::int64_t>> comparedWith;
};

LaunchNeeds launchNeeds(const SourceIndex &index, const clang::FunctionDecl &kernel);

} // namespace kopt::frontend
