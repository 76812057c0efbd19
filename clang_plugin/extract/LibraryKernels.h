// SPDX-License-Identifier: Apache-2.0
// Kernels of CUB, Thrust and other system headers that the user's code instantiates: found, so that
// every entry point of the file is accounted for, but not the user's to change.
#pragma once

#include "clang_plugin/output/Extraction.h"
#include "clang_plugin/parse/SourceIndex.h"

namespace kopt::frontend {

/// In the order of their symbols.
std::vector<LibraryKernel> findLibraryKernels(const SourceIndex &index);

} // namespace kopt::frontend
