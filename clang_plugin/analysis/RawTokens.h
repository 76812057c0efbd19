// SPDX-License-Identifier: Apache-2.0
// The tokens of a text as they are written, before any preprocessing.
#pragma once

#include "clang_plugin/output/Variants.h"

#include <clang/Basic/TokenKinds.h>
#include <llvm/ADT/StringRef.h>

namespace kopt::frontend {

struct RawToken {
  clang::tok::TokenKind kind = clang::tok::unknown;
  std::string text; ///< without line splices
  unsigned begin = 0, end = 0, line = 0;
  bool startsLine = false;

  bool is(clang::tok::TokenKind other) const { return kind == other; }
};

/// All tokens, also those that the preprocessor leaves out; comments only if they are wanted.
std::vector<RawToken> rawTokens(llvm::StringRef text, bool withComments = false);

/// The tokens of a text joined by single blanks, without comments: equal for texts that differ in
/// layout alone.
std::string normalizedTokens(llvm::StringRef text);

/// Digests of the texts' code.
DigestReply digestsOf(const DigestRequest &request);

} // namespace kopt::frontend
