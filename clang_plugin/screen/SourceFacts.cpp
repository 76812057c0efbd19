// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/screen/SourceFacts.h"

#include "clang_plugin/analysis/CudaFunctions.h"
#include "clang_plugin/analysis/RawTokens.h"
#include "clang_plugin/screen/PtxList.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringMap.h>

#include <set>

namespace kopt::frontend {

using namespace clang;

namespace {

/// Names by which code can tell one compiler, file or compilation from another, and so behave
/// differently when it is judged than when it is used.
bool tellsCompilers(llvm::StringRef name) {
  static const std::set<llvm::StringRef> kNames = {"__CUDA__",
                                                   "__NVCC__",
                                                   "__GNUC__",
                                                   "__GNUG__",
                                                   "_MSC_VER",
                                                   "__llvm__",
                                                   "__EDG__",
                                                   "__CUDA_LIBDEVICE__",
                                                   "__VERSION__",
                                                   "__OPTIMIZE__",
                                                   "NDEBUG",
                                                   "CUDART_VERSION",
                                                   "CUDA_VERSION",
                                                   "__LINE__",
                                                   "__FILE__",
                                                   "__FILE_NAME__",
                                                   "__BASE_FILE__",
                                                   "__INCLUDE_LEVEL__",
                                                   "__COUNTER__",
                                                   "__DATE__",
                                                   "__TIME__",
                                                   "__TIMESTAMP__",
                                                   "__builtin_constant_p",
                                                   "source_location"};
  static const llvm::StringRef kPrefixes[] = {"__clang",
                                              "__CUDACC",
                                              "__has_",
                                              "__NVCOMPILER",
                                              "__EDG_",
                                              "__CUDA_API_VER",
                                              "__GLIBC",
                                              "_GLIBCXX",
                                              "__is_identifier",
                                              "__builtin_FILE",
                                              "__builtin_LINE",
                                              "__builtin_FUNC",
                                              "__builtin_COLUMN",
                                              "__builtin_source_location",
                                              "__builtin_cpu",
                                              "__builtin_available",
                                              "KOPT_",
                                              "kopt_emulated",
                                              "koptSeen",
                                              "koptReached"};
  return kNames.count(name) ||
         llvm::any_of(kPrefixes, [&](llvm::StringRef prefix) { return name.starts_with(prefix); });
}

/// Pragmas that change the speed of code or its diagnostics, but not what it does.
bool isHarmlessPragma(llvm::StringRef text) {
  static const llvm::StringRef kHarmless[] = {
      "unroll",         "nounroll",         "once",       "diag_",  "nv_diag",  "nv_exec_check",
      "GCC diagnostic", "clang diagnostic", "clang loop", "region", "endregion"};
  return llvm::any_of(kHarmless, [&](llvm::StringRef word) { return text.starts_with(word); });
}

/// The identifiers on which the conditionals depend: those that they name and, where one is a macro
/// of the same text, those of its expansion.
std::map<std::string, unsigned> decidingNames(const SourceFacts &facts) {
  std::map<std::string, unsigned> result, open = facts.conditions;
  while (!open.empty()) {
    const auto [name, line] = *open.begin();
    open.erase(open.begin());
    if (!result.try_emplace(name, line).second)
      continue;
    const auto macro = facts.macros.find(name);
    if (macro == facts.macros.end())
      continue;
    llvm::SmallVector<llvm::StringRef> words;
    llvm::StringRef(macro->second.text).split(words, ' ', -1, false);
    for (llvm::StringRef word : words)
      if (isalpha(static_cast<unsigned char>(word.front())) || word.front() == '_')
        open.try_emplace(word.str(), line);
  }
  return result;
}

bool tellsArchitectures(llvm::StringRef name) {
  return name.starts_with("__CUDA_ARCH") || name.starts_with("NV_IF_") ||
         name.starts_with("NV_DISPATCH_TARGET");
}

void add(std::vector<ScreenFinding> &findings, const char *id, ScreenSeverity severity,
         std::string message, unsigned line) {
  findings.push_back({id, severity, std::move(message), line});
}

std::set<std::string> texts(const std::vector<SourceLine> &lines) {
  std::set<std::string> result;
  for (const SourceLine &line : lines)
    result.insert(line.text);
  return result;
}

/// Reads the attributes that group a kernel's blocks into clusters, with their arguments. A name
/// without leading underscores counts only inside __attribute__: variables may have that name.
void readClusters(const std::vector<RawToken> &tokens, SourceFacts &facts) {
  std::size_t attributeEnd = 0;
  const auto behindParentheses = [&](std::size_t i) {
    int depth = 0;
    for (; i < tokens.size(); ++i) {
      depth += (tokens[i].kind == tok::l_paren) - (tokens[i].kind == tok::r_paren);
      if (depth <= 0)
        return tokens[i].kind == tok::r_paren ? i + 1 : i;
    }
    return i;
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const llvm::StringRef name = tokens[i].text, plain = name.trim('_');
    if (tokens[i].kind != tok::raw_identifier)
      continue;
    if (plain == "attribute" || plain == "declspec")
      attributeEnd = behindParentheses(i + 1);
    if ((plain != "cluster_dims" && plain != "block_size") ||
        (i >= attributeEnd && !name.starts_with("__")))
      continue;
    std::string text;
    for (std::size_t j = i, end = behindParentheses(i + 1); j < end; ++j)
      if (tokens[j].kind != tok::comment)
        text += (text.empty() ? "" : " ") + tokens[j].text;
    facts.clusters.push_back({text, tokens[i].line});
  }
}

/// Reads the texts of asm statements; a text that is not all literals is kUnreadablePtx.
void readAssembly(const std::vector<RawToken> &tokens, SourceFacts &facts) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].text != "asm" && tokens[i].text != "__asm__" && tokens[i].text != "__asm")
      continue;
    std::size_t at = i + 1;
    while (at < tokens.size() &&
           (tokens[at].kind == tok::raw_identifier || tokens[at].kind == tok::comment))
      ++at; // volatile
    std::string text;
    bool isLiteral = at < tokens.size() && tokens[at].kind == tok::l_paren;
    for (++at; at < tokens.size() && tokens[at].kind != tok::colon &&
               tokens[at].kind != tok::coloncolon && tokens[at].kind != tok::r_paren;
         ++at)
      if (tokens[at].kind == tok::string_literal)
        text += llvm::StringRef(tokens[at].text).trim('"');
      else
        isLiteral &= tokens[at].kind == tok::comment;
    for (; at < tokens.size() && tokens[at].kind != tok::semi; ++at)
      isLiteral &= tokens[at].text != "\"C\""; // puts a string of the program into the text
    std::string unescaped;
    for (std::size_t c = 0; c < text.size(); ++c)
      if (text[c] == '\\' && c + 1 < text.size())
        unescaped += strchr("ntr", text[++c]) ? '\n' : text[c];
      else
        unescaped += text[c];
    facts.assembly.push_back({isLiteral ? unescaped : kUnreadablePtx, tokens[i].line});
  }
}

