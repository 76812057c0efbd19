// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/GuardedBody.h"

#include "driver/search/proposers/BodyTokens.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace kopt {
namespace {

/// A kernel's text, and where its body lies.
struct KernelBody {
  std::string_view text;
  std::size_t open = 0, close = 0; ///< bytes of its braces
  /// Of the body, without its braces. Depths count from the body.
  std::vector<BodyToken> tokens;
  std::vector<TokenDepth> depths;

  std::string_view before() const { return text.substr(0, open); }
  std::string_view inside() const { return text.substr(open + 1, close - open - 1); }
};

std::optional<KernelBody> bodyOf(std::string_view text) {
  const std::vector<BodyToken> tokens = bodyTokens(text);
  const auto depths = depthsOf(tokens);
  if (!depths || tokens.empty() || !tokens.back().is("}"))
    return std::nullopt;
  const auto isOutside = [&](std::size_t i) { return (*depths)[i] == TokenDepth(); };
  std::size_t open = 0;
  while (!(tokens[open].is("{") && isOutside(open)))
    if (++open == tokens.size())
      return std::nullopt;
  const std::size_t close = tokens.size() - 1;
  KernelBody body{text, tokens[open].begin, tokens[close].begin, {}, {}};
  for (std::size_t i = open + 1; i < close; ++i) {
    if (isOutside(i))
      return std::nullopt; // the brace is not the body's
    body.tokens.push_back(tokens[i]);
    body.depths.push_back({(*depths)[i].brackets - 1, (*depths)[i].conditionals});
  }
  return body;
}

bool isWord(const BodyToken &token, std::string_view word) {
  return token.kind == BodyTokenKind::Word && token.is(word);
}

/// True if a token at `index` of a part is a label: "again:", but not "default:" or "a ? b : c".
bool isLabel(const std::vector<BodyToken> &part, std::size_t index) {
  static constexpr std::array<std::string_view, 4> kOthers = {"default", "public", "protected",
                                                              "private"};
  if (part[index].kind != BodyTokenKind::Word || std::ranges::count(kOthers, part[index].text) ||
      index + 1 >= part.size() || !part[index + 1].is(":") ||
      (index + 2 < part.size() && part[index + 2].is(":")))
    return false;
  return index == 0 || part[index - 1].is(";") || part[index - 1].is("{") ||
         part[index - 1].is("}") || part[index - 1].kind == BodyTokenKind::Directive;
}

/// What a part of a body has that matters if another part has it, too.
struct PartFacts {
  bool canRepeat = true; ///< may be moved into a block, beside another version of itself
  bool hasStaticShared = false;
};

PartFacts factsOf(const std::vector<BodyToken> &part) {
  PartFacts facts;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const BodyToken &token = part[i];
    const bool hasNext = i + 1 < part.size();
    if (token.kind == BodyTokenKind::Directive) {
      static constexpr std::array<std::string_view, 8> kHarmless = {
          "if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif"};
      const std::string_view name = directiveName(token);
      if (name != "pragma" && !std::ranges::count(kHarmless, name))
        facts.canRepeat = false;
    } else if (token.kind == BodyTokenKind::Quoted) {
      // Another indentation would change a string of several lines.
      if (token.text.find('\n') != token.text.npos)
        facts.canRepeat = false;
    } else if (isWord(token, "goto") || isLabel(part, i)) {
      facts.canRepeat = false;
    } else if (isWord(token, "static")) {
      const bool isConstant =
          (hasNext && (isWord(part[i + 1], "constexpr") || isWord(part[i + 1], "const"))) ||
          (i > 0 && (isWord(part[i - 1], "constexpr") || isWord(part[i - 1], "const")));
      const bool isShared = (hasNext && isWord(part[i + 1], "__shared__")) ||
                            (i > 0 && isWord(part[i - 1], "__shared__"));
      if (!isConstant && !isShared)
        facts.canRepeat = false;
    } else if (isWord(token, "__shared__")) {
      const bool isDynamic =
          (hasNext && isWord(part[i + 1], "extern")) || (i > 0 && isWord(part[i - 1], "extern"));
      facts.hasStaticShared |= !isDynamic;
    }
  }
  return facts;
}

