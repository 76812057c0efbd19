// SPDX-License-Identifier: Apache-2.0
// The tokens of CUDA C++ text, as far as it takes to find a kernel's body and to say what is in it.
// It is not a parser: where a macro hides a brace, the answers are wrong, and the compiler then
// refuses what was made from them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace kopt {

enum class BodyTokenKind {
  Word,      ///< an identifier or a keyword
  Other,     ///< a number or one character of punctuation
  Quoted,    ///< a string or a character
  Directive, ///< a line of the preprocessor, with its continuation lines
};

struct BodyToken {
  BodyTokenKind kind = BodyTokenKind::Other;
  std::size_t begin = 0, end = 0; ///< bytes of the text
  std::string_view text;
  bool is(std::string_view wanted) const { return text == wanted; }
};

/// The tokens of a text, without comments. They refer to it.
std::vector<BodyToken> bodyTokens(std::string_view text);

/// The name of a directive: "if", "pragma".
std::string_view directiveName(const BodyToken &directive);

/// How deep a token lies. A bracket lies where what it encloses begins and ends: outside of it.
struct TokenDepth {
  int brackets = 0;     ///< (), [] and {}
  int conditionals = 0; ///< #if, #ifdef and #ifndef
  bool operator==(const TokenDepth &) const = default;
};

/// The depth of each token. Nothing if brackets are not balanced, in whichever way the conditionals
/// are taken.
std::optional<std::vector<TokenDepth>> depthsOf(const std::vector<BodyToken> &tokens);

/// True if the text has the word outside of comments and strings. Directives count.
bool usesWord(std::string_view text, std::string_view word);

} // namespace kopt
