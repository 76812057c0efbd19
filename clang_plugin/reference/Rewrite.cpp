// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/reference/Rewrite.h"

#include "clang_plugin/analysis/RawTokens.h"
#include "clang_plugin/reference/Names.h"

#include <cstdio>

namespace kopt::frontend {

using namespace clang;

namespace {

/// The double literal with the value of a float literal; nothing if the text is not a float
/// literal.
std::optional<std::string> doubleLiteral(llvm::StringRef text) {
  const bool isHex = text.starts_with_insensitive("0x");
  if (text.empty() || (text.back() != 'f' && text.back() != 'F') ||
      (isHex && !text.contains_insensitive("p")))
    return std::nullopt;
  std::string digits;
  for (char c : text.drop_back())
    if (c != '\'')
      digits += c;
  llvm::APFloat narrow(llvm::APFloat::IEEEsingle()), wide(llvm::APFloat::IEEEdouble());
  for (llvm::APFloat *each : {&narrow, &wide}) {
    auto status = each->convertFromString(digits, llvm::APFloat::rmNearestTiesToEven);
    if (!status) {
      llvm::consumeError(status.takeError());
      return std::nullopt;
    }
  }
  bool losesInfo = false;
  narrow.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  if (narrow.bitwiseIsEqual(wide))
    return text.drop_back().str();
  if (!narrow.isFinite())
    return std::nullopt;
  char exact[40];
  std::snprintf(exact, sizeof exact, "%.17g", narrow.convertToDouble());
  std::string result = exact;
  return result.find_first_of(".e") == std::string::npos ? result + ".0" : result;
}

/// Visits the tokens of unpreprocessed text, except those of #include, #error and #line.
template <class Visit> void forEachToken(llvm::StringRef text, const Visit &visit) {
  RawToken previous;
  bool isSkipped = false; // in the rest of a directive without code
  for (const RawToken &token : rawTokens(text)) {
    if (token.startsLine)
      isSkipped = false;
    if (token.is(tok::raw_identifier) && previous.is(tok::hash) && previous.startsLine)
      isSkipped = token.text == "include" || token.text == "error" || token.text == "line";
    if (!isSkipped)
      visit(token);
    previous = token;
  }
}

struct Rewriter {
  const std::set<std::string> &ownNames, &ownFunctions;
  std::set<Helper> helpers;

  std::vector<SliceEdit> edits(llvm::StringRef text) {
    std::vector<SliceEdit> result;
    forEachToken(text, [&](const RawToken &token) {
      if (token.is(tok::numeric_constant)) {
        if (auto literal = doubleLiteral(token.text))
          result.push_back({token.begin, token.end, std::move(*literal)});
        return;
      }
      const NewName *name = token.is(tok::raw_identifier) ? newNameOf(token.text) : nullptr;
      if (!name || ownNames.count(token.text))
        return;
      const bool isScoped = llvm::StringRef(name->text).contains("::");
      if (isScoped && ownFunctions.count(token.text))
        return; // the text's own function of that name
      helpers.insert(name->helper);
      result.push_back({token.begin, token.end, name->text});
    });
    return result;
  }
};

/// Redefinitions of the command line's macros whose values name a narrow type or number.
std::string redefinedMacros(const std::vector<std::string> &flags, Rewriter &rewriter) {
  std::string text;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    llvm::StringRef flag = flags[i];
    if (!flag.consume_front("-D") && !flag.consume_front("--define-macro="))
      continue;
    if (flag.empty() && i + 1 < flags.size())
      flag = flags[++i];
    const auto [name, value] = flag.split('=');
    const std::string rewritten = applyEdits(value.str(), rewriter.edits(value));
    if (rewritten != value)
      text +=
          ("#undef " + name.split('(').first + "\n#define " + name + " " + rewritten + "\n").str();
  }
  return text;
}

/// The offset after the leading includes of the text. Helpers before them would keep the includes
/// from coming from a precompiled header.
unsigned placeForHelpers(llvm::StringRef text) {
  unsigned place = 0;
  while (place < text.size()) {
    const std::size_t end = text.find('\n', place);
    const llvm::StringRef line = text.slice(place, end).trim();
    llvm::StringRef directive = line;
    const bool isInclude = directive.consume_front("#") && directive.ltrim().starts_with("include");
    if ((!line.empty() && !isInclude && !line.starts_with("//")) || end == llvm::StringRef::npos)
      break;
    place = end + 1;
  }
  return place;
}

} // namespace

std::string rewriteToDouble(const RewriteRequest &request) {
  Rewriter rewriter{request.ownNames, request.ownFunctions, {}};
  std::vector<SliceEdit> edits = rewriter.edits(request.text);
  std::string helpers = redefinedMacros(request.flags, rewriter);
  for (Helper helper : rewriter.helpers)
    helpers += helperText(helper).str();
  const unsigned place = placeForHelpers(request.text);
  std::string text = applyEdits(request.text, edits);
  if (helpers.empty())
    return text;
  // Before that offset are only includes and comments, in which nothing was edited.
  return text.substr(0, place) + helpers + text.substr(place);
}

std::string rewriteExpression(const std::string &expression) {
  const std::set<std::string> none;
  Rewriter rewriter{none, none, {}};
  return applyEdits(expression, rewriter.edits(expression));
}

} // namespace kopt::frontend
