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
  /// Null where none is needed.
  const clang::FunctionDecl *enclosing = nullptr;
};

/// The kernel as written, with all it needs; a template still has to be instantiated. Several
/// texts, the one to be tried first, first: with the headers it needs; with every header the file
/// includes. Each is followed by the same with #line directives (for code that asks where it
/// stands, as assert() does).
std::vector<SliceText> buildSlices(const SliceRequest &request);

/// Declarations for the device, macros and using-declarations of the user's files that stand before
/// the kernel and not in `slice`, as chunks without a place in it.
std::vector<SliceChunk> unusedBefore(const SliceRequest &request, const SliceText &slice);

/// Adds a function that refers to each of `expressions`, such as "ns::k<float, 4>", so that the
/// compiler emits them.
void instantiate(SliceText &slice, const std::vector<std::string> &expressions);

} // namespace kopt::frontend
