// SPDX-License-Identifier: Apache-2.0
// Makes a slice that records which outcomes of its conditions occurred.
#pragma once

#include "clang_plugin/analysis/KernelSource.h"

namespace kopt::frontend {

/// Fails if the slice does not parse or has no such kernel.
llvm::Expected<CoverageClone> markCoverage(const KernelSource &request);

} // namespace kopt::frontend
