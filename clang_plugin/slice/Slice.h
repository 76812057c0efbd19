// SPDX-License-Identifier: Apache-2.0
// The smallest self-contained translation unit with one kernel in it, made of the user's own text.
#pragma once

#include "clang_plugin/output/Extraction.h"
#include "clang_plugin/parse/SourceIndex.h"

namespace kopt::frontend {

struct SliceText {
  std::string text;
  std::vector<SliceChunk> chunks;
  std::size_t kernelChunk = 0;
  bool withLines = false;      ///< has #line directives
  bool withAllHeaders = false; ///< has every header that the file includes
  std::string problem;         ///< why the text cannot stand on its own; empty if it can
};

struct SliceRequest {
  const SourceIndex *host = nullptr, *device = nullptr;
  const clang::FunctionDecl *kernel =
      nullptr; ///< as written (the template's pattern), of the host pass
  /// A host function without which the kernel's template arguments cannot be named: a lambda's.
  /// Null if none is needed.
  const clang::FunctionDecl *enclosing = nullptr;
};

/// The kernel as written, with all it needs; a template still has to be instantiated. Returns
/// several texts, in the order in which they are to be tried: with the headers that the kernel
/// needs, then with every header that the file includes. Each is followed by the same text with
/// #line directives, for code that depends on its file and line, such as assert().
std::vector<SliceText> buildSlices(const SliceRequest &request);

/// Declarations for the device, macros and using-declarations of the user's files that precede the
/// kernel and are not in `slice`, as chunks without a range in the slice.
std::vector<SliceChunk> unusedBefore(const SliceRequest &request, const SliceText &slice);

/// Adds a function that refers to each of `expressions`, such as "ns::k<float, 4>", so that the
/// compiler emits them.
void instantiate(SliceText &slice, const std::vector<std::string> &expressions);

} // namespace kopt::frontend
