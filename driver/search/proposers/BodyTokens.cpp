// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/BodyTokens.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace kopt {
namespace {

bool isWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class BodyScanner {
public:
  explicit BodyScanner(std::string_view text) : text_(text) {}

  std::vector<BodyToken> scan() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        startsLine_ = true;
        ++at_;
      } else if (std::isspace(static_cast<unsigned char>(c))) {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        at_ = endOfLine(at_);
      } else if (text_.substr(at_, 2) == "/*") {
        at_ = after("*/", at_ + 2);
      } else {
        token(c);
        startsLine_ = false;
      }
    }
    return std::move(tokens_);
  }

private:
  void token(char c) {
    const std::size_t begin = at_;
    if (c == '#' && startsLine_)
      return add(BodyTokenKind::Directive, endOfLine(begin));
    if (c == '"' || c == '\'')
      return add(BodyTokenKind::Quoted, afterQuote(begin, c));
    if (!isWordCharacter(c))
      return add(BodyTokenKind::Other, begin + 1);
    std::size_t end = begin;
    const bool isNumber = std::isdigit(static_cast<unsigned char>(c));
    while (end < text_.size() && (isWordCharacter(text_[end]) ||
                                  (isNumber && text_[end] == '\'' && end + 1 < text_.size() &&
                                   isWordCharacter(text_[end + 1]))))
      ++end;
    if (!isNumber && text_[end - 1] == 'R' && text_.substr(end, 1) == "\"")
      return add(BodyTokenKind::Quoted, afterRawString(end));
    add(isNumber ? BodyTokenKind::Other : BodyTokenKind::Word, end);
  }

  void add(BodyTokenKind kind, std::size_t end) {
    tokens_.push_back({kind, at_, end, text_.substr(at_, end - at_)});
    at_ = end;
  }

  std::size_t after(std::string_view wanted, std::size_t from) const {
    const std::size_t found = text_.find(wanted, from);
    return found == text_.npos ? text_.size() : found + wanted.size();
  }
  /// The end of a line that backslashes may continue.
  std::size_t endOfLine(std::size_t from) const {
    std::size_t end = text_.find('\n', from);
    while (end != text_.npos && end > from && text_[end - 1] == '\\')
      end = text_.find('\n', end + 1);
    return end == text_.npos ? text_.size() : end;
  }
  std::size_t afterQuote(std::size_t begin, char quote) const {
    for (std::size_t i = begin + 1; i < text_.size(); ++i) {
      if (text_[i] == '\\')
        ++i;
      else if (text_[i] == quote)
        return i + 1;
    }
    return text_.size();
  }
  std::size_t afterRawString(std::size_t quote) const {
    const std::size_t open = text_.find('(', quote);
    if (open == text_.npos)
      return text_.size();
    return after(")" + std::string(text_.substr(quote + 1, open - quote - 1)) + "\"", open);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool startsLine_ = true;
  std::vector<BodyToken> tokens_;
};

bool isOpening(const BodyToken &token) {
  return token.kind == BodyTokenKind::Other && (token.is("(") || token.is("[") || token.is("{"));
}
bool isClosing(const BodyToken &token) {
  return token.kind == BodyTokenKind::Other && (token.is(")") || token.is("]") || token.is("}"));
}

} // namespace

std::vector<BodyToken> bodyTokens(std::string_view text) { return BodyScanner(text).scan(); }

std::string_view directiveName(const BodyToken &directive) {
  const auto isName = [](char c) { return isWordCharacter(c); };
  const auto begin = std::find_if(directive.text.begin(), directive.text.end(), isName);
  const auto end = std::find_if_not(begin, directive.text.end(), isName);
  return {begin, end};
}

std::optional<std::vector<TokenDepth>> depthsOf(const std::vector<BodyToken> &tokens) {
  /// Brackets that are open where an #if begins, and where its first part ends.
  struct Conditional {
    int before = 0;
    std::optional<int> after;
    bool hasElse = false;
  };
  std::vector<Conditional> open;
  std::vector<TokenDepth> depths;
  int brackets = 0;
  const auto endsPart = [&] {
    Conditional &conditional = open.back();
    const bool isAlike = brackets == conditional.after.value_or(brackets);
    conditional.after = brackets;
    brackets = conditional.before;
    return isAlike;
  };
  for (const BodyToken &token : tokens) {
    brackets -= isClosing(token);
    if (brackets < 0)
      return std::nullopt;
    depths.push_back({brackets, int(open.size())});
    brackets += isOpening(token);
    if (token.kind != BodyTokenKind::Directive)
      continue;
    const std::string_view name = directiveName(token);
    if (name == "if" || name == "ifdef" || name == "ifndef") {
      open.push_back({brackets, {}, false});
    } else if (name.starts_with("el") || name == "endif") {
      if (open.empty())
        return std::nullopt;
      if (!endsPart())
        return std::nullopt;
      --depths.back().conditionals;
      open.back().hasElse |= name == "else";
      if (name != "endif")
        continue;
      // Without #else all of it may be skipped, and then it opens nothing.
      if (!open.back().hasElse && *open.back().after != open.back().before)
        return std::nullopt;
      brackets = *open.back().after;
      open.pop_back();
    }
  }
  if (brackets != 0 || !open.empty())
    return std::nullopt;
  return depths;
}

bool usesWord(std::string_view text, std::string_view word) {
  for (const BodyToken &token : bodyTokens(text)) {
    if (token.kind == BodyTokenKind::Word && token.is(word))
      return true;
    if (token.kind == BodyTokenKind::Directive && usesWord(token.text.substr(1), word))
      return true;
  }
  return false;
}

} // namespace kopt
