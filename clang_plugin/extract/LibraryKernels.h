// SPDX-License-Identifier: Apache-2.0
// Finds kernels of CUB, Thrust and other system headers that the user's code instantiates, so that
// every entry point of the file is accounted for. They are not tuned.
#pragma once

#include "clang_plugin/output/Extraction.h"
#include "clang_plugin/parse/SourceIndex.h"

namespace kopt::frontend {

/// The kernels, ordered by symbol.
std::vector<LibraryKernel> findLibraryKernels(const SourceIndex &index);

} // namespace kopt::frontend
