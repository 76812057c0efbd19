// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/screen/Screen.h"

#include "clang_plugin/analysis/RawTokens.h"
#include "clang_plugin/parse/ParseCuda.h"
#include "clang_plugin/screen/BodyFacts.h"
#include "clang_plugin/screen/Declarations.h"
#include "clang_plugin/screen/SourceFacts.h"

#include <clang/Frontend/ASTUnit.h>

namespace kopt::frontend {

namespace {

ParsedUnit parse(const ScreenRequest &request, const std::string &text, Pass pass) {
  ParseRequest parseRequest;
  parseRequest.file = "kopt-slice.cu";
  parseRequest.content = text;
  parseRequest.nvccFlags = request.flags;
  parseRequest.directory = request.directory;
  parseRequest.pass = pass;
  return parseCuda(parseRequest);
}

/// Reports new comments that stand for left-out code in the candidate's bodies, or anywhere if the
/// bodies are unknown (`bodies` is null).
void findElisions(const SourceFacts &baseline, const SourceFacts &candidate,
                  const BodyFacts *bodies, std::vector<ScreenFinding> &findings) {
  for (const SourceComment &comment : candidate.comments) {
    const bool isOld = llvm::any_of(
        baseline.comments, [&](const SourceComment &old) { return old.text == comment.text; });
    const bool inBody = !bodies || llvm::any_of(bodies->bodyRanges, [&](const auto &range) {
      return range.first < comment.offset && comment.offset < range.second;
    });
    if (!isOld && inBody && isElision(comment.text))
      findings.push_back(
          {"elision", ScreenSeverity::Reject, "code is left out: " + comment.text, comment.line});
  }
}

/// Rejects first, each finding once.
std::vector<ScreenFinding> inOrder(std::vector<ScreenFinding> findings) {
  llvm::sort(findings, [](const ScreenFinding &a, const ScreenFinding &b) {
    return std::tuple(a.severity == ScreenSeverity::Flag, a.line, a.id, a.message) <
           std::tuple(b.severity == ScreenSeverity::Flag, b.line, b.id, b.message);
  });
  findings.erase(std::unique(findings.begin(), findings.end(),
                             [](const ScreenFinding &a, const ScreenFinding &b) {
                               return a.id == b.id && a.line == b.line && a.message == b.message;
                             }),
                 findings.end());
  return findings;
}

/// Compares signatures and declarations as the host pass sees them. Called only if a new
/// conditional may make the host pass differ from the device pass.
llvm::Error compareHostPass(const ScreenRequest &request, std::vector<ScreenFinding> &findings) {
  const ParsedUnit baseline = parse(request, request.baseline, Pass::Host);
  const ParsedUnit candidate = parse(request, request.candidate, Pass::Host);
  if (!baseline.ast || candidate.problem()) {
    findings.push_back(
        {"parse", ScreenSeverity::Flag, "the candidate does not parse as host code", 0});
    return llvm::Error::success();
  }
  auto baselineView = KernelView::open(*baseline.ast, request.kernel, request.baselineExpression);
  auto candidateView =
      KernelView::open(*candidate.ast, request.kernel, request.candidateExpression);
  if (!baselineView)
    return baselineView.takeError();
  if (!candidateView) {
    findings.push_back({"signature", ScreenSeverity::Reject,
                        "for the host " + llvm::toString(candidateView.takeError()), 0});
    return llvm::Error::success();
  }
  compareSignatures(*baselineView, *candidateView, findings);
  compareDeclarations(readDeclarations(*baselineView, request.kernel),
                      readDeclarations(*candidateView, request.kernel), request.baselineExpression,
                      request.candidateExpression, findings);
  return llvm::Error::success();
}

// What the kernel shares with code outside its slice. A candidate that changes it also affects that
// code, which does not run while the candidate is judged.

constexpr const char *kShared = "shared-code";

/// True if the tokens are whole functions, types and variables, so that the text before and after
/// them is neither inside them nor changed by them.
bool standsAlone(llvm::StringRef tokens) {
  int depth = 0;
  llvm::SmallVector<llvm::StringRef> words;
  tokens.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef word : words) {
    depth += (word == "{" || word == "(") - (word == "}" || word == ")");
    if (word == "#" || depth < 0)
      return false;
  }
  return words.empty() || (depth == 0 && (words.back() == "}" || words.back() == ";"));
}

/// True if the new text contains the old one unchanged, among whole declarations.
bool isKept(const std::string &old, llvm::StringRef now) {
  for (std::size_t at = now.find(old); at != llvm::StringRef::npos; at = now.find(old, at + 1))
    if (standsAlone(now.take_front(at)) && standsAlone(now.substr(at + old.size())))
      return true;
  return false;
}

const SharedName *find(const ScreenRequest &request, llvm::StringRef name) {
  const auto found = llvm::find_if(request.shared.names,
                                   [&](const SharedName &outside) { return outside.name == name; });
  return found == request.shared.names.end() ? nullptr : &*found;
}

/// True if the user's files already have the text that begins in this line of the candidate.
bool isOwn(const ScreenRequest &request, unsigned line) {
  const llvm::StringRef text = request.candidate;
  return llvm::any_of(request.shared.own, [&](const TextRange &range) {
    const auto first = text.take_front(range.begin).count('\n') + 1;
    return first <= line && line <= first + text.slice(range.begin, range.end).count('\n');
  });
}

/// True if the candidate adds an inline namespace or a using declaration or directive, which lets
/// code outside look into namespaces that only the candidate has.
bool opensNamespaces(const ScreenRequest &request, const std::vector<Declaration> &baseline,
                     const std::vector<Declaration> &candidate) {
  const auto inlined = [](const std::string &text) {
    return llvm::StringRef(normalizedTokens(text)).count("inline namespace");
  };
  return inlined(request.candidate) > inlined(request.baseline) ||
         llvm::any_of(candidate, [&](const Declaration &now) {
           return llvm::StringRef(now.key).starts_with("Using") && !isOwn(request, now.line) &&
                  llvm::none_of(baseline,
                                [&](const Declaration &old) { return old.key == now.key; });
         });
}

bool isHidden(const ScreenRequest &request, const SourceFacts &baseline, llvm::StringRef space) {
  llvm::SmallVector<llvm::StringRef> parts;
  space.split(parts, "::", -1, /*KeepEmpty=*/false);
  return llvm::any_of(parts, [&](llvm::StringRef part) {
    return !part.starts_with("(") && !baseline.identifiers.count(part.str()) &&
           !find(request, part);
  });
}

/// Rejects changes to text that code outside the slice uses; new functions before or after the text
/// are allowed. Works on tokens alone, hence also if the candidate does not parse.
void compareSharedChunks(const ScreenRequest &request, std::vector<ScreenFinding> &findings) {
  for (const SharedText &chunk : request.shared.texts) {
    const std::string old =
        normalizedTokens(llvm::StringRef(request.baseline).slice(chunk.begin, chunk.end));
    const std::string now =
        normalizedTokens(llvm::StringRef(request.candidate).slice(chunk.newBegin, chunk.newEnd));
    if (old == now || isKept(old, now))
      continue;
    const auto line = llvm::StringRef(request.candidate).take_front(chunk.newBegin).count('\n') + 1;
    findings.push_back(
        {kShared, ScreenSeverity::Reject,
         "'" + chunk.name + "' changed, which " + chunk.user +
             " uses, too: leave it as it is, and put a changed copy of it before the "
             "kernel under another name",
         static_cast<unsigned>(line)});
  }
}

/// Rejects new or changed macros whose name occurs outside the slice.
void compareOutsideMacros(const ScreenRequest &request, const SourceFacts &baseline,
                          const SourceFacts &candidate, std::vector<ScreenFinding> &findings) {
  for (const auto &[name, macro] : candidate.macros) {
    const auto old = baseline.macros.find(name);
    const SharedName *outside = find(request, name);
    if (outside && (old == baseline.macros.end() || old->second.text != macro.text) &&
        !isOwn(request, macro.line))
      findings.push_back(
          {kShared, ScreenSeverity::Reject,
           "macro '" + name + (old == baseline.macros.end() ? "' is new" : "' changed") + ", and " +
               outside->user + " has the same word in it: give the macro another name",
           macro.line});
  }
}

/// Rejects new functions and types that code outside the slice could pick up: an overload, a
/// specialization, a second declaration of a name.
void compareOutsideNames(const ScreenRequest &request, const SourceFacts &baselineSource,
                         const std::vector<Declaration> &baseline,
                         const std::vector<Declaration> &candidate,
                         std::vector<ScreenFinding> &findings) {
  const bool opens = opensNamespaces(request, baseline, candidate);
  for (const Declaration &now : candidate) {
    // An alias may be declared again, and a candidate that repeats one from the file has no other
    // way to name a global one.
    const llvm::StringRef kind = llvm::StringRef(now.key).split(' ').first;
    const bool isGlobalAlias =
        (kind == "NamespaceAlias" || kind == "Typedef" || kind == "TypeAlias") &&
        now.name.find("::") == std::string::npos;
    if (now.role == DeclarationRole::Kernel || isGlobalAlias || isOwn(request, now.line) ||
        llvm::any_of(baseline, [&](const Declaration &old) { return old.key == now.key; }))
      continue;
    const std::size_t colons = now.name.rfind("::");
    const llvm::StringRef name =
        llvm::StringRef(now.name).substr(colons == std::string::npos ? 0 : colons + 2);
    const llvm::StringRef space = llvm::StringRef(now.name).drop_back(name.size());
    const SharedName *outside = find(request, name);
    if (outside && outside->declared && (opens || !isHidden(request, baselineSource, space)))
      findings.push_back(
          {kShared, ScreenSeverity::Reject,
           "'" + now.name + "' is new, and " + outside->user +
               " has that name already and might take it for its own: give it another one",
           now.line});
  }
}

} // namespace

