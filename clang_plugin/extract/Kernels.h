// SPDX-License-Identifier: Apache-2.0
// The kernels of one parsed file, and where the host code launches them.
#pragma once

#include "clang_plugin/output/Extraction.h"
#include "clang_plugin/parse/SourceIndex.h"

namespace kopt::frontend {

/// One instantiation of a kernel template, or the kernel itself.
struct FoundSpecialization {
  const clang::FunctionDecl *function = nullptr;
  Specialization info; ///< symbol, expression, template arguments and parameters are filled in
  const clang::FunctionDecl *enclosing = nullptr; ///< enclosingFunction()
};

struct FoundKernel {
  const clang::FunctionDecl *pattern = nullptr; ///< the definition as written; null if elsewhere
  KernelSpec info;                              ///< all but specializations, flags and directory
  std::vector<FoundSpecialization> specializations;
};

/// From the host pass. Launches that belong to none of its kernels go to `extraction`, with notes.
std::vector<FoundKernel> findKernels(const SourceIndex &host, ExtractionResult &extraction);

/// Adds to `kernel` the constants that stand in a range of the user's text which belongs to its
/// slice.
void addSliceConstants(const SourceIndex &index, const std::vector<SliceChunk> &chunks,
                       KernelSpec &kernel);

} // namespace kopt::frontend
