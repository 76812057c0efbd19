// SPDX-License-Identifier: Apache-2.0
// `kopt ci`: reports what a change does to the kernels that it touches.
#pragma once

#include "driver/app/KernelRequest.h"
#include "driver/app/services/Services.h"
#include "driver/compare/Gate.h"
#include "driver/compare/versions/Repository.h"
#include "driver/judge/JudgeOptions.h"
#include "driver/source/Subjects.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kopt {

/// Its sources are those of the head, its root is in the working tree. Globs restrict the kernels;
/// clauses are those of the head's kopt.toml.
struct CiRequest : KernelRequest {
  std::string name = "default"; ///< of the job
  std::string base{};           ///< a commit, branch or tag
  /// Returns the clauses of the base's own configuration, given the tops of the two trees.
  std::function<Result<std::vector<KernelClauses>>(const std::filesystem::path &base,
                                                   const std::filesystem::path &head)>
      baseClauses{};
  JudgeOptions options{};
  std::filesystem::path lockFolder{}; ///< folder of the header mode; need not exist
  bool dryRun = false;
};

/// Compares the working tree with the commit at which HEAD left the base. The working tree does not
/// change. Fails with Usage (no repository, no such commit, no source), BaselineFailed (a file of
/// the head does not compile) or Environment. A kernel that cannot be measured is a verdict, not a
/// failure.
Result<GateReport> runGate(const Services &services, const CiRequest &request);

/// The exit code of the process: 2 for alarms and wins that `failOn` names; 5 for stale variants if
/// `failOn` names them and nothing else matched. `failOn` contains "regression", "stale", "win" or
/// "never".
int gateExitCode(const GateReport &report, const std::vector<std::string> &failOn);

} // namespace kopt
