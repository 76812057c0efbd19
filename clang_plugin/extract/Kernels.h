// SPDX-License-Identifier: Apache-2.0
// Finds the kernels of one parsed file, and the launches in its host code.
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
  /// The definition as written; null if it is in another file.
  const clang::FunctionDecl *pattern = nullptr;
  /// Everything except specializations, flags and directory.
  KernelSpec info;
  std::vector<FoundSpecialization> specializations;
};

/// Finds the kernels in the host pass. Launches that belong to none of them are added to
/// `extraction`, with notes.
std::vector<FoundKernel> findKernels(const SourceIndex &host, ExtractionResult &extraction);

/// Adds to `kernel` the constants in those ranges of the user's text that belong to its slice.
void addSliceConstants(const SourceIndex &index, const std::vector<SliceChunk> &chunks,
                       KernelSpec &kernel);

} // namespace kopt::frontend
