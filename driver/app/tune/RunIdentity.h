// SPDX-License-Identifier: Apache-2.0
// What decides the results of a run. A run resumes only one with the same identity, because trials
// with one workload, compiler or kopt say nothing about another.
#pragma once

#include "driver/judge/JudgeOptions.h"
#include "driver/model/Device.h"
#include "driver/model/TuneDeclaration.h"
#include "driver/model/Workload.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// What decides which candidates are tried, and when the search ends. The time budget is not
/// included, so that a run whose time was up can continue.
struct SearchIdentity {
  std::vector<std::string> proposers;
  std::string model; ///< of the llm proposer
  std::size_t batch = 0;
  int rounds = 0, trials = 0, patience = 0;
  std::optional<double> target, targetSeconds;
  int maxModelCalls = 0;
  long maxTokens = 0;
  bool verifyAll = false;
  std::string strategy, experience;
  std::vector<std::string> given; ///< candidates, by their content
  std::string at;                 ///< name of the frozen point; empty: none
  std::vector<std::string> controls;
};
KOPT_FIELDS(SearchIdentity, proposers, model, batch, rounds, trials, patience, target,
            targetSeconds, maxModelCalls, maxTokens, verifyAll, strategy, experience, given, at,
            controls)

struct RunIdentity {
  std::string koptVersion;
  std::string sliceText, label;
  std::vector<std::string> compileFlags;
  TuneDeclaration declaration; ///< the places of its clauses do not count
  Workload workload;
  std::vector<Launch> heldOut;
  DeviceKind deviceKind = DeviceKind::Auto;
  std::string deviceName, deviceArch, deviceDriver;
  std::string toolchain; ///< name and version
  JudgeOptions judge;    ///< folders and threads do not count
  SearchIdentity search;
};
KOPT_FIELDS(RunIdentity, koptVersion, sliceText, label, compileFlags, declaration, workload,
            heldOut, deviceKind, deviceName, deviceArch, deviceDriver, toolchain, judge, search)

/// The hash of the identity's JSON, without what does not decide results.
std::string hashOf(RunIdentity identity);

} // namespace kopt
