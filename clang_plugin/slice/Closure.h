// SPDX-License-Identifier: Apache-2.0
// Everything that a declaration depends on, in one pass of a translation unit.
#pragma once

#include "clang_plugin/parse/SourceIndex.h"

#include <set>

namespace kopt::frontend {

struct Closure {
  std::set<std::size_t> pieces;  ///< of the index: declarations, macros, using, includes
  std::set<std::string> badText; ///< reasons why a needed piece cannot be copied
};

/// The pieces that `roots` depend on, transitively, and the includes for what headers declare.
Closure closureOf(const SourceIndex &index, const std::vector<const clang::Decl *> &roots);

/// What one piece uses by itself.
struct DirectUses {
  std::set<std::size_t> pieces;
  std::set<std::string> calls; ///< unqualified names of functions, as looked up; of
                               ///< operators only the user's own
};
DirectUses usesOf(const SourceIndex &index, std::size_t piece);

} // namespace kopt::frontend
