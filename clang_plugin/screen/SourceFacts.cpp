// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/screen/SourceFacts.h"

#include <clang/Basic/LangOptions.h>
#include <clang/Lex/Lexer.h>

#include <set>

namespace kopt::frontend {

using namespace clang;

namespace {

struct RawToken {
  tok::TokenKind kind = tok::unknown;
  std::string text;
  unsigned offset = 0, line = 0;
  bool startsLine = false;
};

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

std::vector<RawToken> tokenize(llvm::StringRef text) {
  LangOptions options;
  options.CPlusPlus = options.CPlusPlus11 = options.CPlusPlus14 = options.CPlusPlus17 = true;
  options.LineComment = options.RawStringLiterals = options.Digraphs = options.CUDA = true;
  const std::string terminated = text.str(); // the lexer wants a NUL behind the end
  Lexer lexer(SourceLocation(), options, terminated.data(), terminated.data(),
              terminated.data() + terminated.size());
  lexer.SetCommentRetentionState(true);
  std::vector<RawToken> tokens;
  unsigned line = 1, counted = 0;
  Token token;
  bool isLast = false;
  while (!isLast) {
    isLast = lexer.LexFromRawLexer(token);
    if (token.is(tok::eof))
      break;
    const unsigned end = lexer.getBufferLocation() - terminated.data();
    const unsigned begin = end - token.getLength();
    line += std::count(terminated.begin() + counted, terminated.begin() + begin, '\n');
    counted = begin;
    const llvm::StringRef raw = llvm::StringRef(terminated).slice(begin, end);
    tokens.push_back({token.getKind(), token.needsCleaning() ? spelling(raw) : raw.str(), begin,
                      line, token.isAtStartOfLine()});
  }
  return tokens;
}

/// Names by which code can tell one compiler from another, and so show this one something else.
bool tellsCompilers(llvm::StringRef name) {
  static const std::set<llvm::StringRef> kNames = {
      "__CUDA__", "__NVCC__",      "__GNUC__", "__GNUG__",          "_MSC_VER",
      "__llvm__", "KOPT_FRONTEND", "__EDG__",  "__CUDA_LIBDEVICE__"};
  return kNames.count(name) || name.starts_with("__clang") || name.starts_with("__CUDACC") ||
         name.starts_with("__has_") || name.starts_with("__NVCOMPILER") ||
         name.starts_with("__EDG_");
}

bool tellsArchitectures(llvm::StringRef name) {
  return name.starts_with("__CUDA_ARCH") || name.starts_with("NV_IF_") ||
         name.starts_with("NV_DISPATCH_TARGET");
}

void add(std::vector<ScreenFinding> &findings, const char *id, Severity severity,
         std::string message, unsigned line) {
  findings.push_back({id, severity, std::move(message), line});
}

std::set<std::string> texts(const std::vector<SourceLine> &lines) {
  std::set<std::string> result;
  for (const SourceLine &line : lines)
    result.insert(line.text);
  return result;
}

} // namespace

std::string normalizedTokens(llvm::StringRef text) {
  std::string result;
  for (const RawToken &token : tokenize(text))
    if (token.kind != tok::comment)
      result += (result.empty() ? "" : " ") + token.text;
  return result;
}

SourceFacts readSource(llvm::StringRef text) {
  SourceFacts facts;
  const std::vector<RawToken> tokens = tokenize(text);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const RawToken &token = tokens[i];
    if (token.kind == tok::comment)
      facts.comments.push_back({token.text, token.offset, token.line});
    if (token.kind == tok::raw_identifier)
      facts.identifiers.try_emplace(token.text, token.line);
    if (token.kind != tok::hash || !token.startsLine)
      continue;
    std::vector<const RawToken *> directive;
    for (std::size_t j = i + 1; j < tokens.size() && !tokens[j].startsLine; ++j)
      if (tokens[j].kind != tok::comment)
        directive.push_back(&tokens[j]);
    if (directive.empty())
      continue;
    const std::string &name = directive.front()->text;
    const auto joined = [&](std::size_t first, const char *blank) {
      std::string result;
      for (std::size_t j = first; j < directive.size(); ++j)
        result += (result.empty() ? "" : blank) + directive[j]->text;
      return result;
    };
    if (name == "include" || name == "include_next" || name == "import" || name == "embed")
      facts.includes.push_back({(name == "include" ? "" : name + " ") + joined(1, ""), token.line});
    else if (llvm::StringRef(name).starts_with("if") || llvm::StringRef(name).starts_with("elif"))
      facts.conditionals.push_back({joined(0, " "), token.line});
    else if (name == "define" && directive.size() > 1)
      facts.macros[directive[1]->text] = {joined(2, " "), token.line};
    else if (name == "undef" && directive.size() > 1)
      facts.macros[directive[1]->text] = {"undef", token.line};
  }
  return facts;
}