/// True if the tokens up to `end` may change the variable: they assign it, or pass it on as
/// something that others may assign.
bool mayChange(const KernelBody &body, std::size_t end, std::string_view variable) {
  const auto at = [&](std::size_t i) -> std::string_view {
    return i < body.tokens.size() && body.tokens[i].end <= end ? body.tokens[i].text : "";
  };
  for (std::size_t i = 0; i < body.tokens.size() && body.tokens[i].end <= end; ++i) {
    if (!isWord(body.tokens[i], variable))
      continue;
    const std::string_view before = i > 0 ? at(i - 1) : "", next = at(i + 1), third = at(i + 2);
    static constexpr std::string_view kArithmetic = "+-*/%&|^";
    const bool isAssigned =
        (next == "=" && third != "=") ||
        (next.size() == 1 && kArithmetic.find(next) != kArithmetic.npos && third == "=") ||
        ((next == "<" || next == ">") && third == next && at(i + 3) == "=") ||
        ((next == "+" || next == "-") && third == next);
    const bool isStepped = (before == "+" || before == "-") && i > 1 && at(i - 2) == before;
    const bool isPassed =
        before == "&" || ((before == "(" || before == ",") && (next == ")" || next == ","));
    if (isAssigned || isStepped || isPassed)
      return true;
  }
  return false;
}

/// The bytes that both bodies begin with, if they end with a statement and a line.
std::size_t sharedBeginning(const KernelBody &usual, const KernelBody &special,
                            const BodyGuard &guard) {
  const std::string_view a = usual.inside(), b = special.inside();
  std::size_t equal = std::size_t(std::ranges::mismatch(a, b).in1 - a.begin());
  for (const LocalConstant &constant : guard.constants)
    for (const BodyToken &token : usual.tokens)
      if (token.is(constant.name) ||
          (token.kind == BodyTokenKind::Directive && usesWord(token.text.substr(1), constant.name)))
        equal = std::min(equal, token.begin - usual.open - 1);
  const auto continues = [](const KernelBody &body, std::size_t next, bool afterBrace) {
    if (next >= body.tokens.size())
      return false;
    const BodyToken &token = body.tokens[next];
    if (isWord(token, "else") || isWord(token, "while") || isWord(token, "catch"))
      return true;
    return afterBrace && token.kind != BodyTokenKind::Word &&
           token.kind != BodyTokenKind::Directive;
  };
  std::size_t beginning = 0;
  for (std::size_t i = 0; i < usual.tokens.size(); ++i) {
    const BodyToken &token = usual.tokens[i];
    if (!(usual.depths[i] == TokenDepth()) || !(token.is(";") || token.is("}")))
      continue;
    const std::size_t newline = a.find('\n', token.end - usual.open - 1);
    if (newline == a.npos || newline + 1 > equal)
      break;
    const std::size_t end = token.end - usual.open - 1;
    const bool endsLine =
        (i + 1 == usual.tokens.size() || usual.tokens[i + 1].begin - usual.open - 1 > newline) &&
        a.substr(end, newline - end).find("/*") == a.npos;
    if (endsLine && !continues(usual, i + 1, token.is("}")) &&
        !continues(special, i + 1, token.is("}")))
      beginning = newline + 1;
  }
  return mayChange(usual, usual.open + 1 + beginning, guard.variable) ? 0 : beginning;
}

std::vector<BodyToken> tokensFrom(const KernelBody &body, std::size_t beginning) {
  std::vector<BodyToken> rest;
  for (const BodyToken &token : body.tokens)
    if (token.begin >= body.open + 1 + beginning)
      rest.push_back(token);
  return rest;
}

