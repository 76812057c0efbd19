// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/analysis/RawTokens.h"

#include "clang_plugin/parse/FileRecord.h"

#include <clang/Basic/LangOptions.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>

namespace kopt::frontend {
namespace {

/// Spelling without line splices.
std::string spelling(llvm::StringRef raw) {
  std::string result;
  while (!raw.empty()) {
    if (raw.front() == '\\') {
      const llvm::StringRef behind = raw.drop_front().ltrim(" \t\r");
      if (behind.starts_with("\n")) {
        raw = behind.drop_front();
        continue;
      }
    }
    result += raw.front();
    raw = raw.drop_front();
  }
  return result;
}

/// The tokens with one space between them and each directive on a line of its own; `name` is "@".
std::string codeOf(const std::vector<RawToken> &tokens, const std::string &name) {
  std::string code;
  bool isDirective = false;
  for (const RawToken &token : tokens) {
    const bool wasDirective = isDirective;
    if (token.startsLine)
      isDirective = token.is(clang::tok::hash);
    code += token.startsLine && (isDirective || wasDirective) ? '\n' : ' ';
    code += token.text == name ? "@" : token.text;
  }
  return code;
}

} // namespace

std::vector<RawToken> rawTokens(llvm::StringRef text, bool withComments) {
  clang::LangOptions options;
  options.CPlusPlus = options.CPlusPlus11 = options.CPlusPlus14 = options.CPlusPlus17 = true;
  options.LineComment = options.RawStringLiterals = options.Digraphs = options.CUDA = true;
  const std::string terminated = text.str(); // the lexer needs a NUL after the end
  clang::Lexer lexer(clang::SourceLocation(), options, terminated.data(), terminated.data(),
                     terminated.data() + terminated.size());
  lexer.SetCommentRetentionState(withComments);
  std::vector<RawToken> tokens;
  unsigned line = 1, counted = 0;
  clang::Token token;
  for (bool isLast = false; !isLast;) {
    isLast = lexer.LexFromRawLexer(token);
    if (token.is(clang::tok::eof))
      break;
    const auto end = unsigned(lexer.getBufferLocation() - terminated.data());
    const unsigned begin = end - token.getLength();
    line += unsigned(std::count(terminated.begin() + counted, terminated.begin() + begin, '\n'));
    counted = begin;
    const llvm::StringRef raw = text.slice(begin, end);
    tokens.push_back({token.getKind(), token.needsCleaning() ? spelling(raw) : raw.str(), begin,
                      end, line, token.isAtStartOfLine()});
  }
  return tokens;
}

std::string normalizedTokens(llvm::StringRef text) {
  std::string result;
  for (const RawToken &token : rawTokens(text))
    result += (result.empty() ? "" : " ") + token.text;
  return result;
}

DigestReply digestsOf(const DigestRequest &request) {
  DigestReply reply;
  for (const NamedText &each : request.texts) {
    const std::vector<RawToken> tokens = rawTokens(each.text);
    reply.codes.push_back(
        {contentHash(codeOf(tokens, "")), contentHash(codeOf(tokens, each.name))});
  }
  return reply;
}

} // namespace kopt::frontend
