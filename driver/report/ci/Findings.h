// SPDX-License-Identifier: Apache-2.0
// The findings of a gate's report, each at a place of the source, for all formats.
#pragma once

#include "driver/compare/Gate.h"

#include <string>
#include <vector>

namespace kopt {

enum class FindingLevel { Error, Warning, Note };

struct GateFinding {
  std::string rule; ///< an id of gateRules()
  FindingLevel level = FindingLevel::Note;
  std::string kernel;
  GatePlace place;
  std::string title, message; ///< plain text; the message is one or more sentences
  /// Identifies the same finding in a later run, even if the kernel has moved: a hash of rule,
  /// kernel and job. If several findings would have the same, it includes the file.
  std::string fingerprint;
  double cost = 0; ///< seconds lost in each launch; within a level, the largest comes first
};

struct GateRule {
  const char *id, *name, *description;
  FindingLevel level;
};

/// All rules, in the order in which their findings are ranked within a level.
const std::vector<GateRule> &gateRules();

/// The findings of a report; those that cost most come first. A kernel that is unchanged, has only
/// moved or was removed is not a finding.
std::vector<GateFinding> findingsOf(const GateReport &report);

/// Workflow commands of GitHub Actions, at most `limit` (at least 2). If there are more findings,
/// the last command says how many, and where to read them.
std::string githubAnnotations(const std::vector<GateFinding> &findings, std::size_t limit = 10);

/// SARIF 2.1.0.
std::string sarifOf(const GateReport &report, const std::vector<GateFinding> &findings);

/// GitLab's code quality report, a JSON array.
std::string codeQualityOf(const std::vector<GateFinding> &findings);

/// Markdown for a comment and for the summary of a job. The first line is a hidden marker with the
/// name of the job, by which a later run finds the comment. At most `limit` bytes: what does not
/// fit is left out, and the text says so.
std::string gateMarkdown(const GateReport &report, std::size_t limit = 60'000);
/// The marker in the first line of gateMarkdown().
std::string gateMarker(const GateReport &report);

/// What matters most, in one line: "1 of 3 touched kernels is slower".
std::string headlineOf(const GateReport &report);

} // namespace kopt