llvm::Expected<std::vector<ScreenFinding>> screenCandidate(const ScreenRequest &request) {
  const ParsedUnit baseline = parse(request, request.baseline, Pass::Device);
  if (const Diagnostic *problem = baseline.problem())
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "the baseline does not parse: line " +
                                       llvm::Twine(problem->line) + ": " + problem->message);
  auto baselineView = KernelView::open(*baseline.ast, request.kernel, request.baselineExpression);
  if (!baselineView)
    return baselineView.takeError();

  std::vector<ScreenFinding> findings;
  const SourceFacts baselineSource = readSource(request.baseline),
                    candidateSource = readSource(request.candidate);
  compareSources(baselineSource, candidateSource, findings);
  compareSharedChunks(request, findings);
  compareOutsideMacros(request, baselineSource, candidateSource, findings);

  const ParsedUnit candidate = parse(request, request.candidate, Pass::Device);
  if (const Diagnostic *problem = candidate.problem()) {
    // The build decides; the findings from tokens are valid nonetheless.
    findings.push_back({"parse", ScreenSeverity::Flag,
                        "the candidate does not parse: " + problem->message, problem->line});
    compareHazardNames(baselineSource, candidateSource, findings);
    findElisions(baselineSource, candidateSource, nullptr, findings);
    return inOrder(std::move(findings));
  }
  auto candidateView =
      KernelView::open(*candidate.ast, request.kernel, request.candidateExpression);
  if (!candidateView) {
    findings.push_back(
        {"signature", ScreenSeverity::Reject, llvm::toString(candidateView.takeError()), 0});
    return inOrder(std::move(findings));
  }

  compareSignatures(*baselineView, *candidateView, findings);
  const std::vector<Declaration> baselineDeclarations =
                                     readDeclarations(*baselineView, request.kernel),
                                 candidateDeclarations =
                                     readDeclarations(*candidateView, request.kernel);
  compareDeclarations(baselineDeclarations, candidateDeclarations, request.baselineExpression,
                      request.candidateExpression, findings);
  compareOutsideNames(request, baselineSource, baselineDeclarations, candidateDeclarations,
                      findings);
  const BodyFacts candidateBodies = readBodies(*candidateView);
  compareBodies(*baselineView, readBodies(*baselineView), candidateBodies, findings);
  findElisions(baselineSource, candidateSource, &candidateBodies, findings);

  const bool differsOnHost = llvm::any_of(findings, [](const ScreenFinding &finding) {
    return finding.id == "arch-conditional" || finding.id == "conditional";
  });
  if (differsOnHost)
    if (llvm::Error error = compareHostPass(request, findings))
      return error;
  return inOrder(std::move(findings));
}

} // namespace kopt::frontend
