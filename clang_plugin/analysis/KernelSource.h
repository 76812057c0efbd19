// SPDX-License-Identifier: Apache-2.0
// Parses a slice, edits its bytes and parses it again, for rewrites, mutants and clones.
#pragma once

#include "clang_plugin/output/Variants.h"
#include "clang_plugin/parse/ParseCuda.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Error.h>

namespace kopt::frontend {

/// The text with the edits made. Edits must be sorted and must not overlap; insertions at one place
/// keep their order.
std::string applyEdits(const std::string &text, llvm::ArrayRef<SliceEdit> edits);

/// Parses `text` with the flags of the request, for the request's arch if the flags name none.
ParsedUnit parseSlice(const KernelSource &request, const std::string &text);

/// For each list of edits, true if the text with these edits does not parse. A parse takes up to
/// half a second, so lists that change different places are tried together first, and one by one
/// only if that fails.
std::vector<bool> findUnparsable(const KernelSource &request,
                                 llvm::ArrayRef<std::vector<SliceEdit>> edits);

} // namespace kopt::frontend
