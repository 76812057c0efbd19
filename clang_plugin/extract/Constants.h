// SPDX-License-Identifier: Apache-2.0
// Named integer constants whose value is written in one place: what a tunable can change. A
// constant computed from other constants is not one of them: whoever meets it looks through it.
#pragma once

#include "clang_plugin/output/Extraction.h"
#include "clang_plugin/parse/SourceIndex.h"

namespace kopt::frontend {

class Constants {
public:
  explicit Constants(const SourceIndex &index) : index_(index) {}

  /// The constant behind a variable or enumerator, if its value is written beside it.
  std::optional<NamedConstant> find(const clang::ValueDecl *declaration) const;
  /// The constant behind a macro definition (a piece of the index).
  std::optional<NamedConstant> find(const Piece &macro) const;
  /// The macro constant whose expansion produced the token at `location`.
  std::optional<NamedConstant> findMacroAt(clang::SourceLocation location) const;

  /// Of text as it stands in the file; nothing if macros are involved.
  std::optional<SourceRange> rangeOf(clang::SourceRange range) const;

private:
  const SourceIndex &index_;
};

} // namespace kopt::frontend
