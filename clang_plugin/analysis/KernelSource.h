// SPDX-License-Identifier: Apache-2.0
// A slice as a text that is parsed, edited by byte ranges and parsed again: what rewrites, mutants
// and clones have in common.
#pragma once

#include "clang_plugin/parse/ParseCuda.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Error.h>

namespace kopt::frontend {

/// Replace the bytes [begin, end) of the slice text.
struct Edit {
  unsigned begin = 0, end = 0;
  std::string text;
};

/// The text with edits made. They are sorted and do not overlap; insertions at one place keep their
/// order.
std::string applyEdits(const std::string &text, llvm::ArrayRef<Edit> edits);

/// The question that is asked of one kernel of a slice.
struct KernelSource {
  std::string slice, expression, kernel; ///< text, specialization, qualified name
  std::vector<std::string> flags;        ///< nvcc's
  std::string directory, arch;
};

/// Parses `text` with the flags of the request, and for its arch where the flags name none.
ParsedUnit parseSlice(const KernelSource &request, const std::string &text);

/// Why parseSlice() gave no usable AST.
llvm::Error parseFailure(const ParsedUnit &unit);

/// For each list of edits, whether the text with them made does not parse. Lists that touch
/// different places are tried together, and one by one only where that fails, as one parse costs up
/// to half a second.
std::vector<bool> findUnparsable(const KernelSource &request,
                                 llvm::ArrayRef<std::vector<Edit>> edits);

} // namespace kopt::frontend