void compareSources(const SourceFacts &baseline, const SourceFacts &candidate,
                    std::vector<ScreenFinding> &findings) {
  const std::set<std::string> oldIncludes = texts(baseline.includes),
                              newIncludes = texts(candidate.includes);
  for (const SourceLine &include : candidate.includes)
    if (!oldIncludes.count(include.text))
      add(findings, "include", Severity::Reject,
          "#include " + include.text +
              " is not in the baseline: a candidate may not bring in files",
          include.line);
  for (const SourceLine &include : baseline.includes)
    if (!newIncludes.count(include.text))
      add(findings, "include", Severity::Reject,
          "#include " + include.text + " is gone: includes belong to the user's file", 0);

  const std::set<std::string> oldConditionals = texts(baseline.conditionals);
  for (const SourceLine &conditional : candidate.conditionals)
    if (!oldConditionals.count(conditional.text) &&
        conditional.text.find("__CUDA_ARCH") == std::string::npos)
      add(findings, "conditional", Severity::Flag,
          "new preprocessor conditional '#" + conditional.text +
              "' hides code from this comparison",
          conditional.line);

  for (const auto &[name, line] : candidate.identifiers) {
    if (baseline.identifiers.count(name))
      continue;
    if (tellsCompilers(name))
      add(findings, "compiler-conditional", Severity::Reject,
          "'" + name + "' lets the code look different to another compiler", line);
    else if (tellsArchitectures(name))
      add(findings, "arch-conditional", Severity::Flag,
          "'" + name + "' makes code for one architecture that is not compared on another", line);
    else if (name.find('\\') != std::string::npos)
      add(findings, "escaped-identifier", Severity::Reject,
          "an identifier is spelled with an escape: " + name, line);
  }

  for (const auto &[name, macro] : candidate.macros) {
    const auto old = baseline.macros.find(name);
    const bool isNew = old == baseline.macros.end();
    // New values of the project's own constants are what tuning is about; words in a body are more
    // than a value.
    const bool isValue = llvm::none_of(macro.text, [](char c) {
      return isalpha(static_cast<unsigned char>(c)) && !strchr("uUlLfFxXeEabcdABCD", c);
    });
    if (!isNew && old->second.text != macro.text && !isValue)
      add(findings, "macro", Severity::Flag, "macro '" + name + "' changes beyond its value",
          macro.line);
    if (isNew && (baseline.identifiers.count(name) || macro.text == "undef"))
      add(findings, "macro", Severity::Flag,
          "macro '" + name + "' takes the place of a name the baseline uses", macro.line);
  }
}

void compareHazardNames(const SourceFacts &baseline, const SourceFacts &candidate,
                        std::vector<ScreenFinding> &findings) {
  static const std::map<llvm::StringRef, const char *> kHazards = {
      {"asm", "inline-asm"},
      {"__asm", "inline-asm"},
      {"__asm__", "inline-asm"},
      {"clock", "clock"},
      {"clock64", "clock"},
      {"__globaltimer", "clock"},
      {"__clock64", "clock"},
      {"__clock", "clock"},
      {"malloc", "device-heap"},
      {"calloc", "device-heap"},
      {"new", "device-heap"},
      {"delete", "device-heap"},
      {"__managed__", "mutable-global"},
      {"static", "mutable-global"},
      {"constructor", "attribute"},
      {"cudaLaunchKernel", "device-launch"},
      {"cudaLaunchDevice", "device-launch"}};
  for (const auto &[name, line] : candidate.identifiers) {
    const auto hazard = kHazards.find(name);
    if (hazard != kHazards.end() && !baseline.identifiers.count(name))
      add(findings, hazard->second, Severity::Reject,
          "'" + name +
              "' is new, in a candidate that cannot be read well enough to see what it is for",
          line);
  }
}

bool isElision(llvm::StringRef comment) {
  std::string text = comment.ltrim("/*! \t\r\n").rtrim("/* \t\r\n").lower();
  const bool hasDots =
      llvm::StringRef(text).contains("...") || llvm::StringRef(text).contains("\xE2\x80\xA6");
  const llvm::StringRef words = llvm::StringRef(text).trim(" .()[]<>-\xE2\x80\xA6");
  if (words.empty())
    return hasDots;
  for (llvm::StringRef phrase :
       {"rest unchanged", "rest is unchanged", "remains unchanged", "code unchanged",
        "unchanged code", "rest of the code", "rest of the kernel", "rest of kernel",
        "rest of the function", "rest of the implementation", "omitted for brevity", "code omitted",
        "remaining code", "existing code", "original code here", "your code here",
        "same as original code", "implementation here", "code goes here"})
    if (words.contains(phrase))
      return true;
  if (!hasDots)
    return false;
  for (llvm::StringRef word :
       {"rest", "unchanged", "same as", "as before", "existing", "remaining", "omitted", "previous",
        "original", "similar", "code", "continue", "and so on", "etc"})
    if (words.contains(word))
      return true;
  return false;
}

} // namespace kopt::frontend
