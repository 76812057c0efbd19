// SPDX-License-Identifier: Apache-2.0
// The smallest self-contained translation unit with one kernel in it, made of the user's own text.
#pragma once

#include "clang_plugin/extract/Model.h"
#include "clang_plugin/slice/SourceIndex.h"

namespace kopt::frontend {

struct SliceText {
  std::string text;
  /// The same with #line directives, for the proof: assertions then name the same places as in the
  /// original. Text that spells __LINE__ or __FILE__ itself gets none: it would mean something else
  /// in the slice.
  std::string proofText;
  std::vector<ChunkInfo> chunks;
  std::size_t kernelChunk = 0;
  std::string problem; ///< why the text cannot stand on its own; empty if it can
};

struct SliceRequest {
  const SourceIndex *host = nullptr, *device = nullptr;
  const clang::FunctionDecl *kernel = nullptr; ///< as written (the template's pattern), of the host pass
  /// A host function without which the kernel's template arguments cannot be named: a lambda's. Null
  /// where none is needed.
  const clang::FunctionDecl *enclosing = nullptr;
  bool allIncludes = false; ///< every header of others, needed or not
};

/// The kernel as written, with all it needs. A template still has to be instantiated.
SliceText buildSlice(const SliceRequest &request);

/// Adds a function that refers to each of `expressions`, such as "ns::k<float, 4>", so that the
/// compiler emits them.
void instantiate(SliceText &slice, const std::vector<std::string> &expressions);

} // namespace kopt::frontend
