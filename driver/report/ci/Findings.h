// SPDX-License-Identifier: Apache-2.0
// What a gate's report has to say at a place of the source, for all formats alike.
#pragma once

#include "driver/model/Gate.h"

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
  /// The same for the same finding of a later run, wherever the kernel then stands: of rule, kernel
  /// and job. Where several findings would have one, the file belongs to it as well.
  std::string fingerprint;
  double cost = 0; ///< seconds lost by launch; within a level the largest comes first
};

struct GateRule {
  const char *id, *name, *description;
  FindingLevel level;
};

/// All rules, in the order in which their findings are ranked within a level.
const std::vector<GateRule> &gateRules();

/// Those that cost most first. A kernel that is the same, that only moved, or that was removed, is
/// no finding.
std::vector<GateFinding> findingsOf(const GateReport &report);

/// Workflow commands of GitHub Actions, at most `limit` (at least 2): where there are more findings
/// the last says how many, and where to read them.
std::string githubAnnotations(const std::vector<GateFinding> &findings, std::size_t limit = 10);

/// SARIF 2.1.0.
std::string sarifOf(const GateReport &report, const std::vector<GateFinding> &findings);

/// GitLab's code quality report, a JSON array.
std::string codeQualityOf(const std::vector<GateFinding> &findings);

/// For a comment, and the summary of a job. The first line is a hidden marker with the name of the
/// job, by which a later run finds the comment again. At most `limit` bytes: what does not fit is
/// left out, and the text says so.
std::string gateMarkdown(const GateReport &report, std::size_t limit = 60'000);
/// That marker.
std::string gateMarker(const GateReport &report);

/// "1 of 3 touched kernels is slower": what matters most, in one line.
std::string headlineOf(const GateReport &report);

} // namespace kopt
