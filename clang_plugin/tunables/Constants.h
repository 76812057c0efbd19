// SPDX-License-Identifier: Apache-2.0
// Named integer constants whose value is written in one place, so that a tunable can change them. A
// constant that is computed from other constants does not count; callers look through it.
#pragma once

#include "clang_plugin/output/Extraction.h"
#include "clang_plugin/parse/SourceIndex.h"

#include <map>

namespace kopt::frontend {

class Constants {
public:
  explicit Constants(const SourceIndex &index) : index_(index) {}

  /// The constant that a variable or enumerator is, if its value is written in its declaration.
  std::optional<NamedConstant> find(const clang::ValueDecl *declaration) const;
  /// The constant that a macro definition (a piece of the index) is.
  std::optional<NamedConstant> find(const Piece &macro) const;
  /// The macro constant whose expansion produced the token at `location`.
  std::optional<NamedConstant> findMacroAt(clang::SourceLocation location) const;

  /// The range of text in the file; nothing if macros are involved.
  std::optional<SourceRange> rangeOf(clang::SourceRange range) const;

private:
  const SourceIndex &index_;
  mutable std::map<std::string, clang::FileID> files_; ///< by path: Clang searches all it has read
};

} // namespace kopt::frontend