/// The first line that is not an include, blank or comment.
unsigned headEnd(const std::vector<RawToken> &tokens) {
  for (std::size_t i = 0; i < tokens.size();) {
    const bool isInclude = tokens[i].kind == tok::hash && tokens[i].startsLine &&
                           i + 1 < tokens.size() && tokens[i + 1].text == "include";
    if (tokens[i].kind != tok::comment && !isInclude)
      return tokens[i].line;
    for (++i; isInclude && i < tokens.size() && !tokens[i].startsLine;)
      ++i;
  }
  return ~0u;
}

/// Why a header may not be included; empty if it may.
std::string whyNotIncluded(llvm::StringRef include, bool isAtHead) {
  const llvm::StringRef path = include.trim("<>\"");
  if (!include.starts_with("<") && !include.starts_with("\""))
    return "is not a plain #include of a header";
  if (path.starts_with("/") || llvm::StringRef("/" + path.str() + "/").contains("/../"))
    return "names a place outside of the include paths";
  if (path.starts_with("kopt"))
    return "is kopt's own";
  return isAtHead ? "" : "stands within the code: new headers stand before everything else";
}

void compareIdentifiers(const SourceFacts &baseline, const SourceFacts &candidate,
                        std::vector<ScreenFinding> &findings) {
  for (const auto &[name, line] : candidate.identifiers) {
    if (baseline.identifiers.count(name))
      continue;
    if (tellsCompilers(name))
      add(findings, "compiler-conditional", ScreenSeverity::Reject,
          "'" + name + "' lets the code look different to another compiler or in another file",
          line);
    else if (tellsArchitectures(name))
      add(findings, "arch-conditional", ScreenSeverity::Flag,
          "'" + name + "' makes code for one architecture that is not compared on another", line);
    else if (name.find('\\') != std::string::npos)
      add(findings, "escaped-identifier", ScreenSeverity::Reject,
          "an identifier is spelled with an escape: " + name, line);
  }
}

void compareMacros(const SourceFacts &baseline, const SourceFacts &candidate,
                   std::vector<ScreenFinding> &findings) {
  for (const auto &[name, macro] : candidate.macros) {
    const auto old = baseline.macros.find(name);
    const bool isNew = old == baseline.macros.end();
    // Tuning may change the values of constants; a body with words is more than a value.
    const bool isValue = llvm::none_of(macro.text, [](char c) {
      return isalpha(static_cast<unsigned char>(c)) && !strchr("uUlLfFxXeEabcdABCD", c);
    });
    if (!isNew && old->second.text != macro.text && !isValue)
      add(findings, "macro", ScreenSeverity::Flag, "macro '" + name + "' changes beyond its value",
          macro.line);
    if (isNew && (baseline.identifiers.count(name) || macro.text == "undef"))
      add(findings, "macro", ScreenSeverity::Flag,
          "macro '" + name + "' takes the place of a name the baseline uses", macro.line);
  }
}

} // namespace