/// True if the tokens are one if with blocks and a last else: `if (A) { } else if (B) { } else {
/// }`.
bool isChain(const std::vector<BodyToken> &part) {
  const auto depths = depthsOf(part);
  if (!depths)
    return false;
  std::size_t i = 0;
  /// Goes behind the bracket that closes the one here.
  const auto skip = [&](std::string_view open, std::string_view close) {
    if (i >= part.size() || !part[i].is(open))
      return false;
    const TokenDepth depth = (*depths)[i];
    for (++i; i < part.size(); ++i)
      if (part[i].is(close) && (*depths)[i] == depth) {
        ++i;
        return true;
      }
    return false;
  };
  while (i < part.size() && isWord(part[i], "if")) {
    ++i;
    if (!skip("(", ")") || !skip("{", "}") || i >= part.size() || !isWord(part[i], "else"))
      return false;
    ++i;
  }
  return i > 0 && skip("{", "}") && i == part.size();
}

std::string_view indentationOf(std::string_view line) {
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

/// The lines without blank ones at both ends.
std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> lines = split(text, '\n');
  const auto isBlank = [](const std::string &line) { return trim(line).empty(); };
  while (!lines.empty() && isBlank(lines.back()))
    lines.pop_back();
  lines.erase(lines.begin(), std::ranges::find_if_not(lines, isBlank));
  return lines;
}

std::string indented(std::string_view text, const std::string &step) {
  std::string result;
  for (const std::string &line : linesOf(text)) {
    // Directives in the first column stay there.
    const bool stays = trim(line).empty() || line.starts_with('#');
    result += (stays ? "" : step) + line + "\n";
  }
  return result;
}

} // namespace

std::optional<std::string> textBeforeBody(const std::string &kernel) {
  const auto body = bodyOf(kernel);
  if (!body)
    return std::nullopt;
  return std::string(body->before());
}

std::optional<std::string> guardedKernel(const std::string &usualText,
                                         const std::string &specialText, const BodyGuard &guard) {
  const auto usual = bodyOf(usualText), special = bodyOf(specialText);
  if (!usual || !special || usual->before() != special->before())
    return std::nullopt;
  const std::size_t beginning = sharedBeginning(*usual, *special, guard);
  const std::vector<BodyToken> usualRest = tokensFrom(*usual, beginning),
                               specialRest = tokensFrom(*special, beginning);
  if (usualRest.empty() || specialRest.empty())
    return std::nullopt;
  const PartFacts usualFacts = factsOf(usualRest), specialFacts = factsOf(specialRest);
  // Static shared memory of both would be allocated at the same time.
  if (!usualFacts.canRepeat || !specialFacts.canRepeat ||
      (usualFacts.hasStaticShared && specialFacts.hasStaticShared))
    return std::nullopt;

  const std::string_view shared = usual->inside().substr(0, beginning);
  const std::string usualPart(usual->inside().substr(beginning));
  std::string specialPart(special->inside().substr(beginning));
  // As the user indents: a body that is one line gets lines of its own.
  const std::size_t lineBegin = usualText.rfind('\n', usual->close) + 1;
  const std::string_view lastLine = std::string_view(usualText).substr(lineBegin);
  const bool isOneLine = usual->inside().find('\n') == std::string_view::npos;
  const std::string outer(indentationOf(lastLine));
  const std::vector<std::string> lines = linesOf(usualPart);
  const auto first = std::ranges::find_if(
      lines, [](const auto &line) { return !line.starts_with('#') && !trim(line).empty(); });
  std::string inner = outer + "  ";
  if (!isOneLine && first != lines.end() && indentationOf(*first).size() > outer.size() &&
      first->starts_with(outer))
    inner = indentationOf(*first);
  const std::string step = inner.substr(outer.size());
  const auto asLines = [&](std::string text) {
    return text.find('\n') == text.npos ? inner + std::string(trim(text)) : text;
  };
  std::string constants;
  for (const LocalConstant &constant : guard.constants)
    constants += inner + constant.declaration + "\n";
  specialPart = constants + asLines(std::string(specialPart));

  std::string text(usual->before());
  text += "{";
  text += shared.empty() ? "\n" : shared;
  text += fmt::format("{}if ({}) {{\n{}", inner, guard.condition, indented(specialPart, step));
  if (guard.extendsChain && isChain(usualRest))
    text += fmt::format("{}}} else {}\n", inner, trim(usualPart));
  else
    text += fmt::format("{0}}} else {{\n{1}{0}}}\n", inner, indented(asLines(usualPart), step));
  return text + outer + usualText.substr(usual->close);
}

} // namespace kopt
