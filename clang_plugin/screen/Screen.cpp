// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/screen/Screen.h"

#include "clang_plugin/parse/ParseCuda.h"
#include "clang_plugin/screen/BodyFacts.h"
#include "clang_plugin/screen/Declarations.h"
#include "clang_plugin/screen/SharedCode.h"
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