SourceFacts readSource(llvm::StringRef text) {
  SourceFacts facts;
  const std::vector<RawToken> tokens = rawTokens(text, /*withComments=*/true);
  readClusters(tokens, facts);
  readAssembly(tokens, facts);
  facts.headEnd = headEnd(tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const RawToken &token = tokens[i];
    if (token.kind == tok::comment)
      facts.comments.push_back({token.text, token.begin, token.line});
    if (token.kind == tok::raw_identifier)
      facts.identifiers.try_emplace(token.text, token.line);
    if (token.kind == tok::raw_identifier && token.text == "_Pragma" && i + 2 < tokens.size())
      facts.pragmas.push_back({llvm::StringRef(tokens[i + 2].text).trim("\" ").str(), token.line});
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
    else if (llvm::StringRef(name).starts_with("if") || llvm::StringRef(name).starts_with("elif")) {
      facts.conditionals.push_back({joined(0, " "), token.line});
      for (const RawToken *word : llvm::ArrayRef(directive).drop_front())
        if (word->kind == tok::raw_identifier && word->text != "defined")
          facts.conditions.try_emplace(word->text, token.line);
    } else if (name == "pragma")
      facts.pragmas.push_back({joined(1, " "), token.line});
    else if (name == "line" || directive.front()->kind == tok::numeric_constant)
      facts.lineMarkers.push_back({joined(name == "line" ? 1 : 0, " "), token.line});
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
  for (const SourceLine &include : candidate.includes) {
    const std::string why = whyNotIncluded(include.text, include.line < candidate.headEnd);
    if (!oldIncludes.count(include.text) && !why.empty())
      add(findings, "include", ScreenSeverity::Reject, "#include " + include.text + " " + why,
          include.line);
  }
  for (const SourceLine &include : baseline.includes)
    if (!newIncludes.count(include.text))
      add(findings, "include", ScreenSeverity::Reject,
          "#include " + include.text + " is gone: includes belong to the user's file", 0);

  const std::set<std::string> oldConditionals = texts(baseline.conditionals);
  for (const SourceLine &conditional : candidate.conditionals)
    if (!oldConditionals.count(conditional.text) &&
        conditional.text.find("__CUDA_ARCH") == std::string::npos)
      add(findings, "conditional", ScreenSeverity::Flag,
          "new preprocessor conditional '#" + conditional.text +
              "' hides code from this comparison",
          conditional.line);

  for (const auto &[name, line] : decidingNames(candidate))
    if (!baseline.identifiers.count(name) && !candidate.macros.count(name) &&
        !tellsCompilers(name) && !tellsArchitectures(name))
      add(findings, "compiler-conditional", ScreenSeverity::Reject,
          "a conditional asks for '" + name +
              "', which neither the candidate nor the baseline defines: it lets the code look "
              "different elsewhere",
          line);
  const std::set<std::string> oldPragmas = texts(baseline.pragmas),
                              oldMarkers = texts(baseline.lineMarkers),
                              oldClusters = texts(baseline.clusters);
  for (const SourceLine &pragma : candidate.pragmas)
    if (!oldPragmas.count(pragma.text) && !isHarmlessPragma(pragma.text))
      add(findings, "pragma", ScreenSeverity::Reject,
          "#pragma " + pragma.text + " is new, and compilers differ in what they make of it",
          pragma.line);
  for (const SourceLine &marker : candidate.lineMarkers)
    if (!oldMarkers.count(marker.text))
      add(findings, "line-marker", ScreenSeverity::Reject,
          "#line " + marker.text + " makes code appear to come from elsewhere", marker.line);
  for (const SourceLine &cluster : candidate.clusters)
    if (!oldClusters.count(cluster.text))
      add(findings, "attribute", ScreenSeverity::Reject,
          "'" + cluster.text +
              "' is new: a launch whose grid is not a multiple of the cluster fails, and the "
              "launch sites do not know of it",
          cluster.line);
  compareIdentifiers(baseline, candidate, findings);
  compareMacros(baseline, candidate, findings);
}

void compareHazardNames(const SourceFacts &baseline, const SourceFacts &candidate,
                        std::vector<ScreenFinding> &findings) {
  static const llvm::StringMap<const char *> kWords = {{"new", "device-heap"},
                                                       {"delete", "device-heap"},
                                                       {"__managed__", "mutable-global"},
                                                       {"static", "mutable-global"},
                                                       {"constructor", "attribute"}};
  static const llvm::DenseMap<CudaFunction, const char *> kFunctions = {
      {CudaFunction::Clock, "clock"},
      {CudaFunction::Heap, "device-heap"},
      {CudaFunction::Launch, "device-launch"}};
  const std::set<std::string> oldAssembly = texts(baseline.assembly);
  for (const SourceLine &assembly : candidate.assembly)
    if (const auto refused = refusedPtx(assembly.text))
      if (!oldAssembly.count(assembly.text) || assembly.text == kUnreadablePtx)
        add(findings, "inline-asm", ScreenSeverity::Reject, refusedPtxMessage(*refused),
            assembly.line);
  for (const auto &[name, line] : candidate.identifiers) {
    const char *word = kWords.lookup(name);
    const char *hazard = word ? word : kFunctions.lookup(cudaFunction(name, name));
    if (hazard && !baseline.identifiers.count(name))
      add(findings, hazard, ScreenSeverity::Reject,
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
