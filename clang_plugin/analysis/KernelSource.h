// SPDX-License-Identifier: Apache-2.0
// A slice as a text that is parsed, edited by byte ranges and parsed again: what rewrites, mutants
// and clones have in common.
#pragma once

#include "clang_plugin/output/Variants.h"
#include "clang_plugin/parse/ParseCuda.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Error.h>

namespace kopt::frontend {

/// The text with edits made. They are sorted and do not overlap; insertions at one place keep their
/// order.
std::string applyEdits(const std::string &text, llvm::ArrayRef<SliceEdit> edits);

/// Parses `text` with the flags of the request, and for its arch where the flags name none.
ParsedUnit parseSlice(const KernelSource &request, const std::string &text);

/// Why parseSlice() gave no usable AST.
llvm::Error parseFailure(const ParsedUnit &unit);

/// For each list of edits, whether the text with them made does not parse. Lists that touch
/// different places are tried together, and one by one only where that fails, as one parse costs up
/// to half a second.
std::vector<bool> findUnparsable(const KernelSource &request,
                                 llvm::ArrayRef<std::vector<SliceEdit>> edits);

} // namespace kopt::frontend
