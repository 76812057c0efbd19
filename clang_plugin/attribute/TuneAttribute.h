// SPDX-License-Identifier: Apache-2.0
// [[kopt::tune("clause", ...)]]: registered with Clang when this file is linked in, or by the
// loadable plugin. The clauses are kept verbatim; the driver parses them.
#pragma once

#include <clang/AST/Attr.h>
#include <clang/AST/Decl.h>
#include <optional>
#include <string>
#include <vector>

namespace kopt::frontend {

/// One clause with the place at which the user wrote it.
struct TuneClauseText {
  std::string text;
  clang::SourceLocation location;
};

/// The clauses of every [[kopt::tune]] on the function, in order; nothing if it has none.
std::optional<std::vector<TuneClauseText>> findTuneClauses(const clang::FunctionDecl &function);

/// Reports each [[kopt::tune]] that marks something other than a __global__ function, as an error
/// at the user's line.
void checkTuneAttributes(clang::ASTContext &context);

} // namespace kopt::frontend
