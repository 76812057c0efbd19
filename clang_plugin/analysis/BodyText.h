// SPDX-License-Identifier: Apache-2.0
// The text of a kernel's parts: where they stand, and how the user indents them.
#pragma once

#include "clang_plugin/analysis/KernelView.h"

namespace kopt::frontend {

struct TextSpan {
  unsigned begin = 0, end = 0; ///< in the slice
  bool contains(const TextSpan &inner) const { return begin <= inner.begin && inner.end <= end; }
};

/// The bytes of a range of tokens; nothing if a macro spells one of its ends.
std::optional<TextSpan> spanOf(const KernelView &view, clang::SourceRange range);

/// Behind the statement's semicolon or brace; nothing if there is none, or a macro spells the end.
std::optional<unsigned> endOfStatement(const KernelView &view, const clang::Stmt *statement);

/// Where the line begins that has this place.
unsigned lineStart(llvm::StringRef text, unsigned place);

/// A body without its braces.
struct BodyText : TextSpan {
  std::string outer, inner; ///< indentation of the closing brace and of the statements
  std::string step;         ///< the difference

  /// A part of the body, or its text after edits, one level deeper. Blank lines at both ends are
  /// left out, and directives in the first column stay there.
  std::string indented(llvm::StringRef inside) const;
};

/// Nothing if a macro or another file spells the braces.
std::optional<BodyText> bodyText(const KernelView &view, const clang::FunctionDecl &function);

} // namespace kopt::frontend
